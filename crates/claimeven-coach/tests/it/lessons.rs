//! The lessons of the page: which answers are right, what follows each answer, and who wins the
//! practice games.
//!
//! `web/src/lib/learn/lessons.json` has the positions and the tasks, which are chosen by hand, and
//! everything that follows from them. `CLAIMEVEN_UPDATE=1 cargo test -p claimeven-coach --test it
//! lessons` computes the latter again.

use std::fmt::Write as _;
use std::path::Path;

use claimeven_coach::{Coach, verify};
use claimeven_game::{Cell, Column, Outcome, Position, Setup};
use claimeven_solver::{Options, Solver, embedded_books};
use serde::{Deserialize, Serialize};

/// Lines are shown to the end of the game if it is at most this many plies away.
const MAX_PLIES: u32 = 9;

#[derive(Debug, Deserialize)]
struct Lessons {
    lessons: Vec<Lesson>,
}

#[derive(Debug, Deserialize)]
struct Lesson {
    id: String,
    part: String,
    exercises: Vec<Exercise>,
    practice: Practice,
}

#[derive(Debug, Deserialize)]
struct Exercise {
    moves: String,
    task: Task,
    accepted: Vec<u8>,
    answers: Vec<Answer>,
}

/// What to find.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Task {
    /// Connect four.
    Now,
    /// Block the opponent's only four.
    Block,
    /// Win as fast as possible.
    Fastest,
    /// Keep the win, or the draw.
    Keep,
}

/// What follows an answer.
#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Answer {
    column: u8,
    result: Outlook,
    /// The discs that the winner still has to play.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    moves: Option<u32>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    note: Option<Note>,
    /// Best play after it to the end of the game if that is near, or else the best reply.
    line: Vec<u8>,
    /// After a right answer: the empty cells where the player would connect four.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    threats: Vec<[u8; 2]>,
}

/// The result for the player who answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Outlook {
    Loss,
    Draw,
    Win,
}

/// What is wrong with an answer at first sight.
#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Note {
    kind: NoteKind,
    cell: [u8; 2],
}

#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum NoteKind {
    /// It does not connect four in this cell.
    MissesFour,
    /// The opponent can connect four right above it.
    Opens,
    /// The opponent can connect four in this cell.
    LeavesFour,
}

/// The game at the end of a lesson: from a position, against a level.
#[derive(Debug, Deserialize)]
struct Practice {
    moves: String,
    level: u8,
    goal: Outlook,
}

#[test]
fn every_lesson_is_correct() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../web/src/lib/learn/lessons.json");
    let text = std::fs::read_to_string(&path).unwrap();
    let Lessons { lessons } = serde_json::from_str(&text).unwrap();
    let mut solver = Solver::new(Options::default().with_books(embedded_books()));
    let update = std::env::var_os("CLAIMEVEN_UPDATE").is_some();

    assert!(lessons.len() >= 24);
    let mut computed = Vec::new();
    for lesson in &lessons {
        assert!((2..=3).contains(&lesson.exercises.len()), "{}", lesson.id);
        for exercise in &lesson.exercises {
            let position = position(&exercise.moves);
            let answers = answers(&position, exercise.task, &mut solver);
            let accepted = accepted(&position, exercise.task, &mut solver);
            let name = format!("{} {}", lesson.id, exercise.moves);
            // Something to find: a right answer, and a wrong one.
            assert!(!accepted.is_empty() && accepted.len() < answers.len(), "{name}");
            if !update {
                assert_eq!(exercise.accepted, accepted, "{name}");
                assert_eq!(exercise.answers, answers, "{name}");
            }
            computed.push((accepted, answers));
        }
        let practice = position(&lesson.practice.moves);
        assert_eq!(
            outlook(solver.score(&practice).unwrap().sign()),
            lesson.practice.goal,
            "{}",
            lesson.id
        );
        assert!((1..=10).contains(&lesson.practice.level), "{}", lesson.id);
    }
    if update {
        std::fs::write(&path, render(&lessons, computed)).unwrap();
    } else {
        assert_eq!(text, render(&lessons, computed), "the layout of the file");
    }
}

/// The coach has a proven reason for every exercise that is decided, and its reasons hold.
#[test]
fn the_coach_explains_the_exercises() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../web/src/lib/learn/lessons.json");
    let Lessons { lessons } =
        serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap();
    let mut coach = Coach::new();
    for exercise in lessons.iter().flat_map(|lesson| &lesson.exercises) {
        // The result of the opening is a matter of calculation.
        if exercise.moves.len() < 8 {
            continue;
        }
        let explanation = coach.explain(&position(&exercise.moves)).unwrap();
        assert!(verify(&explanation.end(), &explanation.reason), "{}", exercise.moves);
    }
}

fn position(moves: &str) -> Position {
    let position = Position::from_moves(Setup::STANDARD, moves).unwrap();
    assert!(position.outcome().is_none(), "{moves}");
    position
}

/// The right answers.
fn accepted(position: &Position, task: Task, solver: &mut Solver) -> Vec<u8> {
    let scores = solver.scores(position).unwrap();
    let best = scores.iter().flatten().max().copied().unwrap();
    let open = position.legal();
    let of = |column: Column| scores[usize::from(column.number() - 1)].unwrap();
    let right: Vec<Column> = match task {
        Task::Now => open.filter(|&column| connects(position, column)).collect(),
        Task::Block => {
            assert!(!position.legal().any(|column| connects(position, column)), "{position}");
            let blocks: Vec<Column> =
                open.filter(|&column| threatens(position, landing(position, column))).collect();
            assert_eq!(blocks.len(), 1, "{position}");
            assert!(best.sign() >= 0, "{position}");
            blocks
        }
        Task::Fastest => {
            assert!(best.sign() > 0, "{position}");
            open.filter(|&column| of(column) == best).collect()
        }
        Task::Keep => {
            assert!(best.sign() >= 0, "{position}");
            open.filter(|&column| of(column).sign() == best.sign()).collect()
        }
    };
    right.into_iter().map(Column::number).collect()
}

