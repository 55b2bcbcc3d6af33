//! Stress tests: starts a server and exposes it to many players, a hostile address, hours of use or
//! faults.
//!
//! `cargo xtask load`, `siege`, `soak` and `chaos` build the server and this program and run it.

mod chaos;
mod load;
mod read;
mod server;
mod siege;
mod soak;

use std::error::Error;
use std::time::Duration;

use load::Meanwhile;

type Fallible<T> = Result<T, Box<dyn Error + Send + Sync>>;

const USAGE: &str = "usage: stress PROGRAM load GAMES SECONDS [busy | read DATABASE | fleet POSTGRES_URL NATS_SERVER] \
                     | siege SECONDS | soak MINUTES | chaos KILLS [POSTGRES_URL]";

#[tokio::main]
async fn main() -> Fallible<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let seconds = |text: &str| text.parse().map(Duration::from_secs);
    match arguments[..] {
        [program, "load", games, time] => {
            load::run(program, games.parse()?, seconds(time)?, Meanwhile::Nothing).await
        }
        [program, "load", games, time, "busy"] => {
            load::run(program, games.parse()?, seconds(time)?, Meanwhile::Work).await
        }
        [program, "load", games, time, "read", database] => {
            load::run(program, games.parse()?, seconds(time)?, Meanwhile::Read(database)).await
        }
        [program, "load", games, time, "fleet", database, nats_server] => {
            load::run_fleet(program, games.parse()?, seconds(time)?, database, nats_server).await
        }
        [program, "siege", time] => siege::run(program, seconds(time)?).await,
        [program, "soak", minutes] => soak::run(program, 60 * seconds(minutes)?).await,
        [program, "chaos", kills] => chaos::run(program, kills.parse()?, None).await,
        [program, "chaos", kills, url] => chaos::run(program, kills.parse()?, Some(url)).await,
        _ => Err(USAGE.into()),
    }
}

/// A percentile of some times, in milliseconds.
fn percentile(times: &mut [Duration], percent: usize) -> f64 {
    times.sort_unstable();
    match times.len() {
        0 => 0.0,
        count => times[(count - 1) * percent / 100].as_secs_f64() * 1e3,
    }
}
