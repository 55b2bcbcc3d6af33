//! Bugs known from other programs of this kind, each with a position that shows it.

use claimeven_game::{
    AnySize, Cell, Column, Game, Outcome, PlayError, Player, Position, Rules, Ruleset, Setup,
};

use crate::naive::cell;

const X_WINS: Option<Outcome> = Some(Outcome::Win(Player::First));
const O_WINS: Option<Outcome> = Some(Outcome::Win(Player::Second));

fn picture(picture: &str) -> Position {
    Position::from_picture(Setup::STANDARD, picture).unwrap()
}

fn cells(cells: &[(isize, isize)]) -> Vec<Cell> {
    cells.iter().map(|&(column, row)| cell(column, row)).collect()
}

#[test]
fn a_line_in_the_last_column_is_detected() {
    let game = Game::parse(Setup::STANDARD, "7171717").unwrap();
    assert_eq!(game.position().outcome(), X_WINS);
    assert_eq!(game.position().winning_cells(), cells(&[(6, 0), (6, 1), (6, 2), (6, 3)]));
}

#[test]
fn a_line_in_the_top_row_is_detected() {
    let position = picture(
        "XXXX...
         XXOO...
         OOXX...
         XXOO...
         OOXX..O
         XXOO.OO",
    );
    assert_eq!(position.outcome(), X_WINS);
    assert_eq!(position.winning_cells(), cells(&[(0, 5), (1, 5), (2, 5), (3, 5)]));
}

#[test]
fn a_run_longer_than_four_contains_a_line_for_each_start() {
    let seven = "....... ....... ....... ....... OOO.OOO XXXXXXX".replace(' ', "\n");
    let position = picture(&seven);
    assert_eq!(position.outcome(), X_WINS);
    assert_eq!(position.winning_cells().len(), 7);
    assert_eq!(position.scores(), [4, 0]);

    let lines = Setup::new(7, 6, 4, Ruleset::Lines).unwrap();
    let five = Game::parse(lines, "112244553").unwrap();
    assert_eq!(five.position().scores(), [2, 0]);
    assert_eq!(five.position().outcome(), None);
}

#[test]
fn a_gap_does_not_count_as_a_line() {
    let position = picture(
        ".......
         .......
         .......
         .......
         OO.....
         XX.XXOO",
    );
    assert_eq!((position.outcome(), position.scores()), (None, [0, 0]));
}

/// Without a spare row, four cells at equal distances could span two columns.
#[test]
fn a_line_does_not_wrap_from_one_column_to_the_next() {
    for (cols, rows) in [(7, 6), (4, 5), (9, 7), (10, 10), (3, 8)] {
        let setup = Setup::new(cols, rows, 4, Ruleset::Standard).unwrap();
        let rules = AnySize::<u128>::new(setup).unwrap();
        let rows = u32::from(rows);
        for stride in 1..setup.cells() {
            for first in 0..setup.cells().saturating_sub(3 * stride) {
                let places = [0, 1, 2, 3].map(|step| first + step * stride);
                let [(c0, r0), (c1, r1), .., (c3, r3)] = places
                    .map(|place| ((place / rows).cast_signed(), (place % rows).cast_signed()));
                let (right, up) = (c1 - c0, r1 - r0);
                let is_line =
                    right.abs() <= 1 && up.abs() <= 1 && (c3, r3) == (c0 + 3 * right, r0 + 3 * up);
                let discs = places.iter().fold(0, |discs, place| {
                    discs | 1 << (place / rows * setup.stride() + place % rows)
                });
                assert_eq!(rules.has_line(discs), is_line, "{setup}: {places:?}");
            }
        }
    }
}

#[test]
fn a_win_with_the_last_disc_is_not_a_draw() {
    let game = Game::parse(Setup::STANDARD, "774347425471264463721651633321611575623552").unwrap();
    assert_eq!(game.position().ply(), 42);
    assert_eq!(game.position().outcome(), O_WINS);
    assert!(!game.position().winning_cells().is_empty());
}

#[test]
fn play_does_not_continue_after_a_win() {
    let mut game = Game::parse(Setup::STANDARD, "1212121").unwrap();
    assert_eq!(game.position().legal().count(), 0);
    for column in Column::all(Setup::STANDARD) {
        let rejected = Err(PlayError::GameOver(Outcome::Win(Player::First)));
        assert_eq!(game.play(column), rejected);
    }
    assert_eq!(game.move_text(), "1212121");
}

#[test]
fn rows_and_columns_are_not_swapped() {
    let setup = Setup::new(4, 5, 4, Ruleset::Standard).unwrap();
    let game = Game::parse(setup, "11111").unwrap();
    assert_eq!(game.position().to_string(), "X...\nO...\nX...\nO...\nX...");
    assert_eq!(
        game.position().to_kaggle(),
        [1, 0, 0, 0, 2, 0, 0, 0, 1, 0, 0, 0, 2, 0, 0, 0, 1, 0, 0, 0]
    );
    assert_eq!(
        Game::parse(setup, "111111").unwrap_err().to_string(),
        "move 6, '1': column 1 is full"
    );
    assert_eq!(
        Game::parse(setup, "5").unwrap_err().to_string(),
        "move 1, '5': no column 5: the board has 4 columns"
    );
}

#[test]
fn all_lines_completed_by_the_last_disc_are_winning() {
    let position = picture(
        ".......
         .......
         ......X
         .....XO
         ....XOO
         XXXXOOO",
    );
    assert_eq!(position.outcome(), X_WINS);
    let row_and_diagonal = [(0, 0), (1, 0), (2, 0), (3, 0), (4, 1), (5, 2), (6, 3)];
    assert_eq!(position.winning_cells(), cells(&row_and_diagonal));
}
