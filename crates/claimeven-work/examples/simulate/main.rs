//! The throughput of fleets of many machines: `cargo xtask simulate-fleet`.
//!
//! First it measures what a unit costs the coordinator, the NATS server and the worker, with empty
//! units on this machine. Then it runs units that only wait, so that one machine can stand for many
//! workers, and compares the measured throughput with the simulated one. At the end it simulates
//! fleets of up to a thousand machines.

#![allow(clippy::cast_sign_loss, reason = "times and counts are never negative")]

mod measure;
mod model;

use std::error::Error;

use measure::{Load, Measured};
use model::{Costs, Fleet, Simulated, simulate};

type Fallible<T> = Result<T, Box<dyn Error + Send + Sync>>;

/// The loads with which the simulation is checked: workers, threads of each, milliseconds of a unit
/// and number of units.
const CHECKS: [Load; 5] = [
    Load { workers: 2, threads: 1, millis: 0.0, units: 20_000 },
    Load { workers: 10, threads: 1, millis: 10.0, units: 8_000 },
    Load { workers: 20, threads: 8, millis: 100.0, units: 12_000 },
    Load { workers: 100, threads: 4, millis: 200.0, units: 15_000 },
    Load { workers: 200, threads: 4, millis: 1000.0, units: 6_000 },
];

/// Processors of each machine in the simulated fleets.
const CORES: usize = 16;
/// The latency from one machine to another, in seconds.
const LATENCY: f64 = 0.000_25;

fn main() -> Fallible<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match arguments[..] {
        ["worker", url, workers, threads] => {
            measure::work(url, workers.parse()?, threads.parse()?);
            Ok(())
        }
        [] => run(),
        _ => Err("usage: simulate".into()),
    }
}

fn run() -> Fallible<()> {
    let cores = std::thread::available_parallelism()?.get();
    println!("What a unit costs, measured with empty units on {cores} processors:");
    let empty = measure::run(&CHECKS[0])?;
    print_costs(&empty);
    let costs = empty.costs();

    println!("\nThe simulation compared with this machine, where waiting stands for computing:");
    println!("workers  threads  unit (ms)  measured (units/s)  simulated (units/s)  ratio");
    for load in &CHECKS {
        let measured = measure::run(load)?;
        let simulated = simulate(&costs, &single_machine(load, cores), load.units);
        let rate = measured.units_per_second();
        println!(
            "{:>7}  {:>7}  {:>9}  {rate:>18.0}  {:>19.0}  {:>5.2}",
            load.workers,
            load.threads,
            load.millis,
            simulated.units_per_second,
            simulated.units_per_second / rate
        );
    }

    println!(
        "\nMachines of {CORES} processors, and one more for the NATS server and the coordinator:"
    );
    println!("unit (ms)  machines  units/s  of the ideal  NATS busy  coordinator busy");
    for millis in [1.0, 10.0, 100.0, 1000.0, 10_000.0] {
        for machines in [1, 10, 100, 1000] {
            let fleet = fleet(machines, millis);
            // Long enough that start and end hardly matter.
            let units = (40 * machines * CORES) as u64;
            let Simulated { units_per_second, broker_busy, coordinator_busy } =
                simulate(&costs, &fleet, units.max(20_000));
            let ideal = (machines * CORES) as f64 / (millis / 1e3);
            println!(
                "{millis:>9}  {machines:>8}  {units_per_second:>7.0}  {:>10.1} %  {:>7.1} %  {:>14.1} %",
                100.0 * units_per_second / ideal,
                100.0 * broker_busy,
                100.0 * coordinator_busy,
            );
        }
    }
    Ok(())
}

fn print_costs(measured: &Measured) {
    let Costs { coordinator, broker, worker } = measured.costs();
    println!("  {:.0} units a second", measured.units_per_second());
    let [coordinator, broker, worker] = [coordinator, broker, worker].map(|cost| 1e6 * cost);
    println!(
        "  processor time: coordinator {coordinator:.0} us, NATS {broker:.0} us, worker {worker:.0} us"
    );
    println!(
        "  {:.1} messages and {:.0} bytes through the NATS server, {} MB of its memory",
        measured.messages_per_unit(),
        measured.bytes_per_unit(),
        measured.broker_mb
    );
}

/// All parts of a fleet on this machine.
fn single_machine(load: &Load, cores: usize) -> Fleet {
    Fleet {
        workers: load.workers,
        threads: load.threads,
        unit: load.millis / 1e3,
        spread: 0.0,
        latency: 0.000_03,
        shared_cores: Some(cores),
    }
}

fn fleet(machines: usize, millis: f64) -> Fleet {
    Fleet {
        workers: machines,
        threads: CORES,
        unit: millis / 1e3,
        // Games are not equally long.
        spread: 0.5,
        latency: LATENCY,
        shared_cores: None,
    }
}
