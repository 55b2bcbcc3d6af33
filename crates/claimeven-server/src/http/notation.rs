//! Positions as text: moves, pictures, boards of other programs.

use axum::Json;
use claimeven_game::{Column, Game, Position, Setup};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::extract::{ApiResult, Body, SetupSchema};
use crate::error::{Error, ErrorView};

/// A position as text.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct ReadInput {
    /// The rules, and the size of the board if the text does not give it.
    #[serde(default)]
    #[schema(value_type = SetupSchema)]
    setup: Setup,
    /// Moves (`4453`, `4, 4, 5, 3`, `3 3 4 2 0` counted from 0), a link of this page or another
    /// solver (`…?pos=4453`), a picture of `.`, `X` and `O`, or a Kaggle board
    /// (`[0, 0, …]`, `{"board": […]}`).
    text: String,
}

/// A parsed position.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct ReadView {
    #[schema(value_type = SetupSchema)]
    setup: Setup,
    /// The format of the text: `moves`, `link`, `picture` or `kaggle`.
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
    let setup = input.setup;
    let (kind, position, moves) = parse_any(setup, input.text.trim()).map_err(Error::Bad)?;
    let (setup, board) = (position.setup(), position.to_string());
    Ok(Json(ReadView { setup, kind, board, moves }))
}

fn parse_any(setup: Setup, text: &str) -> Result<(&'static str, Position, Option<String>), String> {
    if let Some(query) = Query::of_link(text) {
        return link(setup, &query);
    }
    if text.starts_with(['[', '{']) {
        // A list in brackets that is too short for a board is a list of moves.
        let list = text.trim_matches(['[', ']']);
        let is_list = text.starts_with('[') && list.split(',').count() < setup.cells() as usize;
        if is_list && let Ok(read) = move_list(setup, list) {
            return Ok(read);
        }
        return Ok(("kaggle", kaggle(setup, text)?, None));
    }
    let text = &without_move_numbers(text);
    let is_row = |line: &str| line.chars().any(|c| cell_of(c).is_some_and(|cell| cell != '.'));
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
    }
    move_list(setup, text)
}

/// The query string of a link to a position.
struct Query<'a>(&'a str);

impl<'a> Query<'a> {
    /// What follows the question mark of a link with moves or a board.
    fn of_link(text: &'a str) -> Option<Query<'a>> {
        let text = text.split('#').next()?.trim();
        let query = text.split_once('?').map_or(text, |(_, query)| query);
        let query = Query(query);
        let is_known = ["pos", "moves", "board"].into_iter().any(|key| query.get(key).is_some());
        (is_known && !query.0.contains(char::is_whitespace)).then_some(query)
    }

    fn get(&self, key: &str) -> Option<&'a str> {
        let pairs = self.0.split('&').filter_map(|pair| pair.split_once('='));
        pairs.filter(|(name, _)| *name == key).map(|(_, value)| value).next()
    }

    fn number(&self, key: &str, default: u8) -> Result<u8, String> {
        let Some(text) = self.get(key) else { return Ok(default) };
        text.parse().map_err(|_| format!("{key}={text}: not a valid number"))
    }
}

/// A link of this page or of another solver: `…?pos=4453`.
fn link(setup: Setup, query: &Query) -> Result<(&'static str, Position, Option<String>), String> {
    let ruleset = match query.get("ruleset") {
        Some(name) => {
            name.parse().map_err(|error: claimeven_game::UnknownRuleset| error.to_string())?
        }
        None => setup.ruleset(),
    };
    let setup = Setup::new(
        query.number("cols", setup.cols())?,
        query.number("rows", setup.rows())?,
        query.number("connect", setup.connect())?,
        ruleset,
    )
    .map_err(|error| error.to_string())?;
    let text = query.get("pos").or_else(|| query.get("moves")).unwrap_or_default();
    let text = text.replace("%2C", ",").replace("%20", " ").replace('+', " ");
    let Some(board) = query.get("board") else {
        let (_, position, moves) = move_list(setup, &text)?;
        return Ok(("link", position, moves));
    };
    let mut position = picture(setup, &board.replace("%2F", "/"))?;
    for column in columns(setup, &text)? {
        position.play(column).map_err(|error| error.to_string())?;
    }
    Ok(("link", position, None))
}

/// `1. 4 4 2. 5 3` without the numbers of the moves.
fn without_move_numbers(text: &str) -> String {
    let is_number = |word: &str| {
        let digits = word.trim_end_matches('.');
        digits.len() < word.len()
            && !digits.is_empty()
            && digits.bytes().all(|b| b.is_ascii_digit())
    };
    if !text.split_whitespace().any(is_number) {
        return text.to_owned();
    }
    let words: Vec<&str> = text.split_whitespace().filter(|word| !is_number(word)).collect();
    words.join(" ")
}

fn move_list(setup: Setup, text: &str) -> Result<(&'static str, Position, Option<String>), String> {
    let columns = columns(setup, text)?;
    moves(setup, &columns.into_iter().map(Column::to_char).collect::<String>())
}

