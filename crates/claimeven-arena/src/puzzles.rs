//! Puzzles: positions with exactly one move that wins, or that holds a draw.

use std::collections::HashSet;
use std::fmt;
use std::str::FromStr;
use std::sync::LazyLock;

use claimeven_coach::{Coach, Reason, Theme};
use claimeven_game::{Cell, Column, Game, MoveTextError, Player, Position, Setup};
use claimeven_search::Limits;
use fastrand::Rng;

use crate::analysis::{Analysis, AnalysisLimits, Analyzer, ColumnAnalysis, ExactValue};
use crate::roster::AgentSpec;

/// A position on the standard board with exactly one move that wins, or that holds a draw.
///
/// Its text is a line with the moves that lead to it, the goal, the number of discs to it, the
/// solution, the grade and the themes.
///
/// ```
/// use claimeven_arena::{PuzzleGoal, Puzzle, Theme};
///
/// let puzzle: Puzzle = "44455554221 win 2 4 1 double-threat".parse()?;
/// assert_eq!((puzzle.goal(), puzzle.solution().number(), puzzle.grade()), (PuzzleGoal::Win, 4, 1));
/// assert_eq!(puzzle.themes(), [Theme::DoubleThreat]);
/// assert_eq!(puzzle.to_string(), "44455554221 win 2 4 1 double-threat");
/// # Ok::<(), claimeven_arena::ParsePuzzleError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Puzzle {
    moves: String,
    position: Position,
    goal: PuzzleGoal,
    discs: u32,
    solution: Column,
    grade: u8,
    themes: Vec<Theme>,
}

/// The themes of a position: those at the end of its explanation, preceded by a forced block.
fn themes_of(coach: &mut Coach, position: &Position, goal: PuzzleGoal) -> Vec<Theme> {
    let Ok(explanation) = coach.explain(position) else { return Vec::new() };
    let wins_now =
        matches!(explanation.reason, Reason::WinsNow { .. }) && explanation.line.is_empty();
    let has_to_block =
        !wins_now && !open_threats(position, position.player().opponent()).is_empty();
    let block = has_to_block.then_some(Theme::MustBlock);
    let ends = match goal {
        PuzzleGoal::Win => explanation.themes(),
        PuzzleGoal::Draw => vec![Theme::SaveTheDraw],
    };
    block.into_iter().chain(ends).collect()
}

/// A player's threats that can be played now.
fn open_threats(position: &Position, player: Player) -> Vec<Cell> {
    let is_open = |cell: &Cell| {
        let below = Cell { row: cell.row.saturating_sub(1), ..*cell };
        cell.row == 0 || position.disc(below).is_some()
    };
    position.threats(player).into_iter().filter(is_open).collect()
}

/// The goal of a puzzle.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum PuzzleGoal {
    /// A win.
    Win,
    /// A draw; all other moves lose.
    Draw,
}

impl PuzzleGoal {
    /// The name in files.
    pub const fn name(self) -> &'static str {
        match self {
            PuzzleGoal::Win => "win",
            PuzzleGoal::Draw => "draw",
        }
    }
}

impl Puzzle {
    /// The number of difficulty grades.
    pub const GRADES: u8 = 5;

