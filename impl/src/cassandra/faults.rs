//! Which faults of the real server does the engine have?

use ttlspec_model::Unsupported;
use ttlspec_model::ruling::Rule;

/// The faults, each on unless it is switched off.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Faults {
    /// -1 is no smallest timestamp of a memtable.
    pub minus_one: bool,
    /// Nor is the server's own epoch.
    pub epoch: bool,
    /// The droppable ratio is 0 from 2038 on, in format oa.
    pub ratio_zero: bool,
    /// garbagecollect fails where two sstables are unrepaired and only repaired ones are purged.
    pub garbage: bool,
    /// An expired cell becomes a tombstone.
    pub vanish: bool,
    /// A negative timestamp of a partition deletion cannot be read again, in format oa.
    pub negative_partition: bool,
    /// Compactions fail in the last week.
    pub last_week: bool,
}

impl Faults {
    /// All but these.
    ///
    /// # Errors
    /// [`Unsupported`] where one is no fault: the engine has no switch for it.
    pub fn except(without: &[Rule]) -> Result<Faults, Unsupported> {
        let mut faults = Faults {
            minus_one: true,
            epoch: true,
            ratio_zero: true,
            garbage: true,
            vanish: true,
            negative_partition: true,
            last_week: true,
        };
        for rule in without {
            match rule {
                Rule::CassandraFaultMinusOne => faults.minus_one = false,
                Rule::CassandraFaultEpoch => faults.epoch = false,
                Rule::CassandraFaultRatioZero => faults.ratio_zero = false,
                Rule::CassandraFaultGarbage => faults.garbage = false,
                Rule::CassandraFaultVanish => faults.vanish = false,
                Rule::CassandraFaultNegativePartition => faults.negative_partition = false,
                Rule::CassandraFaultLastWeek => faults.last_week = false,
                rule => {
                    let message =
                        format!("expected only faults to be switched off, found `{rule}`");
                    return Err(Unsupported(message));
                }
            }
        }
        Ok(faults)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fault_can_be_switched_off_and_nothing_else_can() {
        let faults = Faults::except(&[Rule::CassandraFaultEpoch]).unwrap();

        assert!(!faults.epoch && faults.minus_one);
        let refused = Faults::except(&[Rule::CassandraPurgeCell]).unwrap_err();
        assert!(refused.0.contains("cassandra.purge.cell"), "{refused}");
    }
}
