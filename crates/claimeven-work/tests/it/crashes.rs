//! Units that crash, workers that are killed with innocent units, and units set aside by mistake.

use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use claimeven_work::{
    Connection, Dispatcher, FleetStatus, Kinds, WorkError, Worker, run_unit, watch_fleet,
};
use serde_json::json;
use sha2::{Digest, Sha256};

use super::fleet::{ACK_WAIT, Fleet, TEST_TIMEOUT, await_workers, collect, expected, wait_until};
use super::hash_work::{COMPUTED, Fault, HashUnit, Hashes};
use super::server::Server;

/// The environment variables of worker processes.
const URL: &str = "CLAIMEVEN_TEST_WORKER_URL";
const CACHE: &str = "CLAIMEVEN_TEST_WORKER_CACHE";

/// This program as another process.
fn this_program(test: &str) -> Command {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args([&format!("it::crashes::{test}"), "--exact", "--ignored", "--nocapture"]);
    command
}

/// Not a test: the program of a [`WorkerProcess`].
#[test]
#[ignore = "not a test"]
fn worker_process() {
    let (Ok(url), Ok(cache)) = (std::env::var(URL), std::env::var(CACHE)) else { return };
    let connection = Connection::new(url).with_ack_wait(ACK_WAIT);
    let kinds = Kinds::new("test").with::<Hashes<false>>();
    let worker = Worker::new(connection, kinds, 1, PathBuf::from(cache))
        .with_unit_command(Arc::new(|| this_program("unit_process")));
    worker.run(&AtomicBool::new(false)).unwrap();
}

/// Not a test: the program of units that the worker computes in a process of their own.
#[test]
#[ignore = "not a test"]
fn unit_process() {
    if std::env::var(URL).is_ok() {
        run_unit(&Kinds::new("test").with::<Hashes<false>>()).unwrap();
        std::process::exit(0);
    }
}

/// A worker with one thread that can be killed.
struct WorkerProcess(Child);

impl WorkerProcess {
    fn start(fleet: &Fleet, server: &Server) -> WorkerProcess {
        let mut command = this_program("worker_process");
        command.env(URL, server.url()).env(CACHE, fleet.folder.path().join("process"));
        let command = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        WorkerProcess(command.spawn().unwrap())
    }

