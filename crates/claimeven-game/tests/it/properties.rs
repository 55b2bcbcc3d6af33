//! Random games on random boards, compared with the naive rules.

use std::collections::hash_map::DefaultHasher;
use std::hash::{Hash, Hasher};

use claimeven_game::{Cell, Column, Game, PlayError, Player, Position, Setup};
use proptest::prelude::*;

use crate::naive::{Naive, games};

/// Compares all methods of a position with the naive rules.
fn check_same(position: &Position, naive: &Naive) {
    assert_eq!(position.setup(), naive.setup);
    assert_eq!(position.ply() as usize, naive.ply());
    assert_eq!(position.player(), naive.player());
    assert_eq!(position.legal().collect::<Vec<_>>(), naive.legal());
    assert_eq!(position.outcome(), naive.outcome());
    assert_eq!(position.scores(), naive.scores());
    let winning_cells: Vec<Cell> = naive.winning_cells().into_iter().collect();
    assert_eq!(position.winning_cells(), winning_cells);
    for cell in Cell::in_reading_order(naive.setup) {
        let disc = naive.disc(cell.column.index().cast_signed(), cell.row.into());
        assert_eq!(position.disc(cell), disc, "{cell}");
    }
}

/// Plays the choices on both implementations, comparing them before each move.
fn play_out(setup: Setup, choices: &[usize]) -> Game {
    let mut game = Game::new(setup);
    let mut naive = Naive::new(setup);
    for choice in choices {
        check_same(game.position(), &naive);
        let legal = naive.legal();
        if legal.is_empty() {
            break;
        }
        let column = legal[choice % legal.len()];
        game.play(column).unwrap();
        naive.play(column);
    }
    check_same(game.position(), &naive);
    check_same(&game.position().mirror(), &naive.mirror());
    game
}

