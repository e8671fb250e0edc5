//! Which operations, and when?

use ttlspec_model::Millis;
use ttlspec_model::mongodb::{CollectionOptions, Doc, Op, Value, Via};

use super::any::{identified, identity};
use super::coll_mod::coll_mod;
use super::collection::collection;
use super::index::{NAMES, spec};
use super::number::seconds;
use super::versions::version;
use crate::values::{Source, count, instant, one_of, pick};

/// Any operation.
pub fn op(source: &mut dyn Source) -> Op {
    one_of(
        source,
        &[
            (10, |_| Op::Pass),
            (12, |source| Op::Insert(Doc(identified(source)))),
            (8, |source| Op::CreateIndex(Doc(spec(source)))),
            (3, |source| Op::Replace(Doc(identified(source)))),
            (2, |source| Op::Remove(Value(identity(source)))),
            (3, |source| Op::CollMod(Doc(coll_mod(source)))),
            (2, |source| Op::DropIndex(name(source))),
            (2, |source| Op::Arrive {
                index: Doc(spec(source)),
                via: via(source),
                from: version(source),
            }),
            (2, |source| Op::CreateCollection(options(source))),
            (1, |_| Op::Find),
            (1, |_| Op::ListIndexes),
        ],
    )
}

/// An operation and its instant. The clock may go backwards from one to the next.
pub fn step(source: &mut dyn Source) -> (Millis, Op) {
    (instant(source), op(source))
}

/// Up to so many operations in order.
pub fn steps(source: &mut dyn Source, most: usize) -> Vec<(Millis, Op)> {
    (0..count(source, most)).map(|_| step(source)).collect()
}

fn name(source: &mut dyn Source) -> String {
    pick(source, &[NAMES[0], NAMES[1], NAMES[2], NAMES[3], "missing", ""]).to_owned()
}

fn via(source: &mut dyn Source) -> Via {
    pick(source, &[Via::Upgraded, Via::Synced, Via::Restored, Via::Downgraded, Via::Created])
}

fn options(source: &mut dyn Source) -> CollectionOptions {
    match source.choose(10) {
        0 | 1 => CollectionOptions::Plain,
        2 | 3 => CollectionOptions::Capped,
        4 => CollectionOptions::View,
        5 => CollectionOptions::WithSeconds(Value(seconds(source))),
        _ => CollectionOptions::With(Doc(collection(source))),
    }
}