/// The columns of a list of moves: with or without spaces, commas or semicolons between them, and
/// counted from 0 if one of them is 0.
fn columns(setup: Setup, text: &str) -> Result<Vec<Column>, String> {
    let is_separator = |c: char| c.is_whitespace() || ",;-".contains(c);
    let words: Vec<&str> = text.split(is_separator).filter(|word| !word.is_empty()).collect();
    let number = |word: &str| word.parse::<usize>().ok();
    let fits = |word: &&str| number(word).is_some_and(|n| n <= setup.cols().into());
    // Two-digit numbers need separators.
    let is_list = words.len() > 1 && (text.contains([',', ';']) || words.iter().all(fits));
    if is_list {
        let base = usize::from(!words.iter().any(|word| number(word) == Some(0)));
        let column = |word: &&str| {
            let index = number(word).and_then(|number| number.checked_sub(base));
            let column = index.filter(|index| *index < setup.cols().into());
            column.and_then(Column::from_index).ok_or_else(|| format!("'{word}' is not a column"))
        };
        return words.iter().map(column).collect();
    }
    let letters = words.concat().to_lowercase();
    if letters.contains('0') {
        let column = |c: char| {
            let index = c.to_digit(10).filter(|digit| *digit < u32::from(setup.cols()));
            let column = index.and_then(|index| Column::from_index(index as usize));
            column.ok_or_else(|| format!("'{c}' is not a column (counted from 0)"))
        };
        return letters.chars().map(column).collect();
    }
    // Parsing the game gives errors that name the move.
    let game = Game::parse(setup, &letters).map_err(|error| error.to_string())?;
    Ok(game.moves().to_vec())
}

fn moves(setup: Setup, text: &str) -> Result<(&'static str, Position, Option<String>), String> {
    let game = Game::parse(setup, text).map_err(|error| error.to_string())?;
    Ok(("moves", *game.position(), Some(game.move_text())))
}

/// The cell that a character of a picture stands for.
fn cell_of(character: char) -> Option<char> {
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
    let has_cells = |line: &&str| line.chars().any(|c| cell_of(c).is_some());
    let lines: Vec<&str> = text.split(['\n', '/']).filter(has_cells).collect();
    let mut rows = Vec::new();
    for (number, line) in (1..).zip(&lines) {
        let mut row = String::new();
        for character in line.chars().filter(|c| !frame(c)) {
            let cell = cell_of(character).ok_or_else(|| {
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
    fn every_notation_gives_the_same_position() {
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
                parse_any(setup, text).unwrap_or_else(|error| panic!("{text}: {error}"));
            assert_eq!(position, wanted, "{text}");
        }
        assert_eq!(parse_any(setup, "").unwrap().2.as_deref(), Some(""));
    }

    #[test]
    fn links_and_lists_of_other_programs_are_read() {
        let setup = Setup::STANDARD;
        let wanted = Position::from_moves(setup, "44531").unwrap();
        for text in [
            "https://connect4.gamesolver.org/?pos=44531",
            "connect4.gamesolver.org/en/?pos=44531&lang=en#board",
            "?pos=44531",
            "pos=44531",
            "https://example.org/analysis?first=1&pos=4,4,5,3,1",
            "https://example.org/analyse?moves=4%2C4%2C5%2C3%2C1",
            "33420",
            "3 3 4 2 0",
            "[3, 3, 4, 2, 0]",
            "[4, 4, 5, 3, 1]",
            "4-4-5-3-1",
            "4;4;5;3;1",
            "44 53 1",
            "1. 4 4 2. 5 3 3. 1",
        ] {
            let (_, position, moves) =
                parse_any(setup, text).unwrap_or_else(|error| panic!("{text}: {error}"));
            assert_eq!((position, moves.as_deref()), (wanted, Some("44531")), "{text}");
        }
        let (_, position, moves) =
            parse_any(setup, "/analysis?board=.../XO.&pos=3&cols=3&rows=2&connect=3").unwrap();
        assert_eq!((position.to_string().as_str(), moves), ("...\nXOX", None));
        let (_, wide, _) = parse_any(setup, "https://example.org/?pos=ab&cols=12&rows=8").unwrap();
        assert_eq!((wide.setup().cols(), wide.ply()), (12, 2));
        let (_, wide, moves) =
            parse_any(Setup::new(12, 6, 4, setup.ruleset()).unwrap(), "10 11 12").unwrap();
        assert_eq!((wide.ply(), moves.as_deref()), (3, Some("abc")));
        for (text, part) in [
            ("https://example.org/?pos=4458", "'8'"),
            ("?pos=44&cols=x", "cols=x"),
            ("0 7", "'7'"),
            ("07", "'7'"),
            ("?pos=44&ruleset=blitz", "blitz"),
        ] {
            let error = parse_any(setup, text).map(|read| read.0).err().unwrap_or_default();
            assert!(error.contains(part), "{text}: {error}");
        }
    }

    #[test]
    fn a_picture_determines_the_board_size() {
        let (_, position, _) = parse_any(Setup::STANDARD, "...../...../..O../..XX.").unwrap();
        assert_eq!((position.setup().cols(), position.setup().rows()), (5, 4));
    }

    #[test]
    fn errors_name_the_problem() {
        for (text, part) in [
            ("4458", "'8'"),
            ("hello", "'h'"),
            ("4, 4, 99", "'99'"),
            ("[0, 1, 9]", "3 values"),
            ("[8]", "1 values"),
            ("[x]", "Kaggle"),
            ("...\n.Q.\nX..", "'Q'"),
            (".......\n.......\n.......\n...X...\n.......\n.......", "no disc below"),
            (".......\n.......\n.......\n.......\n.......\nXXX....", "3 X and 0 O"),
        ] {
            let error =
                parse_any(Setup::STANDARD, text).map(|read| read.0).err().unwrap_or_default();
            assert!(error.contains(part), "{text}: {error}");
            assert!(error.lines().count() <= 1);
        }
    }
}
