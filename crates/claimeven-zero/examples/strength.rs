//! Measures a network against exact scores.
//!
//!     cargo run --release -p claimeven-zero --example strength -- NETWORK SIMULATIONS FOLDER COUNT BATCH
//!
//! FOLDER has files of `moves score` lines; COUNT is how many lines of each are used, and BATCH how
//! many positions of one search are judged together.

use std::error::Error;
use std::path::Path;
use std::sync::Arc;

use claimeven_game::Setup;
use claimeven_search::Limits;
use claimeven_zero::{Network, TestSet, Zero, ZeroParameters, evaluate};

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [network, simulations, folder, count, batch] = &arguments[..] else {
        return Err("usage: strength NETWORK SIMULATIONS FOLDER COUNT BATCH".into());
    };
    let batch = batch.parse()?;
    let network = Arc::new(Network::load(Path::new(network))?);
    let (simulations, count) = (simulations.parse()?, count.parse()?);
    let mut paths: Vec<_> = std::fs::read_dir(folder)?
        .map(|entry| Ok(entry?.path()))
        .collect::<Result<_, std::io::Error>>()?;
    paths.retain(|path| path.extension().is_none());
    paths.sort();
    let mut sets = Vec::new();
    for path in paths {
        sets.push(TestSet::load(&path, Setup::STANDARD)?.truncated(count));
    }
    sets.push(TestSet::random(Setup::STANDARD, count, 4..=16, 99, 2)?);
    for set in &sets {
        let agent = || {
            let network = Arc::clone(&network);
            let parameters = ZeroParameters { batch, ..ZeroParameters::new(network, simulations) };
            Box::new(Zero::new(parameters)) as Box<_>
        };
        let strength = evaluate(agent, set, &Limits::default(), 2, || ())?;
        println!(
            "{:32} errors {:26} best {:26} {:.4} s a move",
            strength.set,
            strength.error_rate().to_string(),
            strength.best_rate().to_string(),
            strength.seconds
        );
    }
    Ok(())
}
