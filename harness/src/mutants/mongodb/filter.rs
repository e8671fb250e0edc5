//! Mutants of `mongodb.filter.*`.

use bson::{Bson, Document};
use ttlspec_model::Rule;
use ttlspec_model::mongodb::compare::class;
use ttlspec_model::mongodb::filter::{self, Comparison, Filter, Test, TypeName};
use ttlspec_model::mongodb::index::{FILTER, Index};
use ttlspec_model::mongodb::number::is_nan;
use ttlspec_model::mongodb::pass::Use;
use ttlspec_model::mongodb::{Op, Reply, Version, Via, code};

use super::server::without;
use super::sweep::{RIGHT, Sweep, right_member, right_use};
use super::{Mistake, creates, step, sweeps};

pub(super) const MUTANTS: &[Mistake] = &[
    sweeps(
        Rule::MongodbFilterInside,
        "a partial index is not swept",
        Sweep {
            usable: |version, kind, index| match right_use(version, kind, index) {
                Use::Lifetime(_) if index.spec.contains_key(FILTER) => Use::Nothing,
                right => right,
            },
            ..RIGHT
        },
    ),
    sweeps(
        Rule::MongodbFilterOutside,
        "the filter is not asked",
        Sweep { member: |_, _, _| true, ..RIGHT },
    )
    .seen("mongomock 4.x", "the filter is ignored: what it should protect expires"),
    creates(
        Rule::MongodbFilterObject,
        "a filter that is no document is left out",
        |server, now, spec| match spec.get(FILTER) {
            Some(Bson::Document(_)) | None => server.create(now, spec.clone()),
            Some(_) => server.create(now, without(spec, FILTER)),
        },
    ),
    creates(
        Rule::MongodbFilterParse,
        "a filter that does not parse is left out",
        |server, now, spec| match spec.get_document(FILTER).map(filter::parse) {
            Ok(Err(_)) => server.create(now, without(spec, FILTER)),
            _ => server.create(now, spec.clone()),
        },
    ),
    creates(
        Rule::MongodbFilterOperators,
        "any operator of queries may stand in a filter",
        |server, now, spec| match refused_by(server.version, spec) {
            Some(Rule::MongodbFilterOperators) => server.create_with_any_filter(now, spec),
            _ => server.create(now, spec.clone()),
        },
    ),
    step(
        Rule::MongodbFilterOperators,
        "a catalog may have held any operator",
        |server, now, op| match (op, server.would(now, op)) {
            (Op::Arrive { index, via, from }, Reply::Error(code::CANNOT_CREATE_INDEX))
                if *via != Via::Created && *via != Via::Restored && index.contains_key(FILTER) =>
            {
                let index = without(index, FILTER).into();
                server.right(now, &Op::Arrive { index, via: *via, from: *from })
            }
            _ => server.right(now, op),
        },
    ),
    creates(Rule::MongodbFilterOrIn, "$or and $in are accepted before 6.0", |server, now, spec| {
        match refused_by(server.version, spec) {
            Some(Rule::MongodbFilterOrIn) => server.create_with_any_filter(now, spec),
            _ => server.create(now, spec.clone()),
        }
    }),
    creates(Rule::MongodbFilterOrIn, "$or and $in are refused from 6.0 on", |server, now, spec| {
        let five = Version::new(5, 3, 0);
        let is_late = server.version.filter_has_or_and_in();
        let is_new = is_late && refused_by(five, spec) == Some(Rule::MongodbFilterOrIn);
        server.create_unless(now, spec, is_new.then_some(code::CANNOT_CREATE_INDEX))
    }),
    creates(Rule::MongodbFilterDepth, "a filter may be of any depth", |server, now, spec| {
        match refused_by(server.version, spec) {
            Some(Rule::MongodbFilterDepth) => server.create_with_any_filter(now, spec),
            _ => server.create(now, spec.clone()),
        }
    }),
    sweeps(
        Rule::MongodbFilterEmpty,
        "an empty filter holds nothing",
        Sweep {
            member: |version, index, document| {
                let is_empty = matches!(index.filter(), Some(Filter::And(all)) if all.is_empty());
                !is_empty && right_member(version, index, document)
            },
            ..RIGHT
        },
    ),
    sweeps(
        Rule::MongodbFilterPath,
        "a filter does not look into arrays",
        Sweep {
            member: |version, index, document| {
                right_member(version, index, &with_empty_arrays(document))
            },
            ..RIGHT
        },
    ),
    sweeps(
        Rule::MongodbFilterBracket,
        "values of different types compare by the order of their types",
        Sweep {
            member: |version, index, document| {
                asked(version, index, document, |path, test| match test {
                    Test::Compare(Comparison::Lt | Comparison::Lte, wanted) => {
                        any(path, [test.clone(), Test::Type(types(|one| one < class(wanted)))])
                    }
                    Test::Compare(Comparison::Gt | Comparison::Gte, wanted) => {
                        any(path, [test.clone(), Test::Type(types(|one| one > class(wanted)))])
                    }
                    _ => same(path, test),
                })
            },
            ..RIGHT
        },
    ),
    sweeps(
        Rule::MongodbFilterNull,
        "a missing field is not equal to null",
        Sweep {
            member: |version, index, document| {
                asked(version, index, document, |path, test| match test {
                    Test::Compare(_, Bson::Null) => all(path, [test.clone(), Test::Exists]),
                    _ => same(path, test),
                })
            },
            ..RIGHT
        },
    ),
    sweeps(
        Rule::MongodbFilterNan,
        "NaN is not equal to NaN",
        Sweep {
            member: |version, index, document| {
                asked(version, index, document, |path, test| match test {
                    Test::Compare(_, wanted) if is_nan(wanted) => any(path, []),
                    _ => same(path, test),
                })
            },
            ..RIGHT
        },
    ),
    sweeps(
        Rule::MongodbFilterExtremes,
        "MinKey and MaxKey compare with their own type only",
        Sweep {
            member: |version, index, document| {
                asked(version, index, document, |path, test| match test {
                    Test::Compare(_, Bson::MinKey) => all(path, [test.clone(), only(-1)]),
                    Test::Compare(_, Bson::MaxKey) => all(path, [test.clone(), only(127)]),
                    _ => same(path, test),
                })
            },
            ..RIGHT
        },
    ),
    sweeps(
        Rule::MongodbFilterExists,
        "null does not exist",
        Sweep {
            member: |version, index, document| {
                asked(version, index, document, |path, test| match test {
                    Test::Exists => Filter::At(path.to_owned(), Test::Type(all_types_but(10))),
                    _ => same(path, test),
                })
            },
            ..RIGHT
        },
    ),
    sweeps(
        Rule::MongodbFilterType,
        "the type `number` leaves the decimals out",
        Sweep {
            member: |version, index, document| {
                asked(version, index, document, |path, test| match test {
                    Test::Type(names) if names.contains(&TypeName::Number) => {
                        any(path, [only(1), only(16), only(18)])
                    }
                    _ => same(path, test),
                })
            },
            ..RIGHT
        },
    ),
    sweeps(
        Rule::MongodbFilterType,
        "any number is of the type of every other",
        Sweep {
            member: |version, index, document| {
                asked(version, index, document, |path, test| match test {
                    Test::Type(names) if names.iter().any(is_of_numbers) => {
                        any(path, [test.clone(), Test::Type(vec![TypeName::Number])])
                    }
                    _ => same(path, test),
                })
            },
            ..RIGHT
        },
    ),
];

