//! Specification, one by one, and counted: the same passes at the same instants.

use ttlspec_simulate::{Script, Way, read, run};

use crate::draw;
use crate::played::{Seen, play};

fn seen(script: &Script, way: Way) -> Seen {
    let outcome = run(script, way).expect("what the specification plays can be played");
    let of_oplog = outcome.oplog.map_or(0, |oplog| oplog.deletes);
    let in_oplog = outcome.oplog.map_or(0, |_| outcome.passes.deleted);
    Seen {
        passes: outcome.listed,
        counters: outcome.counters,
        indexes: outcome.indexes.into_iter().map(|index| (index.ages, index.left)).collect(),
        entries: (of_oplog, in_oplog),
        refused: outcome.refused,
        in_one_go: 0,
    }
}

/// What was drawn and is no script, as an index that was dropped is spoken of, is left out.
fn drawn(seeds: std::ops::Range<u64>) -> Vec<(u64, Script)> {
    let mut scripts = Vec::new();
    for seed in seeds {
        let text = draw::script(seed);
        if let Ok(script) = read("drawn.toml", &text, None)
            && run(&script, Way::Singly).is_ok()
        {
            scripts.push((seed, script));
        }
    }
    scripts
}

#[test]
fn the_simulator_does_what_the_specification_does() {
    let scripts = drawn(0..430);
    assert!(scripts.len() > 200, "most of what is drawn is a script, not {}", scripts.len());
    let (mut deleted, mut in_one_go) = (0, 0);

    for (seed, script) in &scripts {
        let mut expected = play(script);
        in_one_go += std::mem::take(&mut expected.in_one_go);
        let singly = seen(script, Way::Singly);
        let counted = seen(script, Way::Counted);

        let text = draw::script(*seed);
        assert_eq!(singly, expected, "seed {seed}, one by one:\n{text}");
        assert_eq!(counted, expected, "seed {seed}, counted:\n{text}");
        deleted += expected.passes.iter().map(|pass| pass.deleted).sum::<u64>();
    }

    assert!(deleted > 5_000, "something happens: {deleted}");
    assert!(in_one_go > 500, "many passes are undisturbed: {in_one_go}");
}

#[test]
fn counting_does_what_one_by_one_does_to_thousands() {
    let (mut played, mut deleted) = (0, 0);
    for seed in 0..300 {
        let text = draw::larger(seed);
        let Ok(script) = read("drawn.toml", &text, None) else { continue };
        let Ok(singly) = run(&script, Way::Singly) else { continue };
        let counted = run(&script, Way::Counted).expect("it was played one by one");

        assert_eq!(counted, singly, "seed {seed}:\n{text}");
        played += 1;
        deleted += singly.passes.deleted;
    }

    assert!(played > 150 && deleted > 300_000, "{played} played, {deleted} deleted");
}
