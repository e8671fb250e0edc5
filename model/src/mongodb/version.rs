//! Which server is it, and what can it do?
//!
//! A rule asks for a capability by name; the numbers stand here and nowhere else. Each answer names
//! the change that made it so, where one is known.

use std::fmt;

/// A server version, as three numbers. Suffixes of vendors and release candidates are dropped.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Version {
    /// The first number: 7 of 7.0.14.
    pub major: u16,
    /// The second number: 0 of 7.0.14.
    pub minor: u16,
    /// The third number: 14 of 7.0.14.
    pub patch: u16,
}

/// Why a string is no server version.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BadVersion(String);

impl fmt::Display for BadVersion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "expected a server version such as `7.0.14`, found `{}`", self.0)
    }
}

impl std::error::Error for BadVersion {}

/// The versions that behave alike for everything in the book, oldest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Profile {
    /// The name of the profile, which is its first version as the book writes it.
    pub name: &'static str,
    /// The first version that belongs to it.
    pub from: Version,
    /// Why it stands apart.
    pub apart: &'static str,
}

/// All profiles in order. A version belongs to the last one that does not come after it.
pub const PROFILES: [Profile; 12] = [
    profile("4.0", v(4, 0, 0), "nothing is checked at creation; any value is kept"),
    profile("4.2", v(4, 2, 0), "checks at creation; equal specifications under two names conflict"),
    profile("4.4", v(4, 4, 0), "hidden indexes; collMod always answers with both values"),
    profile("5.0.0", v(5, 0, 0), "NaN acts as 0; collMod is typed and clamps"),
    profile("5.0.14", v(5, 0, 14), "NaN is skipped, and kept as 2147483647 at creation"),
    profile("5.1", v(5, 1, 0), "collMod makes a TTL index; the age limit after the clamp"),
    profile("6.0.0", v(6, 0, 0), "NaN acts as 0; `$or` and `$in` in filters"),
    profile("6.0.2", v(6, 0, 2), "NaN is skipped; 2147483647 is accepted"),
    profile("6.1", v(6, 1, 0), "batched deletes and sub-passes"),
    profile("7.0", v(7, 0, 0), "NaN is refused; the whole specification is checked at a visit"),
    profile("7.3", v(7, 3, 0), "expireAfterSeconds is stored as a 32-bit integer"),
    profile("8.1", v(8, 1, 0), "one `now` a pass; the access method is tested first"),
];

const fn v(major: u16, minor: u16, patch: u16) -> Version {
    Version { major, minor, patch }
}

const fn profile(name: &'static str, from: Version, apart: &'static str) -> Profile {
    Profile { name, from, apart }
}

impl Version {
    /// A version from its three numbers.
    pub const fn new(major: u16, minor: u16, patch: u16) -> Version {
        v(major, minor, patch)
    }

    /// Reads any server version string: `7.0.14`, `v7.0`, `6.0.5-4`, `4.4.18-ent`, `8`.
    ///
    /// Beside the version come notes on what was dropped or filled in.
    ///
    /// # Errors
    /// [`BadVersion`] where the string does not begin with a number.
    pub fn parse(text: &str) -> Result<(Version, Vec<String>), BadVersion> {
        let bad = || BadVersion(text.to_owned());
        let mut notes = Vec::new();
        let bare = text.trim();
        let bare = bare.strip_prefix(['v', 'V', 'r']).unwrap_or(bare);
        let numbers_end =
            bare.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(bare.len());
        let (numbers, suffix) = bare.split_at(numbers_end);
        if !suffix.is_empty() {
            if !suffix.starts_with(['-', '+', '_', ' ']) {
                return Err(bad());
            }
            notes.push(format!("`{suffix}` of `{text}` does not count: read as {numbers}"));
        }
        let mut parts = numbers.split('.').map(|part| part.parse::<u16>());
        let major = parts.next().ok_or_else(bad)?.map_err(|_| bad())?;
        let minor = parts.next().transpose().map_err(|_| bad())?;
        let patch = parts.next().transpose().map_err(|_| bad())?;
        if parts.any(|part| part.is_err()) {
            return Err(bad());
        }
        let version = v(major, minor.unwrap_or(0), patch.unwrap_or(0));
        if patch.is_none() {
            notes.push(format!("`{text}` names no patch release: read as {version}"));
        }
        if version < PROFILES[0].from {
            notes.push(format!("{version} was not read; it is taken to behave as 4.0"));
        }
        if version.major > 8 {
            notes.push(format!("{version} is newer than what was read; taken to behave as 8.1"));
        }
        Ok((version, notes))
    }

