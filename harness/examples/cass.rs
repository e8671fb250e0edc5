use ttlspec_harness::System;
use ttlspec_harness::check::{Opener, opener};
use ttlspec_model::Reference;
use ttlspec_model::cassandra::Cassandra;
fn main() {
    let open: Opener<Cassandra> = opener(Reference::<Cassandra>::open);
    for property in Cassandra::properties() {
        let tally = property.run(1, 2000, &open);
        println!(
            "{} held {} not there {} {:?}",
            tally.name,
            tally.held,
            tally.not_there,
            tally.failure.map(|(case, how)| {
                let mut out = how;
                for (at, (now, op)) in case.script.steps.iter().enumerate() {
                    out.push_str(&format!(
                        "\n  {at} {} {}",
                        now.0,
                        <Cassandra as ttlspec_harness::Notation>::op_to(op)
                    ));
                }
                println!("{:?} at {}\n{out}", case.script.config.table, case.at);
            })
        );
    }
    for claim in Cassandra::claims(false) {
        let start = std::time::Instant::now();
        let outcome = claim.run(&open, |_| {});
        println!(
            "{}: {} states depth {} complete {} {} {:?}",
            outcome.name,
            outcome.states,
            outcome.depth,
            outcome.is_complete,
            outcome.verdict,
            start.elapsed()
        );
        for way in outcome.ways {
            println!("   {}", way.short());
        }
        if let Some(c) = outcome.counterexample {
            for (now, op) in c.steps {
                println!(
                    "   {} {}",
                    now.0 - 1_700_000_000_000,
                    <Cassandra as ttlspec_harness::Notation>::op_to(&op)
                );
            }
        }
    }
}
