//! Ribbon retrieval: a static function from keys to small values that stores no keys.
//!
//! This is the ribbon of Dillinger and Walzer ("Ribbon filter: practically smaller than Bloom and
//! Xor", 2021), used for retrieval instead of as a filter. Every key is hashed to a row of a linear
//! system over GF(2): a start and a band ("ribbon") of 128 coefficients from there on. The table is
//! a solution of the system, so the value of a key is read as the parity of the table under its
//! band, once for each bit of the value:
//!
//! ```text
//!            start
//!              v
//!   table   1 0 1 1 0 0 1 0 1 1 0 ...
//!   band        1 0 1 1 0 1               under it: 1 0 . . 1 -> an even number of ones: 0
//! ```
//!
//! A solution exists once the table has slightly more rows than there are keys: about 3 % more with
//! bands of this width, whatever the keys are. Other keys return noise: the caller has to know
//! which keys exist.
//!
//! What differs from the paper: keys are split by hash into shards of about 4096, each a system of
//! its own that is built again with the next seed, and then with more rows, until it is solvable.
//! No key is ever left out ("bumped") for another layer.

/// The maximum number of bits of a value.
const MAX_VALUE_BITS: u32 = 8;
const BAND: u32 = u128::BITS;
const KEYS_PER_SHARD: usize = 4096;
const SEEDS_PER_SIZE: u8 = 8;

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Retrieval {
    value_bits: u32,
    shards: Vec<Shard>,
    /// One table per bit of the value for each shard, one after the other.
    bits: Vec<u8>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Shard {
    seed: u8,
    /// The start of its tables, in rows of all value bits.
    offset: u64,
    /// The number of rows of its system.
    rows: u32,
}

/// Two keys have the same hash and different values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Collision;

impl Retrieval {
    /// Builds the function for distinct keys. Keys that are equal must have equal values.
    pub(crate) fn build(entries: &[(u128, u8)], value_bits: u32) -> Result<Retrieval, Collision> {
        assert!(value_bits <= MAX_VALUE_BITS, "values have at most {MAX_VALUE_BITS} bits");
        let shard_count = entries.len().div_ceil(KEYS_PER_SHARD).max(1);
        let mut by_shard = vec![Vec::new(); shard_count];
        for &(key, value) in entries {
            let hash = hash(key);
            by_shard[shard_of(hash, shard_count)].push((hash, value));
        }
        let mut function = Retrieval { value_bits, shards: Vec::new(), bits: Vec::new() };
        let mut solutions = Vec::new();
        for keys in &mut by_shard {
            keys.sort_unstable();
            keys.dedup();
            if keys.windows(2).any(|pair| pair[0].0 == pair[1].0) {
                return Err(Collision);
            }
            let (seed, solution) = solve_shard(keys);
            let offset =
                function.shards.last().map_or(0, |last| last.offset + u64::from(last.rows));
            function.shards.push(Shard { seed, offset, rows: solution.len() as u32 });
            solutions.push(solution);
        }
        function.write_tables(&solutions);
        Ok(function)
    }

    /// The value of a key that was given to `build`; noise for any other.
    pub(crate) fn get(&self, key: u128) -> u8 {
        let hash = hash(key);
        let shard = self.shards[shard_of(hash, self.shards.len())];
        let equation = Equation::new(hash, shard.seed, shard.rows);
        (0..self.value_bits).fold(0, |value, bit| {
            let table = shard.offset * u64::from(self.value_bits) + u64::from(bit * shard.rows);
            let start = table + u64::from(equation.start);
            let parity = (self.band(start) & equation.band).count_ones() & 1;
            value | (parity as u8) << bit
        })
    }

    /// The 128 table bits from an index on; zeros past the end.
    fn band(&self, index: u64) -> u128 {
        let (byte, shift) = ((index / 8) as usize, (index % 8) as u32);
        let mut bytes = [0; 17];
        let available = &self.bits[byte.min(self.bits.len())..];
        let length = available.len().min(bytes.len());
        bytes[..length].copy_from_slice(&available[..length]);
        let low = u128::from_le_bytes(*bytes.first_chunk().expect("17 bytes hold 16"));
        let high = if shift == 0 { 0 } else { u128::from(bytes[16]) << (BAND - shift) };
        low >> shift | high
    }

    fn write_tables(&mut self, solutions: &[Vec<u8>]) {
        let rows: usize = solutions.iter().map(Vec::len).sum();
        self.bits = vec![0; (rows * self.value_bits as usize).div_ceil(8)];
        let mut index = 0;
        for solution in solutions {
            for bit in 0..self.value_bits {
                for value in solution {
                    self.bits[index / 8] |= (value >> bit & 1) << (index % 8);
                    index += 1;
                }
            }
        }
    }

    /// Appends everything that [`Retrieval::read`] needs.
    pub(crate) fn write(&self, out: &mut Vec<u8>) {
        out.push(self.value_bits as u8);
        out.extend((self.shards.len() as u32).to_le_bytes());
        for shard in &self.shards {
            out.extend((shard.rows as u16).to_le_bytes());
            out.push(shard.seed);
        }
        out.extend(&self.bits);
    }

    /// Reads what [`Retrieval::write`] wrote; `None` if the bytes are invalid.
    pub(crate) fn read(bytes: &[u8]) -> Option<Retrieval> {
        let (&value_bits, bytes) = bytes.split_first()?;
        let (count, bytes) = bytes.split_first_chunk()?;
        let (shard_bytes, bits) =
            bytes.split_at_checked(u32::from_le_bytes(*count) as usize * 3)?;
        let value_bits = u32::from(value_bits);
        let mut offset = 0_u64;
        let shards: Vec<Shard> = shard_bytes
            .chunks_exact(3)
            .map(|bytes| {
                let rows = u16::from_le_bytes([bytes[0], bytes[1]]);
                let shard = Shard { seed: bytes[2], offset, rows: rows.into() };
                offset += u64::from(rows);
                shard
            })
            .collect();
        let length = (offset as usize * value_bits as usize).div_ceil(8);
        let is_valid = value_bits <= MAX_VALUE_BITS && !shards.is_empty() && bits.len() == length;
        is_valid.then(|| Retrieval { value_bits, shards, bits: bits.to_vec() })
    }
}

/// The row of one key.
struct Equation {
    start: u32,
    band: u128,
}

impl Equation {
    fn new(hash: u64, seed: u8, rows: u32) -> Equation {
        let low = splitmix64(hash ^ splitmix64(u64::from(seed) + 1));
        let high = splitmix64(low);
        let starts = rows.saturating_sub(BAND) + 1;
        let start = (u128::from(splitmix64(high)) * u128::from(starts)) >> 64;
        // The lowest coefficient is always set, so the band begins at its start.
        let mut band = u128::from(low) | u128::from(high) << 64 | 1;
        if rows < BAND {
            band &= (1 << rows) - 1;
        }
        Equation { start: start as u32, band }
    }
}

/// Finds the smallest size that is solvable with one of a few seeds; returns the seed and the table
/// of values.
fn solve_shard(keys: &[(u64, u8)]) -> (u8, Vec<u8>) {
    let mut rows = keys.len() + keys.len() / 50;
    loop {
        for seed in 0..SEEDS_PER_SIZE {
            if let Some(solution) = solve(keys, seed, rows) {
                return (seed, solution);
            }
        }
        rows += rows / 200 + 1;
    }
}

/// Gaussian elimination. In a banded system, a row whose start is taken is added to the row there
/// and moves on to its next coefficient.
fn solve(keys: &[(u64, u8)], seed: u8, rows: usize) -> Option<Vec<u8>> {
    let mut system = vec![(0u128, 0u8); rows];
    for &(hash, value) in keys {
        let Equation { start, mut band } = Equation::new(hash, seed, rows as u32);
        let (mut row, mut value) = (start as usize, value);
        loop {
            let (taken, taken_value) = *system.get(row)?;
            if taken == 0 {
                system[row] = (band, value);
                break;
            }
            band ^= taken;
            value ^= taken_value;
            if band == 0 {
                return None;
            }
            let step = band.trailing_zeros();
            band >>= step;
            row += step as usize;
        }
    }
    // Back substitution from the last row. One window slides along for each bit of the values.
    let mut solution = vec![0; rows];
    let mut windows = [0u128; MAX_VALUE_BITS as usize];
    for (row, &(band, value)) in system.iter().enumerate().rev() {
        for (bit, window) in windows.iter_mut().enumerate() {
            let rest = ((*window << 1) & band).count_ones() as u8 & 1;
            let solved = if band == 0 { 0 } else { (value >> bit & 1) ^ rest };
            *window = *window << 1 | u128::from(solved);
            solution[row] |= solved << bit;
        }
    }
    Some(solution)
}

fn shard_of(hash: u64, shards: usize) -> usize {
    ((u128::from(hash) * shards as u128) >> 64) as usize
}

fn hash(key: u128) -> u64 {
    splitmix64(splitmix64(key as u64) ^ (key >> 64) as u64)
}

/// The finaliser of the splitmix generator. A shard is chosen by the upper bits and a row by others,
/// so every bit of the input must reach every bit of the output, which
/// [`mix_key`](claimeven_game::mix_key) does not do. Book files depend on it.
fn splitmix64(value: u64) -> u64 {
    let value = value.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let value = (value ^ value >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let value = (value ^ value >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    value ^ value >> 31
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entries(count: u64, value_bits: u32) -> Vec<(u128, u8)> {
        let value = |key: u64| (splitmix64(key ^ 0xabcd) & ((1 << value_bits) - 1)) as u8;
        (0..count).map(|key| (u128::from(key) << 40 | 5, value(key))).collect()
    }

    #[test]
    fn every_key_has_its_value_and_survives_a_round_trip() {
        for (count, value_bits) in [(0, 5), (1, 1), (2, 8), (100, 5), (5000, 3), (50_000, 5)] {
            let entries = entries(count, value_bits);
            let function = Retrieval::build(&entries, value_bits).unwrap();
            let mut bytes = Vec::new();
            function.write(&mut bytes);
            assert_eq!(Retrieval::read(&bytes), Some(function.clone()));
            for (key, value) in entries {
                assert_eq!(function.get(key), value);
            }
        }
    }

    #[test]
    fn the_table_is_hardly_larger_than_the_values() {
        let function = Retrieval::build(&entries(100_000, 5), 5).unwrap();
        let mut bytes = Vec::new();
        function.write(&mut bytes);
        let bits_per_key = 8.0 * bytes.len() as f64 / 100_000.0;
        assert!(bits_per_key < 5.3, "{bits_per_key}");
    }

    #[test]
    fn contradictory_entries_are_rejected() {
        assert_eq!(Retrieval::build(&[(7, 1), (7, 2)], 2), Err(Collision));
        assert!(Retrieval::build(&[(7, 1), (7, 1)], 2).is_ok());
    }

    #[test]
    fn bytes_of_the_wrong_length_are_rejected() {
        let mut bytes = Vec::new();
        Retrieval::build(&entries(1000, 5), 5).unwrap().write(&mut bytes);
        for length in 0..bytes.len() {
            assert_eq!(Retrieval::read(&bytes[..length]), None, "{length}");
        }
        bytes.push(0);
        assert_eq!(Retrieval::read(&bytes), None);
    }
}
