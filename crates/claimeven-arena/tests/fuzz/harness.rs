//! The harness of the fuzz tests.
//!
//! Each test mutates known inputs at random for `CLAIMEVEN_FUZZ_SECONDS` (20 by default). Mutated inputs
//! that can still be read are mutated further. An input that makes a parser panic is written to
//! `tests/corpus/PARSER/` of its crate, and every later run uses it as a known input, too.
//! `CLAIMEVEN_FUZZ_SEED` repeats the choices of a run.

use std::fs;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::time::{Duration, Instant};

use fastrand::Rng;

/// How many mutated inputs are kept at a time, to be mutated further.
const MAX_KEPT: usize = 64;

/// Feeds mutated inputs to a parser, which returns whether it could read its input, until the time
/// is up.
pub(crate) fn fuzz(name: &str, known: &[Vec<u8>], mut parse: impl FnMut(&[u8]) -> bool) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/corpus").join(name);
    let files = fs::read_dir(&folder).into_iter().flatten().flatten();
    let mut known = known.to_vec();
    known.extend(files.filter_map(|file| fs::read(file.path()).ok()));
    let number = |name| std::env::var(name).ok().and_then(|text| text.parse::<u64>().ok());
    let time = Duration::from_secs(number("CLAIMEVEN_FUZZ_SECONDS").unwrap_or(20));
    let seed = number("CLAIMEVEN_FUZZ_SEED").unwrap_or_else(|| fastrand::u64(..));
    let mut random = Rng::with_seed(seed);
    let given = known.len();
    let max_length = 2 * known.iter().map(Vec::len).max().unwrap_or_default();
    let start = Instant::now();
    let (mut count, mut readable) = (0_u64, 0_u64);
    let mut unchanged = known.clone().into_iter();
    while start.elapsed() < time {
        let input = unchanged.next().unwrap_or_else(|| mutated(&mut random, &known));
        let Ok(is_readable) = catch_unwind(AssertUnwindSafe(|| parse(&input))) else {
            let file = folder.join(format!("{:016x}", random.u64(..)));
            fs::create_dir_all(&folder).unwrap();
            fs::write(&file, &input).unwrap();
            panic!("{name}: {:?} is in {}", String::from_utf8_lossy(&input), file.display());
        };
        count += 1;
        readable += u64::from(is_readable);
        if is_readable && input.len() <= max_length && !known.contains(&input) {
            // The given inputs stay.
            if known.len() < given + MAX_KEPT {
                known.push(input);
            } else {
                let replaced = given + random.usize(..MAX_KEPT);
                known[replaced] = input;
            }
        }
    }
    println!("{name}: {count} inputs, {readable} of them readable (seed {seed})");
    assert!(readable * 1000 > count, "hardly anything is readable");
}

pub(crate) fn texts(texts: &[&str]) -> Vec<Vec<u8>> {
    texts.iter().map(|text| text.as_bytes().to_vec()).collect()
}

/// Tokens that have a meaning to the parsers.
const WORDS: [&str; 30] = [
    "0",
    "-1",
    "9",
    "128",
    "4294967296",
    "18446744073709551616",
    "1e999",
    "NaN",
    "null",
    "true",
    "[",
    "]",
    "{",
    "}",
    ",",
    ":",
    "=",
    "\"",
    "\\u0000",
    "\n",
    " ",
    "x",
    "X",
    "O",
    ".",
    "/",
    "@",
    "é",
    "\u{202e}",
    "7x6",
];

fn mutated(random: &mut Rng, known: &[Vec<u8>]) -> Vec<u8> {
    let mut input = known[random.usize(..known.len())].clone();
    for _ in 0..=random.usize(..4) {
        let place = random.usize(..=input.len());
        let end = (place + random.usize(..8)).min(input.len());
        match random.u8(..7) {
            0 if place < input.len() => input[place] ^= 1 << random.u8(..8),
            1 if place < input.len() => input[place] = random.u8(..),
            2 => drop(input.drain(place..end)),
            3 => input.truncate(place),
            4 => {
                let word = WORDS[random.usize(..WORDS.len())].bytes();
                input.splice(place..end, word);
            }
            5 => {
                let part = input[place..end].to_vec();
                let times = 1 + random.usize(..3);
                input.splice(place..place, part.repeat(times));
            }
            _ => {
                // The rest of another input.
                let other = &known[random.usize(..known.len())];
                input.truncate(place);
                input.extend(&other[random.usize(..=other.len())..]);
            }
        }
    }
    input
}