    /// The embedded puzzles, easy ones first.
    pub fn embedded() -> &'static [Puzzle] {
        static ALL: LazyLock<Vec<Puzzle>> = LazyLock::new(|| {
            let lines = include_str!("../puzzles/7x6.txt").lines();
            let puzzles: Result<Vec<Puzzle>, _> = lines.map(str::parse).collect();
            puzzles.expect("a test reads the file")
        });
        &ALL
    }

    /// The moves that lead to the position, as text.
    pub fn moves(&self) -> &str {
        &self.moves
    }

    /// The position to solve.
    pub fn position(&self) -> &Position {
        &self.position
    }

    /// The goal of the side to move.
    pub fn goal(&self) -> PuzzleGoal {
        self.goal
    }

    /// The number of discs that the side to move plays until it wins, including the last one; 0
    /// for a draw.
    pub fn discs(&self) -> u32 {
        self.discs
    }

    /// The only right move.
    pub fn solution(&self) -> Column {
        self.solution
    }

    /// The difficulty, from 1 to [`Puzzle::GRADES`].
    pub fn grade(&self) -> u8 {
        self.grade
    }

    /// What the puzzle is about, the theme that ends the game first.
    pub fn themes(&self) -> &[Theme] {
        &self.themes
    }

    /// Determines the themes.
    fn explain(&mut self, coach: &mut Coach) {
        self.themes = themes_of(coach, &self.position, self.goal);
    }

    /// Finds puzzles in games between fallible players, an equal number of each grade; the same
    /// seed gives the same puzzles. `progress` receives the number found so far. For beginners, it
    /// adds immediate wins and forced blocks, a tenth as many of each.
    pub fn generate(seed: u64, count: usize, mut progress: impl FnMut(usize)) -> Vec<Puzzle> {
        let mut random = Rng::with_seed(seed);
        let (mut analyzer, mut coach) = (Analyzer::default(), Coach::new());
        let mut known = HashSet::new();
        let mut found: Vec<Puzzle> = Vec::new();
        let per_grade = count.div_ceil(Puzzle::GRADES.into());
        while found.len() < count {
            let game = fallible_game(&mut random);
            // One puzzle per game, so that they differ.
            let mut plies: Vec<usize> = (FIRST_PLY..game.moves().len()).collect();
            random.shuffle(&mut plies);
            let is_wanted = |puzzle: &Puzzle| {
                let of_grade = found.iter().filter(|other| other.grade == puzzle.grade).count();
                of_grade < per_grade
            };
            let puzzle = plies.into_iter().take(TRIES).find_map(|ply| {
                let moves: String = game.moves()[..ply].iter().map(|c| c.to_char()).collect();
                let position = Position::from_moves(Setup::STANDARD, &moves).ok()?;
                let is_new = !known.contains(&position.canonical_key());
                let puzzle =
                    is_new.then(|| puzzle_at(&mut analyzer, &moves, &position)).flatten()?;
                is_wanted(&puzzle).then_some((puzzle, position.canonical_key()))
            });
            if let Some((puzzle, key)) = puzzle {
                known.insert(key);
                found.push(puzzle);
                progress(found.len());
            }
        }
        found.extend(basics(seed, count.div_ceil(10), &mut analyzer, &mut known));
        for puzzle in &mut found {
            puzzle.explain(&mut coach);
        }
        found.sort_by(|a, b| (a.grade, a.discs, &a.moves).cmp(&(b.grade, b.discs, &b.moves)));
        found
    }
}

/// Positions before this ply are too open.
const FIRST_PLY: usize = 9;

/// How many positions of a game are tried.
const TRIES: usize = 6;

/// One-move puzzles: equal numbers of wins and blocks.
fn basics(
    seed: u64,
    each: usize,
    analyzer: &mut Analyzer,
    known: &mut HashSet<u128>,
) -> Vec<Puzzle> {
    // A separate random sequence, so that the other puzzles do not depend on these.
    let mut random = Rng::with_seed(seed ^ 0x00BA_51C5);
    let mut found: [Vec<Puzzle>; 2] = [Vec::new(), Vec::new()];
    while found.iter().any(|kind| kind.len() < each) {
        let game = fallible_game(&mut random);
        let ply = random.usize(FIRST_PLY.min(game.moves().len() - 1)..game.moves().len());
        let moves: String = game.moves()[..ply].iter().map(|c| c.to_char()).collect();
        let Ok(position) = Position::from_moves(Setup::STANDARD, &moves) else { continue };
        let key = position.canonical_key();
        let Some(puzzle) = basic_at(analyzer, &moves, &position) else { continue };
        let kind = &mut found[usize::from(puzzle.goal == PuzzleGoal::Draw)];
        if kind.len() < each && known.insert(key) {
            kind.push(puzzle);
        }
    }
    found.concat()
}

/// The puzzle of a position with exactly one immediate win or one saving block, its themes not yet known.
fn basic_at(analyzer: &mut Analyzer, moves: &str, position: &Position) -> Option<Puzzle> {
    let (own, other) = (position.player(), position.player().opponent());
    let wins = !open_threats(position, own).is_empty();
    if position.legal().count() < 4 || (!wins && open_threats(position, other).is_empty()) {
        return None;
    }
    let analysis = analyzer.analyze(position, &AnalysisLimits::default());
    let (goal, discs) = match analysis.value? {
        ExactValue::Win(1) => (PuzzleGoal::Win, 1),
        ExactValue::Draw => (PuzzleGoal::Draw, 0),
        _ => return None,
    };
    let solution = only_move(&analysis, goal)?;
    let (moves, themes) = (moves.to_owned(), Vec::new());
    Some(Puzzle { moves, position: *position, goal, discs, solution, grade: 1, themes })
}

