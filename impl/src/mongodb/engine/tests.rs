//! What only an engine does: much at once, and going back.

use bson::{DateTime, Document, doc};
use ttlspec_model::engine::Engine;
use ttlspec_model::mongodb::{Config, Cost, Doc, Op, Place, Reply, Value, Version};
use ttlspec_model::time::Millis;

use super::MongoEngine;

const VERSION: Version = Version::new(7, 0, 14);

fn server() -> MongoEngine {
    let mut server = MongoEngine::open(&Config { version: VERSION });
    create(&mut server, doc! { "key": { "t": 1 }, "name": "ttl", "expireAfterSeconds": 10 });
    server
}

fn ask(server: &mut MongoEngine, at_ms: i64, op: Op) -> Reply {
    server.apply(Millis(at_ms), &op).expect("the engine has all words")
}

fn done(server: &mut MongoEngine, op: Op) {
    assert_eq!(ask(server, 0, op.clone()), Reply::Ok, "{op:?}");
}

fn create(server: &mut MongoEngine, spec: Document) {
    done(server, Op::CreateIndex(Doc(spec)));
}

fn insert(server: &mut MongoEngine, id: i32, date_ms: i64) {
    let document = doc! { "_id": id, "t": DateTime::from_millis(date_ms) };
    done(server, Op::Insert(Doc(document)));
}

fn on(member: u8, op: Op) -> Op {
    op.at(Place::member(member))
}

fn found(server: &mut MongoEngine, member: u8) -> Vec<Value> {
    match ask(server, 0, on(member, Op::Find)) {
        Reply::Found(ids) => ids,
        other => panic!("expected documents, found {other:?}"),
    }
}

fn ids(ids: impl IntoIterator<Item = i32>) -> Vec<Value> {
    ids.into_iter().map(Value::from).collect()
}

#[test]
fn a_turn_deletes_thousands_of_one_date_by_age_though_slots_are_used_again() {
    let mut server = server();
    for id in 0..9_000 {
        insert(&mut server, id, 0);
    }
    for id in (0..9_000).step_by(3) {
        assert_eq!(ask(&mut server, 0, Op::Remove(Value::from(id))), Reply::Matched(1));
    }
    for id in 10_000..12_000 {
        insert(&mut server, id, 0);
    }

    let reply = ask(&mut server, 100_000, Op::Wake(Cost::default()));

    let Reply::Woke(woke) = reply else { panic!("expected a turn, found {reply:?}") };
    let deleted: Vec<Value> = woke.visits[0].batches.concat();
    let expected = (0..9_000).filter(|id| id % 3 > 0).chain(10_000..12_000);
    assert_eq!(deleted, ids(expected));
    assert!(woke.visits[0].batches.iter().all(|batch| batch.len() == 10));
}

#[test]
fn a_pass_in_the_middle_of_a_visit_finds_all_and_the_visit_goes_on() {
    let mut server = server();
    for id in 0..50 {
        insert(&mut server, id, i64::from(id));
    }
    let tick = |server: &mut MongoEngine, at_ms: i64| ask(server, at_ms, Op::Tick);
    for at_ms in [0, 60_001, 60_001] {
        tick(&mut server, at_ms);
    }

    let passed = ask(&mut server, 10_020, Op::Pass);
    let committed = tick(&mut server, 60_001);
    insert(&mut server, 60, 45);
    let staged = tick(&mut server, 60_001);

    let deleted = ids(0..=20);
    assert_eq!(passed, Reply::Passed { deleted, skipped: Vec::new() });
    let Reply::Ticked(committed) = committed else { panic!("a tick is answered so") };
    assert_eq!(
        format!("{:?}", committed.did),
        format!("Commit {{ deleted: [], kept: {:?} }}", ids(0..10))
    );
    let Reply::Ticked(staged) = staged else { panic!("a tick is answered so") };
    assert_eq!(format!("{:?}", staged.did), format!("Stage({:?})", ids(21..31)));
}

#[test]
fn a_rollback_brings_back_all_that_was_there() {
    let mut server = server();
    (0..5).for_each(|id| insert(&mut server, id, 0));
    done(&mut server, Op::Join(VERSION));
    done(&mut server, Op::Join(VERSION));
    let before = found(&mut server, 0);
    let indexes = ask(&mut server, 0, Op::ListIndexes);

    insert(&mut server, 7, 0);
    assert_eq!(ask(&mut server, 0, Op::Remove(Value::from(1))), Reply::Matched(1));
    done(&mut server, Op::DropIndex("*".to_owned()));
    create(&mut server, doc! { "key": { "u": 1 }, "name": "u" });
    ask(&mut server, 100_000, Op::Wake(Cost::default()));
    done(&mut server, Op::RenameCollection("test.d".to_owned()));
    insert(&mut server, 9, 0);
    done(&mut server, on(1, Op::StepUp));
    let applied = ask(&mut server, 0, on(0, Op::Apply(10)));

    assert_eq!(applied, Reply::Applied { entries: 0, rolled_back: 7 });
    assert_eq!(found(&mut server, 0), before);
    assert_eq!(ask(&mut server, 0, on(0, Op::ListIndexes)), indexes);
    done(&mut server, on(0, Op::StepUp));
    let passed = ask(&mut server, 100_000, Op::Pass);
    assert_eq!(passed, Reply::Passed { deleted: before, skipped: Vec::new() });
}

#[test]
fn what_all_members_have_is_forgotten() {
    let mut server = server();
    done(&mut server, Op::Join(VERSION));
    (0..100).for_each(|id| insert(&mut server, id, 0));

    let applied = ask(&mut server, 0, on(1, Op::Apply(60)));

    assert_eq!(applied, Reply::Applied { entries: 60, rolled_back: 0 });
    let logs: Vec<usize> =
        server.deployment.members.iter().map(|member| member.log.entries().count()).collect();
    assert_eq!(logs, [40, 0]);
}