    /// The profile that this version belongs to.
    pub fn profile(self) -> &'static Profile {
        PROFILES.iter().rev().find(|profile| profile.from <= self).unwrap_or(&PROFILES[0])
    }

    fn is(self, major: u16, minor: u16) -> bool {
        (self.major, self.minor) == (major, minor)
    }

    /// Carries the repair of NaN (SERVER-68477: 5.0.14, 6.0.2, 6.1.0).
    fn nan_is_repaired(self) -> bool {
        self >= v(6, 0, 2) || self.is(5, 0) && self.patch >= 14
    }

    // ---- creation ------------------------------------------------------------------------------

    /// Does createIndexes look at `expireAfterSeconds` at all? (SERVER-10075: 4.2.0)
    pub fn creation_is_checked(self) -> bool {
        self >= v(4, 2, 0)
    }

    /// Must `expireAfterSeconds` lie within the age of the epoch when an index is made?
    pub fn creation_is_limited_to_now(self) -> bool {
        self.creation_is_checked() && !self.nan_is_repaired()
    }

    /// Is NaN refused when an index is made? (The first release is not known: 6.1 to 7.0.)
    pub fn nan_is_refused(self) -> bool {
        self >= v(7, 0, 0)
    }

    /// Is NaN kept as 2147483647 when an index is made?
    pub fn nan_is_stored_as_max(self) -> bool {
        self.nan_is_repaired() && !self.nan_is_refused()
    }

    /// Is `expireAfterSeconds` stored as a 32-bit integer, whatever was given?
    pub fn seconds_are_stored_as_int32(self) -> bool {
        self >= v(7, 3, 0)
    }

    /// Is `hidden` an option of an index? (SERVER-9306: 4.4)
    pub fn hidden_is_known(self) -> bool {
        self >= v(4, 4, 0)
    }

    /// Is `prepareUnique` an option of an index? (6.0)
    pub fn prepare_unique_is_known(self) -> bool {
        self >= v(6, 0, 0)
    }

    /// Are wildcard indexes known? (4.2)
    pub fn wildcard_is_known(self) -> bool {
        self >= v(4, 2, 0)
    }

    /// Do an equal key and equal options under another name conflict? (SERVER-33149: 4.2)
    pub fn another_name_conflicts(self) -> bool {
        self >= v(4, 2, 0)
    }

    /// Do filter, unique and sparse tell indexes on one key apart? (SERVER-25023, SERVER-47657: 5.0)
    pub fn signature_has_options(self) -> bool {
        self >= v(5, 0, 0)
    }

    /// Are `$or`, `$in` and nested `$and` accepted in a partial filter? (6.0)
    pub fn filter_has_or_and_in(self) -> bool {
        self >= v(6, 0, 0)
    }

    /// Does a comparison with MinKey or MaxKey hold only on the side where they lie? (4.4; 4.2 was
    /// not read)
    pub fn extremes_are_ends(self) -> bool {
        self >= v(4, 4, 0)
    }

    /// Must `sparse` and `unique` be numbers or booleans? (5.0; 4.2 and 4.4 were not read)
    pub fn flags_are_typed(self) -> bool {
        self >= v(5, 0, 0)
    }

    /// Does createIndexes by mongorestore drop options that the server does not know? (4.1.9)
    pub fn restore_drops_unknown_options(self) -> bool {
        self >= v(4, 1, 9)
    }

    /// What a TTL index on a capped collection comes to.
    pub fn capped_ttl(self) -> CappedTtl {
        if self >= v(7, 1, 0) {
            CappedTtl::Works
        } else if self >= v(5, 2, 0) {
            CappedTtl::Refused
        } else {
            CappedTtl::Inert
        }
    }

    /// Is `expireAfterSeconds` an unknown field of `create` (error 40415)?
    pub fn create_is_strict_without_seconds(self) -> bool {
        self >= v(4, 2, 0) && self < v(5, 0, 0)
    }

    // ---- visits --------------------------------------------------------------------------------

    /// What a visit makes of a stored NaN.
    pub fn nan_at_visit(self) -> NanAtVisit {
        let tested = self.is(4, 2) && self.patch >= 23 || self.is(4, 4) && self.patch >= 16;
        if tested || self.nan_is_repaired() {
            NanAtVisit::Skipped
        } else if self >= v(5, 0, 0) {
            NanAtVisit::Zero
        } else {
            NanAtVisit::Overflows
        }
    }

    /// Is a stored double converted by a plain cast, which makes what does not fit the smallest
    /// integer?
    pub fn conversion_is_a_cast(self) -> bool {
        self < v(5, 0, 0)
    }

    /// Does a visit skip every index whose specification would be refused today?
    pub fn visit_checks_specification(self) -> bool {
        self >= v(7, 0, 0)
    }

    /// Does a visit look at the access method before the number of fields?
    pub fn visit_tests_method_first(self) -> bool {
        self >= v(8, 1, 0)
    }

    // ---- the monitor ---------------------------------------------------------------------------

    /// Does the monitor delete in batches, and work in rounds and sub-passes? (6.1)
    pub fn deletes_in_batches(self) -> bool {
        self >= v(6, 1, 0)
    }

    /// Is the clock read once a pass, and not at each visit? (8.1; not pinned)
    pub fn clock_is_read_once_a_pass(self) -> bool {
        self >= v(8, 1, 0)
    }

    /// Does a member that is not primary go back to sleep at once? (8.1; not pinned)
    pub fn monitor_asks_for_primary(self) -> bool {
        self >= v(8, 1, 0)
    }

    /// Is a pass counted when it begins, and not when it ends? (4.0; 4.2 and 4.4 were not read)
    pub fn passes_are_counted_first(self) -> bool {
        self < v(5, 0, 0)
    }

    /// Does another `ttlMonitorSleepSecs` change the sleep that goes on? (7.0)
    pub fn sleep_changes_at_once(self) -> bool {
        self >= v(7, 0, 0)
    }

    /// Is there `invalidTTLIndexSkips`? (8.1)
    pub fn invalid_skips_are_counted(self) -> bool {
        self >= v(8, 1, 0)
    }

    /// Can writes of users be blocked? (6.0)
    pub fn user_writes_can_be_blocked(self) -> bool {
        self >= v(6, 0, 0)
    }

    /// Are collections told apart by what they are, and not by their names? (5.0)
    pub fn collections_are_followed(self) -> bool {
        self >= v(5, 0, 0)
    }

    /// Are the documents of other shards left alone? (6.0)
    pub fn orphans_are_left_alone(self) -> bool {
        self >= v(6, 0, 0)
    }

    /// Is a visit that meets a stale shard version given up? (5.0)
    pub fn stale_visits_are_abandoned(self) -> bool {
        self >= v(5, 0, 0)
    }

    /// What a member that becomes primary repairs.
    pub fn step_up_repair(self) -> Repair {
        if self >= v(7, 3, 0) {
            Repair::InvalidAndFractions
        } else if self >= v(7, 0, 0) {
            Repair::Invalid
        } else if self.nan_is_repaired() {
            Repair::Nan
        } else {
            Repair::Nothing
        }
    }

    /// The feature compatibility versions that can be set: its own and that of the last long-term
    /// release before.
    pub fn compatible_with(self) -> [(u16, u16); 2] {
        let own = (self.major, self.minor);
        let long_term = [(8, 0), (7, 0), (6, 0), (5, 0), (4, 4), (4, 2), (4, 0)];
        let last = long_term.into_iter().find(|last| *last < own);
        [own, last.unwrap_or((3, 6))]
    }

    // ---- collMod -------------------------------------------------------------------------------

    /// Is collMod parsed by type, so that a wrong type is TypeMismatch? (5.0)
    pub fn collmod_is_typed(self) -> bool {
        self >= v(5, 0, 0)
    }

    /// Does collMod turn a plain index into a TTL index? (5.1)
    pub fn collmod_converts(self) -> bool {
        self >= v(5, 1, 0)
    }

    /// Which range collMod demands of the converted value.
    pub fn collmod_range(self) -> CollModRange {
        if !self.collmod_converts() {
            CollModRange::Any
        } else if self.nan_is_repaired() {
            CollModRange::Int32
        } else {
            CollModRange::UntilNow
        }
    }

    /// Does collMod refuse `expireAfterSeconds` on a capped collection? (5.1 to 7.0)
    pub fn collmod_refuses_capped(self) -> bool {
        self.collmod_converts() && self.capped_ttl() != CappedTtl::Works
    }

    /// Does collMod write where the stored value is not valid, though its number is the same? (7.0)
    pub fn collmod_rewrites_invalid(self) -> bool {
        self >= v(7, 0, 0)
    }

    /// Does collMod write where NaN is stored, though NaN reads as the same 0? (SERVER-68477)
    pub fn collmod_rewrites_nan(self) -> bool {
        self.nan_is_repaired()
    }

    /// Does collMod answer with both values even where nothing changed? (4.4)
    pub fn collmod_always_answers(self) -> bool {
        self >= v(4, 4, 0)
    }

    // ---- clustered and time-series collections -------------------------------------------------

    /// Are `clusteredIndex` and `timeseries` options of `create`? (5.0)
    pub fn create_knows_kinds(self) -> bool {
        self >= v(5, 0, 0)
    }

    /// May users make clustered collections? (5.3)
    pub fn clustered_is_allowed(self) -> bool {
        self >= v(5, 3, 0)
    }

    /// Does a visit of a clustered collection begin at 1970, and not at the smallest date? (8.0; 7.1
    /// to 7.3 were not read)
    pub fn clustered_begins_at_1970(self) -> bool {
        self >= v(7, 3, 0)
    }

    /// Where does a visit of buckets begin? (5.2, not pinned; 8.0)
    pub fn bucket_start(self) -> BucketStart {
        if self >= v(7, 3, 0) {
            BucketStart::Epoch
        } else if self >= v(5, 2, 0) {
            BucketStart::Smallest
        } else {
            BucketStart::Nowhere
        }
    }

    /// What comes of dates that a bucket's `_id` cannot hold? (SERVER-79864: 7.2; that the patches
    /// for older lines are 7.0.5 and 6.0.13 is not certain. SERVER-97368: 8.0.12, 8.1)
    pub fn extended_range(self) -> ExtendedRange {
        let scanned = self >= v(8, 1, 0) || self.is(8, 0) && self.patch >= 12;
        let patched = self.is(7, 0) && self.patch >= 5 || self.is(6, 0) && self.patch >= 13;
        if scanned {
            ExtendedRange::TwoScans
        } else if self >= v(7, 2, 0) || patched {
            ExtendedRange::Off
        } else {
            ExtendedRange::Wraps
        }
    }

    /// Is the time of a new bucket rounded down also before 1970, and not towards it? (8.1: the first
    /// line in which it was read)
    pub fn bucket_times_round_down(self) -> bool {
        self >= v(8, 1, 0)
    }

    /// May the span of buckets be another than that of a granularity? (6.3)
    pub fn bucket_span_is_free(self) -> bool {
        self >= v(6, 3, 0)
    }

    /// May a time-series collection have a TTL index? (6.3, by the manual; the same switch as for
    /// spans)
    pub fn series_may_have_ttl_index(self) -> bool {
        self >= v(6, 3, 0)
    }

    /// May measurements be deleted one by one? (7.0)
    pub fn measurements_can_be_deleted(self) -> bool {
        self >= v(7, 0, 0)
    }

    // ---- listing, arrival ----------------------------------------------------------------------

    /// How listIndexes shows the stored value.
    pub fn listing(self) -> Listing {
        if self >= v(7, 0, 0) {
            Listing::InvalidAsMax
        } else if self.nan_is_repaired() {
            Listing::NanAsMax
        } else if self >= v(5, 0, 0) {
            Listing::AsInt32
        } else {
            Listing::AsStored
        }
    }

    /// Does the server refuse to take over a NaN from 4.4 or older? (SERVER-68522: 5.0.11 to 5.0.13)
    pub fn nan_from_before_is_fatal(self) -> bool {
        self.is(5, 0) && (11..=13).contains(&self.patch)
    }

    /// Is this a release before 5.0, whose feature compatibility an upgrade starts from?
    pub fn is_before_5(self) -> bool {
        self < v(5, 0, 0)
    }
}

