//! The findings as a Markdown report.

use std::fmt::Write;

use claimeven_arena::experiments::{EXPERIMENTS, Experiment, Origin, Table, TableCell, Verdict};

use super::{CompletedExperiment, Run};

/// The report, whose plots are in the folder `experiments` beside it. The sections of experiments
/// that were not run are kept from the previous report.
pub(super) fn markdown(run: &Run, previous: &str) -> String {
    let mut text = introduction(run);
    text.push_str("\n## Summary\n\n| claim | verdict | measured |\n|---|---|---|\n");
    for experiment in EXPERIMENTS {
        match run.find(experiment) {
            Some(done) => summary_row(&mut text, done),
            None => text.extend(previous_row(previous, experiment)),
        }
    }
    text.push_str(METHOD);
    for (origin, heading) in [
        (Origin::Older, "What the older projects found"),
        (Origin::Ours, "What they could not measure"),
    ] {
        let _ = write!(text, "\n## {heading}\n");
        for experiment in EXPERIMENTS.iter().filter(|experiment| experiment.origin == origin) {
            match run.find(experiment) {
                Some(done) => section(&mut text, done),
                None => text.extend(previous_section(previous, experiment)),
            }
        }
    }
    text
}

fn previous_row(previous: &str, experiment: &Experiment) -> Option<String> {
    let link = format!("(#{}) |", anchor(experiment.title));
    let row = previous.lines().find(|line| line.starts_with("| [") && line.contains(&link))?;
    Some(format!("{row}\n"))
}

fn previous_section<'a>(previous: &'a str, experiment: &Experiment) -> Option<&'a str> {
    let heading = format!("\n### {}\n", experiment.title);
    let section = &previous[previous.find(&heading)?..];
    let end = section[heading.len()..].find("\n##").map(|end| end + heading.len());
    Some(&section[..end.unwrap_or(section.len())])
}

fn introduction(run: &Run) -> String {
    let quick = if run.quick { " --quick" } else { "" };
    let warning = if run.quick {
        "\n**A quick run: so few games and positions that the verdicts mean nothing.**\n"
    } else {
        ""
    };
    format!(
        "# Experiments

Five older Connect Four programs came with findings about their players: that any depth beats random play, that a deeper search beats a
shallower one, that the first mover wins between equals, and so on. They were based on few games and no exact scores. This document tests each of these claims
again with our players, and adds some questions that only a perfect solver can answer.

This document is the output of

    claimeven experiments --seed {}{quick} --out docs

which takes about half an hour on two cores (with `--journal`, it can be interrupted and resumed). The text around the numbers is fixed; numbers and verdicts are computed. The same command gives the
same numbers again, except for times and matches at equal time. With the name of an experiment, only its section is updated.
{warning}",
        run.seed,
    )
}

fn summary_row(
    text: &mut String,
    CompletedExperiment { experiment, finding, .. }: &CompletedExperiment,
) {
    let _ = writeln!(
        text,
        "| [{}](#{}) | {} | {} |",
        cell(experiment.claim),
        anchor(experiment.title),
        mark(finding.verdict),
        cell(&finding.measured)
    );
}

const METHOD: &str = "
## Method

**Games.** All games are on the standard board, 7 columns and 6 rows. Two deterministic players would repeat the same game, so matches
between them are played in pairs of games from different openings, in which each player moves first once. Unless stated otherwise, openings are drawn
positions after six moves, according to the exact solver. Searches are played by alpha-beta, which makes the moves of minimax (see [below](#alpha-beta-is-minimax)).

**Numbers.** A score counts a draw as half a win. Brackets contain 95 % confidence intervals. Those of scores are computed over pairs of games, because the
two games of a pair are not independent; those of shares are Wilson intervals; those of factors are computed on the logarithms by the normal approximation. A pair of games that
repeats an earlier pair move for move is not counted, nor is a position that repeats another or is its mirror image. Ratings are maximum-likelihood estimates in the Bradley-Terry model.

**Sequential matches.** A match is played until it is decided or its budget is spent: after each of the numbers of games that a section names, it ends if the interval of the score does
not contain one half. Looking several times and making several comparisons would let some interval miss the truth too often. So the intervals by which a claim is judged are
*simultaneous*: with 95 % confidence, all of them contain the true numbers, at all looks (Bonferroni). Other intervals are *ordinary*: each contains the true number with 95 %
confidence. Close matches have more games, so means over several matches are those of the first look, with the same number of games of each.

**Verdicts.** A claim is split into comparisons: one depth against another, with one evaluation. A comparison supports the claim if its whole interval does, contradicts it if its whole
interval does, and is open otherwise. The claim *holds* if all comparisons support it. It *is undecided* if none contradicts it and some are open. If some contradict it, it *holds in
part* if at least as many support it, and *does not hold* otherwise. Each section says what is left out of the claim.

**Times.** Each is the median of several searches with one thread. They depend on the machine and its load; nodes and leaves do not. Matches at equal time depend on the machine, too.
";

fn section(text: &mut String, done: &CompletedExperiment) {
    let CompletedExperiment { experiment, finding, command } = done;
    let _ = write!(
        text,
        "\n### {}\n\n*Claim.* {}\n\n*Run.* {}\n\n*Left out.* {}\n\n    {command}\n",
        experiment.title, experiment.claim, finding.run, finding.left_out
    );
    if !finding.commands.is_empty() && finding.verdict != Verdict::Skipped {
        text.push_str("\nOne part of it:\n\n");
        for command in &finding.commands {
            let _ = writeln!(text, "    {command}");
        }
    }
    let (verdict, because) = (finding.verdict, &finding.because);
    let _ = write!(
        text,
        "\n*Measured.* {}\n\n*Verdict.* The claim **{verdict}**: {because}.\n",
        finding.measured
    );
    for figure in &finding.figures {
        let (name, title, caption) = (&figure.name, &figure.title, &figure.caption);
        let _ = write!(text, "\n![{title}](experiments/{name}.svg)\n\n{caption}\n");
    }
    for table in &finding.tables {
        write_table(text, table);
    }
}

fn write_table(text: &mut String, table: &Table) {
    let _ = write!(text, "\n{}:\n\n| {} |\n|", table.caption, table.head.join(" | "));
    for column in 0..table.head.len() {
        text.push_str(if column == 0 { "---|" } else { "--:|" });
    }
    text.push('\n');
    for row in &table.rows {
        let cells: Vec<String> =
            row.iter().map(TableCell::to_string).map(|text| cell(&text)).collect();
        let _ = writeln!(text, "| {} |", cells.join(" | "));
    }
}

/// A text in a Markdown table.
fn cell(text: &str) -> String {
    text.replace('|', "\\|")
}

fn mark(verdict: Verdict) -> String {
    match verdict {
        Verdict::Skipped => verdict.to_string(),
        _ => format!("**{verdict}**"),
    }
}

/// The anchor of a heading.
fn anchor(title: &str) -> String {
    let lower = title.to_lowercase();
    let kept = lower.chars().filter(|letter| letter.is_alphanumeric() || " -".contains(*letter));
    kept.map(|letter| if letter == ' ' { '-' } else { letter }).collect()
}