/// The one move that achieves the goal, if there is exactly one.
fn only_move(analysis: &Analysis, goal: PuzzleGoal) -> Option<Column> {
    let keeps = |(index, known): (usize, &Option<ColumnAnalysis>)| {
        known.filter(|known| known.at_least == sign(goal)).and(Column::from_index(index))
    };
    let mut keepers = analysis.columns.iter().enumerate().filter_map(keeps);
    let (column, None) = (keepers.next()?, keepers.next()) else { return None };
    Some(column)
}

/// A game between players of different strengths, which starts with a few random moves.
fn fallible_game(random: &mut Rng) -> Game {
    let mut game = Game::new(Setup::STANDARD);
    let levels = [random.u8(2..=6), random.u8(2..=6)];
    let seed = random.u64(..);
    let mut players = levels.map(|level| {
        let spec: AgentSpec = format!("level:{level}").parse().expect("the roster has it");
        spec.build(Setup::STANDARD, seed).expect("levels play every game")
    });
    while game.position().outcome().is_none() {
        let ply = game.moves().len();
        let column = if ply < 4 {
            let legal: Vec<Column> = game.position().legal().collect();
            *random.choice(&legal).expect("the game is not over")
        } else {
            let decision = players[ply % 2].decide(game.position(), &Limits::default());
            decision.expect("the game is not over").column
        };
        game.play(column).expect("the column is a legal one");
    }
    game
}

/// The puzzle of a position, if it is suitable: not decided by the next disc, and with only one
/// solution. Its themes are not yet known.
fn puzzle_at(analyzer: &mut Analyzer, moves: &str, position: &Position) -> Option<Puzzle> {
    if !open_threats(position, position.player()).is_empty() || position.legal().count() < 3 {
        return None;
    }
    let analysis = analyzer.analyze(position, &AnalysisLimits::default());
    let (goal, discs) = match analysis.value? {
        ExactValue::Win(plies) => (PuzzleGoal::Win, plies.div_ceil(2)),
        ExactValue::Draw => (PuzzleGoal::Draw, 0),
        _ => return None,
    };
    let solution = only_move(&analysis, goal)?;
    // An obvious block is not a puzzle.
    let plausible = plausible_errors(&analysis);
    if plausible == 0 {
        return None;
    }
    let grade = grade(position, solution, discs, plausible);
    let (moves, themes) = (moves.to_owned(), Vec::new());
    Some(Puzzle { moves, position: *position, goal, discs, solution, grade, themes })
}

/// Wrong moves that do not lose at once.
fn plausible_errors(analysis: &Analysis) -> usize {
    let known = analysis.columns.iter().flatten();
    let best = analysis.value;
    known.filter(|known| known.value != best && known.value != Some(ExactValue::Loss(2))).count()
}

/// The difficulty: by the search depth that finds the move, the length of the solution and the number
/// of plausible wrong moves.
fn grade(position: &Position, column: Column, discs: u32, plausible: usize) -> u8 {
    let finds = |depth: u32| {
        let spec: AgentSpec =
            format!("alphabeta:depth={depth}").parse().expect("the roster has it");
        let mut player = spec.build(position.setup(), 0).expect("it plays every game");
        player.decide(position, &Limits::default()).is_ok_and(|found| found.column == column)
    };
    // A depth counts only if deeper searches find the move as well; otherwise it was luck.
    let depths = [2, 4, 6, 8];
    let misses = depths.iter().rposition(|&depth| !finds(depth)).map_or(0, |place| place as u8 + 1);
    let length = match discs {
        1..=3 => 1,
        4..=5 => 2,
        6..=8 => 3,
        0 | 9..=12 => 4,
        _ => 5,
    };
    let grade = (1 + misses + length).div_ceil(2);
    if plausible <= 2 { grade.saturating_sub(1).max(1) } else { grade }
}

const fn sign(goal: PuzzleGoal) -> i32 {
    match goal {
        PuzzleGoal::Win => 1,
        PuzzleGoal::Draw => 0,
    }
}

