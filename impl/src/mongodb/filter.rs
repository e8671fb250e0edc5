//! Is a raw document in an index with this filter? A filter is compiled once; nothing is allocated
//! when it is asked.

use std::cmp::Ordering;

use ttlspec_model::mongodb::Version;

use super::bytes::{Elements, Kept, Malformed, Value, elements, kind};
use super::filter_parser::{Comparison, Question, Tree, is_allowed, parse, type_bit};
use super::key_extractor::{Path, Rest};
use super::number::Number;
use super::order::{class, compare, is_number};

/// A filter as a flat program: each step asks one question, and both answers name the step to go on
/// with.
#[derive(Clone, Debug)]
pub struct Filter {
    steps: Vec<Step>,
    first: u32,
    extremes_are_ends: bool,
    allowed: bool,
}

#[derive(Clone, Debug)]
struct Step {
    path: Path,
    test: Test,
    then: u32,
    otherwise: u32,
}

/// Not a step: the document is in the index.
const INSIDE: u32 = u32::MAX;
/// Not a step: the document is not in the index.
const OUTSIDE: u32 = u32::MAX - 1;

#[derive(Clone, Debug)]
enum Test {
    Compare(Comparison, Kept),
    /// Equality with one of them.
    In(Box<[Kept]>),
    Exists,
    Type(u32),
}

impl Filter {
    /// Compiles the filter that this document is.
    ///
    /// # Errors
    /// The server's error code where the filter cannot be read.
    pub fn new(version: Version, filter: Value<'_>) -> Result<Filter, i32> {
        let malformed = |_| ttlspec_model::mongodb::code::FAILED_TO_PARSE;
        let tree = parse(filter.elements().map_err(malformed)?)?;
        let mut program = Filter {
            steps: Vec::new(),
            first: OUTSIDE,
            extremes_are_ends: version.extremes_are_ends(),
            allowed: is_allowed(version, &tree),
        };
        program.first = program.compile(&tree, INSIDE, OUTSIDE);
        Ok(program)
    }

    /// May createIndexes make an index with it?
    pub fn is_allowed(&self) -> bool {
        self.allowed
    }

    /// Appends the steps of `tree`, the last first, and answers where it begins.
    fn compile(&mut self, tree: &Tree<'_>, then: u32, otherwise: u32) -> u32 {
        match tree {
            Tree::And(parts) => {
                parts.iter().rev().fold(then, |next, part| self.compile(part, next, otherwise))
            }
            Tree::Or(parts) => {
                parts.iter().rev().fold(otherwise, |next, part| self.compile(part, then, next))
            }
            Tree::Forbidden | Tree::Unknown => otherwise,
            Tree::Leaf(path, question) => {
                let test = match question {
                    Question::Compare(comparison, value) => {
                        Test::Compare(*comparison, Kept::from(*value))
                    }
                    Question::In(values) => {
                        Test::In(values.iter().map(|value| Kept::from(*value)).collect())
                    }
                    Question::Exists => Test::Exists,
                    Question::Type(set) => Test::Type(*set),
                };
                self.steps.push(Step { path: Path::new(path), test, then, otherwise });
                self.steps.len() as u32 - 1
            }
        }
    }

    /// Is the document in the index?
    ///
    /// # Errors
    /// [`Malformed`] at the first byte met that cannot be.
    pub fn holds(&self, document: &[u8]) -> Result<bool, Malformed> {
        let mut at = self.first;
        while let Some(step) = self.steps.get(at as usize) {
            let mut passes = |value: Option<Value<'_>>| self.passes(&step.test, value);
            let passed = any(elements(document)?, step.path.rest(), &mut passes)?;
            at = if passed { step.then } else { step.otherwise };
        }
        Ok(at == INSIDE)
    }

