//! In which order do partitions stand?

/// A partition key with its token, by which partitions are ordered.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Key {
    /// The token of Murmur3Partitioner.
    pub token: i64,
    /// The key.
    pub p: i32,
}

const FIRST: u64 = 0x87c3_7b91_1142_53d5;
const SECOND: u64 = 0x4cf5_ad43_2745_937f;

impl Key {
    /// The key of a partition. Its token is half of MurmurHash3 x64 128 of its four bytes, each
    /// taken as signed, as the server does. A hash that is the smallest number of all counts as the
    /// largest.
    pub fn new(p: i32) -> Key {
        let mut tail = 0_u64;
        for (at, byte) in p.to_be_bytes().into_iter().enumerate() {
            tail ^= (byte as i8 as i64 as u64) << (8 * at);
        }
        let length = size_of::<i32>() as u64;
        let block = tail.wrapping_mul(FIRST).rotate_left(31).wrapping_mul(SECOND) ^ length;
        let one = block.wrapping_add(length);
        let two = length.wrapping_add(one);
        let hash = finish(one).wrapping_add(finish(two)) as i64;
        Key { token: if hash == i64::MIN { i64::MAX } else { hash }, p }
    }
}

fn finish(mut half: u64) -> u64 {
    for factor in [0xff51_afd7_ed55_8ccd, 0xc4ce_b9fe_1a85_ec53] {
        half = (half ^ half >> 33).wrapping_mul(factor);
    }
    half ^ half >> 33
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tokens_are_those_of_a_real_server() {
        assert_eq!(Key::new(1).token, -4_069_959_284_402_364_209);
        assert_eq!(Key::new(2).token, -3_248_873_570_005_575_792);
        assert_eq!(Key::new(3).token, 9_010_454_139_840_013_625);
    }
}
