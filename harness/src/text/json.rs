//! Reads JSON, with positions; strictly, and a key may not stand twice.

use super::{Entry, Malformed, Node, What};

/// Deeper than any document of a server.
const DEPTH: usize = 200;

pub(super) fn read(text: &str) -> Result<Node, Malformed> {
    let mut reader = Reader { text, at: 0 };
    let node = reader.value(0)?;
    reader.space();
    match reader.peek() {
        None => Ok(node),
        Some(found) => Err(reader.error(format!("expected the end of the text, found `{found}`"))),
    }
}

struct Reader<'a> {
    text: &'a str,
    at: usize,
}

impl Reader<'_> {
    fn rest(&self) -> &str {
        &self.text[self.at..]
    }

    fn peek(&self) -> Option<char> {
        self.rest().chars().next()
    }

    fn error(&self, message: String) -> Malformed {
        Malformed { at: self.at, message }
    }

    fn unexpected(&self, expected: &str) -> Malformed {
        match self.peek() {
            Some(found) => self.error(format!("expected {expected}, found `{found}`")),
            None => self.error(format!("expected {expected}, found the end of the text")),
        }
    }

    fn space(&mut self) {
        let rest = self.rest();
        self.at += rest.len() - rest.trim_start_matches([' ', '\t', '\n', '\r']).len();
    }

    fn take(&mut self, word: &str) -> bool {
        let there = self.rest().starts_with(word);
        if there {
            self.at += word.len();
        }
        there
    }

    fn value(&mut self, depth: usize) -> Result<Node, Malformed> {
        self.space();
        let at = self.at;
        if depth > DEPTH {
            return Err(self.error(format!("nested more than {DEPTH} deep")));
        }
        let what = match self.peek() {
            Some('{') => What::Table(self.table(depth)?),
            Some('[') => What::List(self.list(depth)?),
            Some('"') => What::Text(self.string()?),
            Some('-' | '0'..='9') => self.number()?,
            _ if self.take("true") => What::Bool(true),
            _ if self.take("false") => What::Bool(false),
            _ if self.take("null") => What::Null,
            _ => return Err(self.unexpected("a value")),
        };
        Ok(Node { at, what })
    }

    fn list(&mut self, depth: usize) -> Result<Vec<Node>, Malformed> {
        let mut items = Vec::new();
        self.at += 1;
        self.space();
        if self.take("]") {
            return Ok(items);
        }
        loop {
            items.push(self.value(depth + 1)?);
            self.space();
            if self.take("]") {
                return Ok(items);
            }
            if !self.take(",") {
                return Err(self.unexpected("`,` or `]`"));
            }
        }
    }

    fn table(&mut self, depth: usize) -> Result<Vec<Entry>, Malformed> {
        let mut entries: Vec<Entry> = Vec::new();
        self.at += 1;
        self.space();
        if self.take("}") {
            return Ok(entries);
        }
        loop {
            self.space();
            let at = self.at;
            if self.peek() != Some('"') {
                return Err(self.unexpected("a key in double quotes"));
            }
            let key = self.string()?;
            if entries.iter().any(|entry| entry.key == key) {
                return Err(Malformed { at, message: format!("the key `{key}` stands twice") });
            }
            self.space();
            if !self.take(":") {
                return Err(self.unexpected("`:`"));
            }
            let value = self.value(depth + 1)?;
            entries.push(Entry { key, at, value });
            self.space();
            if self.take("}") {
                return Ok(entries);
            }
            if !self.take(",") {
                return Err(self.unexpected("`,` or `}`"));
            }
        }
    }

    /// The string that begins here; `serde_json` undoes its escapes.
    fn string(&mut self) -> Result<String, Malformed> {
        let mut escaped = false;
        let end = self.rest().char_indices().skip(1).find_map(|(i, c)| {
            let closes = c == '"' && !escaped;
            escaped = c == '\\' && !escaped;
            closes.then_some(i + 1)
        });
        let Some(end) = end else {
            return Err(self.error("this string does not end".to_owned()));
        };
        let read = serde_json::from_str(&self.rest()[..end]);
        let read = read.map_err(|error| self.error(format!("this is no string: {error}")))?;
        self.at += end;
        Ok(read)
    }

    fn number(&mut self) -> Result<What, Malformed> {
        let rest = self.rest();
        let number = |c: char| c.is_ascii_digit() || "+-.eE".contains(c);
        let text = &rest[..rest.find(|c| !number(c)).unwrap_or(rest.len())];
        let whole = !text.contains(['.', 'e', 'E']);
        // `serde_json` judges the form; the digits are read here, to the last bit.
        let formed = serde_json::from_str::<serde::de::IgnoredAny>(text).is_ok();
        let read = match (text.parse::<i64>(), text.parse::<f64>()) {
            (Ok(value), _) if formed && whole => Some(What::Integer(value)),
            (_, Ok(value)) if formed && !whole && value.is_finite() => Some(What::Float(value)),
            _ => None,
        };
        let expected = if whole { "an integer of 64 bits" } else { "a double" };
        let bad = || self.error(format!("expected {expected}, found `{text}`"));
        let read = read.ok_or_else(bad)?;
        self.at += text.len();
        Ok(read)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_serde_json_reads_is_read_the_same() {
        for text in [
            r#" { "a" : [ 1 , -2.5e3 , true , null , "x\"\\\u00e9\n" ] , "b" : { } } "#,
            "[]",
            "0.1",
            "-9223372036854775808",
        ] {
            let expected: serde_json::Value = serde_json::from_str(text).expect("it is JSON");
            assert_eq!(read(text).expect("it is JSON").to_value(), expected);
        }
    }

    #[test]
    fn what_is_not_json_is_refused_where_it_is_wrong() {
        for (text, at) in [
            ("", 0),
            ("[1,]", 3),
            ("{\"a\":1,\"a\":2}", 7),
            ("[01]", 1),
            ("[1.]", 1),
            ("[9223372036854775808]", 1),
            ("[1e999]", 1),
            ("\"abc", 0),
            ("{a:1}", 1),
            ("[1] 2", 4),
            ("nul", 0),
            ("\"\u{1}\"", 0),
        ] {
            assert_eq!(read(text).expect_err(text).at, at, "{text}");
        }
        assert!(read(&"[".repeat(100_000)).is_err());
    }
}
