//! Small scripts, drawn from a seed.

use std::fmt::Write;

/// A source of choices.
pub struct Dice(u64);

impl Dice {
    pub fn new(seed: u64) -> Dice {
        Dice(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)
    }

    fn roll(&mut self, sides: u64) -> u64 {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % sides
    }

    fn is(&mut self, one_in: u64) -> bool {
        self.roll(one_in) == 0
    }

    fn of<'a, T>(&mut self, all: &'a [T]) -> &'a T {
        &all[self.roll(all.len() as u64) as usize]
    }
}

/// Each can follow the one before.
const VERSIONS: [&str; 9] =
    ["4.0.3", "4.2.1", "4.4.2", "5.0.20", "6.0.9", "6.3.1", "7.0.14", "8.0.4", "8.1.0"];

/// A script of some seconds and some dozens of documents, in which all that can happen happens soon.
pub fn script(seed: u64) -> String {
    let dice = &mut Dice::new(seed);
    let mut text = String::new();
    let version = dice.roll(VERSIONS.len() as u64) as usize;
    let is_batched = version >= 5;
    let members = 1 + dice.roll(3);
    let until = 8 + dice.roll(20);
    let line = |text: &mut String, line: String| writeln!(text, "{line}").expect("text grows");
    line(
        &mut text,
        format!("version = \"{}\"\nmembers = {members}\nuntil = \"{until}s\"", VERSIONS[version]),
    );
    line(
        &mut text,
        format!(
            "cost = {{ delete_us = {}, visit_us = {} }}",
            dice.of(&[0, 7, 333, 1_500, 40_000, 250_000]),
            dice.of(&[0, 0, 99, 2_500, 120_000]),
        ),
    );
    let sleep = 1 + dice.roll(4);
    let mut parameters = vec![format!("ttlMonitorSleepSecs = {sleep}")];
    let extra = [
        format!("ttlIndexDeleteTargetDocs = {}", dice.of(&[0, 1, 3, 10, 20, 25])),
        format!("ttlIndexDeleteTargetTimeMS = {}", dice.of(&[0, 1, 4, 100, 1_000])),
        format!("ttlMonitorSubPassTargetSecs = {}", dice.of(&[0, 0, 1, 2, 60])),
        format!("batchedDeletesTargetBatchDocs = {}", dice.of(&[0, 1, 2, 3, 10])),
        format!("ttlMonitorBatchDeletes = {}", !dice.is(4)),
    ];
    if is_batched {
        parameters.extend(extra.into_iter().filter(|_| !dice.is(3)));
    }
    line(&mut text, format!("parameters = {{ {} }}", parameters.join(", ")));
    let mut names = Vec::new();
    for collection in 0..1 + dice.roll(2) {
        line(&mut text, format!("[[collection]]\nname = \"app.c{collection}\""));
        let indexes = 1 + dice.roll(3);
        for index in 0..indexes {
            names.push((collection, index));
            line(
                &mut text,
                format!(
                    "[[collection.index]]\nname = \"i{index}\"\nexpireAfterSeconds = {}",
                    dice.of(&[0, 1, 2, 5])
                ),
            );
            if dice.is(3) {
                let share = dice.of(&["0.25", "[0.25, 1.0]", "[0.1, 0.6]", "0.5"]);
                line(&mut text, format!("share = {share}"));
            }
        }
        streams(dice, &mut text, until, sleep);
    }
    acts(dice, &mut text, until, members, version, &names);
    text
}

fn streams(dice: &mut Dice, text: &mut String, until: u64, sleep: u64) {
    let offsets = ["-2s", "-1500ms", "0s", "0s", "500ms", "3s"];
    let mut add = |line: String| writeln!(text, "{line}").expect("text grows");
    for _ in 0..1 + dice.roll(3) {
        match dice.roll(5) {
            0 => {
                let rate = dice.of(&["1", "2.5", "7.3", "0.4", "20"]);
                let from = dice.roll(until / 2);
                add(format!("[[collection.arrival]]\nrate = {rate}\nfrom = \"{from}s\""));
                add(format!("to = \"{}s\"\noffset = \"{}\"", from + 3, dice.of(&offsets)));
            }
            1 => {
                let documents = 1 + dice.roll(12);
                let every = 700 + dice.roll(3_000);
                add(format!(
                    "[[collection.batch]]\ndocuments = {documents}\nevery = \"{every}ms\""
                ));
                add(format!("from = \"{}ms\"\nto = \"7s\"", dice.roll(4_000)));
                add(format!("offset = \"{}\"", dice.of(&offsets)));
            }
            2 => {
                let documents = 1 + dice.roll(40);
                add(format!("[[collection.existing]]\ndocuments = {documents}"));
                add(format!("oldest = \"-{}s\"\nnewest = \"{}s\"", dice.roll(9), dice.roll(9)));
            }
            3 => {
                // One for each millisecond around the threshold of the first pass.
                let lives = dice.of(&[0, 1_000, 2_000, 5_000]);
                let edge = sleep as i64 * 1_000 + 1 - lives;
                let (oldest, newest) = (edge - 6, edge + 6);
                add("[[collection.existing]]\ndocuments = 12".to_owned());
                add(format!("oldest = \"{oldest}ms\"\nnewest = \"{newest}ms\""));
            }
            _ => {
                let mut at = 0;
                for _ in 0..1 + dice.roll(5) {
                    at += dice.roll(2_000);
                    if at >= until * 1_000 {
                        break;
                    }
                    let date = dice.roll(12_000) as i64 - 5_000;
                    add(format!("[[collection.document]]\nat = \"{at}ms\"\ndate = \"{date}ms\""));
                    add(format!("documents = {}", 1 + dice.roll(4)));
                }
            }
        }
        if dice.is(5) {
            add("[[collection.batch]]\ndocuments = 15\noffset = \"1s\"".to_owned());
            add(format!("from = \"{}s\"\njitter = {{ seconds = 4, seed = 3 }}", dice.roll(5)));
        }
    }
}

