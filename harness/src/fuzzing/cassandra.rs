//! What do a fuzzer's bytes stand for, where they are about Cassandra only?

use arbitrary::Unstructured;
use ttlspec_model::cassandra::words::Statement;
use ttlspec_model::cassandra::{Cassandra, Op, Reply};
use ttlspec_model::{Engine, Millis};

use crate::recording;
use crate::values::{Source, cassandra as values};

/// How many writes meet.
const WRITES: usize = 3;

/// Writes that the bytes stand for come in every order, each to an sstable of its own, and one of
/// them twice: what is merged is the same.
///
/// # Panics
/// Where it is not, with both.
pub fn cells(
    bytes: &[u8],
    open: impl Fn(&ttlspec_model::cassandra::Config) -> Box<dyn Engine<Cassandra>>,
) {
    let mut choices = Unstructured::new(bytes);
    let source: &mut dyn Source = &mut choices;
    let mut config = values::config(source);
    config.table.view = None;
    config.table.gc_grace_seconds = 864_000;
    let writes: [(Millis, Statement); WRITES] = std::array::from_fn(|_| {
        let at = values::START + source.choose(4) as i64;
        let mut statement = values::statement(source, &config.table);
        // Below the two smallest timestamps a collection can be empty and yet be there.
        statement.timestamp = statement.timestamp.map(|ts| ts.max(i64::MIN + 2));
        (Millis(at * 1_000), statement)
    });
    let end = Millis((values::START + 8) * 1_000);
    let merged = |order: &[usize]| -> Option<Reply> {
        let mut engine = open(&config);
        for at in order {
            let (now, statement) = &writes[*at];
            engine.apply(*now, &Op::Write(vec![statement.clone()])).ok()?;
            engine.apply(*now, &Op::Flush).ok()?;
        }
        engine.apply(end, &Op::Merged).ok()
    };
    let Some(expected) = merged(&[0, 1, 2, 2]) else { return };
    let orders: [&[usize]; 6] =
        [&[0, 2, 1, 0], &[1, 0, 2, 1], &[1, 2, 0, 1], &[2, 0, 1, 0], &[2, 1, 0, 2], &[0, 0, 1, 2]];
    for order in orders {
        let seen = merged(order).expect("it was played in another order");
        assert_eq!(seen, expected, "{writes:#?} in the order {order:?}");
    }
}

/// Reads the bytes as a history, and plays it on the specification where it is one.
pub fn observed(bytes: &[u8]) {
    /// What is longer is not played: it would be slow, not wrong.
    const MOST_STEPS: usize = 40;

    let Ok(value) = serde_json::from_slice(bytes) else { return };
    let Ok(history) = recording::history(value) else { return };
    if history.steps.len() <= MOST_STEPS {
        recording::play(&history, &recording::specification, &mut recording::Tally::default());
    }
}