/// Where a visit of buckets begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BucketStart {
    /// It has no beginning.
    Nowhere,
    /// At the smallest date, cut to the 32 bits of an `_id`: in November 2017.
    Smallest,
    /// At 1970.
    Epoch,
}

/// What comes of dates that a bucket's `_id` cannot hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ExtendedRange {
    /// They are cut to 32 bits.
    Wraps,
    /// Nothing of the collection is deleted.
    Off,
    /// Both ends are looked at, and the latest date of each bucket.
    TwoScans,
}

/// What a TTL index on a capped collection comes to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CappedTtl {
    /// It can be made, and deletes nothing.
    Inert,
    /// It cannot be made; one that is there deletes nothing.
    Refused,
    /// It can be made, and deletes.
    Works,
}

/// What a visit makes of a stored NaN.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NanAtVisit {
    /// The conversion gives the smallest integer; the visit fails.
    Overflows,
    /// It is read as 0.
    Zero,
    /// The index is skipped.
    Skipped,
}

/// Which range collMod demands of the converted value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CollModRange {
    /// None: negative values too.
    Any,
    /// From 0 to the seconds since 1970.
    UntilNow,
    /// From 0 to 2147483647.
    Int32,
}

/// What a member that becomes primary repairs in its catalog.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Repair {
    /// Nothing.
    Nothing,
    /// NaN becomes 2147483647.
    Nan,
    /// Whatever is not valid becomes 2147483647.
    Invalid,
    /// That, and what is no integer becomes one.
    InvalidAndFractions,
}

/// How listIndexes shows the stored value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Listing {
    /// As it is stored.
    AsStored,
    /// As a 32-bit integer; NaN as 0.
    AsInt32,
    /// As a 32-bit integer; NaN as 2147483647.
    NanAsMax,
    /// As a 32-bit integer; whatever is not valid as 2147483647.
    InvalidAsMax,
}

impl fmt::Display for Version {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}.{}", self.major, self.minor, self.patch)
    }
}
