//! Which rules of Cassandra are not decided in the module of their chapter?

use ttlspec_model::Rule;

use super::Elsewhere;

/// The rules that another chapter's module decides, where their subject comes up.
pub(crate) const ELSEWHERE: &[Elsewhere] = &[
    Elsewhere::new(Rule::CassandraLifeSecond, "mod", "every chapter asks for the second"),
    Elsewhere::new(Rule::CassandraMemtableAlterFlushes, "machine", "an ALTER is an operation"),
    Elsewhere::new(Rule::CassandraMemtableRestart, "machine", "a restart is an operation"),
    Elsewhere::new(Rule::CassandraMemtableTruncate, "machine", "TRUNCATE is an operation"),
    Elsewhere::new(Rule::CassandraMemtableRefresh, "machine", "a refresh is an operation"),
    Elsewhere::new(Rule::CassandraPurgeMergeFirst, "compaction", "a compaction merges"),
    Elsewhere::new(Rule::CassandraPurgeOverlap, "compaction", "it chooses what is outside"),
    Elsewhere::new(Rule::CassandraPurgeIntersecting, "compaction", "it chooses what is outside"),
    Elsewhere::new(Rule::CassandraPurgeOtherHolder, "compaction", "it chooses what is outside"),
    Elsewhere::new(Rule::CassandraPurgeKey, "compaction", "it knows what is outside"),
    Elsewhere::new(Rule::CassandraPurgeWholeMinimum, "compaction", "it knows what is outside"),
    Elsewhere::new(Rule::CassandraPurgeMemtable, "compaction", "it knows what is outside"),
    Elsewhere::new(Rule::CassandraPurgeStrict, "compaction", "it knows what is outside"),
    Elsewhere::new(Rule::CassandraPurgeLargest, "compaction", "it knows what is outside"),
    Elsewhere::new(Rule::CassandraPurgeOnlyRepaired, "compaction", "it knows its inputs"),
    Elsewhere::new(Rule::CassandraGarbageOldest, "compaction", "it is a row of compactions"),
    Elsewhere::new(Rule::CassandraGarbageNewer, "compaction", "it knows what is outside"),
    Elsewhere::new(Rule::CassandraGarbageOnlyRepaired, "compaction", "it is a row of compactions"),
    Elsewhere::new(Rule::CassandraReadUnrepaired, "purge", "the purge asks for the bound"),
    Elsewhere::new(Rule::CassandraReadBoundPlain, "memtable", "a memtable keeps it"),
    Elsewhere::new(Rule::CassandraReadFailure, "select", "a query is given up"),
    Elsewhere::new(Rule::CassandraViewStrict, "purge", "the purge makes it nothing"),
    Elsewhere::new(Rule::CassandraFaultMinusOne, "memtable", "it breaks a rule there"),
    Elsewhere::new(Rule::CassandraFaultEpoch, "memtable", "it breaks a rule there"),
    Elsewhere::new(Rule::CassandraFaultVanish, "purge", "it breaks a rule there"),
    Elsewhere::new(Rule::CassandraFaultRatioZero, "sstable", "it breaks a rule there"),
    Elsewhere::new(Rule::CassandraFaultGarbage, "compaction", "it breaks a rule there"),
];
