//! Small pieces of text that several commands print.

use std::time::Duration;

use claimeven_arena::EndReason;

/// A count with its noun in the singular or the plural: `1 game`, `2 games`.
pub(crate) fn counted(count: impl TryInto<u64>, noun: &str) -> String {
    let count = count.try_into().unwrap_or(u64::MAX);
    let plural = if count == 1 { "" } else { "s" };
    format!("{count} {noun}{plural}")
}

/// A rounded number with its sign, never `-0`.
pub(crate) fn signed(number: f64) -> String {
    // Adding zero turns a negative zero into a positive one.
    format!("{:+.0}", number.round() + 0.0)
}

/// A rounded number, never `-0`.
pub(crate) fn rounded(number: f64) -> String {
    format!("{:.0}", number.round() + 0.0)
}

/// A duration in the form `4:05` or `2:04:05`.
pub(crate) fn clock(duration: Duration) -> String {
    let seconds = duration.as_secs();
    let (hours, minutes) = (seconds / 3600, seconds / 60 % 60);
    match hours {
        0 => format!("{minutes}:{:02}", seconds % 60),
        _ => format!("{hours}:{minutes:02}:{:02}", seconds % 60),
    }
}

/// A text with its first letter in upper case.
pub(crate) fn capitalized(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map_or(String::new(), |first| first.to_uppercase().chain(letters).collect())
}

/// A small number in words, as in "four in a row".
pub(crate) fn in_words(number: u8) -> String {
    const WORDS: [&str; 10] =
        ["zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine"];
    WORDS.get(usize::from(number)).map_or_else(|| number.to_string(), |&word| word.to_owned())
}

/// What the loser of a game did that ended before the board was decided, as in "O resigned".
pub(crate) const fn lost_by(reason: EndReason) -> &'static str {
    match reason {
        EndReason::Time => "ran out of time",
        EndReason::Forfeit => "forfeited",
        EndReason::Resigned => "resigned",
        EndReason::Abandoned => "left the game",
        reason => reason.name(),
    }
}

/// Wraps a text at words into lines of at most `width` characters.
pub(crate) fn wrapped(text: &str, width: usize) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for word in text.split_whitespace() {
        match lines.last_mut() {
            Some(line) if line.chars().count() + 1 + word.chars().count() <= width => {
                line.push(' ');
                line.push_str(word);
            }
            _ => lines.push(word.to_owned()),
        }
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_thing_is_singular_and_all_other_counts_are_plural() {
        assert_eq!(counted(0_usize, "game"), "0 games");
        assert_eq!(counted(1_u64, "game"), "1 game");
        assert_eq!(counted(2_u32, "game"), "2 games");
    }

    #[test]
    fn durations_have_the_form_of_a_clock() {
        for (seconds, text) in [(0.2, "0:00"), (65.9, "1:05"), (7445.0, "2:04:05")] {
            assert_eq!(clock(Duration::from_secs_f64(seconds)), text);
        }
    }

    #[test]
    fn texts_are_broken_between_words() {
        assert_eq!(wrapped("one two three", 7), ["one two", "three"]);
        assert_eq!(wrapped("one two three", 6), ["one", "two", "three"]);
        assert_eq!(wrapped("incomprehensible", 6), ["incomprehensible"]);
        assert!(wrapped("", 6).is_empty());
    }

    #[test]
    fn a_number_that_rounds_to_zero_has_no_minus() {
        assert_eq!(signed(-0.4), "+0");
        assert_eq!(signed(0.4), "+0");
        assert_eq!(signed(-0.6), "-1");
        assert_eq!(signed(12.5), "+13");
        assert_eq!(rounded(-0.4), "0");
        assert_eq!(rounded(-1.4), "-1");
    }
}
