//! How are the laws and hazards of a system written down?

/// Laws of a system: `/// sentence`, then `NAME = "rule", always, sometimes;`.
macro_rules! laws {
    ($system:ty; $($(#[doc = $sentence:literal])* $name:ident = $rule:literal, $always:expr, $sometimes:expr;)*) => {
        $(
            $(#[doc = $sentence])*
            pub(super) static $name: $crate::check::Law<$system> = $crate::check::Law {
                rule: $rule,
                premise: concat!($rule, ": occurs"),
                sentence: concat!($($sentence),*),
                always: |walk, seen| {
                    let always: $crate::check::Test<$system> = $always;
                    !walk.at_first($rule, || !always(walk, seen))
                },
                sometimes: |walk, seen| {
                    let sometimes: $crate::check::Test<$system> = $sometimes;
                    walk.at_first(concat!($rule, ": occurs"), || sometimes(walk, seen))
                },
            };
        )*
    };
}

/// Hazards of a system: `/// sentence`, then `NAME = "rule", "what happens", by;`.
macro_rules! hazards {
    ($system:ty; $($(#[doc = $sentence:literal])* $name:ident = $rule:literal, $what:literal, $by:ident;)*) => {
        $(
            $(#[doc = $sentence])*
            pub(super) static $name: $crate::check::Hazard<$system> = $crate::check::Hazard {
                rule: $rule,
                name: concat!($rule, ": ", $what),
                sentence: concat!($($sentence),*),
                by: $by,
                some: |walk, seen| {
                    let some = || walk.moves(seen).any(|next| $by(walk, seen, &next));
                    walk.at_first(concat!($rule, ": ", $what), some)
                },
                none: |walk, seen| {
                    let some = || walk.moves(seen).any(|next| $by(walk, seen, &next));
                    !walk.at_first(concat!($rule, ": ", $what), some)
                },
            };
        )*
    };
}

pub(crate) use {hazards, laws};
