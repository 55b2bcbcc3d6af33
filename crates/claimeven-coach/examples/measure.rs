//! Measures the coach on random decided positions of 8 to 30 discs:
//!
//!     cargo run --release -p claimeven-coach --example measure -- [POSITIONS] [SEED]
//!
//! Prints how many explanations end in a proven reason, how many were verified, the longest text
//! and the time.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use claimeven_coach::{Coach, English, TextLevel, verify, verify_by_solver};
use claimeven_game::{Column, Position, Setup};
use claimeven_solver::{Options, Solver, embedded_books};

fn main() {
    let mut arguments = std::env::args().skip(1).map(|text| text.parse().expect("a whole number"));
    let (wanted, seed) = (arguments.next().unwrap_or(2000), arguments.next().unwrap_or(1));
    let mut random = fastrand::Rng::with_seed(seed);
    let mut coach = Coach::new();
    let mut solver = Solver::new(Options::default().with_books(embedded_books()));
    let mut kinds = BTreeMap::<&str, u32>::new();
    let mut lines = BTreeMap::<usize, u32>::new();
    let mut times = Vec::new();
    let (mut proven, mut verified, mut words) = (0, 0, 0);
    while times.len() < wanted as usize {
        let position = random_position(random.u32(8..=30), &mut random);
        if solver.sign(&position).expect("the ruleset is supported") == 0 {
            continue;
        }
        let start = Instant::now();
        let explanation = coach.explain(&position).expect("the ruleset is supported");
        times.push(start.elapsed());
        proven += u32::from(explanation.is_proven());
        let is_true = verify_by_solver(&explanation, &mut solver)
            && verify(&explanation.end(), &explanation.reason);
        verified += u32::from(is_true);
        if !is_true {
            println!("false:\n{position}\n{explanation:?}");
        }
        *kinds.entry(explanation.reason.kind()).or_default() += 1;
        *lines.entry(explanation.line.len()).or_default() += 1;
        for level in [TextLevel::Beginner, TextLevel::Player] {
            let text = English::default().explanation(&explanation, level);
            words = words.max(text.split_whitespace().count());
        }
    }
    times.sort();
    let share = |count: u32| 100.0 * f64::from(count) / f64::from(wanted as u32);
    let mean = times.iter().sum::<Duration>() / wanted as u32;
    println!("positions        {wanted}, seed {seed}");
    println!("proven reason    {:.1} %", share(proven));
    println!("verified true    {:.1} %", share(verified));
    println!("longest text     {words} words");
    let at = |percent: usize| times[percent * (times.len() - 1) / 100];
    println!("time             median {:.1?}, 90 % {:.1?}, mean {mean:.1?}", at(50), at(90));
    println!("kinds            {kinds:?}");
    println!("moves before it  {lines:?}");
}

/// A position of a random game that is not over.
fn random_position(plies: u32, random: &mut fastrand::Rng) -> Position {
    loop {
        let mut position = Position::new(Setup::STANDARD);
        while position.ply() < plies && position.outcome().is_none() {
            let legal: Vec<Column> = position.legal().collect();
            position.play(legal[random.usize(..legal.len())]).expect("the move is legal");
        }
        if position.outcome().is_none() {
            return position;
        }
    }
}