impl fmt::Display for Puzzle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Puzzle { moves, goal, discs, solution, grade, themes, .. } = self;
        let themes: Vec<&str> = themes.iter().map(|theme| theme.name()).collect();
        write!(f, "{moves} {} {discs} {solution} {grade} {}", goal.name(), themes.join(","))
    }
}

impl FromStr for Puzzle {
    type Err = ParsePuzzleError;

    fn from_str(text: &str) -> Result<Puzzle, ParsePuzzleError> {
        let wrong = || ParsePuzzleError::Format(text.to_owned());
        let words: Vec<&str> = text.split_whitespace().collect();
        let [moves, goal, discs, column, grade, themes] = words[..] else { return Err(wrong()) };
        let goal = match goal {
            "win" => PuzzleGoal::Win,
            "draw" => PuzzleGoal::Draw,
            _ => return Err(wrong()),
        };
        let number = |word: &str| word.parse::<u8>().map_err(|_| wrong());
        let theme = |name: &str| Theme::ALL.into_iter().find(|theme| theme.name() == name);
        let position =
            Position::from_moves(Setup::STANDARD, moves).map_err(ParsePuzzleError::Moves)?;
        let column = number(column)?;
        let solution = position.legal().find(|legal| legal.number() == column);
        let grade = number(grade)?;
        Ok(Puzzle {
            moves: moves.to_owned(),
            position,
            goal,
            discs: number(discs)?.into(),
            solution: solution.ok_or(ParsePuzzleError::Solution(column))?,
            grade: Some(grade)
                .filter(|grade| (1..=Puzzle::GRADES).contains(grade))
                .ok_or_else(wrong)?,
            themes: themes
                .split(',')
                .map(|name| theme(name).ok_or_else(wrong))
                .collect::<Result<_, _>>()?,
        })
    }
}

/// Why a text is not a [`Puzzle`].
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ParsePuzzleError {
    /// It does not have the format of a puzzle.
    Format(String),
    /// The moves do not lead to a position.
    Moves(MoveTextError),
    /// The solution is not a legal move.
    Solution(u8),
}

impl fmt::Display for ParsePuzzleError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ParsePuzzleError::Format(text) => {
                write!(f, "'{text}' is not a puzzle: MOVES win|draw DISCS COLUMN GRADE THEMES")
            }
            ParsePuzzleError::Moves(error) => error.fmt(f),
            ParsePuzzleError::Solution(column) => {
                write!(f, "the solution is not a legal move: column {column}")
            }
        }
    }
}

