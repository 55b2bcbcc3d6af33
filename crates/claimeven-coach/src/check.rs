//! The checker of proofs. It shares no code with the search for proofs and their player: it reads
//! the bits itself, has its own board, and knows only the rules of the game.
//!
//! It walks the tree of the file. Where the opponent is to move, it goes through all replies, and
//! it plays every diagram out against all replies. Each line of play has to end with the claimed
//! result.

use std::collections::{HashMap, HashSet};
use std::fmt;

use claimeven_game::Setup;

/// What a checked proof consists of.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CheckReport {
    /// What the proof proves, from its first line.
    pub claim: String,
    /// Positions of the tree in which the owner has a move, apart from those where it wins by
    /// force.
    pub owner_positions: usize,
    /// Positions of the tree in which the owner wins by force: with threats that have to be
    /// blocked.
    pub forced_wins: usize,
    /// Positions of the tree in which the opponent is to move, apart from finished games.
    pub opponent_positions: usize,
    /// How many of them a diagram closes.
    pub leaves: usize,
    /// The number of different diagrams.
    pub diagrams: usize,
    /// Single positions in which the owner plays another move than that of a diagram.
    pub overrides: usize,
    /// The number of the owner's positions when diagrams are played out.
    pub played_out: usize,
    /// The size of the file in bytes.
    pub bytes: usize,
}

/// Checks a proof file: every line of play has to end with the result that the first line claims.
///
/// `progress` receives the number of bytes checked so far. See [`ProofSearch`](crate::ProofSearch)
/// for an example.
pub fn check_proof(
    bytes: &[u8],
    mut progress: impl FnMut(usize),
) -> Result<CheckReport, CheckError> {
    let wrong_header = || CheckError("the first line is not a proof header".to_owned());
    let end = bytes.iter().take(200).position(|&byte| byte == b'\n').ok_or_else(wrong_header)?;
    let header = String::from_utf8_lossy(&bytes[..end]);
    let claim = header.strip_prefix("claimeven proof 1: ").ok_or_else(wrong_header)?;
    let report =
        CheckReport { claim: claim.to_owned(), bytes: bytes.len(), ..CheckReport::default() };
    let (setup, claim) = claim.rsplit_once(", ").ok_or_else(wrong_header)?;
    let setup: Setup = setup.parse().map_err(|_| wrong_header())?;
    let (owner, must_win) = match claim {
        "X wins" => (0, true),
        "O wins" => (1, true),
        "X does not lose" => (0, false),
        "O does not lose" => (1, false),
        _ => return Err(wrong_header()),
    };
    let mut checker = Checker {
        size: Size { cols: setup.cols(), rows: setup.rows(), connect: setup.connect() },
        owner,
        must_win,
        bits: &bytes[end + 1..],
        next: 0,
        seen: HashSet::new(),
        diagrams: Vec::new(),
        report,
        progress: &mut progress,
    };
    checker.tree(Board { discs: [0, 0], player: 0 })?;
    if checker.next.div_ceil(8) != checker.bits.len() {
        return Err(CheckError("the file has extra bytes after the tree".to_owned()));
    }
    Ok(checker.report)
}

/// The size of the board. Cells are numbered column by column from the bottom up, with one cell to
/// spare on top of each column, so that no four wraps from one column into the next.
#[derive(Clone, Copy)]
struct Size {
    cols: u8,
    rows: u8,
    connect: u8,
}

/// The discs of both players, and who is to move.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
struct Board {
    discs: [u128; 2],
    player: usize,
}

impl Size {
    fn cell(self, column: u8, row: u8) -> u128 {
        1 << (u32::from(column) * (u32::from(self.rows) + 1) + u32::from(row))
    }

    fn cells(self) -> impl Iterator<Item = u128> {
        (0..self.cols).flat_map(move |column| (0..self.rows).map(move |row| self.cell(column, row)))
    }

    /// Where the next disc in a column lands.
    fn landing(self, board: Board, column: u8) -> Option<u128> {
        let filled = board.discs[0] | board.discs[1];
        (0..self.rows).map(|row| self.cell(column, row)).find(|cell| filled & cell == 0)
    }

    fn landings(self, board: Board) -> impl Iterator<Item = u128> {
        (0..self.cols).filter_map(move |column| self.landing(board, column))
    }

    fn has_four(self, discs: u128) -> bool {
        let up = u32::from(self.rows) + 1;
        [1, up - 1, up, up + 1].into_iter().any(|step| {
            let mut run = discs;
            for nth in 1..u32::from(self.connect) {
                run &= discs.checked_shr(nth * step).unwrap_or(0);
            }
            run != 0
        })
    }

    /// Whether the player who moved last has connected four, or the board is full.
    fn is_over(self, board: Board) -> bool {
        self.has_four(board.discs[1 - board.player]) || self.landings(board).next().is_none()
    }

    /// The open cells where a player would connect four, from left to right.
    fn fours(self, board: Board, player: usize) -> impl Iterator<Item = u128> {
        self.landings(board).filter(move |cell| self.has_four(board.discs[player] | cell))
    }

