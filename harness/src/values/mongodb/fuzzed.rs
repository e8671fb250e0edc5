//! How does a fuzzer of your own get these values?

use arbitrary::{Arbitrary, Unstructured};
use bson::Document;
use ttlspec_model::Millis;
use ttlspec_model::mongodb::{Config, Op};

use super::{document, filter, op, script, spec};
use crate::values::Source;

macro_rules! any {
    ($($(#[$doc:meta])* $name:ident($value:ty) = $generate:path;)*) => {$(
        $(#[$doc])*
        #[derive(Clone, Debug)]
        pub struct $name(pub $value);

        impl<'a> Arbitrary<'a> for $name {
            fn arbitrary(bytes: &mut Unstructured<'a>) -> arbitrary::Result<$name> {
                Ok($name($generate(bytes)))
            }
        }
    )*};
}

any! {
    /// Any document.
    AnyDocument(Document) = document;
    /// Any specification of an index.
    AnySpec(Document) = spec;
    /// Any partial filter.
    AnyFilter(Document) = filter;
    /// Any operation on one collection.
    AnyOp(Op) = op;
    /// Any script on a deployment.
    AnyScript((Config, Vec<(Millis, Op)>)) = any_script;
}

/// As many operations as a short script has.
fn any_script(source: &mut dyn Source) -> (Config, Vec<(Millis, Op)>) {
    script(source, 40)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_that_have_run_out_make_the_simplest_value() {
        let AnyDocument(simplest) =
            Unstructured::new(&[]).arbitrary().expect("no choice ever fails");

        assert_eq!(simplest, document(&mut Unstructured::new(&[])));
    }

    #[test]
    fn the_same_bytes_make_the_same_operation() {
        let bytes: Vec<u8> = (0..=255).collect();
        let made = || -> AnyOp { Unstructured::new(&bytes).arbitrary().expect("no choice fails") };

        assert_eq!(made().0, made().0);
    }
}
