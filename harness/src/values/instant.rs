//! Which instants, lifetimes and dates?

use ttlspec_model::Millis;

use super::source::{Source, chance, one_of, pick};

/// A day in our time, in milliseconds: late enough for any lifetime that people give.
pub const NOW: Millis = Millis(1_700_000_000_000);

/// The lifetimes that come up again and again, in seconds.
pub const SECONDS: [i32; 5] = [10, 0, 1, 3_600, i32::MAX];

/// An instant at which something may be done.
pub fn instant(source: &mut dyn Source) -> Millis {
    let near = |source: &mut dyn Source| NOW.plus_millis(beside(source));
    let later = |source: &mut dyn Source| NOW.plus_millis(lifetime_ms(source) + beside(source));
    let early = |source: &mut dyn Source| Millis(pick(source, &[0, 1, 9_999, 10_000, -1, -10_000]));
    let end = |source: &mut dyn Source| {
        pick(source, &[Millis::MAX, Millis::MIN, Millis(i64::MAX - 1), Millis(i64::MIN + 1)])
    };
    let any = |source: &mut dyn Source| Millis(source.long());
    one_of(source, &[(6, near), (6, later), (3, early), (1, end), (1, any)])
}

/// A date that a document may hold, as milliseconds: most stand a lifetime from an instant.
pub fn date(source: &mut dyn Source) -> i64 {
    let now = |source: &mut dyn Source| NOW.0 + beside(source);
    let before = |source: &mut dyn Source| NOW.0 - lifetime_ms(source) + beside(source);
    let early = |source: &mut dyn Source| pick(source, &[0, -1, 1, -10_000, 9_999, 10_000]);
    let end = |source: &mut dyn Source| {
        let lifetime = if chance(source, 2) { lifetime_ms(source) } else { 0 };
        let low = i64::MIN + lifetime;
        let end = if chance(source, 2) { low } else { i64::MAX - lifetime };
        end.saturating_add(beside(source))
    };
    let any = |source: &mut dyn Source| source.long();
    one_of(source, &[(6, now), (6, before), (3, early), (2, end), (1, any)])
}

/// At, just after or just before.
fn beside(source: &mut dyn Source) -> i64 {
    pick(source, &[0, 1, -1])
}

fn lifetime_ms(source: &mut dyn Source) -> i64 {
    1_000 * i64::from(pick(source, &SECONDS))
}