    fn mirror(self, board: Board) -> Board {
        let mirror = |discs: u128| {
            let width = u32::from(self.rows) + 1;
            let column = |nth: u8| discs >> (u32::from(nth) * width) & ((1 << width) - 1);
            (0..self.cols).fold(0, |mirrored, nth| {
                mirrored | column(self.cols - 1 - nth) << (u32::from(nth) * width)
            })
        };
        Board { discs: board.discs.map(mirror), ..board }
    }

    /// The lexicographically smaller one of a position and its mirror image, reading column by
    /// column from the bottom up, with empty < X < O.
    fn canonical(self, board: Board) -> Board {
        let content = |board: Board, cell| (board.discs[0] & cell != 0, board.discs[1] & cell != 0);
        let number = |(first, second): (bool, bool)| u8::from(first) + 2 * u8::from(second);
        let mirror = self.mirror(board);
        let reading = |board| self.cells().map(move |cell| number(content(board, cell)));
        if reading(mirror).lt(reading(board)) { mirror } else { board }
    }
}

fn after(board: Board, cell: u128) -> Board {
    let mut after = Board { player: 1 - board.player, ..board };
    after.discs[board.player] |= cell;
    after
}

/// A diagram as in the file.
#[derive(Clone, Default)]
struct Diagram {
    numbers: Vec<(u128, u32)>,
    /// The cell, the cell of the disc, the player who must have it, and the number.
    exceptions: Vec<(u128, u128, usize, u32)>,
}

struct Strategy {
    diagram: Diagram,
    overrides: HashMap<Board, u128>,
}

struct Checker<'a> {
    size: Size,
    owner: usize,
    must_win: bool,
    bits: &'a [u8],
    next: usize,
    seen: HashSet<Board>,
    diagrams: Vec<Diagram>,
    report: CheckReport,
    progress: &'a mut dyn FnMut(usize),
}

