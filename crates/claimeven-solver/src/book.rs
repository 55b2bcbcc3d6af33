//! Opening books: the exact scores of all positions of one ply, without the positions.
//!
//! A book holds the score of every position that has its number of discs, can be reached by play,
//! is not finished and in which the side to move cannot win at once. Because none is missing, the
//! positions themselves need not be stored: see `retrieval.rs`. Mirror images share an entry.
//!
//! ```text
//!   "claimevenbook"  version  cols rows connect ply  entries    scores            function   CRC-32
//!        13 bytes    1 byte     1    1     1     1   8 bytes    1 + n bytes          …       4 bytes
//! ```

use std::collections::HashSet;
use std::fmt;
use std::sync::{Arc, LazyLock};

use claimeven_game::{Bits, Board, Column, Position, Rules, Ruleset, Setup, with_board};

use crate::retrieval::{Collision, Retrieval};
use crate::{Score, Solver, Unsolvable};

const MAGIC: &[u8; 13] = b"claimevenbook";
const VERSION: u8 = 1;

/// An opening book of one ply of one setup.
///
/// ```
/// use claimeven_game::{Position, Setup};
/// use claimeven_solver::embedded_books;
///
/// let book = &embedded_books()[0];
/// let other_ply = Position::new(Setup::STANDARD);
/// assert_eq!((book.setup(), book.get(&other_ply)), (Setup::STANDARD, None));
/// ```
#[derive(Clone, Debug)]
pub struct Book {
    setup: Setup,
    ply: u32,
    entries: u64,
    /// The scores that occur, indexed by the values of `function`.
    scores: Vec<i8>,
    function: Retrieval,
}

impl Book {
    /// A book with the scores of all its positions, as listed by [`book_positions`].
    ///
    /// ```
    /// use claimeven_game::{Ruleset, Setup};
    /// use claimeven_solver::{Book, Solver, book_positions};
    ///
    /// let setup = Setup::new(4, 4, 4, Ruleset::Standard)?;
    /// let mut solver = Solver::default();
    /// let mut entries = Vec::new();
    /// for position in book_positions(setup, 4) {
    ///     entries.push((position, solver.score(&position)?));
    /// }
    /// let book = Book::new(setup, 4, entries.iter().copied())?;
    /// assert_eq!(book.get(&entries[7].0), Some(entries[7].1));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn new(
        setup: Setup,
        ply: u32,
        entries: impl IntoIterator<Item = (Position, Score)>,
    ) -> Result<Book, BookError> {
        Book::check(setup, ply)?;
        let mut by_key: Vec<(u128, Score)> = Vec::new();
        for (position, score) in entries {
            if position.setup() != setup || position.ply() != ply {
                return Err(BookError::ForeignPosition(Box::new(position)));
            }
            by_key.push((position.canonical_key(), score));
        }
        let mut scores: Vec<i8> = by_key.iter().map(|(_, score)| score.value() as i8).collect();
        scores.sort_unstable();
        scores.dedup();
        let bits = usize::BITS - scores.len().saturating_sub(1).leading_zeros();
        let number =
            |score: Score| scores.partition_point(|&other| i32::from(other) < score.value());
        let numbered: Vec<(u128, u8)> =
            by_key.iter().map(|&(key, score)| (key, number(score) as u8)).collect();
        let function =
            Retrieval::build(&numbered, bits).map_err(|Collision| BookError::Contradiction)?;
        Ok(Book { setup, ply, entries: by_key.len() as u64, scores, function })
    }

    /// Returns an error if a setup cannot have a book of this ply.
    pub(crate) fn check(setup: Setup, ply: u32) -> Result<(), BookError> {
        Solver::check(setup).map_err(BookError::Unsolvable)?;
        if ply > setup.cells() {
            return Err(BookError::Ply { ply, cells: setup.cells() });
        }
        Ok(())
    }

    /// The setup of its positions.
    pub fn setup(&self) -> Setup {
        self.setup
    }

    /// The number of discs of its positions.
    pub fn ply(&self) -> u32 {
        self.ply
    }

    /// The number of positions, with mirror images counted once.
    pub fn entries(&self) -> u64 {
        self.entries
    }

    /// The score of a position; `None` if the book does not contain it.
    ///
    /// ```
    /// use claimeven_game::{Position, Setup};
    /// use claimeven_solver::embedded_books;
    ///
    /// let book = &embedded_books()[0];
    /// let position = Position::from_moves(Setup::STANDARD, "35333571")?;
    /// assert_eq!(book.get(&position).map(|score| score.value()), Some(-3));
    /// assert_eq!(book.get(&Position::new(Setup::STANDARD)), None);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn get(&self, position: &Position) -> Option<Score> {
        self.contains(position).then(|| self.score_of_key(position.canonical_key()))
    }

    /// The score of a position in the book, by its canonical key; noise for any other key.
    pub(crate) fn score_of_key(&self, canonical_key: u128) -> Score {
        let number = self.function.get(canonical_key);
        let score = self.scores.get(usize::from(number)).copied().unwrap_or_default();
        Score::new(score.into())
    }

    /// Whether the book contains a position.
    pub fn contains(&self, position: &Position) -> bool {
        position.setup() == self.setup
            && position.ply() == self.ply
            && position.outcome().is_none()
            && !can_win_at_once(position)
            && is_reachable(position)
    }

    /// The contents of a book file.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = MAGIC.to_vec();
        let setup = [self.setup.cols(), self.setup.rows(), self.setup.connect()];
        bytes.push(VERSION);
        bytes.extend(setup);
        bytes.push(self.ply as u8);
        bytes.extend(self.entries.to_le_bytes());
        bytes.push(self.scores.len() as u8);
        bytes.extend(self.scores.iter().map(|score| score.cast_unsigned()));
        self.function.write(&mut bytes);
        bytes.extend(crc32fast::hash(&bytes).to_le_bytes());
        bytes
    }

    /// Parses the contents of a book file.
    pub fn from_bytes(bytes: &[u8]) -> Result<Book, BookError> {
        let rest = bytes.strip_prefix(MAGIC).ok_or(BookError::NotABook)?;
        let (&version, _) = rest.split_first().ok_or(BookError::Malformed)?;
        if version != VERSION {
            return Err(BookError::Version(version));
        }
        let (content, stored) = bytes.split_last_chunk().ok_or(BookError::Malformed)?;
        let (stored, computed) = (u32::from_le_bytes(*stored), crc32fast::hash(content));
        if stored != computed {
            return Err(BookError::Checksum { stored, computed });
        }
        Book::from_content(&content[MAGIC.len() + 1..]).ok_or(BookError::Malformed)
    }

    fn from_content(content: &[u8]) -> Option<Book> {
        let (&[cols, rows, connect, ply], content) = content.split_first_chunk()?;
        let setup = Setup::new(cols, rows, connect, Ruleset::Standard).ok()?;
        Book::check(setup, ply.into()).ok()?;
        let (entries, content) = content.split_first_chunk()?;
        let (&count, content) = content.split_first()?;
        let (scores, content) = content.split_at_checked(count.into())?;
        Some(Book {
            setup,
            ply: ply.into(),
            entries: u64::from_le_bytes(*entries),
            scores: scores.iter().map(|score| score.cast_signed()).collect(),
            function: Retrieval::read(content)?,
        })
    }
}

