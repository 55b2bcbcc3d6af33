//! Rejected texts and boards, with their error messages.

use claimeven_game::{Game, Position, Ruleset, Setup};

fn setup(cols: u8, rows: u8) -> Setup {
    Setup::new(cols, rows, 4, Ruleset::Standard).unwrap()
}

#[test]
fn a_bad_move_text_is_rejected_with_move_character_and_reason() {
    for (setup, text, message) in [
        (Setup::STANDARD, "44x", "move 3, 'x': no column x: the board has 7 columns"),
        (Setup::STANDARD, "448", "move 3, '8': no column 8: the board has 7 columns"),
        (Setup::STANDARD, "0", "move 1, '0': not a column (expected 1 to 7)"),
        (Setup::STANDARD, "4 4", "move 2, ' ': not a column (expected 1 to 7)"),
        (Setup::STANDARD, "4\n", "move 2, '\\n': not a column (expected 1 to 7)"),
        (Setup::STANDARD, "4é", "move 2, 'é': not a column (expected 1 to 7)"),
        (Setup::STANDARD, "4444444", "move 7, '4': column 4 is full"),
        (Setup::STANDARD, "12121217", "move 8, '7': the game was already over on move 7 (X wins)"),
        (setup(1, 3), "1111", "move 4, '1': the game was already over on move 3 (draw)"),
        (setup(1, 3), "2", "move 1, '2': no column 2: the board has 1 column"),
        (setup(12, 6), "cC", "move 2, 'C': not a column (expected 1 to 9 and a to c)"),
    ] {
        assert_eq!(Game::parse(setup, text).unwrap_err().to_string(), message);
    }
}

#[test]
fn columns_beyond_the_ninth_are_letters() {
    let wide = setup(35, 2);
    let position = Position::from_moves(wide, "1az").unwrap();
    assert_eq!(
        position.to_string().lines().last().unwrap(),
        format!("X{}O{}X", ".".repeat(8), ".".repeat(24))
    );
}

#[test]
fn a_bad_picture_is_rejected_with_position_and_reason() {
    for (picture, message) in [
        ("....\n....\n..x.", "line 3, column 3: 'x' is not '.', 'X' or 'O'"),
        ("....\n.....\n....", "line 2 has 5 cells, more than the board's 4 columns"),
        ("....\n...\n....", "line 2 has 3 cells, fewer than the board's 4 columns"),
        ("....\n....", "2 lines, fewer than the board's 3 rows"),
        ("....\n....\n....\n....", "4 lines, more than the board's 3 rows"),
        ("", "0 lines, fewer than the board's 3 rows"),
        ("....\n.X..\nO...", "the X at column 2, row 2 has no disc below it"),
        (
            "....\n....\nXX..",
            "2 X and 0 O: X moves first, so it has as many discs as O or one more",
        ),
        (
            "....\n....\n.O..",
            "0 X and 1 O: X moves first, so it has as many discs as O or one more",
        ),
        // O moved after X had a line; two lines share no cell; both sides have one.
        ("....\nOOO.\nXXX.", "the game would have been over before the last move"),
        ("OOO.\nXXXO\nXXXO", "the game would have been over before the last move"),
        ("....\nOOO.\nXXXX", "the game would have been over before the last move"),
    ] {
        let setup = Setup::new(4, 3, 3, Ruleset::Standard).unwrap();
        let error = Position::from_picture(setup, picture).unwrap_err();
        assert_eq!(error.to_string(), message, "{picture}");
    }
}

#[test]
fn a_bad_kaggle_board_is_rejected_with_position_and_reason() {
    let small = Setup::new(3, 2, 3, Ruleset::Standard).unwrap();
    for (board, message) in [
        (&[0, 0, 0, 0, 3, 0][..], "value 3 at index 4 (from 0) is not 0, 1 or 2"),
        (&[0, 0, 0, 0, 0][..], "5 values, fewer than the board's 6 cells"),
        (&[0; 7][..], "7 values, more than the board's 6 cells"),
        (&[0, 1, 0, 0, 0, 0][..], "the X at column 2, row 2 has no disc below it"),
        (
            &[0, 0, 0, 2, 0, 0][..],
            "0 X and 1 O: X moves first, so it has as many discs as O or one more",
        ),
    ] {
        assert_eq!(Position::from_kaggle(small, board).unwrap_err().to_string(), message);
    }
}

#[test]
fn notations_of_other_programs_round_trip() {
    let position = Position::from_moves(setup(4, 3), "223").unwrap();
    assert_eq!(position.to_kaggle(), [0, 0, 0, 0, 0, 2, 0, 0, 0, 1, 1, 0]);
    assert_eq!(position.to_openspiel(), "....\n.o..\n.xx.\n");
    let error = Position::from_openspiel(setup(4, 3), &position.to_string()).unwrap_err();
    assert_eq!(error.to_string(), "line 2, column 2: 'O' is not '.', 'x' or 'o'");
}

#[test]
fn pictures_may_be_spaced_and_indented() {
    let spaced = "\n   . . . .\r\n   . O . .\r\n   . X X .\n\n";
    let position = Position::from_picture(setup(4, 3), spaced).unwrap();
    assert_eq!(position, Position::from_moves(setup(4, 3), "223").unwrap());
}