    #[inline]
    fn passes(&self, test: &Test, value: Option<Value<'_>>) -> bool {
        match test {
            Test::Compare(comparison, wanted) => self.compares(*comparison, wanted.value(), value),
            Test::In(wanted) => {
                wanted.iter().any(|wanted| self.compares(Comparison::Eq, wanted.value(), value))
            }
            Test::Exists => value.is_some(),
            Test::Type(set) => value.is_some_and(|value| type_bit(value.kind) & set != 0),
        }
    }

    fn compares(&self, how: Comparison, wanted: Value<'_>, value: Option<Value<'_>>) -> bool {
        use Comparison::*;
        let has_equal = matches!(how, Eq | Lte | Gte);
        let present = match value {
            None | Some(Value { kind: kind::UNDEFINED, .. }) if wanted.kind == kind::NULL => {
                return has_equal;
            }
            Some(value) if class(value.kind) == class(wanted.kind) => value,
            _ => return self.beyond(how, wanted.kind),
        };
        if is_number(wanted.kind) {
            return match (Number::read(present), Number::read(wanted)) {
                (Some(a), Some(b)) if a.is_nan() || b.is_nan() => {
                    a.is_nan() && b.is_nan() && has_equal
                }
                (Some(a), Some(b)) => is_so(how, a.compare(b)),
                _ => false,
            };
        }
        is_so(how, compare(present, wanted))
    }

    /// Values of another class, or none at all: only the ends of all values compare with them.
    fn beyond(&self, how: Comparison, wanted: u8) -> bool {
        use Comparison::*;
        match wanted {
            kind::MIN_KEY | kind::MAX_KEY if !self.extremes_are_ends => how != Eq,
            kind::MIN_KEY => matches!(how, Gt | Gte),
            kind::MAX_KEY => matches!(how, Lt | Lte),
            _ => false,
        }
    }
}

#[inline]
fn is_so(how: Comparison, order: Ordering) -> bool {
    match how {
        Comparison::Eq => order.is_eq(),
        Comparison::Lt => order.is_lt(),
        Comparison::Lte => order.is_le(),
        Comparison::Gt => order.is_gt(),
        Comparison::Gte => order.is_ge(),
    }
}

/// Does one of the values pass that a query meets on this path? `None` is a missing field.
fn any<'a>(
    fields: Elements<'a>,
    rest: Rest<'_>,
    passes: &mut impl FnMut(Option<Value<'a>>) -> bool,
) -> Result<bool, Malformed> {
    let value = fields.find(rest.name())?;
    let rest = rest.after();
    match value {
        Some(array) if array.kind == kind::ARRAY => {
            if !rest.is_over() {
                return any_through(array, rest, passes);
            }
            // Each element, then the array as a whole.
            let mut elements = array.elements()?;
            while let Some((_, element)) = elements.advance()? {
                if passes(Some(element)) {
                    return Ok(true);
                }
            }
            Ok(passes(value))
        }
        Some(_) if rest.is_over() => Ok(passes(value)),
        Some(inner) if inner.kind == kind::DOCUMENT => any(inner.elements()?, rest, passes),
        _ => Ok(passes(None)),
    }
}

/// Through an array in the middle of the path: into each document, and to the position that the
/// next part names.
fn any_through<'a>(
    array: Value<'a>,
    rest: Rest<'_>,
    passes: &mut impl FnMut(Option<Value<'a>>) -> bool,
) -> Result<bool, Malformed> {
    let mut elements = array.elements()?;
    let mut position = 0;
    while let Some((_, element)) = elements.advance()? {
        if element.kind == kind::DOCUMENT && any(element.elements()?, rest, passes)? {
            return Ok(true);
        }
        if rest.position() == Some(position) {
            let after = rest.after();
            let passed = match element.kind {
                _ if after.is_over() => passes(Some(element)),
                kind::DOCUMENT => any(element.elements()?, after, passes)?,
                kind::ARRAY => any_through(element, after, passes)?,
                _ => false,
            };
            if passed {
                return Ok(true);
            }
        }
        position += 1;
    }
    Ok(false)
}