/// The built-in books: all positions of the standard board at plies 8 and 12.
pub fn embedded_books() -> Vec<Arc<Book>> {
    static BOOKS: LazyLock<[Arc<Book>; 2]> = LazyLock::new(|| {
        let files: [&[u8]; 2] =
            [include_bytes!("../books/7x6-8.book"), include_bytes!("../books/7x6-12.book")];
        files.map(|bytes| {
            let book = Book::from_bytes(bytes);
            Arc::new(book.expect("the embedded books are valid"))
        })
    });
    BOOKS.to_vec()
}

/// The positions of a book, one of each mirror pair. Siblings are adjacent, and so are their
/// children: similar positions that are solved in a row share the transposition table.
pub fn book_positions(setup: Setup, ply: u32) -> Vec<Position> {
    let mut positions = vec![Position::new(setup)];
    for _ in 0..ply {
        let mut seen = HashSet::new();
        let mut next = Vec::new();
        for position in &positions {
            for column in position.legal() {
                let mut child = *position;
                child.play(column).expect("the move is legal");
                if seen.insert(child.canonical_key()) {
                    next.push(child);
                }
            }
        }
        positions = next;
    }
    positions.retain(|position| position.outcome().is_none() && !can_win_at_once(position));
    positions
}

fn can_win_at_once(position: &Position) -> bool {
    with_board!(position, board => has_winning_move(&board))
}

/// Whether the side to move can complete a line with its next disc.
pub(crate) fn has_winning_move<R: Rules>(board: &Board<R>) -> bool {
    let wins = |index| board.rules().has_line(board.own() | R::Bits::ONE << index);
    board.legal().indices().any(wins)
}

/// Whether some sequence of moves leads to a position without a line; a picture may show one that
/// cannot be reached. Discs are taken back in turn from the tops of the columns. Whether that works
/// depends on the remaining discs alone, so positions that failed once are not tried again.
pub(crate) fn is_reachable(position: &Position) -> bool {
    fn can_be_emptied(position: Position, failed: &mut HashSet<u128>) -> bool {
        position.ply() == 0
            || failed.insert(position.key())
                && Column::all(position.setup()).any(|column| {
                    let mut before = position;
                    before.undo(column).is_ok() && can_be_emptied(before, failed)
                })
    }
    can_be_emptied(*position, &mut HashSet::new())
}