    fn kill(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

impl Drop for WorkerProcess {
    fn drop(&mut self) {
        self.kill();
    }
}

/// Waits for a status of the fleet.
pub(super) fn await_status(url: &str, mut is_met: impl FnMut(&FleetStatus) -> bool) {
    let started = Instant::now();
    watch_fleet(&Connection::new(url), Duration::from_millis(50), |status| {
        assert!(started.elapsed() < TEST_TIMEOUT, "{status:?}");
        if is_met(status) { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    })
    .unwrap();
}

#[test]
fn a_unit_that_aborts_its_process_is_set_aside_and_the_rest_is_done() {
    let Some(server) = Server::start() else { return };
    let fleet = Fleet::new();
    let mut worker = WorkerProcess::start(&fleet, &server);
    await_workers(&server.url(), 1);
    let fault = |number| if number == 7 { Fault::Abort } else { Fault::None };
    let nats = fleet.nats(&server.url()).with_check_share(0.0);
    let mut deaths = 0;
    let ended = thread::scope(|scope| {
        let job = scope.spawn(|| collect(&nats, 25, 100, fault));
        wait_until("the end", &fleet, || {
            if worker.0.try_wait().unwrap().is_some() {
                deaths += 1;
                worker = WorkerProcess::start(&fleet, &server);
            }
            job.is_finished()
        });
        job.join().unwrap()
    });
    let Err(WorkError::SetAside(units)) = ended else { panic!("{ended:?}") };
    let [(7, reason)] = &units[..] else { panic!("{units:?}") };
    assert!(reason.starts_with("its process ended with signal: 6 (SIGABRT)"), "{reason}");
    // After two deaths of the worker, the unit got a process of its own.
    assert_eq!(deaths, 2);
}

#[test]
fn a_unit_whose_workers_are_killed_by_others_is_not_set_aside() {
    let Some(server) = Server::start() else { return };
    let fleet = Fleet::new();
    let nats = fleet.nats(&server.url()).with_check_share(0.0);
    let mut worker = WorkerProcess::start(&fleet, &server);
    await_workers(&server.url(), 1);
    thread::scope(|scope| {
        let job = scope.spawn(|| collect(&nats, 26, 1, |_| Fault::Sleep(4000)));
        for _ in 0..6 {
            await_status(&server.url(), |status| {
                status.workers.iter().any(|worker| worker.running > 0)
            });
            worker.kill();
            // The heartbeats of the killed one are forgotten after five seconds.
            await_status(&server.url(), |status| status.workers.is_empty());
            worker = WorkerProcess::start(&fleet, &server);
        }
        wait_until("the end", &fleet, || job.is_finished());
        assert_eq!(job.join().unwrap().unwrap().0, expected(1));
    });
}

#[test]
fn crashes_before_a_job_was_started_again_do_not_count() {
    let Some(server) = Server::start() else { return };
    let (fleet, url) = (Fleet::new(), server.url());
    let _worker = fleet.worker(&url, 1);
    await_workers(&url, 1);
    let nats = fleet.nats(&url).with_check_share(0.0);
    let work = Hashes::<false> { salt: 12345, test: 27 };
    // It panics twice, is cancelled while it is computed for the third time, and succeeds the fourth
    // time.
    let panics = vec![1, 2, 5];
    let unit = |number| HashUnit { number, fault: Fault::PanicAt(panics.clone(), 300) };
    let cancel = AtomicBool::new(false);
    thread::scope(|scope| {
        let run = || nats.run(&work, 0..1, unit, Some(&cancel), |_| Ok(ControlFlow::Continue(())));
        let job = scope.spawn(run);
        wait_until("a third start", &fleet, || COMPUTED[27].load(Ordering::Relaxed) == 3);
        cancel.store(true, Ordering::Relaxed);
        job.join().unwrap().unwrap();
    });
    // It succeeds, and in the next run it panics again.
    for computed in [4, 6] {
        let mut outputs = BTreeMap::new();
        nats.run(&work, 0..1, unit, None, |event| {
            if let claimeven_work::DispatchEvent::Output(number, (output, _)) = event {
                outputs.insert(number, output);
            }
            Ok(ControlFlow::Continue(()))
        })
        .unwrap();
        assert_eq!(outputs, expected(1));
        assert_eq!(COMPUTED[27].load(Ordering::Relaxed), computed);
    }
}

/// A worker that was frozen has starts that did not end, but it is not dead.
#[test]
fn a_unit_that_was_set_aside_by_mistake_is_done() {
    let Some(server) = Server::start() else { return };
    let (fleet, url) = (Fleet::new(), server.url());
    let _worker = fleet.worker(&url, 1);
    await_workers(&url, 1);
    let nats = fleet.nats(&url).with_check_share(0.0);
    let fault = Fault::Sleep(100);
    thread::scope(|scope| {
        let job = scope.spawn(|| collect(&nats, 28, 60, |_| fault.clone()));
        let (mut id, mut worker) = (String::new(), String::new());
        await_status(&url, |status| {
            let Some(job) = status.jobs.first() else { return false };
            (id, worker) = (job.id.clone(), status.workers[0].id.clone());
            job.done > 0
        });
        // The units were published in their order, and nothing before them.
        let record = |number: u64, lost: &[&str]| {
            let starts = lost.iter().map(|worker| json!({ "worker": worker, "error": null }));
            let attempts = json!({ "starts": starts.collect::<Vec<_>>() }).to_string();
            server.publish(&format!("$KV.claimeven-attempts.{id}.{}", number + 1), &attempts);
        };
        let set_aside = |number: u64, lost: &[&str]| {
            let unit = serde_json::to_vec(&HashUnit { number, fault: fault.clone() }).unwrap();
            let hash = Sha256::digest(&unit);
            let digest = format!("{:016x}", u64::from_be_bytes(hash[..8].try_into().unwrap()));
            let head = json!({
                "unit": number, "digest": digest, "worker": "x", "status": "set-aside", "lost": lost
            });
            server.publish(&format!("claimeven.results.{id}"), &format!("{head}\nlost"));
        };
        // Nobody knows the first one's workers, so it is set aside until its result arrives.
        let unknown: Vec<String> = (0..10).map(|number| format!("y{number}")).collect();
        let mut unknown: Vec<&str> = unknown.iter().map(|worker| &**worker).collect();
        record(40, &unknown);
        set_aside(40, &unknown);
        unknown.push(&worker);
        record(41, &unknown);
        set_aside(41, &unknown);
        // There is no record of this one.
        set_aside(42, &["y", "z"]);
        wait_until("unit 40", &fleet, || fleet.has_logged("unit 40 is set aside: lost"));
        wait_until("unit 42", &fleet, || {
            fleet.has_logged("unit 42 has not crashed often enough: lost")
        });
        wait_until("the end", &fleet, || job.is_finished());
        assert_eq!(job.join().unwrap().unwrap().0, expected(60));
        assert!(!fleet.has_logged("unit 41 is set aside"));
    });
}

#[test]
fn a_unit_that_panics_only_at_the_coordinator_ends_the_job_with_an_error() {
    let Some(server) = Server::start() else { return };
    let (fleet, url) = (Fleet::new(), server.url());
    let _worker = fleet.worker(&url, 1);
    await_workers(&url, 1);
    let nats = fleet.nats(&url).with_check_share(1.0);
    thread::scope(|scope| {
        let job = scope.spawn(|| collect(&nats, 29, 1, |_| Fault::PanicUnlessWorker(0)));
        wait_until("the end", &fleet, || job.is_finished());
        let error = job.join().unwrap().unwrap_err();
        assert_eq!(error, WorkError::Panicked(0, "panic: not a worker".to_owned()));
    });
}

#[test]
fn a_file_that_the_server_has_lost_is_stored_again() {
    let Some(server) = Server::start() else { return };
    let (fleet, other, url) = (Fleet::new(), Fleet::new(), server.url());
    let first = fleet.worker(&url, 1);
    await_workers(&url, 1);
    let nats = fleet.nats(&url).with_check_share(0.0);
    thread::scope(|scope| {
        let job = scope.spawn(|| collect(&nats, 30, 200, |_| Fault::Sleep(20)));
        wait_until("units", &fleet, || COMPUTED[30].load(Ordering::Relaxed) > 5);
        server.request("$JS.API.STREAM.PURGE.OBJ_claimeven-files", "");
        // It does not have the file.
        let _second = other.worker(&url, 1);
        await_workers(&url, 2);
        first.stop().unwrap();
        wait_until("the end", &fleet, || job.is_finished());
        assert_eq!(job.join().unwrap().unwrap().0, expected(200));
    });
    assert!(other.has_logged("is not on the server"), "{:?}", other.log);
    assert!(!fleet.has_logged("computing locally"), "{:?}", fleet.log);
}

#[test]
fn a_coordinators_own_worker_that_was_dismissed_is_replaced() {
    let Some(server) = Server::start() else { return };
    let (fleet, url) = (Fleet::new(), server.url());
    let nats = fleet.nats(&url).with_check_share(0.0);
    thread::scope(|scope| {
        let job = scope.spawn(|| collect(&nats, 31, 100, |_| Fault::Sleep(50)));
        wait_until("units", &fleet, || COMPUTED[31].load(Ordering::Relaxed) > 5);
        await_status(&url, |status| {
            let Some(worker) = status.workers.first() else { return false };
            server.publish(&format!("claimeven.live.dismissed.{}", worker.id), "a test");
            true
        });
        wait_until("the end", &fleet, || job.is_finished());
        assert_eq!(job.join().unwrap().unwrap().0, expected(100));
    });
    assert!(fleet.has_logged("this worker was dismissed: a test"), "{:?}", fleet.log);
}

#[test]
fn a_worker_without_a_server_leaves_within_five_seconds() {
    let Some(mut server) = Server::start() else { return };
    let (fleet, url) = (Fleet::new(), server.url());
    let first = fleet.worker(&url, 1);
    await_workers(&url, 1);
    let nats = fleet.nats(&url).with_check_share(0.0);
    let cancel = AtomicBool::new(false);
    let work = Hashes::<false> { salt: 12345, test: 4 };
    // Because the first units are short, the first worker queues the long ones after them. The second
    // one gets short ones, too, and then those that the first one hands back.
    let is_long = |number| (100..120).contains(&number);
    let sleep = |number| Fault::Sleep(if is_long(number) { 20_000 } else { 1 });
    let unit = |number| HashUnit { number, fault: sleep(number) };
    thread::scope(|scope| {
        let run =
            || nats.run(&work, 0..300, unit, Some(&cancel), |_| Ok(ControlFlow::Continue(())));
        let job = scope.spawn(run);
        let are_waiting = |status: &FleetStatus| status.workers.iter().any(|it| it.waiting >= 10);
        await_status(&url, are_waiting);
        let second = fleet.worker(&url, 1);
        await_status(&url, |status| status.workers.iter().filter(|it| it.done >= 50).count() == 2);
        first.stop().unwrap();
        await_status(&url, are_waiting);
        server.kill();
        let started = Instant::now();
        second.stop().unwrap();
        let time = started.elapsed();
        cancel.store(true, Ordering::Relaxed);
        job.join().unwrap().unwrap();
        assert!(time < Duration::from_secs(5), "{time:?}");
    });
}

/// Servers before 2.9.12 forget to deliver units when other subjects of the stream are purged.
#[test]
fn forgotten_units_are_delivered_although_the_workers_are_busy_with_another_job() {
    let Some(server) = Server::start() else { return };
    let (fleet, url) = (Fleet::new(), server.url());
    let _worker = fleet.worker(&url, 1);
    await_workers(&url, 1);
    let nats = fleet.nats(&url).with_check_share(0.0);
    let cancel = AtomicBool::new(false);
    thread::scope(|scope| {
        let job = scope.spawn(|| collect(&nats, 2, 100, |_| Fault::Sleep(50)));
        wait_until("units", &fleet, || COMPUTED[2].load(Ordering::Relaxed) > 5);
        // Units of a third job, which the same consumer would deliver after these.
        let version = env!("CARGO_PKG_VERSION").replace('.', "_");
        let third = format!("claimeven.units.{version}.any.hashes.third");
        server.publish(&third, "purged");
        let purge = json!({ "filter": third }).to_string();
        server.request("$JS.API.STREAM.PURGE.claimeven-units", &purge);
        // Keeps the worker busy for minutes.
        let other = scope.spawn(|| {
            let work = Hashes::<false> { salt: 12345, test: 3 };
            let unit = |number| HashUnit { number, fault: Fault::Sleep(200) };
            nats.run(&work, 0..2000, unit, Some(&cancel), |_| Ok(ControlFlow::Continue(())))
        });
        wait_until("the end", &fleet, || job.is_finished());
        assert!(!other.is_finished());
        assert_eq!(job.join().unwrap().unwrap().0, expected(100));
        cancel.store(true, Ordering::Relaxed);
        other.join().unwrap().unwrap();
    });
}

#[test]
fn a_worker_cannot_set_aside_units_that_do_not_crash() {
    let Some(server) = Server::start() else { return };
    let (fleet, url) = (Fleet::new(), server.url());
    let _worker = fleet.worker(&url, 1);
    await_workers(&url, 1);
    let nats = fleet.nats(&url).with_check_share(0.0).with_unit_command(Arc::new(|| {
        let mut command = this_program("unit_process");
        command.env(URL, "none");
        command
    }));
    // Only workers can compute unit 50.
    let fault = |number| match number {
        50 => Fault::PanicUnlessWorker(0),
        _ => Fault::Sleep(100),
    };
    thread::scope(|scope| {
        let job = scope.spawn(|| collect(&nats, 37, 60, fault));
        let mut id = String::new();
        await_status(&url, |status| {
            let Some(job) = status.jobs.first() else { return false };
            id.clone_from(&job.id);
            job.outstanding > 0
        });
        for number in [40, 41, 50] {
            let unit = serde_json::to_vec(&HashUnit { number, fault: fault(number) }).unwrap();
            let hash = Sha256::digest(&unit);
            let digest = format!("{:016x}", u64::from_be_bytes(hash[..8].try_into().unwrap()));
            let head =
                json!({ "unit": number, "digest": digest, "worker": "x", "status": "set-aside" });
            server.publish(&format!("claimeven.results.{id}"), &format!("{head}\nI say so"));
        }
        wait_until("the end", &fleet, || job.is_finished());
        assert_eq!(job.join().unwrap().unwrap().0, expected(60));
    });
    assert!(fleet.has_logged("unit 50 is set aside: I say so"), "{:?}", fleet.log);
    for number in [40, 41] {
        assert!(fleet.has_logged(&format!("unit {number} can be computed here: I say so")));
    }
}

/// A download would wait for them forever.
#[test]
fn a_file_of_which_the_server_has_lost_parts_is_stored_again() {
    let Some(server) = Server::start() else { return };
    let (fleet, url) = (Fleet::new(), server.url());
    let nats = fleet.nats(&url).with_check_share(0.0);
    // Another job with the same file leaves it on the server.
    collect(&nats, 38, 1, |_| Fault::None).unwrap();
    let parts = json!({ "filter": "$O.claimeven-files.C.>" }).to_string();
    server.request("$JS.API.STREAM.PURGE.OBJ_claimeven-files", &parts);
    let other = Fleet::new();
    let _worker = other.worker(&url, 1);
    await_workers(&url, 1);
    thread::scope(|scope| {
        let job = scope.spawn(|| collect(&nats, 39, 50, |_| Fault::None));
        wait_until("the end", &fleet, || job.is_finished());
        assert_eq!(job.join().unwrap().unwrap().0, expected(50));
    });
    assert!(other.has_logged("is not on the server or damaged there"), "{:?}", other.log);
}

/// It says nothing about the worker's results.
#[cfg(unix)]
#[test]
fn a_worker_that_cannot_write_to_its_disk_is_not_dismissed() {
    let Some(server) = Server::start() else { return };
    let (broken, fleet, url) = (Fleet::new(), Fleet::new(), server.url());
    // A file in place of its cache folder.
    std::fs::write(broken.folder.path().join("worker"), "").unwrap();
    let worker = broken.worker(&url, 1);
    await_workers(&url, 1);
    let nats = fleet.nats(&url).with_check_share(0.0);
    thread::scope(|scope| {
        let job = scope.spawn(|| collect(&nats, 40, 50, |_| Fault::None));
        wait_until("a warning", &broken, || broken.has_logged("cannot write to"));
        let _other = fleet.worker(&url, 1);
        wait_until("the end", &fleet, || job.is_finished());
        assert_eq!(job.join().unwrap().unwrap().0, expected(50));
    });
    worker.stop().unwrap();
    assert!(!fleet.has_logged("is dismissed"), "{:?}", fleet.log);
}
