//! Which laws does the book of MongoDB have, and where do their premises occur?
//!
//! Each is told once more here, from the documents and the stored specifications, and with as little
//! of the deciding code as can be: dates are read off the documents, and thresholds are added up in
//! 128 bits.

use ttlspec_model::mongodb::{MongoDb, code};

use crate::check::tables::{hazards, laws};

mod expiry;
mod hazard;
mod index;
mod kinds;
mod member;
mod nan;
mod see;
mod turn;

use expiry::*;
use hazard::*;
use index::*;
use kinds::*;
use member::*;
use nan::*;
use turn::*;

laws! {
    MongoDb;

    /// No pass deletes a document before a date of it, and the lifetime, have passed.
    BEFORE = "mongodb.threshold.before", never_early, something_is_pending;
    /// A pass deletes every document whose date, and the lifetime, have passed: at that instant too.
    FROM = "mongodb.threshold.from", never_late, something_is_due_this_instant;
    /// A second pass at the same instant deletes nothing.
    ALL_AT_ONCE = "mongodb.pass.all", the_second_pass_finds_nothing, something_is_deleted;
    /// Deletions go by index, then by date, then by age.
    ORDER = "mongodb.pass.order", by_date_then_age, the_younger_goes_first;
    /// A document without a date stays.
    TYPE = "mongodb.date.type", no_date_no_deletion, a_dateless_document_outlives_another;
    /// The smallest date of an array decides, so no document keeps an expired one.
    EARLIEST = "mongodb.date.earliest", no_expired_date_is_left, a_later_date_goes_along;
    /// A document outside the filter stays.
    OUTSIDE = "mongodb.filter.outside", outside_is_safe, something_due_is_outside;
    /// Without a TTL index nothing is deleted.
    PLAIN = "mongodb.index.plain", no_ttl_no_deletion, something_old_has_no_ttl;
    /// Hiding an index changes nothing about what it deletes.
    HIDDEN = "mongodb.index.hidden", |walk, seen| flag_is_inert(walk, seen, "hidden"),
        |walk, seen| flagged_index_deletes(walk, seen, "hidden");
    /// A sparse index deletes what it would delete if it were not sparse.
    SPARSE = "mongodb.index.sparse", |walk, seen| flag_is_inert(walk, seen, "sparse"),
        |walk, seen| flagged_index_deletes(walk, seen, "sparse");
    /// A unique index deletes what it would delete if it were not unique.
    UNIQUE = "mongodb.index.unique", |walk, seen| flag_is_inert(walk, seen, "unique"),
        |walk, seen| flagged_index_deletes(walk, seen, "unique");
    /// A descending index deletes what it would delete if it were ascending.
    DIRECTION = "mongodb.index.direction", direction_is_inert, a_descending_index_deletes;
    /// A pass deletes what each index alone would delete, and no more.
    ANY_INDEX = "mongodb.life.any-index", the_union_of_each_alone, both_indexes_delete_alone;
    /// A document is deleted whole, or it stays as it is.
    WHOLE = "mongodb.life.whole", whole_or_as_it_was, something_stays_and_something_goes;
    /// What one instant deletes, a later one deletes too.
    CLOCK = "mongodb.life.clock", later_deletes_no_less, later_deletes_more;
    /// Reads find every document, expired or not.
    UNTIL_PASS = "mongodb.visibility.until-pass", reads_find_all, reads_find_the_expired;
    /// No two documents have one `_id`.
    ID_TAKEN = "mongodb.visibility.id-taken", ids_are_different, two_documents;
    /// No two documents have one key in a unique index.
    KEY_TAKEN = "mongodb.visibility.key-taken", unique_keys_are_different, unique_beside_two;
    /// No two indexes have one name.
    SAME_NAME = "mongodb.index.same-name", names_are_different, two_indexes;
    /// What createIndexes stores lies from 0 to 2147483647.
    INT32 = "mongodb.index.int32", stored_seconds_are_valid, a_ttl_index;
    /// A negative lifetime deletes before the date has come, and not earlier than it says.
    NEGATIVE = "mongodb.threshold.negative", never_early, deleted_in_advance;
    /// A stored NaN deletes nothing, and is reported.
    NAN_SKIPPED = "mongodb.nan.skipped", |walk, seen| nan_is_reported(walk, seen, LOG_VALUES),
        nan_beside_something_old;
    /// A stored NaN deletes what 0 would delete.
    NAN_ZERO = "mongodb.nan.zero", nan_is_zero, nan_deletes;
    /// A stored NaN fails the visit, and deletes nothing.
    NAN_OVERFLOWS = "mongodb.nan.overflows",
        |walk, seen| nan_is_reported(walk, seen, &[code::DURATION_OVERFLOW]),
        nan_beside_something_old;
    /// createIndexes stores no NaN: it stores 2147483647 for it.
    NAN_STORED_AS_MAX = "mongodb.nan.stored-as-max", creation_adds_no_nan, creation_adds_the_maximum;
    /// createIndexes refuses NaN, and nothing changes.
    NAN_REFUSED = "mongodb.nan.refused", creation_of_nan_changes_nothing, no_index_is_there;
    /// A TTL index on a capped collection deletes nothing.
    CAPPED_INERT = "mongodb.index.capped-inert", capped_is_safe, capped_has_something_old;
    /// A TTL index on a capped collection deletes what it would delete in a plain one.
    CAPPED_WORKS = "mongodb.index.capped-works", capped_is_as_plain, capped_deletes;
    /// A view holds no document.
    VIEW = "mongodb.index.view", views_are_empty, a_view;
    /// An index that is hashed, or over several fields, deletes nothing and is reported.
    METHOD = "mongodb.pass.method", unusable_is_reported, something_unusable;
    /// A document of a clustered collection goes by its key or by an index, and by nothing else.
    CLUSTERED = "mongodb.clustered.expired", keys_and_dates_decide, a_key_expires_this_instant;
    /// A bucket goes a whole span after its time has come, and no later.
    BUCKET = "mongodb.bucket.expired", whole_spans_decide, a_bucket_expires;
    /// No measurement goes before its own time has come.
    MEASUREMENT = "mongodb.bucket.before", no_measurement_dies_early, an_expired_measurement_stays;
    /// A collection with dates out of range keeps all of its buckets.
    BUCKET_OFF = "mongodb.bucket.off", extended_is_left_alone,
        an_extended_collection_has_something_old;
    /// Dates out of range make no measurement go before its time.
    TWO_SCANS = "mongodb.bucket.two-scans", extended_measurements_are_safe,
        an_extended_bucket_expires;

    /// No turn deletes a document before its date, and the lifetime, have passed by the clock that
    /// the visit began with.
    CLOCK_VISIT = "mongodb.monitor.clock-visit", no_turn_is_early, a_turn_deletes;
    /// No turn deletes a document before its date, and the lifetime, have passed by the clock that
    /// the pass began with.
    CLOCK_PASS = "mongodb.monitor.clock-pass", no_turn_is_early, a_turn_deletes;
    /// Each member deletes by its own clock, and what is due by that one only.
    OWN_CLOCK = "mongodb.life.clock", no_turn_is_early, a_clock_ahead_deletes_more;
    /// When nobody writes any more, all that can be deleted is gone by the first pass that begins.
    NONE_LEFT = "mongodb.visit.sub-pass-again", all_is_gone_in_the_end, one_turn_is_too_few;
    /// When nobody writes any more, all that can be deleted is gone by the first pass that begins.
    NONE_LEFT_SINGLY = "mongodb.visit.singly", all_is_gone_in_the_end, one_turn_is_too_few;
    /// A monitor that was off for a while has deleted the same, once it is on again.
    OFF_AND_ON = "mongodb.monitor.disabled", off_and_on_loses_nothing, while_off_something_stays;
    /// However one index is fed, each other one that waits is visited before a second round ends.
    EACH_ITS_VISIT = "mongodb.visit.rounds", each_index_has_its_visit, something_waits;
    /// No counter ever runs backwards.
    COUNTERS = "mongodb.monitor.counters", counters_never_run_backwards, a_turn_is_counted;
    /// Each document that is deleted is counted once, but for those of a visit that is cut short.
    DELETED = "mongodb.monitor.deleted", counters_add_up, two_are_deleted_and_counted;
    /// A turn deletes nothing while the monitor is off.
    OFF = "mongodb.monitor.disabled", off_is_off, off_spares;
    /// A turn deletes nothing while the server is locked.
    FSYNC = "mongodb.monitor.fsync", locked_is_locked, locked_spares;
    /// A turn deletes nothing of users while their writes are blocked.
    BLOCKED = "mongodb.monitor.blocked", blocked_is_blocked, blocked_spares;
    /// A turn deletes nothing from the temporary collection of a resharding.
    RESHARDING = "mongodb.shard.resharding", resharding_is_left_alone, resharding_has_something_old;
    /// A turn deletes no document of another shard.
    ORPHANS = "mongodb.shard.orphans", orphans_are_left_alone, an_orphan_is_old;
    /// A turn deletes documents of another shard like all others.
    ORPHANS_DELETED = "mongodb.shard.orphans-deleted", orphans_go_with_the_rest, an_orphan_is_old;
    /// A turn deletes on its own member only, and there only if that is the primary.
    PRIMARY_ONLY = "mongodb.replication.primary-only", only_the_primary_deletes,
        a_secondary_has_something_old;
    /// The turn of a secondary deletes what has expired in its own database `local`.
    LOCAL = "mongodb.replication.local", a_secondary_deletes_in_local,
        a_secondary_has_something_old_in_local;
    /// The turn of a secondary changes nothing, and counts nothing.
    NOT_PRIMARY = "mongodb.monitor.not-primary", a_secondary_does_nothing,
        a_secondary_has_something_old_in_local;
    /// Two members had the same documents wherever they have the same entries.
    FOLLOWS = "mongodb.replication.apply", members_had_the_same,
        a_secondary_lags_behind_a_deletion;
    /// A member that rolls back has what the primary had there: what it had deleted is back.
    ROLLBACK = "mongodb.replication.rollback", a_rollback_brings_back, a_deletion_is_rolled_back;
    /// Whoever was elected has no seconds that its version repairs.
    REPAIR = "mongodb.replication.repair", the_elected_has_repaired, something_needed_repair;
    /// Whoever was elected has whole seconds.
    REPAIR_FRACTION = "mongodb.replication.repair-fraction", the_elected_has_no_fraction,
        a_secondary_still_has_a_fraction;
}