fn acts(
    dice: &mut Dice,
    text: &mut String,
    until: u64,
    members: u64,
    version: usize,
    names: &[(u64, u64)],
) {
    let mut at = 0;
    let mut has_primary = true;
    let mut version = version;
    let mut fresh = 0;
    for _ in 0..dice.roll(7) {
        at += 1 + dice.roll(3_500);
        if at >= until * 1_000 {
            return;
        }
        let (collection, index) = *dice.of(names);
        let of = format!("collection = \"app.c{collection}\"");
        let act = match dice.roll(8) {
            _ if !has_primary => {
                has_primary = true;
                let clock = dice.of(&["", "clock = \"1500ms\"", "clock = \"-700ms\""]);
                if fresh == 0 && members > 1 && !clock.is_empty() {
                    fresh = 1;
                    format!("step_up = {{ member = {}, {clock} }}", members - 1)
                } else {
                    format!("step_up = {{ member = {} }}", dice.roll(members))
                }
            }
            0 => format!("set = {{ ttlMonitorSleepSecs = {} }}", 1 + dice.roll(6)),
            1 => format!("monitor = {}", dice.is(2)),
            2 | 3 if members > 1 => {
                has_primary = false;
                "step_down = true".to_owned()
            }
            4 => format!(
                "coll_mod = {{ {of}, index = \"i{index}\", expireAfterSeconds = {} }}",
                dice.roll(5)
            ),
            5 => {
                let to = (version + dice.roll(3) as usize).saturating_sub(1);
                let to = to.min(VERSIONS.len() - 1);
                let verb = if to >= version { "upgrade" } else { "downgrade" };
                version = to;
                format!("{verb} = \"{}\"", VERSIONS[to])
            }
            6 => format!(
                "create_index = {{ {of}, name = \"late{at}\", expireAfterSeconds = {} }}",
                dice.roll(4)
            ),
            _ => format!("drop_index = {{ {of}, name = \"i{index}\" }}"),
        };
        writeln!(text, "[[do]]\nat = \"{at}ms\"\n{act}").expect("text grows");
    }
}

/// A script of some minutes and thousands of documents.
pub fn larger(seed: u64) -> String {
    let dice = &mut Dice::new(seed ^ 0xabcd_ef01);
    let mut text = String::new();
    let version = dice.roll(VERSIONS.len() as u64) as usize;
    let members = 1 + dice.roll(2);
    let until = 200 + dice.roll(200);
    let mut add = |line: String| writeln!(text, "{line}").expect("text grows");
    add(format!("version = \"{}\"\nmembers = {members}\nuntil = \"{until}s\"", VERSIONS[version]));
    add(format!(
        "cost = {{ delete_us = {}, visit_us = {} }}",
        dice.of(&[0, 13, 900, 4_000, 20_000]),
        dice.of(&[0, 77, 5_000])
    ));
    if members > 1 {
        add("secondary = { apply_per_second = 20 }".to_owned());
    }
    add(format!("parameters = {{ ttlMonitorSleepSecs = {} }}", 1 + dice.roll(40)));
    let mut names = Vec::new();
    for collection in 0..1 + dice.roll(3) {
        add(format!("[[collection]]\nname = \"app.c{collection}\"\ndocument_bytes = 300"));
        let is_jittered = dice.is(2);
        for index in 0..1 + dice.roll(2) {
            names.push((collection, index));
            let seconds = dice.of(&[0, 3, 20, 60]);
            add(format!(
                "[[collection.index]]\nname = \"i{index}\"\nexpireAfterSeconds = {seconds}"
            ));
            if !is_jittered && dice.is(2) {
                add(format!("share = {}", dice.of(&["0.3", "[0.3, 1.0]", "[0.2, 0.7]"])));
            }
        }
        for _ in 0..1 + dice.roll(3) {
            let jitter = if is_jittered { "jitter = { seconds = 30, seed = 5 }" } else { "" };
            let offset = dice.of(&["0s", "0s", "1500ms", "20s"]);
            match dice.roll(3) {
                0 => {
                    let rate = dice.of(&["3", "17.5", "40", "1200"]);
                    let from = dice.roll(until / 2);
                    let to = from + if *rate == "1200" { 3 } else { 90 };
                    add(format!("[[collection.arrival]]\nrate = {rate}\nfrom = \"{from}s\""));
                    add(format!("to = \"{to}s\"\noffset = \"{offset}\"\n{jitter}"));
                }
                1 => {
                    let documents = 1 + dice.roll(400);
                    let every = 700 + dice.roll(60_000);
                    add(format!(
                        "[[collection.batch]]\ndocuments = {documents}\nevery = \"{every}ms\""
                    ));
                    add(format!("offset = \"{offset}\"\n{jitter}"));
                }
                _ => {
                    let documents = 1 + dice.roll(3_000);
                    add(format!("[[collection.existing]]\ndocuments = {documents}"));
                    add(format!("oldest = \"-{}s\"\nnewest = \"0s\"", dice.roll(90)));
                }
            }
        }
    }
    acts(dice, &mut text, until / 10, members, version, &names);
    text
}