/// Why bytes or scores are not a book.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum BookError {
    /// The header is not that of a book.
    NotABook,
    /// The format version is unknown.
    Version(u8),
    /// The contents do not match the checksum.
    Checksum {
        /// The checksum in the file.
        stored: u32,
        /// The checksum of the contents.
        computed: u32,
    },
    /// The layout is wrong.
    Malformed,
    /// The same position was given two scores.
    Contradiction,
    /// A position has another setup or ply than the book.
    ForeignPosition(Box<Position>),
    /// The board is full before the book's ply.
    #[allow(missing_docs, reason = "self-explanatory")]
    Ply { ply: u32, cells: u32 },
    /// The solver does not support the setup.
    Unsolvable(Unsolvable),
}

impl fmt::Display for BookError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            BookError::NotABook => f.write_str("not an opening book"),
            BookError::Version(version) => {
                write!(f, "unsupported book format {version} (expected {VERSION})")
            }
            BookError::Checksum { stored, computed } => {
                write!(f, "the book is damaged: checksum {computed:08x} instead of {stored:08x}")
            }
            BookError::Malformed => f.write_str("the book is malformed"),
            BookError::Contradiction => f.write_str("a position has two different scores"),
            BookError::ForeignPosition(position) => {
                write!(f, "{position:?} does not belong to the book")
            }
            BookError::Ply { ply, cells } => {
                write!(f, "a book of ply {ply} is impossible: the board is full after {cells}")
            }
            BookError::Unsolvable(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for BookError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            BookError::Unsolvable(error) => Some(error),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A book with made-up scores.
    fn book() -> (Book, Vec<(Position, Score)>) {
        let setup = Setup::new(4, 4, 4, Ruleset::Standard).unwrap();
        let positions = book_positions(setup, 3).into_iter();
        let entries: Vec<_> = positions.zip((-3..=7).cycle().map(Score::new)).collect();
        (Book::new(setup, 3, entries.iter().copied()).unwrap(), entries)
    }

    #[test]
    fn a_book_round_trips_through_its_file() {
        let (book, entries) = book();
        let read = Book::from_bytes(&book.to_bytes()).unwrap();
        assert_eq!((read.setup(), read.ply()), (book.setup(), 3));
        assert_eq!(read.entries(), entries.len() as u64);
        for (position, score) in entries {
            assert_eq!(read.get(&position), Some(score));
            assert_eq!(read.get(&position.mirror()), Some(score));
        }
    }

    #[test]
    fn damage_anywhere_is_detected() {
        let bytes = book().0.to_bytes();
        for index in 0..bytes.len() {
            let mut damaged = bytes.clone();
            damaged[index] ^= 0x10;
            assert!(Book::from_bytes(&damaged).is_err(), "byte {index}");
            assert!(Book::from_bytes(&bytes[..index]).is_err(), "{index} bytes");
        }
        assert_eq!(Book::from_bytes(b"PNG").unwrap_err(), BookError::NotABook);
    }

    #[test]
    fn positions_of_other_books_are_rejected() {
        let (_, entries) = book();
        let setup = entries[0].0.setup();
        let at_ply = |ply| Book::new(setup, ply, entries.iter().copied()).unwrap_err();
        assert_eq!(at_ply(4), BookError::ForeignPosition(Box::new(entries[0].0)));
        assert_eq!(
            at_ply(300).to_string(),
            "a book of ply 300 is impossible: the board is full after 16"
        );
        let twice = [(entries[0].0, Score::new(1)), (entries[0].0, Score::new(2))];
        assert_eq!(Book::new(setup, 3, twice).unwrap_err(), BookError::Contradiction);
        let lines = Setup::new(4, 4, 4, Ruleset::Lines).unwrap();
        assert!(matches!(Book::new(lines, 3, []), Err(BookError::Unsolvable(_))));
    }

    #[test]
    fn only_reachable_positions_are_in_the_book() {
        let setup = Setup::STANDARD;
        let empty = Book::new(setup, 2, []).unwrap();
        let picture = |bottom: &str, above: &str| {
            let top = ".......\n".repeat(4);
            Position::from_picture(setup, &format!("{top}{above}\n{bottom}")).unwrap()
        };
        assert!(empty.contains(&picture("XO.....", ".......")));
        assert!(empty.contains(&picture("X......", "O......")));
        // O below X, though X moved first.
        assert!(!empty.contains(&picture("O......", "X......")));
        assert!(!empty.contains(&picture("X......", ".......")));
    }
}
