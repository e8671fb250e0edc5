//! Where does the model cite a rule?

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use ttlspec_model::Rule;

use super::Problem;

/// A place in the sources of the model.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Citation {
    /// The file, below the sources: `mongodb/threshold.rs`.
    pub file: String,
    /// The line, counted from 1.
    pub line: usize,
}

/// Every place where a rule is cited, in the order of the files.
///
/// # Errors
/// [`Problem`] where a source cannot be read.
pub fn citations(model: &Path) -> Result<BTreeMap<Rule, Vec<Citation>>, Problem> {
    let variants: BTreeMap<String, Rule> =
        Rule::ALL.iter().map(|rule| (format!("{rule:?}"), *rule)).collect();
    let mut found: BTreeMap<Rule, Vec<Citation>> = BTreeMap::new();
    for path in sources(model)? {
        let text = read(&path, |path| fs::read_to_string(path))?;
        let file = path.strip_prefix(model).unwrap_or(&path).to_string_lossy().replace('\\', "/");
        let code = text.lines().take_while(|line| !line.contains("#[cfg(test)]"));
        for (at, line) in code.enumerate() {
            for rule in cited(line).filter_map(|variant| variants.get(variant)) {
                let citation = Citation { file: file.clone(), line: at + 1 };
                found.entry(*rule).or_default().push(citation);
            }
        }
    }
    Ok(found)
}

/// The names behind `Rule::` in a line of code.
fn cited(line: &str) -> impl Iterator<Item = &str> {
    let code = line.split("//").next().unwrap_or_default();
    code.split("Rule::").skip(1).map(|rest| {
        let end = rest.find(|c: char| !c.is_alphanumeric()).unwrap_or(rest.len());
        &rest[..end]
    })
}

/// All Rust files of a folder and of those within, in order.
fn sources(folder: &Path) -> Result<Vec<PathBuf>, Problem> {
    let mut paths = Vec::new();
    for entry in read(folder, |path| fs::read_dir(path))? {
        let path = read(folder, |_| entry)?.path();
        if path.is_dir() {
            paths.extend(sources(&path)?);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            paths.push(path);
        }
    }
    paths.sort();
    Ok(paths)
}

fn read<T>(path: &Path, read: impl FnOnce(&Path) -> std::io::Result<T>) -> Result<T, Problem> {
    read(path).map_err(|error| Problem::Sources { path: path.to_owned(), error })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_citation_ends_where_the_name_does() {
        let line =
            "        Some(1).by(Rule::MongodbIndexInt32).and(Rule::MongodbLifeWhole) // Rule::X";

        let found: Vec<&str> = cited(line).collect();

        assert_eq!(found, ["MongodbIndexInt32", "MongodbLifeWhole"]);
    }
}
