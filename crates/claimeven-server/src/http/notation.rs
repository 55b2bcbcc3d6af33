//! Positions as text: moves, pictures, boards of other programs.

use axum::Json;
use claimeven_game::{Game, Position, Setup};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::extract::{ApiResult, Body, SetupInput};
use super::view::SetupView;
use crate::error::{Error, ErrorView};

/// A position as text.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct ReadInput {
    /// The rules, and the size of the board if the text does not give it.
    #[serde(default)]
    setup: SetupInput,
    /// Moves (`4453`, `4, 4, 5, 3`), a picture of `.`, `X` and `O`, or a Kaggle board
    /// (`[0, 0, …]`, `{"board": […]}`).
    text: String,
}

/// A parsed position.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct ReadView {
    setup: SetupView,
    /// The detected format: `moves`, `picture` or `kaggle`.
    kind: &'static str,
    /// The discs as a picture, the top row first.
    board: String,
    /// The moves, if the text contained them.
    moves: Option<String>,
}

/// Parses a position in any of the usual notations.
#[utoipa::path(post, path = "/api/positions", request_body = ReadInput, responses(
    (status = 200, body = ReadView), (status = 400, body = ErrorView),
))]
pub(crate) async fn read(Body(input): Body<ReadInput>) -> ApiResult<Json<ReadView>> {
    let setup = input.setup.setup()?;
    let (kind, position, moves) = understand(setup, input.text.trim()).map_err(Error::Bad)?;
    let (setup, board) = (SetupView::of(&position), position.to_string());
    Ok(Json(ReadView { setup, kind, board, moves }))
}

fn understand(
    setup: Setup,
    text: &str,
) -> Result<(&'static str, Position, Option<String>), String> {
    if text.starts_with(['[', '{']) {
        let position = kaggle(setup, text)?;
        return Ok(("kaggle", position, None));
    }
    let is_row = |line: &str| line.chars().any(|c| is_cell(c).is_some_and(|cell| cell != '.'));
    let rows = text.split(['\n', '/']).filter(|line| is_row(line)).count();
    if text.contains(['.', '_', '/', '🔴', '🟡']) || rows > 1 {
        return Ok(("picture", picture(setup, text)?, None));
    }
    if text.contains(',') {
        let numbers: Vec<&str> = text.split(',').map(str::trim).filter(|n| !n.is_empty()).collect();
        if numbers.len() == setup.cells() as usize
            && numbers.iter().all(|n| matches!(*n, "0" | "1" | "2"))
        {
            return Ok(("kaggle", kaggle(setup, &format!("[{}]", numbers.join(",")))?, None));
        }
        let letters: Result<String, String> = numbers.into_iter().map(letter).collect();
        return moves(setup, &letters?);
    }
    let joined: String = text.split_whitespace().collect();
    moves(setup, &joined.to_lowercase())
}

fn moves(setup: Setup, text: &str) -> Result<(&'static str, Position, Option<String>), String> {
    let game = Game::parse(setup, text).map_err(|error| error.to_string())?;
    Ok(("moves", *game.position(), Some(game.move_text())))
}

/// The character of a column number in move text.
fn letter(number: &str) -> Result<char, String> {
    let index = number.parse::<usize>().ok().and_then(|number| number.checked_sub(1));
    let column = index.and_then(claimeven_game::Column::from_index);
    column.map(claimeven_game::Column::to_char).ok_or_else(|| format!("'{number}' is not a column"))
}

/// Normalises a character of a picture.
fn is_cell(character: char) -> Option<char> {
    match character {
        '.' | '_' | '⚪' | '⚫' => Some('.'),
        'X' | 'x' | 'R' | 'r' | '🔴' => Some('X'),
        'O' | 'o' | 'Y' | 'y' | '🟡' => Some('O'),
        _ => None,
    }
}

