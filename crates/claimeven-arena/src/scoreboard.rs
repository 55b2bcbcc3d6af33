//! Results of other programs on the public test sets, as published by their authors.

use std::collections::BTreeMap;
use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// The public test sets by Pascal Pons, from the opening to the end of the game: their files and names.
pub const PUBLIC_SETS: [(&str, &str); 6] = [
    ("Test_L1_R1", "Begin-Easy"),
    ("Test_L1_R2", "Begin-Medium"),
    ("Test_L1_R3", "Begin-Hard"),
    ("Test_L2_R1", "Middle-Easy"),
    ("Test_L2_R2", "Middle-Medium"),
    ("Test_L3_R1", "End-Easy"),
];

/// The name of a public test set, if the file is one of them.
///
/// ```
/// assert_eq!(claimeven_arena::public_set("Test_L1_R3"), Some("Begin-Hard"));
/// assert_eq!(claimeven_arena::public_set("notes"), None);
/// ```
pub fn public_set(file: &str) -> Option<&'static str> {
    let stem = file.strip_suffix(".txt").unwrap_or(file);
    PUBLIC_SETS.into_iter().find(|(name, _)| *name == stem).map(|(_, name)| name)
}

/// The results of programs on the public test sets.
///
/// ```
/// use claimeven_arena::Scoreboard;
///
/// for entry in &Scoreboard::embedded().entries {
///     println!("{}: {:?}", entry.program, entry.errors.get("Begin-Hard"));
/// }
/// ```
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Scoreboard {
    /// The results, in the order of the file.
    #[serde(rename = "entry", default)]
    pub entries: Vec<ScoreboardEntry>,
}

/// The results of a program.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
#[serde(deny_unknown_fields)]
pub struct ScoreboardEntry {
    /// Its name.
    pub program: String,
    /// How it was configured: for example its network, and simulations per move.
    pub player: String,
    /// What its training took.
    #[serde(default)]
    pub training: String,
    /// Where the results were published, or the command that measured them.
    pub source: String,
    /// The moves that give away a win or a draw, in percent, by the name of the test set.
    pub errors: BTreeMap<String, f64>,
}

/// A scoreboard that cannot be read.
#[derive(Debug)]
#[non_exhaustive]
pub enum ScoreboardError {
    /// The text is not TOML, or has missing or unknown fields.
    Syntax(toml::de::Error),
    /// A test set is not one of the public ones.
    UnknownSet(String),
    /// An error rate is not a percentage.
    Rate(f64),
}

impl fmt::Display for ScoreboardError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ScoreboardError::Syntax(error) => {
                write!(f, "{}", error.to_string().trim_end().replace('\n', " "))
            }
            ScoreboardError::UnknownSet(name) => {
                let names: Vec<&str> = PUBLIC_SETS.iter().map(|(_, name)| *name).collect();
                write!(f, "unknown test set '{name}' (available: {})", names.join(", "))
            }
            ScoreboardError::Rate(percent) => {
                write!(f, "an error rate must be from 0 to 100 percent, not {percent}")
            }
        }
    }
}

impl std::error::Error for ScoreboardError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            ScoreboardError::Syntax(error) => Some(error),
            ScoreboardError::UnknownSet(_) | ScoreboardError::Rate(_) => None,
        }
    }
}

impl FromStr for Scoreboard {
    type Err = ScoreboardError;

    fn from_str(text: &str) -> Result<Scoreboard, ScoreboardError> {
        let board: Scoreboard = toml::from_str(text).map_err(ScoreboardError::Syntax)?;
        for (set, &percent) in board.entries.iter().flat_map(|entry| &entry.errors) {
            if !PUBLIC_SETS.iter().any(|(_, name)| name == set) {
                return Err(ScoreboardError::UnknownSet(set.clone()));
            }
            if !(0.0..=100.0).contains(&percent) {
                return Err(ScoreboardError::Rate(percent));
            }
        }
        Ok(board)
    }
}

impl Scoreboard {
    /// The scoreboard of this repository, `crates/claimeven-arena/scoreboard.toml`.
    pub fn embedded() -> Scoreboard {
        include_str!("../scoreboard.toml").parse().expect("the embedded scoreboard is valid")
    }
}

impl ScoreboardEntry {
    /// Whether it has a result on one of these test sets.
    pub fn has_any(&self, sets: &[&str]) -> bool {
        sets.iter().any(|&set| self.errors.contains_key(set))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_embedded_scoreboard_names_its_sources() {
        let board = Scoreboard::embedded();
        assert!(!board.entries.is_empty());
        for entry in &board.entries {
            assert!(!entry.errors.is_empty(), "{}", entry.program);
            let has_source =
                entry.source.starts_with("https://") || entry.source.starts_with("claimeven ");
            assert!(has_source, "{}", entry.source);
        }
        assert!(board.entries.iter().all(|entry| entry.has_any(&["other", "Begin-Hard"])));
        assert!(!board.entries.iter().any(|entry| entry.has_any(&["other"])));
    }

    #[test]
    fn wrong_entries_are_rejected() {
        let parse = |line: &str| {
            let text = format!(
                "[[entry]]\nprogram = 'a'\nplayer = 'b'\nsource = 'https://c'\nerrors = {{ {line} }}"
            );
            text.parse::<Scoreboard>().map_err(|error| error.to_string())
        };
        let errors = &parse("Begin-Hard = 6.3").unwrap().entries[0].errors;
        assert_eq!(errors, &BTreeMap::from([("Begin-Hard".to_owned(), 6.3)]));
        assert_eq!(
            parse("Hard = 6.3").unwrap_err(),
            "unknown test set 'Hard' (available: Begin-Easy, Begin-Medium, Begin-Hard, \
             Middle-Easy, Middle-Medium, End-Easy)"
        );
        for wrong in ["101", "-1", "nan"] {
            let error = parse(&format!("Begin-Hard = {wrong}")).unwrap_err();
            assert!(error.starts_with("an error rate must be from 0 to 100"), "{error}");
        }
        let error = "[[entry]]\nname = 'a'".parse::<Scoreboard>().unwrap_err().to_string();
        assert!(error.contains("unknown field `name`"), "{error}");
    }
}
