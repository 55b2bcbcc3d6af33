//! Names of players: readable, and unlike those by which the page calls players.

use claimeven_arena::AgentSpec;
use unicode_normalization::UnicodeNormalization;

use super::extract::{ApiResult, short_text};
use crate::error::Error;

/// The maximum length of a person's name, in characters.
const MAX_PERSON: usize = 40;

/// The maximum length of an agent's name, in characters: it may contain parameters.
const MAX_AGENT: usize = 60;

/// What the page calls people, in all its languages.
const PEOPLE: [&str; 6] = ["you", "guest", "du", "gast", "tú", "invitado"];

/// What it calls them with a number.
const NUMBERED_PEOPLE: [&str; 3] = ["player", "spieler", "jugador"];

/// What it calls agents with a number.
const NUMBERED_AGENTS: [&str; 3] = ["level", "stufe", "nivel"];

/// The name of a person.
pub(crate) fn person(given: &str) -> ApiResult<Option<String>> {
    let Some(name) = short_text("a name", given, MAX_PERSON)? else { return Ok(None) };
    let plain = plain(&name);
    if is_for_people(&plain) || is_numbered(&plain, &NUMBERED_AGENTS) || agent_of(&plain).is_some()
    {
        return Err(reserved(&name));
    }
    Ok(Some(name))
}

/// The name of an agent, which must not be that of another agent; its text by default.
pub(crate) fn agent(given: &str, spec: &AgentSpec) -> ApiResult<String> {
    let Some(name) = short_text("a name", given, MAX_AGENT)? else { return Ok(spec.to_string()) };
    let plain = plain(&name);
    if is_for_people(&plain) || agent_of(&plain).is_some_and(|named| named != *spec) {
        return Err(reserved(&name));
    }
    Ok(name)
}

fn reserved(name: &str) -> Error {
    Error::Bad(format!("the name '{name}' is reserved"))
}

/// A name without differences that readers hardly notice: width and case of letters, and spaces.
fn plain(name: &str) -> String {
    let name: String = name.nfkc().filter(|letter| !letter.is_whitespace()).collect();
    name.to_lowercase()
}

fn agent_of(plain: &str) -> Option<AgentSpec> {
    plain.parse().ok()
}

fn is_for_people(plain: &str) -> bool {
    PEOPLE.contains(&plain)
        || is_numbered(plain, &NUMBERED_PEOPLE)
        || PEOPLE.iter().any(|word| plain.contains(&format!("({word})")))
}

fn is_numbered(plain: &str, words: &[&str]) -> bool {
    let is_number = |rest: &str| !rest.is_empty() && rest.chars().all(char::is_numeric);
    words.iter().any(|word| plain.strip_prefix(word).is_some_and(is_number))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn people_are_not_called_like_other_players() {
        for name in [
            "You",
            " yOU ",
            "Guest",
            "Du",
            "Gast",
            "Tú",
            "Invitado",
            "Player 1",
            "player2",
            "Spieler 2",
            "Jugador 1",
            "Ada (you)",
            "Ａda （ｙｏｕ）",
            "Ｐｌａｙｅｒ １",
            "Ada (Du)",
            "Level 3",
            "Stufe 10",
            "Nivel 1",
            "level:3",
            "level: 3",
            "Random",
            "PERFECT",
            "alphabeta:depth=6",
        ] {
            assert!(person(name).is_err(), "{name}");
        }
        for name in
            ["Ada", "Young", "Guestbook", "Dudu", "Level", "Player", "Players 2", "Ada Y (ou)"]
        {
            assert_eq!(person(name).unwrap().as_deref(), Some(name));
        }
        assert_eq!(person(" ").unwrap(), None);
    }

    #[test]
    fn agents_are_called_neither_like_people_nor_like_other_agents() {
        let spec = "level:3".parse().unwrap();
        for name in ["level:3", "Level:3", "Level 3", "Deep Four"] {
            assert_eq!(agent(name, &spec).unwrap(), name);
        }
        assert_eq!(agent("", &spec).unwrap(), "level:3");
        for name in ["level:4", "perfect", "You", "Player 2", "Deep Four (you)"] {
            assert!(agent(name, &spec).is_err(), "{name}");
        }
    }

    /// The words are those of the page's texts.
    #[test]
    fn the_page_has_no_other_words_for_players() {
        let languages = concat!(env!("CARGO_MANIFEST_DIR"), "/../../web/src/lib/i18n");
        let mut found = 0;
        for language in std::fs::read_dir(languages).unwrap().map(|entry| entry.unwrap().path()) {
            let Ok(texts) = std::fs::read_to_string(language.join("index.ts")) else { continue };
            for key in ["  you: \"", "  guest: \""] {
                let line = texts.lines().find_map(|line| line.strip_prefix(key)).unwrap();
                let word = line.split('"').next().unwrap();
                assert!(person(word).is_err(), "{word} ({})", language.display());
                found += 1;
            }
            let texts = std::fs::read_to_string(language.join("players.ts")).unwrap();
            let line =
                texts.lines().find_map(|line| line.trim().strip_prefix("level: (level")).unwrap();
            let word = line.split('`').nth(1).unwrap().replace("${level}", "3");
            assert!(person(&word).is_err(), "{word} ({})", language.display());
        }
        assert_eq!(found, PEOPLE.len());
    }
}
