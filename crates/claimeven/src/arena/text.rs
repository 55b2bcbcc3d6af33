//! A tournament report as text tables.

use std::io::{self, Write};

use claimeven_arena::{Interval, MatchScore, Report};

use crate::text::{counted, rounded};

pub(super) fn write(out: &mut impl Write, report: &Report) -> io::Result<()> {
    let Report { players, games, planned, seed, format, .. } = report;
    if let Some(title) = &report.title {
        writeln!(out, "{title}")?;
    }
    let count = counted(players.len(), "player");
    writeln!(out, "{format}, {count}, {games} of {planned} games, seed {seed}\n")?;
    let names = players.iter().map(|player| player.name.chars().count());
    let width = names.max().unwrap_or(0).max("player".len());
    writeln!(
        out,
        "    {:<width$}  {:>5}  {:<14}  {:>6} {:>6} {:>6}  {:>8}  {:>7}  {:>9}  {:>10}",
        "player",
        "Elo",
        "95 % CI",
        "won",
        "drawn",
        "lost",
        "points",
        "score",
        "ms/move",
        "nodes/move"
    )?;
    for (rank, player) in (1..).zip(players) {
        if rank > 1 && players[rank - 2].group != player.group {
            writeln!(out, "    (never met those above, so the ratings cannot be compared)")?;
        }
        let MatchScore { wins, draws, losses } = player.results;
        let range = range(player.elo);
        writeln!(
            out,
            "{rank:>3} {:<width$}  {:>5}  {range:<14}  {wins:>6} {draws:>6} {losses:>6}  {:>8.1}  \
             {:>7}  {:>9.3}  {:>10.0}",
            player.name,
            rounded(player.elo.estimate),
            player.points,
            percent(player.score),
            player.ms_per_move,
            player.nodes_per_move,
        )?;
    }
    write_cross_table(out, report, width)?;
    let MatchScore { wins, draws, losses } = report.first_player;
    let score = percent(report.first_player_score);
    writeln!(out, "\nThe first mover scored {score}: won {wins}, drawn {draws}, lost {losses}.")?;
    writeln!(out, "{}, {} repeated.", counted(report.distinct, "distinct game"), report.repeated)?;
    if let ([shortest, ..], [.., longest]) = (&report.lengths[..], &report.lengths[..]) {
        let mean = report.mean_length().unwrap_or(0.0);
        let (shortest, longest) = (shortest.moves, longest.moves);
        writeln!(out, "{mean:.1} moves per game, from {shortest} to {longest}.")?;
    }
    for player in players.iter().filter(|player| player.lost_on_time + player.forfeited > 0) {
        let (name, late) = (&player.name, counted(player.lost_on_time, "game"));
        writeln!(out, "{name} lost {late} on time and forfeited {}.", player.forfeited)?;
    }
    Ok(())
}

fn write_cross_table(out: &mut impl Write, report: &Report, width: usize) -> io::Result<()> {
    write!(out, "\nHead-to-head points\n    {:width$} ", "")?;
    for rank in 1..=report.players.len() {
        write!(out, " {rank:>6}")?;
    }
    writeln!(out)?;
    for (rank, (player, row)) in (1..).zip(report.players.iter().zip(&report.head_to_head)) {
        write!(out, "{rank:>3} {:<width$} ", player.name)?;
        for results in row {
            match results.games() {
                0 => write!(out, " {:>6}", "-")?,
                _ => write!(out, " {:>6.1}", results.points())?,
            }
        }
        writeln!(out)?;
    }
    Ok(())
}

/// A share in percent, as in `52.5 %`.
pub(super) fn percent(share: Option<f64>) -> String {
    share.map_or("-".to_owned(), |share| format!("{:.1} %", 100.0 * share))
}

/// A confidence interval, such as `-12 to 40`; the rating of the anchor is fixed.
pub(super) fn range(Interval { low, high, .. }: Interval) -> String {
    if low < high { format!("{} to {}", rounded(low), rounded(high)) } else { "fixed".to_owned() }
}