impl Checker<'_> {
    /// Checks a position of the tree and everything below it.
    fn tree(&mut self, board: Board) -> Result<(), CheckError> {
        let size = self.size;
        if self.is_over(board)? {
            return Ok(());
        }
        // Mirror images count as one position.
        let board = size.canonical(board);
        if !self.seen.insert(board) {
            return Ok(());
        }
        if board.player == self.owner {
            if wins_by_force(size, board) {
                self.report.forced_wins += 1;
                return Ok(());
            }
            self.report.owner_positions += 1;
            let cell = self.read_move(board)?;
            return self.tree(after(board, cell));
        }
        self.report.opponent_positions += 1;
        if self.read(1)? == 0 {
            for cell in size.landings(board) {
                self.tree(after(board, cell))?;
            }
            return Ok(());
        }
        self.report.leaves += 1;
        let diagram = self.read_diagram(board)?;
        let mut strategy = Strategy { diagram, overrides: HashMap::new() };
        for _ in 0..self.read(4)? {
            // The replies that lead to the position, and the move there.
            let mut position = board;
            for nth in 0..self.read(4)? {
                if nth > 0 {
                    position = after(position, self.strategy_move(position, &strategy));
                }
                position = after(position, self.read_move(position)?);
            }
            let cell = self.read_move(position)?;
            strategy.overrides.insert(position, cell);
            self.report.overrides += 1;
        }
        self.play_out(board, &strategy)?;
        (self.progress)(self.next / 8);
        Ok(())
    }

    /// Plays a strategy against all replies.
    fn play_out(&mut self, leaf: Board, strategy: &Strategy) -> Result<(), CheckError> {
        let mut seen = HashSet::new();
        let mut waiting = vec![leaf];
        while let Some(board) = waiting.pop() {
            for reply in self.size.landings(board) {
                let board = after(board, reply);
                if self.is_over(board)? || !seen.insert(board) {
                    continue;
                }
                self.report.played_out += 1;
                if wins_by_force(self.size, board) {
                    continue;
                }
                let board = after(board, self.strategy_move(board, strategy));
                if !self.is_over(board)? {
                    waiting.push(board);
                }
            }
        }
        Ok(())
    }

    /// The move of a strategy, where the owner does not win by force.
    fn strategy_move(&self, board: Board, strategy: &Strategy) -> u128 {
        if let Some(&cell) = strategy.overrides.get(&board) {
            return cell;
        }
        let (size, diagram) = (self.size, &strategy.diagram);
        // Block.
        if let Some(cell) = size.fours(board, 1 - board.player).next() {
            return cell;
        }
        // Never below a cell where the opponent would connect four, unless nothing else is left.
        let is_safe = |&cell: &u128| {
            let after = after(board, cell);
            size.fours(after, after.player).next().is_none()
        };
        // The highest number, the leftmost of equal ones.
        let number = |cell: u128| {
            let usual = diagram.numbers.iter().find(|(other, _)| *other == cell).map(|&(_, n)| n);
            let exceptional = diagram
                .exceptions
                .iter()
                .filter(|&&(other, disc, player, _)| {
                    other == cell && board.discs[player] & disc != 0
                })
                .map(|&(.., number)| number);
            exceptional.chain(usual).max().unwrap_or(0)
        };
        let safe: Vec<u128> = size.landings(board).filter(is_safe).collect();
        let mut chosen = safe.first().copied();
        for &cell in &safe {
            if chosen.is_some_and(|chosen| number(cell) > number(chosen)) {
                chosen = Some(cell);
            }
        }
        chosen.or_else(|| size.landings(board).next()).expect("the game is not over")
    }

    /// Whether the game is over; an error if it ended without the claimed result.
    fn is_over(&self, board: Board) -> Result<bool, CheckError> {
        let is_over = self.size.is_over(board);
        let owner_has_won = self.size.has_four(board.discs[self.owner]);
        let is_draw = is_over && !self.size.has_four(board.discs[1 - board.player]);
        if is_over && !owner_has_won && (self.must_win || !is_draw) {
            return Err(CheckError(format!(
                "a line of play ends with the wrong result: {}",
                self.picture(board)
            )));
        }
        Ok(is_over)
    }

    fn read_diagram(&mut self, leaf: Board) -> Result<Diagram, CheckError> {
        if self.read(1)? == 1 {
            let nth = self.read(bits_for(self.diagrams.len()))? as usize;
            let missing = || CheckError(format!("diagram {nth} is used before it is defined"));
            return self.diagrams.get(nth).cloned().ok_or_else(missing);
        }
        let filled = leaf.discs[0] | leaf.discs[1];
        let empty: Vec<u128> = self.size.cells().filter(|cell| filled & cell == 0).collect();
        let width = self.read(3)?;
        let mut diagram = Diagram::default();
        for &cell in &empty {
            diagram.numbers.push((cell, self.read(width)?));
        }
        for _ in 0..self.read(4)? {
            let (cell, disc) = (self.read_cell(&empty)?, self.read_cell(&empty)?);
            let player = if self.read(1)? == 1 { self.owner } else { 1 - self.owner };
            diagram.exceptions.push((cell, disc, player, self.read(width)?));
        }
        self.diagrams.push(diagram.clone());
        self.report.diagrams += 1;
        Ok(diagram)
    }

    /// Reads a column; returns the cell in which a disc lands there.
    fn read_move(&mut self, board: Board) -> Result<u128, CheckError> {
        let column = self.read(bits_for(self.size.cols.into()))?;
        let column = u8::try_from(column).ok().filter(|&column| column < self.size.cols);
        let cell = column.and_then(|column| self.size.landing(board, column));
        let cell = cell.filter(|_| !self.size.is_over(board));
        cell.ok_or_else(|| CheckError(format!("illegal move in {}", self.picture(board))))
    }

    fn read_cell(&mut self, cells: &[u128]) -> Result<u128, CheckError> {
        let nth = self.read(bits_for(cells.len()))? as usize;
        cells.get(nth).copied().ok_or_else(|| CheckError(format!("no empty cell has index {nth}")))
    }

    fn read(&mut self, count: u32) -> Result<u32, CheckError> {
        let mut value = 0;
        for _ in 0..count {
            let byte = self.bits.get(self.next / 8);
            let byte = byte.ok_or_else(|| CheckError("the file ends too early".to_owned()))?;
            value = 2 * value + u32::from(byte >> (7 - self.next % 8) & 1);
            self.next += 1;
        }
        Ok(value)
    }

    /// A position in one line, its rows from the top.
    fn picture(&self, board: Board) -> String {
        let row = |row: u8| -> String {
            let cells = (0..self.size.cols).map(|column| self.size.cell(column, row));
            cells
                .map(|cell| match () {
                    () if board.discs[0] & cell != 0 => 'X',
                    () if board.discs[1] & cell != 0 => 'O',
                    () => '.',
                })
                .collect()
        };
        (0..self.size.rows).rev().map(row).collect::<Vec<_>>().join("/")
    }
}

/// Whether the side to move can connect four at once, or by a sequence of threats that ends with
/// two at once.
fn wins_by_force(size: Size, board: Board) -> bool {
    let (own, other) = (board.player, 1 - board.player);
    if size.fours(board, own).next().is_some() {
        return true;
    }
    size.landings(board).any(|cell| {
        let threat = after(board, cell);
        if size.fours(threat, other).next().is_some() {
            return false;
        }
        let mut fours = size.fours(threat, own);
        match (fours.next(), fours.next()) {
            (None, _) => false,
            (Some(_), Some(_)) => true,
            (Some(block), None) => {
                let blocked = after(threat, block);
                !size.is_over(blocked) && wins_by_force(size, blocked)
            }
        }
    })
}

/// The number of bits that distinguish this many values.
fn bits_for(count: usize) -> u32 {
    usize::BITS - count.saturating_sub(1).leading_zeros()
}

/// Why a file does not prove its claim.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CheckError(String);

impl fmt::Display for CheckError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for CheckError {}
