//! Texts that the screen and the line-by-line game share.

use claimeven_arena::{MoveReview, PlayerReview};
use claimeven_search::SearchInfo;

use crate::text::counted;

/// The depth and nodes of a search, and its value and principal variation.
pub(crate) fn search_texts(info: &SearchInfo) -> [String; 2] {
    let depth = match info.depth {
        0 => String::new(),
        depth => format!("depth {depth}, "),
    };
    let value = info.value.map_or(String::new(), |value| format!("{value}: "));
    let pv: Vec<String> = info.pv.iter().take(10).map(ToString::to_string).collect();
    let nodes = if info.nodes == 1 { "node" } else { "nodes" };
    [format!("{depth}{} {nodes}", number(info.nodes)), format!("{value}{}", pv.join(" "))]
}

/// A reviewed move, in one line.
pub(crate) fn move_text(reviewed: &MoveReview, ply: usize, player: &str) -> String {
    let mut text = format!("{ply}. {player} {}: {}", reviewed.column, reviewed.judgement.name());
    if let Some(played) = reviewed.played() {
        text = format!("{text}, {}", played.value);
    }
    match reviewed.best().filter(|best| Some(*best) != reviewed.played()) {
        Some(best) => format!("{text}; best: {}, {}", best.column, best.value),
        None => text,
    }
}

/// A reviewed move, for narrow screens.
pub(super) fn short_move_text(reviewed: &MoveReview, ply: usize, player: &str) -> String {
    let sign = reviewed.judgement.sign();
    let value = reviewed.played().map_or(reviewed.judgement.name(), |choice| &choice.value);
    let text = format!("{ply}. {player} {}{sign} {value}", reviewed.column);
    match reviewed.best().filter(|best| Some(*best) != reviewed.played()) {
        Some(best) => format!("{text}; {} {}", best.column, best.value),
        None => text,
    }
}

/// The accuracy of a player, in one line.
pub(super) fn accuracy(review: &PlayerReview) -> String {
    let share = review.accuracy.map_or("-".to_owned(), |share| format!("{:.0} %", 100.0 * share));
    let (mistakes, blunders) =
        (counted(review.mistakes, "mistake"), counted(review.blunders, "blunder"));
    format!("{share}, {mistakes}, {blunders}")
}

/// Accuracy, mistakes and blunders of a player, for narrow screens.
pub(super) fn short_accuracy(review: &PlayerReview) -> String {
    let share = review.accuracy.map_or("-".to_owned(), |share| format!("{:.0} %", 100.0 * share));
    format!("{share} {}? {}??", review.mistakes, review.blunders)
}

/// A count in at most seven characters.
pub(super) fn number(count: u64) -> String {
    match count {
        0..10_000 => count.to_string(),
        10_000..1_000_000 => format!("{} k", count / 1000),
        _ => format!("{:.1} M", count as f64 / 1e6),
    }
}
