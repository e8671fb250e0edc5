//! A ruling as a function of everything that could be otherwise.

use bson::{Bson, Document};
use ttlspec_model::Ruling;
use ttlspec_model::mongodb::index::{Kind, SECONDS};
use ttlspec_model::mongodb::life::Verdict;

use crate::rule_on::{Stage, Standing, Ttl, arrive};

/// One document under one index, with all that the ruling depends on.
#[derive(Clone, Debug)]
pub struct Case {
    /// Where the data stands, and when.
    pub standing: Standing,
    /// What the collection is.
    pub kind: Kind,
    /// The indexes that come.
    pub specs: Vec<Document>,
    /// Which of them is looked at.
    pub at: usize,
    /// The document.
    pub document: Document,
}

impl Case {
    /// The index as it stands, and what it makes of the document.
    pub fn look(&self) -> (Ttl, Ruling<Verdict>) {
        let upto = &self.specs[..=self.at];
        let before = upto[..self.at].iter().filter(|spec| spec.contains_key(SECONDS)).count();
        let mut arrived = arrive(&self.standing, self.kind, upto);
        let ttl = arrived.ttl.swap_remove(before);
        let ruling = ttl.verdict(&self.standing, &self.document);
        (ttl, ruling)
    }

    /// How far the document gets.
    pub fn stage(&self) -> Stage {
        let (ttl, ruling) = self.look();
        ttl.stage(&ruling)
    }

    /// The specification that is looked at.
    pub fn spec(&self) -> &Document {
        &self.specs[self.at]
    }

    /// The same with another field in the specification.
    pub fn with_option(&self, name: &str, value: Option<Bson>) -> Case {
        let mut case = self.clone();
        match value {
            Some(value) => case.specs[self.at].insert(name, value),
            None => case.specs[self.at].remove(name),
        };
        case
    }

    /// The same with another value in the document.
    pub fn with_value(&self, path: &str, value: Bson) -> Case {
        let mut case = self.clone();
        let mut root = Bson::Document(std::mem::take(&mut case.document));
        let parts: Vec<&str> = path.split('.').collect();
        set(&mut root, &parts, value);
        if let Bson::Document(document) = root {
            case.document = document;
        }
        case
    }

    /// The same with another document.
    pub fn with_document(&self, document: Document) -> Case {
        Case { document, ..self.clone() }
    }

    /// The same somewhere else or at another time.
    pub fn with_standing(&self, standing: Standing) -> Case {
        Case { standing, ..self.clone() }
    }
}

/// Sets what stands at a path. Of an array the position counts that the path names, or else the
/// first one.
pub fn set(place: &mut Bson, path: &[&str], value: Bson) {
    let Some((part, rest)) = path.split_first() else {
        *place = value;
        return;
    };
    match place {
        Bson::Array(array) => {
            let named = part.parse::<usize>().ok().filter(|position| *position <= array.len());
            let position = named.unwrap_or(0);
            if position == array.len() {
                array.push(Bson::Null);
            }
            let rest = if named.is_some() { rest } else { path };
            set(&mut array[position], rest, value);
        }
        Bson::Document(document) => {
            let inner = document.entry((*part).to_owned()).or_insert(Bson::Null);
            set(inner, rest, value);
        }
        other => {
            *other = Bson::Document(Document::new());
            set(other, path, value);
        }
    }
}
