//! The opening trainer of the page: one winning move in every position that the first player's own
//! moves lead to.
//!
//! `CLAIMEVEN_UPDATE=1 cargo test -p claimeven-coach --test it opening` writes
//! `web/src/lib/learn/opening.json` again: by the proof `crates/claimeven-coach/proofs/7x6.proof`
//! if there is one, or else by the solver.

use std::collections::{BTreeSet, HashMap, VecDeque};
use std::path::{Path, PathBuf};

use claimeven_coach::ProofTree;
use claimeven_game::{Column, Position, Setup};
use claimeven_solver::{Options, Solver, embedded_books};
use serde::{Deserialize, Serialize};

/// Cards have positions with at most this many discs.
const MAX_PLY: u32 = 8;

/// Wins within this many moves have no card.
const NEAR: u32 = 3;

/// A position with the first player to move, and the move to know.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Card {
    moves: String,
    column: u8,
    /// Other columns that win.
    also: Vec<u8>,
    /// The number of moves to the win under best play.
    wins: u32,
}

fn in_repository(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(path)
}

fn solver() -> Solver {
    Solver::new(Options::default().with_books(embedded_books()))
}

/// All cards, those with the fewest discs first.
fn cards(proof: Option<&ProofTree>, solver: &mut Solver) -> Vec<Card> {
    let mut cards = Vec::new();
    let mut seen = BTreeSet::new();
    let mut queue = VecDeque::from([String::new()]);
    while let Some(moves) = queue.pop_front() {
        let position = Position::from_moves(Setup::STANDARD, &moves).unwrap();
        if !seen.insert(position.canonical_key()) || is_near(&position, solver) {
            continue;
        }
        let scores = solver.scores(&position).unwrap();
        let wins = |column: &Column| {
            scores[usize::from(column.number() - 1)].is_some_and(|score| score.sign() > 0)
        };
        let best = scores.iter().flatten().max().copied().unwrap();
        let is_best = |column: &Column| scores[usize::from(column.number() - 1)] == Some(best);
        let fastest = position.legal_from_centre().find(is_best).unwrap();
        let column = proof.and_then(|proof| proof.answer(&position)).unwrap_or(fastest);
        assert!(wins(&column), "{moves}: {column}");
        cards.push(Card {
            moves: moves.clone(),
            column: column.number(),
            also: position
                .legal()
                .filter(|other| wins(other) && *other != column)
                .map(Column::number)
                .collect(),
            wins: best.moves_to_win(&position).unwrap(),
        });
        let mut after = position;
        after.play(column).unwrap();
        if after.outcome().is_none() && after.ply() < MAX_PLY {
            queue.extend(after.legal_from_centre().map(|reply| format!("{moves}{column}{reply}")));
        }
    }
    cards
}

/// Whether the side to move wins within [`NEAR`] moves.
fn is_near(position: &Position, solver: &mut Solver) -> bool {
    let score = solver.score(position).unwrap();
    score.sign() > 0 && score.moves_to_win(position).is_some_and(|moves| moves <= NEAR)
}

fn render(cards: &[Card]) -> String {
    let lines: Vec<String> =
        cards.iter().map(|card| serde_json::to_string(card).unwrap()).collect();
    format!("[\n{}\n]\n", lines.join(",\n"))
}

#[test]
fn the_cards_of_the_opening_trainer_are_up_to_date() {
    let path = in_repository("web/src/lib/learn/opening.json");
    let proof = std::fs::read(in_repository("crates/claimeven-coach/proofs/7x6.proof")).ok();
    let proof = proof.map(|bytes| ProofTree::from_bytes(&bytes).unwrap());
    let cards = cards(proof.as_ref(), &mut solver());
    if std::env::var_os("CLAIMEVEN_UPDATE").is_some() {
        std::fs::write(&path, render(&cards)).unwrap();
    }
    assert_eq!(std::fs::read_to_string(path).unwrap(), render(&cards));
}

/// Whatever the opponent plays, the next position has a card, or the win is near.
#[test]
fn every_card_wins_and_every_reply_is_covered() {
    let text = std::fs::read_to_string(in_repository("web/src/lib/learn/opening.json")).unwrap();
    let cards: Vec<Card> = serde_json::from_str(&text).unwrap();
    let mut solver = solver();
    let key = |moves: &str| Position::from_moves(Setup::STANDARD, moves).unwrap().canonical_key();
    let known: HashMap<u128, &Card> = cards.iter().map(|card| (key(&card.moves), card)).collect();
    assert_eq!(known.len(), cards.len(), "no position or mirror image appears twice");
    for card in &cards {
        let after = format!("{}{}", card.moves, card.column);
        let after = Position::from_moves(Setup::STANDARD, &after).unwrap();
        assert!(solver.sign(&after).unwrap() < 0, "{card:?}");
        if after.outcome().is_some() || after.ply() >= MAX_PLY {
            continue;
        }
        for reply in after.legal() {
            let mut next = after;
            next.play(reply).unwrap();
            let is_covered = known.contains_key(&next.canonical_key());
            assert!(is_covered || is_near(&next, &mut solver), "{card:?}, then {reply}");
        }
    }
}