hazards! {
    MongoDb;

    /// A document that left the filter after it was chosen is deleted all the same.
    FILTER_RACE = "mongodb.visit.filter-race", "outside the filter, and deleted", outside_is_deleted;
    /// A visit deletes what would have lived longer since collMod made the lifetime longer.
    THRESHOLD_KEPT = "mongodb.visit.threshold-kept", "spared by collMod, and deleted",
        condemned_by_what_was;
    /// Documents are gone, and no counter tells of them.
    UNCOUNTED = "mongodb.visit.uncounted", "deleted, and not counted", deleted_and_not_counted;
    /// One index is visited as long as it is fed, and another waits.
    STARVATION = "mongodb.visit.singly", "one index is fed, another waits",
        one_is_fed_and_another_waits;
    /// A server deletes, after an upgrade, what it kept before.
    UPGRADE = "mongodb.nan.zero", "an upgrade deletes what was kept", an_upgrade_deletes;
    /// A member that joined with newer binaries deletes what its source kept.
    NEWER_MEMBER = "mongodb.nan.zero", "a newer member deletes what was kept",
        a_newer_member_deletes;
    /// A member that joined from a newer source deletes what its own version keeps.
    OLDER_MEMBER = "mongodb.nan.synced", "an older member deletes what was kept",
        an_older_member_deletes;
    /// Two members of one set have different numbers for one index.
    NUMBERS_DIFFER = "mongodb.nan.synced", "two members have different seconds", numbers_differ;
    /// After a fail-over a document is deleted that the primary before would have kept.
    ANOTHER_KEEPS = "mongodb.nan.synced", "a member deletes what another keeps", another_would_keep;
    /// Members that differ by a fraction delete differently.
    FRACTION_DELETES = "mongodb.threshold.whole-seconds", "a fraction more, and deleted",
        another_would_keep_by_a_fraction;
}
