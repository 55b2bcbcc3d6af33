//! A tournament's standings as comma-separated values.

use std::io::{self, Write};

use claimeven_zero::MatchScore;

use crate::report::Report;

impl Report {
    /// Writes one line of comma-separated values per player, ending with its points against each of
    /// the others.
    pub fn write_csv(&self, out: &mut impl Write) -> io::Result<()> {
        write(out, self)
    }
}

fn write(out: &mut impl Write, report: &Report) -> io::Result<()> {
    write!(
        out,
        "rank,player,agent,elo,elo_low,elo_high,games,won,drawn,lost,points,score,\
         first_player_score,ms_per_move,nodes_per_move,lost_on_time,forfeited"
    )?;
    for player in &report.players {
        write!(out, ",{}", quoted(&format!("against {}", player.name)))?;
    }
    writeln!(out)?;
    for (rank, (player, row)) in (1..).zip(report.players.iter().zip(&report.head_to_head)) {
        let MatchScore { wins, draws, losses } = player.results;
        write!(
            out,
            "{rank},{},{},{:.1},{:.1},{:.1},{},{wins},{draws},{losses},{},{},{},{:.3},{:.1},{},{}",
            quoted(&player.name),
            quoted(&player.agent),
            player.elo.estimate,
            player.elo.low,
            player.elo.high,
            player.results.games(),
            player.points,
            number(player.score),
            number(player.moving_first.score()),
            player.ms_per_move,
            player.nodes_per_move,
            player.lost_on_time,
            player.forfeited,
        )?;
        for results in row {
            let points = (results.games() > 0).then(|| results.points().to_string());
            write!(out, ",{}", points.unwrap_or_default())?;
        }
        writeln!(out)?;
    }
    Ok(())
}

fn number(score: Option<f64>) -> String {
    score.map_or(String::new(), |score| format!("{score:.4}"))
}

/// A quoted text, because agent texts contain commas.
fn quoted(text: &str) -> String {
    format!("\"{}\"", text.replace('"', "\"\""))
}