/// The rule by which the filter of this specification is refused, if it is.
fn refused_by(version: Version, spec: &Document) -> Option<Rule> {
    let filter = filter::parse(spec.get_document(FILTER).ok()?).ok()?;
    let refusal = filter::refusal(version, &filter);
    refusal.verdict.and(refusal.because.last().copied())
}

// ---- other filters -----------------------------------------------------------------------------

/// Is the document in the index if each test of its filter is put in another way?
fn asked(
    version: Version,
    index: &Index,
    document: &Document,
    ask: fn(&str, &Test) -> Filter,
) -> bool {
    let filter = index.filter();
    filter.is_none_or(|filter| filter::member(version, &put(&filter, ask), document).verdict)
}

fn put(filter: &Filter, ask: fn(&str, &Test) -> Filter) -> Filter {
    let put_all = |filters: &[Filter]| filters.iter().map(|filter| put(filter, ask)).collect();
    match filter {
        Filter::And(filters) => Filter::And(put_all(filters)),
        Filter::Or(filters) => Filter::Or(put_all(filters)),
        Filter::At(path, test) => ask(path, test),
        Filter::Refused(operator) => Filter::Refused(operator.clone()),
    }
}

fn same(path: &str, test: &Test) -> Filter {
    Filter::At(path.to_owned(), test.clone())
}

fn any<const N: usize>(path: &str, tests: [Test; N]) -> Filter {
    Filter::Or(tests.iter().map(|test| same(path, test)).collect())
}

fn all<const N: usize>(path: &str, tests: [Test; N]) -> Filter {
    Filter::And(tests.iter().map(|test| same(path, test)).collect())
}

// ---- types -------------------------------------------------------------------------------------

fn only(number: i32) -> Test {
    Test::Type(vec![TypeName::One(number)])
}

fn is_of_numbers(name: &TypeName) -> bool {
    matches!(name, TypeName::One(1 | 16 | 18 | 19))
}

fn all_types_but(number: i32) -> Vec<TypeName> {
    let all = (-1..=19).chain([127]).filter(|one| *one != 0 && *one != number);
    all.map(TypeName::One).collect()
}

/// The types whose class is such, of the commonest.
fn types(is_such: impl Fn(i32) -> bool) -> Vec<TypeName> {
    let samples = [
        (10, Bson::Null),
        (1, Bson::Double(0.0)),
        (16, Bson::Int32(0)),
        (18, Bson::Int64(0)),
        (2, Bson::String(String::new())),
        (3, Bson::Document(Document::new())),
        (8, Bson::Boolean(false)),
        (9, Bson::DateTime(bson::DateTime::from_millis(0))),
    ];
    let such = samples.iter().filter(|(_, sample)| is_such(class(sample)));
    such.map(|(number, _)| TypeName::One(*number)).collect()
}

/// The document with nothing in its arrays.
fn with_empty_arrays(document: &Document) -> Document {
    let emptied = |value: &Bson| match value {
        Bson::Array(_) => Bson::Array(Vec::new()),
        Bson::Document(inner) => Bson::Document(with_empty_arrays(inner)),
        value => value.clone(),
    };
    document.iter().map(|(name, value)| (name.clone(), emptied(value))).collect()
}
