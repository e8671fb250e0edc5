//! The command tells what came of a script.

use crate::told::{SCRIPT, act, data, path, said, scratch, simulate, write};

#[test]
fn a_script_is_played_and_told_in_a_table_and_in_words() {
    let file = scratch("plain").join("plain.toml");
    write(&file, SCRIPT);

    let told = simulate(&[path(&file)]);

    assert_eq!(told.status.code(), Some(0), "{}", said(&told));
    for word in
        ["app.sessions/createdAt_1", "oplog", "passes", "the monitor keeps up", "lag at most"]
    {
        assert!(said(&told).contains(word), "no `{word}` in {}", said(&told));
    }
}

#[test]
fn equal_scripts_are_told_and_drawn_equal_to_the_byte() {
    let folder = scratch("equal");
    let file = folder.join("equal.toml");
    write(&file, &SCRIPT.replace("rate = 50", "rate = 50\njitter = { seconds = 90, seed = 4 }"));
    let (one, other) = (folder.join("one.svg"), folder.join("other.svg"));

    let first = simulate(&[path(&file), "--json", "--svg", path(&one)]);
    let second = simulate(&[path(&file), "--json", "--svg", path(&other)]);

    assert_eq!(first.status.code(), Some(0), "{}", said(&first));
    assert_eq!(first.stdout, second.stdout);
    let svg = std::fs::read(&one).expect("it was drawn");
    assert_eq!(svg, std::fs::read(&other).expect("it was drawn"));
    let text = String::from_utf8(svg).expect("SVG is text");
    for word in [
        "<svg",
        "Backlog",
        "Deletions per pass",
        "Oplog",
        "Secondary",
        "How late documents were deleted",
        "time (minutes)",
    ] {
        assert!(text.contains(word), "no `{word}` in the picture");
    }
}

#[test]
fn the_data_adds_up() {
    let file = scratch("data").join("data.toml");
    write(&file, SCRIPT);

    let told = simulate(&[path(&file), "--json"]);
    let data: serde_json::Value = serde_json::from_slice(&told.stdout).expect("it is JSON");
    let sum = |list: &serde_json::Value, field: &str| {
        let all = list.as_array().expect("a list").iter();
        all.map(|one| one[field].as_u64().expect("a number")).sum::<u64>()
    };

    let deleted = data["passes"]["deleted"].as_u64().expect("a number");
    assert!(deleted > 10_000, "{deleted}");
    assert_eq!(sum(&data["passes"]["listed"], "deleted"), deleted);
    assert_eq!(sum(&data["columns"], "deleted"), deleted);
    assert_eq!(sum(&data["indexes"], "deleted"), deleted);
    assert_eq!(sum(&data["columns"], "came"), data["came"].as_u64().expect("a number"));
    assert_eq!(data["counters"][0]["deletedDocuments"], deleted);
}

#[test]
fn counting_and_holding_tell_the_same() {
    let file = scratch("ways").join("ways.toml");
    write(&file, SCRIPT);

    let counted = simulate(&[path(&file), "--json"]);
    let held = simulate(&[path(&file), "--json", "--singly"]);

    assert_eq!(counted.status.code(), Some(0));
    assert_eq!(counted.stdout, held.stdout);
}

#[test]
fn until_on_the_command_line_wins() {
    let file = scratch("until").join("until.toml");
    write(&file, SCRIPT);

    let told = simulate(&[path(&file), "--until", "5min"]);

    assert!(said(&told).contains("played    5 min"), "{}", said(&told));
}

#[test]
fn a_fast_clock_of_a_new_primary_shows_as_documents_deleted_before_their_time() {
    let file = scratch("clock").join("clock.toml");
    write(
        &file,
        &format!(
            "{SCRIPT}{}{}",
            act("6min", "step_down = true"),
            act("6min12s", "step_up = { clock = \"90s\" }")
        ),
    );

    let told = simulate(&[path(&file)]);

    assert!(said(&told).contains("before their time"), "{}", said(&told));
    assert!(said(&told).contains("600 were refused"), "{}", said(&told));
}

#[test]
fn an_upgrade_that_makes_nan_zero_deletes_everything() {
    let file = scratch("nan").join("nan.toml");
    let script = SCRIPT
        .replace("7.0.14", "4.4.10")
        .replace("expireAfterSeconds = 60", "expireAfterSeconds = nan");
    write(&file, &format!("{script}{}", act("6min", "upgrade = \"5.0.5\"")));

    let told = simulate(&[path(&file)]);

    assert_eq!(told.status.code(), Some(0), "{}", said(&told));
    let before = "counters  at 6 min, member 0: passes 5, deletedDocuments 0\n";
    assert!(said(&told).contains(before), "{}", said(&told));
    let after = "counters  at 10 min, member 0: passes 3, deletedDocuments 27,";
    assert!(said(&told).contains(after), "{}", said(&told));
}

