//! Which server versions?

use ttlspec_model::mongodb::Version;

use crate::values::{Source, pick};

const fn v(major: u16, minor: u16, patch: u16) -> Version {
    Version::new(major, minor, patch)
}

/// The first version of each profile, and the releases on both sides of each patch that changed
/// something. The simplest is the one that people run.
pub const VERSIONS: [Version; 29] = [
    v(7, 0, 14),
    v(7, 0, 0),
    v(8, 0, 4),
    v(8, 1, 0),
    v(6, 0, 0),
    v(6, 0, 1),
    v(6, 0, 2),
    v(5, 0, 0),
    v(5, 0, 10),
    v(5, 0, 11),
    v(5, 0, 13),
    v(5, 0, 14),
    v(4, 4, 0),
    v(4, 4, 15),
    v(4, 4, 16),
    v(4, 2, 0),
    v(4, 2, 22),
    v(4, 2, 23),
    v(4, 0, 0),
    v(4, 1, 8),
    v(4, 1, 9),
    v(5, 1, 0),
    v(5, 2, 0),
    v(6, 1, 0),
    v(7, 1, 0),
    v(7, 2, 0),
    v(7, 3, 0),
    v(3, 6, 0),
    v(9, 0, 0),
];

/// Versions whose servers meet: in one set, or one after the other on the same files.
pub const LINES: [&[Version]; 9] = [
    &[v(7, 0, 14), v(7, 3, 0), v(8, 0, 4), v(8, 1, 0)],
    &[v(8, 1, 0), v(8, 0, 4), v(9, 0, 0)],
    &[v(6, 0, 2), v(6, 1, 0), v(7, 0, 14)],
    &[v(4, 4, 0), v(5, 0, 0), v(5, 0, 14)],
    &[v(5, 0, 12), v(4, 4, 16), v(5, 0, 11), v(4, 4, 15), v(5, 0, 13)],
    &[v(4, 4, 0), v(5, 0, 12), v(5, 0, 14)],
    &[v(5, 0, 14), v(6, 0, 0), v(6, 0, 2), v(5, 2, 0)],
    &[v(6, 0, 1), v(4, 4, 15), v(5, 0, 0), v(7, 0, 0)],
    &[v(4, 0, 0), v(4, 2, 0), v(4, 2, 23), v(4, 4, 0)],
];

/// One of [`VERSIONS`].
pub fn version(source: &mut dyn Source) -> Version {
    pick(source, &VERSIONS)
}

#[cfg(test)]
mod tests {
    use ttlspec_model::mongodb::version::PROFILES;

    use super::*;

    #[test]
    fn every_profile_is_tried_from_its_first_version_on() {
        for profile in PROFILES {
            assert!(VERSIONS.contains(&profile.from), "{} is never tried", profile.name);
        }
    }
}