impl std::error::Error for ParsePuzzleError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            ParsePuzzleError::Moves(error) => Some(error),
            ParsePuzzleError::Format(_) | ParsePuzzleError::Solution(_) => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use claimeven_solver::{Options, Solver, embedded_books};

    use super::*;

    #[test]
    fn every_puzzle_has_one_solution_and_the_solver_agrees() {
        let mut solver = Solver::new(Options::default().with_books(embedded_books()));
        let puzzles = Puzzle::embedded();
        assert!(puzzles.len() >= 200, "{}", puzzles.len());
        for puzzle in puzzles {
            let position = *puzzle.position();
            for column in position.legal() {
                let mut child = position;
                child.play(column).unwrap();
                let sign = -solver.sign(&child).unwrap();
                let keeps = sign == self::sign(puzzle.goal);
                assert_eq!(keeps, column == puzzle.solution, "{puzzle}: column {column}");
                assert!(keeps || sign < self::sign(puzzle.goal), "{puzzle}: column {column}");
            }
            let discs = solver.score(&position).unwrap().moves_to_win(&position).unwrap_or(0);
            assert_eq!(discs, puzzle.discs, "{puzzle}");
        }
        for grade in 1..=Puzzle::GRADES {
            assert!(puzzles.iter().filter(|puzzle| puzzle.grade == grade).count() >= 20);
        }
        let positions = puzzles.iter().map(|puzzle| puzzle.position().canonical_key());
        assert_eq!(positions.collect::<HashSet<_>>().len(), puzzles.len(), "no puzzle twice");
    }

    /// `CLAIMEVEN_UPDATE=1 cargo test -p claimeven-arena themes_match_the_explanations` updates
    /// them.
    #[test]
    fn themes_match_the_explanations() {
        let mut coach = Coach::new();
        let mut puzzles = Puzzle::embedded().to_vec();
        for puzzle in &mut puzzles {
            puzzle.explain(&mut coach);
        }
        if std::env::var_os("CLAIMEVEN_UPDATE").is_some() {
            let lines: Vec<String> = puzzles.iter().map(|puzzle| format!("{puzzle}\n")).collect();
            let file = concat!(env!("CARGO_MANIFEST_DIR"), "/puzzles/7x6.txt");
            std::fs::write(file, lines.concat()).unwrap();
            return;
        }
        for (puzzle, embedded) in puzzles.iter().zip(Puzzle::embedded()) {
            assert_eq!(puzzle, embedded);
        }
    }

    /// Each theme by an independent definition, which tries every defence and not only the best
    /// one.
    #[test]
    fn themes_match_their_definitions() {
        let mut seen: HashSet<Theme> = HashSet::new();
        for puzzle in Puzzle::embedded() {
            let position = *puzzle.position();
            let has = |theme| puzzle.themes.contains(&theme);
            let (own, other) = (position.player(), position.player().opponent());
            let column = puzzle.solution;
            let mut after = position;
            after.play(column).unwrap();
            assert_eq!(has(Theme::WinNow), after.outcome().is_some(), "{puzzle}");
            assert_eq!(has(Theme::SaveTheDraw), puzzle.goal == PuzzleGoal::Draw, "{puzzle}");
            let blocked = open_threats(&position, other);
            if has(Theme::MustBlock) {
                assert!(blocked.iter().all(|cell| cell.column == column), "{puzzle}");
            } else {
                assert!(has(Theme::WinNow) || blocked.is_empty(), "{puzzle}");
            }
            if puzzle.discs == 2 {
                // All defences lose at once.
                for defence in after.legal() {
                    let mut reply = after;
                    reply.play(defence).unwrap();
                    assert!(!open_threats(&reply, own).is_empty(), "{puzzle}");
                }
                let open = open_threats(&after, own).len();
                assert_eq!(has(Theme::DoubleThreat), open >= 2, "{puzzle}");
                assert_eq!(has(Theme::StackedThreats), open == 1, "{puzzle}");
                let waits =
                    [Theme::OddThreat, Theme::EvenThreat, Theme::NoSafeMove, Theme::FollowUp];
                assert_eq!(waits.into_iter().any(has), open == 0, "{puzzle}");
            }
            seen.extend(&puzzle.themes);
        }
        // Only a mistake opens a cell for the opponent, and threats in even rows come by following up.
        let missing = [Theme::OpensFour, Theme::EvenThreat];
        let others = Theme::ALL.into_iter().filter(|theme| !missing.contains(theme));
        assert_eq!(seen, others.collect(), "every other theme has puzzles");
    }

    #[test]
    fn themes_of_known_positions() {
        let themes = |moves: &str| {
            let position = Position::from_moves(Setup::STANDARD, moves).unwrap();
            themes_of(&mut Coach::new(), &position, PuzzleGoal::Win)
        };
        assert_eq!(themes("112233"), [Theme::WinNow]);
        // Two discs in the middle of the bottom row become three with both ends open.
        assert_eq!(themes("4455"), [Theme::DoubleThreat]);
    }

    #[test]
    fn the_same_seed_gives_the_same_puzzles() {
        let find = || Puzzle::generate(7, 3, |_| {});
        let puzzles = find();
        assert_eq!(puzzles, find());
        for puzzle in puzzles {
            assert_eq!(puzzle.to_string().parse::<Puzzle>().unwrap(), puzzle);
        }
    }

    #[test]
    fn an_invalid_puzzle_line_is_named_in_the_error() {
        for text in [
            "",
            "44 win 2 4 1",
            "44 loss 2 4 1 win-now",
            "44 win x 4 1 win-now",
            "44 win 2 4 1 luck",
            "48 win 2 4 1 win-now",
            "44 win 2 9 1 win-now",
            "44 win 2 4 6 win-now",
        ] {
            let error = text.parse::<Puzzle>().unwrap_err().to_string();
            let is_named = error.contains(text) || error.contains("'8'");
            assert!(is_named || error.ends_with("column 9"), "{error}");
        }
    }
}