/// What follows each column.
fn answers(position: &Position, task: Task, solver: &mut Solver) -> Vec<Answer> {
    let accepted = accepted(position, task, solver);
    let columns: Vec<Column> = position.legal().collect();
    let answer = |column: Column| {
        let number = column.number();
        let mut after = *position;
        after.play(column).unwrap();
        let score = -solver.score(&after).unwrap();
        let won = after.outcome().is_some();
        Answer {
            column: number,
            result: outlook(score.sign()),
            moves: score.moves_to_win(position),
            note: note(position, column, &after),
            line: line(after, solver),
            threats: if accepted.contains(&number) && !won {
                let mut cells: Vec<_> =
                    after.threats(position.player()).into_iter().map(pair).collect();
                cells.sort_unstable();
                cells
            } else {
                Vec::new()
            },
        }
    };
    columns.into_iter().map(answer).collect()
}

fn note(position: &Position, played: Column, after: &Position) -> Option<Note> {
    if after.outcome().is_some() {
        return None;
    }
    let four = position.legal().find(|&column| connects(position, column));
    if let Some(four) = four {
        return Some(Note { kind: NoteKind::MissesFour, cell: pair(landing(position, four)) });
    }
    let wins = |&column: &Column| connects(after, column);
    if after.legal().filter(|&column| column == played).any(|column| wins(&column)) {
        return Some(Note { kind: NoteKind::Opens, cell: pair(landing(after, played)) });
    }
    let left = after.legal().find(wins)?;
    Some(Note { kind: NoteKind::LeavesFour, cell: pair(landing(after, left)) })
}

/// Best play, preferring moves near the centre.
fn line(mut position: Position, solver: &mut Solver) -> Vec<u8> {
    let mut moves = Vec::new();
    let mut near = true;
    while near && position.outcome().is_none() {
        let scores = solver.scores(&position).unwrap();
        let best = scores.iter().flatten().max().copied().unwrap();
        if moves.is_empty() {
            near = best.moves_to_win(&position).is_some_and(|moves| {
                let plies = if best.sign() > 0 { 2 * moves - 1 } else { 2 * moves };
                plies <= MAX_PLIES
            });
        }
        let column = position
            .legal_from_centre()
            .find(|column| scores[usize::from(column.number() - 1)] == Some(best))
            .unwrap();
        moves.push(column.number());
        position.play(column).unwrap();
    }
    moves
}

/// Whether the side to move connects four there.
fn connects(position: &Position, column: Column) -> bool {
    let mut after = *position;
    after.play(column).is_ok() && matches!(after.outcome(), Some(Outcome::Win(_)))
}

/// Whether the opponent of the side to move would connect four there.
fn threatens(position: &Position, cell: Cell) -> bool {
    position.threats(position.player().opponent()).contains(&cell)
}

fn landing(position: &Position, column: Column) -> Cell {
    let mut cells = (0..position.setup().rows()).map(|row| Cell { column, row });
    cells.find(|&cell| position.disc(cell).is_none()).unwrap()
}

fn outlook(sign: i32) -> Outlook {
    match sign {
        0 => Outlook::Draw,
        1 => Outlook::Win,
        _ => Outlook::Loss,
    }
}

fn pair(cell: Cell) -> [u8; 2] {
    [cell.column.number(), cell.row + 1]
}

/// The file, with an answer per line.
fn render(
    lessons: &[Lesson],
    computed: impl IntoIterator<Item = (Vec<u8>, Vec<Answer>)>,
) -> String {
    let mut computed = computed.into_iter();
    let mut text = String::from("{\n  \"lessons\": [\n");
    for (index, lesson) in lessons.iter().enumerate() {
        let Practice { moves, level, goal } = &lesson.practice;
        writeln!(
            text,
            "    {{\n      \"id\": {},\n      \"part\": {},",
            json(&lesson.id),
            json(&lesson.part)
        )
        .unwrap();
        writeln!(
            text,
            "      \"practice\": {{ \"moves\": {}, \"level\": {level}, \"goal\": {} }},\n      \"exercises\": [",
            json(moves),
            json(goal)
        )
        .unwrap();
        for (number, exercise) in lesson.exercises.iter().enumerate() {
            let (accepted, answers) = computed.next().unwrap();
            writeln!(text, "        {{\n          \"moves\": {},", json(&exercise.moves)).unwrap();
            writeln!(text, "          \"task\": {},", json(&exercise.task)).unwrap();
            writeln!(
                text,
                "          \"accepted\": {},\n          \"answers\": [",
                json(&accepted)
            )
            .unwrap();
            let lines: Vec<String> =
                answers.iter().map(|answer| format!("            {}", json(answer))).collect();
            let comma = if number + 1 < lesson.exercises.len() { "," } else { "" };
            writeln!(text, "{}\n          ]\n        }}{comma}", lines.join(",\n")).unwrap();
        }
        let comma = if index + 1 < lessons.len() { "," } else { "" };
        writeln!(text, "      ]\n    }}{comma}").unwrap();
    }
    text.push_str("  ]\n}\n");
    text
}

fn json(value: &impl Serialize) -> String {
    serde_json::to_string(value).unwrap()
}
