//! How is the monitor of a server set?

use ttlspec_model::mongodb::{Reply, Version, code};

use super::bytes::Value;
use super::filter_parser::is_true;
use super::number::Number;

/// The parameters of a server that concern its monitor.
#[derive(Clone, Copy, Debug)]
pub(super) struct Parameters {
    /// `ttlMonitorEnabled`.
    pub(super) enabled: bool,
    /// `ttlMonitorSleepSecs`.
    pub(super) sleep_secs: i32,
    /// `ttlMonitorSubPassTargetSecs`.
    pub(super) sub_pass_target_secs: i32,
    /// What concerns a visit, which keeps what it began with.
    pub(super) visits: Visits,
}

/// How visits are set.
#[derive(Clone, Copy, Debug)]
pub(super) struct Visits {
    /// `ttlMonitorBatchDeletes`.
    batch_deletes: bool,
    /// `ttlIndexDeleteTargetTimeMS`; 0 is none.
    target_ms: i32,
    /// `ttlIndexDeleteTargetDocs`; 0 is none.
    target_docs: i32,
    /// `batchedDeletesTargetBatchDocs`; 0 is none.
    batch_docs: i32,
    /// `batchedDeletesTargetStagedDocBytes`; 0 is none.
    batch_bytes: i32,
}

impl Default for Parameters {
    fn default() -> Parameters {
        Parameters {
            enabled: true,
            sleep_secs: 60,
            sub_pass_target_secs: 60,
            visits: Visits {
                batch_deletes: true,
                target_ms: 1_000,
                target_docs: 50_000,
                batch_docs: 10,
                batch_bytes: 2 << 20,
            },
        }
    }
}

/// When a batch is full.
#[derive(Clone, Copy, Debug)]
pub(super) struct Limits {
    /// So many documents are enough.
    pub(super) docs: usize,
    /// So many bytes of them are enough.
    pub(super) bytes: usize,
}

impl Visits {
    fn is_batched(&self, version: Version) -> bool {
        version.deletes_in_batches() && self.batch_deletes
    }

    /// When is a batch full?
    pub(super) fn limits(&self, version: Version) -> Limits {
        let limit = |limit: i32| match limit {
            0 => usize::MAX,
            limit => usize::try_from(limit).unwrap_or(usize::MAX),
        };
        if self.is_batched(version) {
            Limits { docs: limit(self.batch_docs), bytes: limit(self.batch_bytes) }
        } else {
            Limits { docs: 1, bytes: usize::MAX }
        }
    }

    /// Has a visit done as much as it should, once it has chosen so many and taken so long?
    pub(super) fn are_met(&self, version: Version, chosen: u32, took_ms: i64) -> bool {
        let has_docs = self.target_docs > 0 && i64::from(chosen) >= i64::from(self.target_docs);
        let has_time = self.target_ms > 0 && took_ms >= i64::from(self.target_ms);
        self.is_batched(version) && (has_docs || has_time)
    }
}

impl Parameters {
    /// `setParameter`.
    pub(super) fn set(&mut self, version: Version, name: &str, value: Value<'_>) -> Reply {
        let visits = &mut self.visits;
        let place = match name {
            "ttlMonitorEnabled" => {
                self.enabled = is_true(value);
                return Reply::Ok;
            }
            "ttlMonitorSleepSecs" => &mut self.sleep_secs,
            _ if !version.deletes_in_batches() => return Reply::Error(code::INVALID_OPTIONS),
            "ttlMonitorBatchDeletes" => {
                visits.batch_deletes = is_true(value);
                return Reply::Ok;
            }
            "ttlMonitorSubPassTargetSecs" => &mut self.sub_pass_target_secs,
            "ttlIndexDeleteTargetTimeMS" => &mut visits.target_ms,
            "ttlIndexDeleteTargetDocs" => &mut visits.target_docs,
            "batchedDeletesTargetBatchDocs" => &mut visits.batch_docs,
            "batchedDeletesTargetStagedDocBytes" => &mut visits.batch_bytes,
            _ => return Reply::Error(code::INVALID_OPTIONS),
        };
        let least = i32::from(name == "ttlMonitorSleepSecs");
        match Number::read(value).map(Number::clamped_int) {
            Some(number) if number >= least => {
                *place = number;
                Reply::Ok
            }
            _ => Reply::Error(code::BAD_VALUE),
        }
    }
}