#[test]
fn counters_hold_more_than_32_bits() {
    let counted = data(
        "many",
        "version = \"7.0.14\"\nuntil = \"2min\"\n\
         parameters = { batchedDeletesTargetBatchDocs = 1_000_000 }\n\
         [[collection]]\nname = \"app.a\"\n\
         index = [{ name = \"t\", expireAfterSeconds = 0 }]\n\
         existing = [{ documents = 5_000_000_000, oldest = \"0s\", newest = \"0s\" }]\n",
    );

    assert_eq!(counted["counters"][0]["deletedDocuments"], 5_000_000_000_u64);
    assert_eq!(counted["passes"]["deleted"], 5_000_000_000_u64);
}

#[test]
fn no_bound_is_told_shorter_than_it_is() {
    let file = scratch("bound").join("bound.toml");
    write(&file, &SCRIPT.replace("visit_us = 200", "visit_us = 828_000"));

    let told = simulate(&[path(&file)]);
    let most = data("bound", &SCRIPT.replace("visit_us = 200", "visit_us = 828_000"));
    let most = most["indexes"][0]["late_ms"]["most"].as_i64().expect("a number");

    assert!((60_001..61_000).contains(&most) || (61_001..62_000).contains(&most), "{most}");
    let up = format!("all within 1 min {} s.", (most - 60_000 + 999) / 1_000);
    let exactly = format!("1 min {}.{:03} s │", (most - 60_000) / 1_000, most % 1_000);
    assert!(said(&told).contains(&up), "{most}: {}", said(&told));
    assert!(said(&told).contains(&exactly), "{most}: {}", said(&told));
}

#[test]
fn what_came_is_deleted_left_or_not_due() {
    let jittered = SCRIPT.replace("rate = 50", "rate = 50\njitter = { seconds = 90, seed = 4 }");
    let existing =
        "[[collection.existing]]\ndocuments = 777\noldest = \"-9min\"\nnewest = \"20min\"\n";
    let refused = format!("{}{}", act("6min", "step_down = true"), act("7min", "step_up = {}"));
    let dropped =
        act("5min", "drop_index = { collection = \"app.sessions\", name = \"createdAt_1\" }");

    for (name, text) in [
        ("plain", SCRIPT.to_owned()),
        ("existing", format!("{SCRIPT}{existing}")),
        ("jittered", jittered.clone()),
        ("jittered refused", format!("{jittered}{refused}")),
        ("refused", format!("{SCRIPT}{refused}")),
        ("dropped", format!("{SCRIPT}{existing}{dropped}")),
    ] {
        let data = data(name, &text);
        let number = |of: &serde_json::Value| of.as_u64().expect("a number");
        let index = &data["indexes"][0];
        let there = number(&index["left"]) + number(&index["not_due"]);

        assert!(there > 0, "{name}");
        assert_eq!(
            number(&data["came"]) + number(&data["were_there"]),
            number(&index["deleted"]) + there,
            "{name}: {index}"
        );
    }
    let parts = SCRIPT.replace(
        "[[collection.index]]\nname = \"createdAt_1\"\nexpireAfterSeconds = 60\n",
        "partition = { every = \"2min\", keep = \"1min\" }\n",
    );
    let parts = data("parts", &parts);
    assert_eq!(parts["partitions"][0]["documents"], 50 * 360);
    assert_eq!(parts["partitions"][0]["there"], 50 * 240);
}

#[test]
fn a_version_that_was_not_read_is_noted() {
    let file = scratch("unread").join("unread.toml");
    write(&file, &SCRIPT.replace("7.0.14", "7.9.1"));

    let told = simulate(&[path(&file)]);

    let note = "no release 7.9 was read; 7.9.1 is taken to behave as 7.3";
    assert!(said(&told).contains(note), "{}", said(&told));
}

#[test]
fn a_server_alone_plays_its_own_collections() {
    let alone = SCRIPT
        .replace("members = 2", "members = 1")
        .replace("secondary", "#")
        .replace("app.sessions", "local.sessions");

    let data = data("alone", &alone);

    assert!(data["oplog"].is_null());
    assert!(data["passes"]["deleted"].as_u64() > Some(10_000), "{}", data["passes"]);
}

#[test]
fn much_that_is_done_or_indexed_is_told_in_part() {
    let folder = scratch("much");
    let file = folder.join("much.toml");
    let acts = (1..=100).map(|second| act(&format!("{second}s"), "monitor = true"));
    let more = (0..19).map(|index| {
        format!(
            "[[collection]]\nname = \"app.c{index}\"\n\
             [[collection.index]]\nname = \"t\"\nexpireAfterSeconds = 60\n\
             [[collection.arrival]]\nrate = 1\n"
        )
    });
    write(&file, &format!("{SCRIPT}{}{}", more.collect::<String>(), acts.collect::<String>()));
    let picture = folder.join("much.svg");

    let told = simulate(&[path(&file), "--svg", path(&picture)]);
    let svg = std::fs::read_to_string(&picture).expect("it was drawn");

    assert!(said(&told).contains("and 60 more things were done"), "{}", said(&told));
    assert_eq!(said(&told).matches("ttlMonitorEnabled = true").count(), 40);
    assert!(svg.contains("12 more are not drawn") && svg.contains("… and 88 more"));
    assert_eq!(svg.matches("app.sessions/createdAt_1").count(), 2, "the largest has its legend");
    assert_eq!(svg.matches("app.c").count(), 14, "beside seven others, in two panels");
}
