//! Compares every score of the embedded book of ply 12 with those of the PyPI package
//! `bitbully-databases`, which were found by another solver.
//!
//! `cargo xtask compare-book` installs the package and runs this with its file
//! `book_12ply_distances.dat`: for each position 4 bytes of key and 1 byte of value, big-endian.

use std::collections::HashMap;
use std::error::Error;
use std::process::ExitCode;
use std::{env, fs};

use claimeven_game::{Cell, Column, Position, Setup};
use claimeven_solver::{Score, book_positions, embedded_books};

const PLY: u32 = 12;

fn main() -> Result<ExitCode, Box<dyn Error>> {
    let path = env::args().nth(1).ok_or("usage: compare_book FILE")?;
    let bytes = fs::read(path)?;
    let (entries, rest) = bytes.as_chunks();
    if !rest.is_empty() {
        return Err("the file ends within an entry".into());
    }
    let database: HashMap<[u8; 4], i8> =
        entries.iter().map(|&[a, b, c, d, value]| ([a, b, c, d], value.cast_signed())).collect();
    let books = embedded_books();
    let book = books.iter().find(|book| book.ply() == PLY).ok_or("no book of ply 12")?;

    let positions = book_positions(Setup::STANDARD, PLY);
    let (mut missing, mut different) = (0_usize, 0_usize);
    for position in &positions {
        let keys = [key(position), key(&position.mirror())];
        let value = keys.iter().find_map(|key| database.get(key));
        match value {
            None => missing += 1,
            Some(&value) => {
                let ours = book.get(position).map(Score::value);
                different += usize::from(ours != Some(score(value)));
            }
        }
    }
    println!(
        "{} positions in the book, {} in the database; {missing} of ours are missing there, \
         {different} scores differ",
        positions.len(),
        database.len(),
    );
    let is_same = missing == 0 && different == 0 && positions.len() == database.len();
    Ok(if is_same { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// The columns from the left, their discs from the bottom: `10` for the side to move, `11` for the
/// other, `0` at the end of each column and once more at the end.
fn key(position: &Position) -> [u8; 4] {
    let mut key = 0_u64;
    for column in Column::all(position.setup()) {
        for row in 0..position.setup().rows() {
            let Some(player) = position.disc(Cell { column, row }) else { break };
            key = key << 2 | if player == position.player() { 0b10 } else { 0b11 };
        }
        key <<= 1;
    }
    key <<= 1;
    u32::try_from(key).expect("two bits for each of 12 discs and 8 more").to_be_bytes()
}

/// The score for a database value: 0 for a draw, otherwise 100 minus the plies to the end, with its
/// sign.
fn score(value: i8) -> i32 {
    let plies = 100 - i32::from(value).abs();
    let discs = (plies + 1) / 2;
    let max = (42 - PLY as i32) / 2 + 1;
    i32::from(value.signum()) * (max - discs)
}
