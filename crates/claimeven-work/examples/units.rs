//! How many units a second pass through a NATS server: `cargo run --release -p claimeven-work
//! --features nats --example units -- nats://127.0.0.1:4222 [UNITS] [WORKERS]`. The units are empty,
//! so this is the overhead of a unit on both sides together.

use std::ops::ControlFlow;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use claimeven_work::{
    Connection, Dispatcher, Files, Job, Kinds, Nats, Taken, Work, WorkError, Worker, watch_fleet,
};

struct Empty;

impl Work for Empty {
    const KIND: &'static str = "empty";
    type Unit = u64;
    type Output = u64;
    type Thread = ();
    type Error = WorkError;

    fn job(&self) -> Result<Job, String> {
        Ok(Job::new("empty units", &()))
    }

    fn open(_: serde_json::Value, _: &Files) -> Result<Empty, String> {
        Ok(Empty)
    }

    fn thread(&self) {}

    fn compute(
        &self,
        (): &mut (),
        unit: &u64,
        _: &Arc<AtomicBool>,
    ) -> Result<Option<u64>, WorkError> {
        Ok(Some(*unit))
    }

    fn encode(output: &u64) -> Vec<u8> {
        output.to_le_bytes().to_vec()
    }

    fn decode(bytes: &[u8]) -> Result<u64, String> {
        bytes.try_into().map(u64::from_le_bytes).map_err(|_| "not a number".to_owned())
    }
}

fn main() -> Result<(), WorkError> {
    let mut arguments = std::env::args().skip(1);
    let url = arguments.next().unwrap_or_else(|| "nats://127.0.0.1:4222".to_owned());
    let mut number =
        |default| arguments.next().and_then(|text| text.parse().ok()).unwrap_or(default);
    let (units, count) = (number(50_000), number(2));
    let connection = Connection::new(&url);
    let stop = Arc::new(AtomicBool::new(false));
    let cache = std::env::temp_dir().join("claimeven-units");
    let workers: Vec<_> = (0..count)
        .map(|_| {
            let kinds = Kinds::new("none").with::<Empty>();
            let worker = Worker::new(connection.clone(), kinds, 1, cache.clone());
            let stop = Arc::clone(&stop);
            thread::spawn(move || worker.run(&stop))
        })
        .collect();
    watch_fleet(&connection, Duration::from_millis(200), |status| {
        let is_ready = status.workers.len() as u64 >= count;
        if is_ready { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    })?;
    let (mut done, began) = (0_u64, Instant::now());
    Nats::new(connection, 1, cache).run(
        &Empty,
        0..units,
        |number| number,
        None,
        |taken| {
            done += u64::from(matches!(taken, Taken::Output(..)));
            Ok(ControlFlow::Continue(()))
        },
    )?;
    let seconds = began.elapsed().as_secs_f64();
    println!(
        "{done} units in {seconds:.2} s with {count} workers: {:.0} a second",
        done as f64 / seconds
    );
    stop.store(true, Ordering::Relaxed);
    for worker in workers {
        worker.join().expect("no panic")?;
    }
    Ok(())
}