fn hash(position: &Position) -> u64 {
    let mut hasher = DefaultHasher::new();
    position.hash(&mut hasher);
    hasher.finish()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1500, ..ProptestConfig::default() })]

    #[test]
    fn play_follows_the_naive_rules((setup, choices) in games()) {
        play_out(setup, &choices);
    }

    #[test]
    fn threats_are_the_cells_that_complete_a_line((setup, choices) in games()) {
        let mut naive = Naive::new(setup);
        let mut position = Position::new(setup);
        for choice in choices {
            let legal = naive.legal();
            if legal.is_empty() {
                break;
            }
            let column = legal[choice % legal.len()];
            naive.play(column);
            position.play(column).unwrap();
        }
        for player in Player::BOTH {
            let threats: Vec<Cell> = naive.threats(player).into_iter().collect();
            prop_assert_eq!(position.threats(player), threats);
        }
    }

    #[test]
    fn every_column_is_played_or_rejected_with_the_right_reason((setup, choices) in games()) {
        let game = play_out(setup, &choices);
        let legal: Vec<Column> = game.position().legal().collect();
        for column in (0..35).map(|index| Column::from_index(index).unwrap()) {
            let mut after = *game.position();
            let expected = if column.index() >= setup.cols().into() {
                Err(PlayError::NoSuchColumn { column, cols: setup.cols() })
            } else if let Some(outcome) = game.position().outcome() {
                Err(PlayError::GameOver(outcome))
            } else if !legal.contains(&column) {
                Err(PlayError::ColumnFull(column))
            } else {
                Ok(())
            };
            prop_assert_eq!(after.play(column), expected);
            prop_assert_eq!(after.disc(Cell { column, row: 35 }), None);
            prop_assert!(column.index() < setup.cols().into() || after.is_full(column));
            prop_assert_eq!(after == *game.position(), expected.is_err());
        }
    }

    #[test]
    fn undo_leads_back_through_every_position((setup, choices) in games()) {
        let mut game = play_out(setup, &choices);
        let mut replay = Game::new(setup);
        let mut before = vec![*replay.position()];
        for &column in game.moves() {
            replay.play(column).unwrap();
            before.push(*replay.position());
        }
        let moves = game.moves().to_vec();
        for (ply, &column) in moves.iter().enumerate().rev() {
            prop_assert_eq!(game.undo(), Some(column));
            prop_assert_eq!(game.position(), &before[ply]);
            prop_assert_eq!(hash(game.position()), hash(&before[ply]));
        }
        prop_assert_eq!(game.undo(), None);
    }

    #[test]
    fn only_a_possible_last_move_can_be_undone((setup, choices) in games()) {
        let position = *play_out(setup, &choices).position();
        for column in (0..35).map(|index| Column::from_index(index).unwrap()) {
            let mut before = position;
            if before.undo(column).is_ok() {
                prop_assert!(before.legal().any(|legal| legal == column));
                before.play(column).unwrap();
            }
            prop_assert_eq!(before, position);
        }
    }

    #[test]
    fn keys_identify_positions_and_canonical_keys_mirror_pairs((setup, choices) in games(), swap in any::<usize>()) {
        let game = play_out(setup, &choices);
        let position = *game.position();
        let mirror = position.mirror();
        prop_assert_eq!(mirror.mirror(), position);
        prop_assert_eq!(mirror.canonical_key(), position.canonical_key());
        prop_assert_eq!(mirror.key() == position.key(), mirror == position);

        // The same moves in another order lead to the same position, or to one with another key.
        let mut moves = game.moves().to_vec();
        if moves.len() > 2 {
            let first = swap % (moves.len() - 2);
            moves.swap(first, first + 2);
        }
        let mut other = Game::new(setup);
        if moves.into_iter().all(|column| other.play(column).is_ok()) {
            let other = other.position();
            prop_assert_eq!(other.key() == position.key(), *other == position);
            prop_assert_eq!(
                other.canonical_key() == position.canonical_key(),
                *other == position || *other == mirror
            );
        }
    }

    #[test]
    fn every_notation_round_trips((setup, choices) in games()) {
        let game = play_out(setup, &choices);
        let position = *game.position();
        prop_assert_eq!(Game::parse(setup, &game.move_text()).unwrap(), game.clone());
        prop_assert_eq!(game.to_string().parse::<Game>().unwrap(), game);
        prop_assert_eq!(setup.to_string().parse::<Setup>().unwrap(), setup);
        prop_assert_eq!(format!("{position:#}").parse::<Position>().unwrap(), position);
        if setup.connect() == 4 && setup.ruleset() == claimeven_game::Ruleset::Standard {
            prop_assert_eq!(position.to_string().parse::<Position>().unwrap(), position);
        }
        prop_assert_eq!(Position::from_picture(setup, &position.to_string()).unwrap(), position);
        prop_assert_eq!(Position::from_openspiel(setup, &position.to_openspiel()).unwrap(), position);
        prop_assert_eq!(Position::from_kaggle(setup, &position.to_kaggle()).unwrap(), position);
    }

    #[test]
    fn no_text_makes_a_parser_panic((setup, _) in games(), text in "[1-9a-zXxOo.0-2\\n -]{0,60}|\\PC{0,20}") {
        let _ = Game::parse(setup, &text);
        let _ = text.parse::<Game>();
        let _ = text.parse::<Position>();
        let _ = text.parse::<Setup>();
        let _ = text.parse::<Column>();
        let _ = Position::from_picture(setup, &text);
        let _ = Position::from_openspiel(setup, &text);
        let _ = Position::from_kaggle(setup, text.as_bytes());
    }

    #[test]
    fn accepted_boards_round_trip_and_have_at_most_one_winner(
        (setup, discs) in games().prop_flat_map(|(setup, _)| {
            let cell = prop::sample::select(&[0u8, 1, 2][..]);
            (Just(setup), prop::collection::vec(cell, setup.cells() as usize))
        })
    ) {
        if let Ok(position) = Position::from_kaggle(setup, &discs) {
            prop_assert_eq!(position.to_kaggle(), discs);
            let both_have_lines = Player::BOTH.iter().all(|&p| !position.line_cells(p).is_empty());
            let standard = setup.ruleset() == claimeven_game::Ruleset::Standard;
            prop_assert!(!(standard && both_have_lines));
        }
    }
}
