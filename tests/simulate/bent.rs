//! Scripts that are bent at every place are refused or played, and nothing else.

use ttlspec_simulate::{Way, read, run};

const SCRIPT: &str = r#"version = "4.0.3"
start = 2026-01-01T00:00:00Z
until = "3min"
members = 2
cost = { delete_us = 100, visit_us = 200 }
secondary = { apply_per_second = 50 }
oplog = { size = "1GiB" }
parameters = { ttlMonitorSleepSecs = 7 }
[[collection]]
name = "a.b"
document_bytes = 99
index = [{ name = "i", expireAfterSeconds = 9, share = [0.1, 0.9] }]
arrival = [{ rate = 2.5, from = "1s", to = "2min", offset = "-3s" }]
batch = [{ documents = 9, every = "20s", jitter = { seconds = 5, seed = 1 } }]
existing = [{ documents = 30, oldest = "-20s", newest = "4s" }]
document = [{ at = "1s", date = "-9s", documents = 3 }]
[[collection]]
name = "a.c"
partition = { every = "1min", keep = "0s" }
arrival = [{ rate = 1 }]
[[do]]
at = "30s"
step_down = true
[[do]]
at = "40s"
step_up = { clock = "-5s" }
[[do]]
at = "90s"
upgrade = "4.2.1"
[[do]]
at = "2min"
coll_mod = { collection = "a.b", index = "i", expireAfterSeconds = 2 }
"#;

#[test]
fn a_bent_script_is_refused_with_a_line_or_played() {
    let (mut played, mut refused) = (0, 0);
    let bends = ["", "9", "-", "\"", "=", "[", "]", "{", ".", "e", "\u{0}", "99999999999", "é"];
    for at in 0..SCRIPT.len() {
        for bend in bends {
            for cut in [0, 1] {
                let text = format!("{}{bend}{}", &SCRIPT[..at], &SCRIPT[at + cut..]);
                let script = match read("bent.toml", &text, Some("3min")) {
                    Ok(script) if script.documents() < 20_000 => script,
                    Ok(_) => continue,
                    Err(fault) => {
                        assert!(!fault.what.is_empty() && !fault.fix.is_empty(), "{text}");
                        refused += 1;
                        continue;
                    }
                };
                match run(&script, Way::Counted) {
                    Ok(_) => played += 1,
                    Err(_) => refused += 1,
                }
            }
        }
    }

    assert!(played > 1_000 && refused > 10_000, "{played} played, {refused} refused");
}

#[test]
fn the_script_as_it_stands_is_played_alike_in_both_ways() {
    let script = read("bent.toml", SCRIPT, None).expect("it is a script");

    let counted = run(&script, Way::Counted).expect("it is played");

    assert_eq!(counted, run(&script, Way::Singly).expect("it is played"));
    assert!(counted.passes.deleted > 200, "{:?}", counted.passes);
    assert_eq!(counted.partitions[0].parts, 2);
}