fn picture(setup: Setup, text: &str) -> Result<Position, String> {
    let frame = |c: &char| c.is_whitespace() || "|+-=\u{fe0f}".contains(*c);
    // Frames and column numbers are not part of the board.
    let has_cells = |line: &&str| line.chars().any(|c| is_cell(c).is_some());
    let lines: Vec<&str> = text.split(['\n', '/']).filter(has_cells).collect();
    let mut rows = Vec::new();
    for (number, line) in (1..).zip(&lines) {
        let mut row = String::new();
        for character in line.chars().filter(|c| !frame(c)) {
            let cell = is_cell(character).ok_or_else(|| {
                format!("line {number}: expected '.', 'X' or 'O', found {character:?}")
            })?;
            row.push(cell);
        }
        rows.push(row);
    }
    let size = |n: usize| u8::try_from(n).unwrap_or(u8::MAX);
    let cols = size(rows.iter().map(String::len).max().unwrap_or(0));
    let same_size = usize::from(setup.rows()) == rows.len() && setup.cols() == cols;
    let setup = if same_size {
        setup
    } else {
        Setup::new(cols, size(rows.len()), setup.connect(), setup.ruleset())
            .map_err(|error| error.to_string())?
    };
    Position::from_picture(setup, &rows.join("\n")).map_err(|error| error.to_string())
}

#[derive(Deserialize)]
#[serde(untagged)]
enum Kaggle {
    Board(Vec<u8>),
    Observation { board: Vec<u8> },
}

fn kaggle(setup: Setup, text: &str) -> Result<Position, String> {
    let wrong = |_| "a Kaggle board must be a list of 0, 1 and 2".to_owned();
    let (Kaggle::Board(board) | Kaggle::Observation { board }) =
        serde_json::from_str(text).map_err(wrong)?;
    Position::from_kaggle(setup, &board).map_err(|error| error.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_position_in_every_notation() {
        let setup = Setup::STANDARD;
        let wanted = Position::from_moves(setup, "4453").unwrap();
        let picture = wanted.to_string();
        let kaggle = format!("{:?}", wanted.to_kaggle());
        let framed = format!("| {} |\n", picture.replace('\n', " |\n| "));
        for text in [
            "4453",
            " 4 4 5 3\n",
            "4, 4, 5, 3",
            &picture,
            &picture.replace('\n', "/"),
            &wanted.to_openspiel(),
            &(framed + "+-------+\n 1234567"),
            &picture.replace('X', "🔴").replace('O', "🟡"),
            &kaggle,
            &kaggle.replace(['[', ']'], ""),
            &format!("{{\"board\": {kaggle}, \"mark\": 1}}"),
        ] {
            let (_, position, _) =
                understand(setup, text).unwrap_or_else(|error| panic!("{text}: {error}"));
            assert_eq!(position, wanted, "{text}");
        }
        assert_eq!(understand(setup, "").unwrap().2.as_deref(), Some(""));
    }

    #[test]
    fn a_picture_brings_its_own_size() {
        let (_, position, _) = understand(Setup::STANDARD, "...../...../..O../..XX.").unwrap();
        assert_eq!((position.setup().cols(), position.setup().rows()), (5, 4));
    }

    #[test]
    fn what_is_wrong_is_named() {
        for (text, part) in [
            ("4458", "'8'"),
            ("hello", "'h'"),
            ("4, 4, 99", "'99'"),
            ("[0, 1, 2]", "3 values"),
            ("[7]", "1 values"),
            ("[x]", "Kaggle"),
            ("...\n.Q.\nX..", "'Q'"),
            (".......\n.......\n.......\n...X...\n.......\n.......", "no disc below"),
            (".......\n.......\n.......\n.......\n.......\nXXX....", "3 X and 0 O"),
        ] {
            let error =
                understand(Setup::STANDARD, text).map(|read| read.0).err().unwrap_or_default();
            assert!(error.contains(part), "{text}: {error}");
            assert!(error.lines().count() <= 1);
        }
    }
}
