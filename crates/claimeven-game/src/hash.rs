//! The hash function that all crates share.

/// Mixes a position's key, or any other number, into 64 bits: Fibonacci hashing.
///
/// The upper half of the result is well spread over keys that differ in a few bits; take table
/// indices from there. `seed ^ mix_key(number)` derives a seed for each number.
///
/// The result is part of every seeded game and must never change.
///
/// ```
/// use claimeven_game::{Position, Setup, mix_key};
///
/// const TABLE_BITS: u32 = 16;
/// let key = Position::new(Setup::STANDARD).key();
/// let index = mix_key(key) >> (u64::BITS - TABLE_BITS);
/// assert!(index < 1 << TABLE_BITS);
/// ```
#[inline]
pub fn mix_key(key: impl Into<u128>) -> u64 {
    let key = key.into();
    (key as u64 ^ (key >> 64) as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn seeded_games_stay_the_same() {
        assert_eq!(mix_key(0u64), 0);
        assert_eq!(mix_key(1u64), 0x9e37_79b9_7f4a_7c15);
        assert_eq!(mix_key(u128::from(u64::MAX) << 64 | 7), mix_key(u64::MAX ^ 7));
    }
}
