//! A player's errors next to those of other programs, on the public test sets.

use std::io::{self, Write};

use claimeven_arena::{PUBLIC_SETS, Scoreboard, ScoreboardEntry, Strength};

/// Writes a table of the public test sets among the results, with a row per program and the player
/// last, and then where the figures come from. Nothing is written without such a set.
pub(super) fn write(
    out: &mut impl Write,
    scoreboard: &Scoreboard,
    agent: &str,
    results: &[Strength],
) -> io::Result<()> {
    let measured = |set: &str| results.iter().find(|strength| strength.set == set);
    let sets: Vec<&str> =
        PUBLIC_SETS.iter().map(|(_, name)| *name).filter(|name| measured(name).is_some()).collect();
    if sets.is_empty() {
        return Ok(());
    }
    let entries: Vec<&ScoreboardEntry> =
        scoreboard.entries.iter().filter(|entry| entry.has_any(&sets)).collect();
    let width = |texts: &mut dyn Iterator<Item = usize>| texts.max().unwrap_or(0);
    let programs = width(&mut entries.iter().map(|entry| entry.program.chars().count()));
    let programs = programs.max("this player".len());
    let players = width(&mut entries.iter().map(|entry| entry.player.chars().count()));
    let players = players.max(agent.chars().count());

    write!(out, "\n{:<programs$}  {:<players$}", "errors in %", "player")?;
    for set in &sets {
        write!(out, "  {set:>13}")?;
    }
    writeln!(out)?;
    for entry in &entries {
        write!(out, "{:<programs$}  {:<players$}", entry.program, entry.player)?;
        for set in &sets {
            match entry.errors.get(*set) {
                Some(percent) => write!(out, "  {percent:>13.1}")?,
                None => write!(out, "  {:>13}", "-")?,
            }
        }
        writeln!(out)?;
    }
    write!(out, "{:<programs$}  {agent:<players$}", "this player")?;
    for strength in sets.iter().filter_map(|set| measured(set)) {
        write!(out, "  {:>13.1}", 100.0 * strength.error_rate().share)?;
    }
    writeln!(out, "\n")?;
    for ScoreboardEntry { program, player, training, source, .. } in entries {
        let training = if training.is_empty() { "" } else { &format!("; trained for {training}") };
        writeln!(out, "{program}, {player}{training}: {source}")?;
    }
    Ok(())
}
