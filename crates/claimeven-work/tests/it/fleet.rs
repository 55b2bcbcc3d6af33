//! Results are correct and complete, whatever happens to workers, coordinator and server.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::ControlFlow;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use claimeven_work::{
    Connection, DispatchEvent, Dispatcher, Kinds, Local, Nats, Work, WorkError, Worker, watch_fleet,
};
use serde_json::json;

use super::crashes::await_status;
use super::hash_work::{COMPUTED, Fault, HashUnit, Hashes, OPENED, SLOW_TO_OPEN, correct_hash};
use super::server::{Proxy, Server};

pub(super) const ACK_WAIT: Duration = Duration::from_secs(2);
/// An upper limit for every wait, on a busy machine.
pub(super) const TEST_TIMEOUT: Duration = Duration::from_mins(5);

type LogLines = Arc<Mutex<Vec<String>>>;

pub(super) struct Fleet {
    pub(super) folder: tempfile::TempDir,
    pub(super) log: LogLines,
}

pub(super) struct RunningWorker {
    stop: Arc<AtomicBool>,
    thread: Option<JoinHandle<Result<(), WorkError>>>,
}

impl RunningWorker {
    pub(super) fn stop(mut self) -> Result<(), WorkError> {
        self.stop.store(true, Ordering::Relaxed);
        self.thread.take().unwrap().join().unwrap()
    }
}

impl Drop for RunningWorker {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
    }
}

impl Fleet {
    pub(super) fn new() -> Fleet {
        Fleet { folder: tempfile::tempdir().unwrap(), log: LogLines::default() }
    }

    pub(super) fn connection(&self, url: &str) -> Connection {
        let log = Arc::clone(&self.log);
        let log = Arc::new(move |line: &str| log.lock().unwrap().push(line.to_owned()));
        Connection::new(url).with_ack_wait(ACK_WAIT).with_log(log)
    }

    fn cache(&self) -> &Path {
        self.folder.path()
    }

    pub(super) fn worker_of<W: Work>(
        &self,
        connection: Connection,
        threads: usize,
    ) -> RunningWorker {
        let kinds = Kinds::new("test").with::<W>();
        let worker = Worker::new(connection, kinds, threads, self.cache().join("worker"));
        let stop = Arc::new(AtomicBool::new(false));
        let flag = Arc::clone(&stop);
        RunningWorker { stop, thread: Some(thread::spawn(move || worker.run(&flag))) }
    }

    pub(super) fn worker(&self, url: &str, threads: usize) -> RunningWorker {
        self.worker_of::<Hashes<false>>(self.connection(url), threads)
    }

    pub(super) fn nats(&self, url: &str) -> Nats {
        self.nats_of(self.connection(url))
    }

    pub(super) fn nats_of(&self, connection: Connection) -> Nats {
        Nats::new(connection, 2, self.cache().join("coordinator"))
    }

    pub(super) fn has_logged(&self, text: &str) -> bool {
        self.log.lock().unwrap().iter().any(|line| line.contains(text))
    }
}

/// Waits for a condition.
pub(super) fn wait_until(what: &str, fleet: &Fleet, mut is_met: impl FnMut() -> bool) {
    let started = Instant::now();
    while !is_met() {
        if started.elapsed() > TEST_TIMEOUT {
            // The scope of the test would wait for the job.
            eprintln!("{what}: not in time; {:?}", fleet.log.lock().unwrap());
            std::process::abort();
        }
        thread::sleep(Duration::from_millis(10));
    }
}

/// Waits until this many workers have sent a heartbeat.
pub(super) fn await_workers(url: &str, count: usize) {
    let started = Instant::now();
    let mut seen = BTreeSet::new();
    let watched = watch_fleet(&Connection::new(url), Duration::from_millis(100), |status| {
        seen.extend(status.workers.iter().map(|worker| worker.id.clone()));
        assert!(started.elapsed() < TEST_TIMEOUT, "{} of {count} workers", seen.len());
        if seen.len() >= count { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    });
    watched.unwrap();
}

/// The outputs of the units, and the number of restarts.
pub(super) fn collect(
    dispatcher: &impl Dispatcher,
    test: usize,
    units: u64,
    fault: impl Fn(u64) -> Fault + Sync,
) -> Result<(BTreeMap<u64, u64>, usize), WorkError> {
    let work = Hashes::<false> { salt: 12345, test };
    let (mut outputs, mut restarts) = (BTreeMap::new(), 0);
    let unit = |number| HashUnit { number, fault: fault(number) };
    dispatcher.run(&work, 0..units, unit, None, |taken| {
        match taken {
            DispatchEvent::Output(number, (output, _)) => {
                assert_eq!(outputs.insert(number, output), None, "unit {number} came twice");
            }
            DispatchEvent::Restart => {
                outputs.clear();
                restarts += 1;
            }
        }
        Ok(ControlFlow::Continue(()))
    })?;
    Ok((outputs, restarts))
}

pub(super) fn expected(units: u64) -> BTreeMap<u64, u64> {
    (0..units).map(|number| (number, correct_hash(12345, number))).collect()
}

pub(super) fn no_fault(_: u64) -> Fault {
    Fault::None
}

#[test]
fn workers_compute_what_threads_compute() {
    let Some(server) = Server::start() else { return };
    let fleet = Fleet::new();
    let (local, _) = collect(&Local { threads: 2 }, 0, 500, no_fault).unwrap();
    assert_eq!(local, expected(500));
    let _workers = [fleet.worker(&server.url(), 1), fleet.worker(&server.url(), 2)];
    await_workers(&server.url(), 2);
    // The same job again right away: it neither misses results nor reuses old ones.
    for test in [1, 1, 2] {
        let (remote, restarts) = collect(&fleet.nats(&server.url()), test, 500, no_fault).unwrap();
        assert_eq!((&remote, restarts), (&local, 0));
    }
    assert!(!fleet.has_logged("computing locally"));
}

#[test]
fn two_workers_check_each_other_without_waiting_for_the_coordinator() {
    let Some(server) = Server::start() else { return };
    let fleet = Fleet::new();
    // The coordinator would take over pending checks after twice this time.
    let patience = Duration::from_mins(1);
    let connection = || fleet.connection(&server.url()).with_ack_wait(patience);
    let workers = [(); 2].map(|()| fleet.worker_of::<Hashes<false>>(connection(), 1));
    await_workers(&server.url(), workers.len());
    for _ in 0..30 {
        let started = Instant::now();
        let nats = fleet.nats_of(connection()).with_check_share(1.0);
        let (outputs, restarts) = collect(&nats, 16, 4, no_fault).unwrap();
        assert_eq!((outputs, restarts), (expected(4), 0));
        assert!(started.elapsed() < patience, "{:?}", started.elapsed());
    }
}

#[test]
fn a_check_that_waits_behind_long_units_is_left_to_the_workers() {
    let Some(server) = Server::start() else { return };
    let fleet = Fleet::new();
    let _workers = [fleet.worker(&server.url(), 1), fleet.worker(&server.url(), 1)];
    await_workers(&server.url(), 2);
    // The first result of each worker is checked when all other units are done.
    let (units, ms) = (60, ACK_WAIT.as_millis() as u64 / 8);
    let (outputs, restarts) =
        collect(&fleet.nats(&server.url()), 32, units, |_| Fault::PanicUnlessWorker(ms)).unwrap();
    assert_eq!((outputs, restarts), (expected(units), 0));
    assert!(COMPUTED[32].load(Ordering::Relaxed) > units);
}

#[test]
fn without_workers_the_coordinator_computes_locally_and_logs_it() {
    let Some(server) = Server::start() else { return };
    let fleet = Fleet::new();
    let (outputs, _) = collect(&fleet.nats(&server.url()), 3, 50, no_fault).unwrap();
    assert_eq!(outputs, expected(50));
    assert!(fleet.has_logged("no worker of version") && fleet.has_logged("computing locally"));
}

#[test]
fn a_missing_server_is_an_error() {
    let fleet = Fleet::new();
    let error = collect(&fleet.nats("nats://127.0.0.1:9"), 4, 5, no_fault).unwrap_err().to_string();
    assert!(error.starts_with("NATS: cannot connect to nats://127.0.0.1:9"), "{error}");
}

#[test]
fn a_slow_unit_is_not_computed_twice() {
    let Some(server) = Server::start() else { return };
    let fleet = Fleet::new();
    let _workers = [fleet.worker(&server.url(), 1), fleet.worker(&server.url(), 1)];
    await_workers(&server.url(), 2);
    let long = 3 * ACK_WAIT.as_millis() as u64;
    let fault = |number: u64| if number == 0 { Fault::Sleep(long) } else { Fault::None };
    let nats = fleet.nats(&server.url()).with_check_share(0.0);
    let (outputs, _) = collect(&nats, 5, 20, fault).unwrap();
    assert_eq!(outputs, expected(20));
    assert_eq!(COMPUTED[5].load(Ordering::Relaxed), 20);
}

#[test]
fn a_disconnected_worker_does_not_block_the_job_and_its_late_results_are_ignored() {
    let Some(server) = Server::start() else { return };
    let fleet = Fleet::new();
    let proxy = Proxy::new(&server);
    let _cut_off = fleet.worker(&proxy.url(), 2);
    await_workers(&server.url(), 1);
    let slow = |_| Fault::Sleep(20);
    thread::scope(|scope| {
        let job = scope.spawn(|| collect(&fleet.nats(&server.url()), 6, 400, slow));
        let started = Instant::now();
        while COMPUTED[6].load(Ordering::Relaxed) < 20 {
            assert!(started.elapsed() < TEST_TIMEOUT);
            thread::sleep(Duration::from_millis(5));
        }
        proxy.cut();
        let _other = fleet.worker(&server.url(), 2);
        thread::sleep(3 * ACK_WAIT);
        proxy.restore();
        assert_eq!(job.join().unwrap().unwrap().0, expected(400));
    });
}

#[test]
fn a_killed_server_or_a_lost_disk_only_costs_time() {
    let Some(mut server) = Server::start() else { return };
    let fleet = Fleet::new();
    let url = server.url();
    let _workers = [fleet.worker(&url, 1), fleet.worker(&url, 1)];
    await_workers(&url, 2);
    let slow = |_| Fault::Sleep(10);
    thread::scope(|scope| {
        let job = scope.spawn(|| collect(&fleet.nats(&url), 7, 1000, slow));
        let wait_for = |count| {
            let started = Instant::now();
            while COMPUTED[7].load(Ordering::Relaxed) < count {
                assert!(started.elapsed() < TEST_TIMEOUT);
                thread::sleep(Duration::from_millis(5));
            }
        };
        for count in [50, 300] {
            wait_for(count);
            server.kill_and_restart();
        }
        wait_for(500);
        server.kill_and_lose_disk();
        let started = Instant::now();
        while !job.is_finished() {
            if started.elapsed() > TEST_TIMEOUT {
                // The scope would wait for the job.
                eprintln!("the job does not end; {:?}", fleet.log.lock().unwrap());
                std::process::abort();
            }
            thread::sleep(Duration::from_millis(10));
        }
        assert_eq!(job.join().unwrap().unwrap().0, expected(1000));
    });
}

#[test]
fn a_poison_unit_is_set_aside_after_three_panics_and_the_rest_is_done() {
    let Some(server) = Server::start() else { return };
    let fleet = Fleet::new();
    let _workers = [fleet.worker(&server.url(), 1), fleet.worker(&server.url(), 1)];
    await_workers(&server.url(), 2);
    let fault = |number| if number == 7 { Fault::Panic } else { Fault::None };
    let error = collect(&fleet.nats(&server.url()).with_check_share(0.0), 8, 100, fault);
    let Err(WorkError::SetAside(units)) = error else { panic!("{error:?}") };
    assert_eq!(units.len(), 1);
    let (number, reason) = &units[0];
    assert_eq!(*number, 7);
    assert!(reason.starts_with("panic: unit 7 is poison"), "{reason}");
    assert_eq!(COMPUTED[8].load(Ordering::Relaxed), 99 + 3);
}

#[test]
fn an_error_of_the_work_is_the_same_as_on_local_threads() {
    let Some(server) = Server::start() else { return };
    let fleet = Fleet::new();
    let _worker = fleet.worker(&server.url(), 1);
    let fault = |number| if number == 7 { Fault::Fail } else { Fault::None };
    let local = collect(&Local { threads: 1 }, 9, 20, fault).unwrap_err();
    assert_eq!(collect(&fleet.nats(&server.url()), 9, 20, fault).unwrap_err(), local);
}

#[test]
fn a_worker_with_wrong_results_is_dismissed_and_its_results_are_recomputed() {
    let Some(server) = Server::start() else { return };
    for (test, share, correct) in [(10, 0.6, 2), (11, 0.6, 0)] {
        let fleet = Fleet::new();
        let url = server.url();
        let faulty = fleet.worker_of::<Hashes<true>>(fleet.connection(&url), 2);
        let correct: Vec<RunningWorker> = (0..correct).map(|_| fleet.worker(&url, 1)).collect();
        await_workers(&url, 1 + correct.len());
        let nats = fleet.nats(&url).with_check_share(share);
        let (outputs, restarts) = collect(&nats, test, 300, |_| Fault::Sleep(2)).unwrap();
        assert_eq!(outputs, expected(300));
        assert_eq!(restarts, 1);
        assert!(fleet.has_logged("is dismissed: its result of unit"), "{:?}", fleet.log);
        let ended = faulty.stop().unwrap_err();
        assert!(matches!(ended, WorkError::Dismissed(_)), "{ended}");
        for worker in correct {
            worker.stop().unwrap();
        }
    }
}

#[test]
fn many_workers_can_connect_to_a_new_server_at_once() {
    let Some(server) = Server::start() else { return };
    let (fleet, url) = (Fleet::new(), server.url());
    let workers: Vec<RunningWorker> = (0..8).map(|_| fleet.worker(&url, 1)).collect();
    await_workers(&url, workers.len());
    let outputs = collect(&fleet.nats(&url), 16, 40, no_fault).unwrap().0;
    assert_eq!(outputs, expected(40));
    for worker in workers {
        worker.stop().unwrap();
    }
}

/// Servers before 2.9.12 lose units of one job when those of another one are purged.
#[test]
fn ending_a_job_does_not_affect_the_units_and_results_of_others() {
    let Some(server) = Server::start() else { return };
    let (fleet, url) = (Fleet::new(), server.url());
    let _workers = [fleet.worker(&url, 1), fleet.worker(&url, 1)];
    await_workers(&url, 2);
    let nats = fleet.nats(&url).with_check_share(0.0);
    let slow = |_| Fault::Sleep(4);
    thread::scope(|scope| {
        let long = scope.spawn(|| collect(&nats, 22, 1500, slow));
        let started = Instant::now();
        let mut other_jobs = 0;
        while !long.is_finished() {
            assert!(started.elapsed() < TEST_TIMEOUT, "{:?}", fleet.log.lock().unwrap());
            // A job that ends before all of its units are done.
            let work = Hashes::<false> { salt: 12345, test: 23 };
            let unit = |number| HashUnit { number, fault: Fault::Sleep(1) };
            let mut count = 0;
            let ended = nats.run(&work, 0..400, unit, None, |_| {
                count += 1;
                let is_enough = count == 20;
                Ok(if is_enough { ControlFlow::Break(()) } else { ControlFlow::Continue(()) })
            });
            ended.unwrap();
            other_jobs += 1;
        }
        assert_eq!(long.join().unwrap().unwrap().0, expected(1500));
        assert!(other_jobs > 2, "{other_jobs}");
    });
    // Nothing had to be recomputed.
    assert_eq!(COMPUTED[22].load(Ordering::Relaxed), 1500);
    assert!(!fleet.has_logged("does not deliver"), "{:?}", fleet.log);
}

/// The results of a worker that was still opening the job would be kept for a week.
#[test]
fn a_job_that_ends_while_a_worker_opens_it_leaves_nothing_behind() {
    let Some(server) = Server::start() else { return };
    let (fleet, url) = (Fleet::new(), server.url());
    let _workers = [fleet.worker(&url, 1), fleet.worker(&url, 1)];
    await_workers(&url, 2);
    let work = Hashes::<false> { salt: 12345, test: SLOW_TO_OPEN };
    let unit = |number| HashUnit { number, fault: Fault::None };
    let started = Instant::now();
    let both_have_opened = || OPENED[SLOW_TO_OPEN].load(Ordering::Relaxed) == 2;
    let enough = fleet.nats(&url).run(&work, 0..400, unit, None, |_| {
        while !both_have_opened() {
            assert!(started.elapsed() < TEST_TIMEOUT);
            thread::sleep(Duration::from_millis(1));
        }
        Ok(ControlFlow::Break(()))
    });
    enough.unwrap();
    // Only now has the second worker finished opening it.
    thread::sleep(Duration::from_secs(2));
    watch_fleet(&Connection::new(&url), Duration::from_millis(100), |status| {
        assert_eq!((status.units, status.results), (0, 0));
        ControlFlow::Break(())
    })
    .unwrap();
}

#[test]
fn workers_of_another_version_get_no_units_and_the_log_says_why() {
    let Some(server) = Server::start() else { return };
    let fleet = Fleet::new();
    let url = server.url();
    let old = fleet.worker_of::<Hashes<true>>(fleet.connection(&url).with_version("0.0.1"), 2);
    await_workers(&url, 1);
    let slow = |_| Fault::Sleep(40);
    let (outputs, restarts) = collect(&fleet.nats(&url), 12, 100, slow).unwrap();
    assert_eq!((outputs, restarts), (expected(100), 0));
    let own = env!("CARGO_PKG_VERSION");
    let reported = format!("has version 0.0.1 and cannot work on jobs of version {own}");
    let skipped = format!("): it needs version {own}, this worker has 0.0.1");
    assert!(fleet.has_logged(&reported) && fleet.has_logged(&skipped), "{:?}", fleet.log);
    old.stop().unwrap();
}

#[test]
fn a_stopped_worker_leaves_within_five_seconds_and_hands_back_its_units() {
    let Some(server) = Server::start() else { return };
    let fleet = Fleet::new();
    let url = server.url();
    let first = fleet.worker(&url, 2);
    await_workers(&url, 1);
    thread::scope(|scope| {
        let slow = |number| Fault::Sleep(if number < 2 { 20_000 } else { 1 });
        let nats = fleet.nats(&url).with_check_share(0.0);
        let job = scope.spawn(move || collect(&nats, 13, 50, slow));
        let started = Instant::now();
        while COMPUTED[13].load(Ordering::Relaxed) < 2 {
            assert!(started.elapsed() < TEST_TIMEOUT);
            thread::sleep(Duration::from_millis(5));
        }
        let started = Instant::now();
        first.stop().unwrap();
        assert!(started.elapsed() < Duration::from_secs(5), "{:?}", started.elapsed());
        let _second = fleet.worker(&url, 4);
        assert_eq!(job.join().unwrap().unwrap().0, expected(50));
    });
}

#[test]
fn a_cancelled_job_resumes_from_its_results() {
    let Some(server) = Server::start() else { return };
    let fleet = Fleet::new();
    let _worker = fleet.worker(&server.url(), 2);
    let work = Hashes::<false> { salt: 12345, test: 14 };
    let unit = |number| HashUnit { number, fault: Fault::Sleep(2) };
    let nats = fleet.nats(&server.url()).with_check_share(0.0);
    let cancel = AtomicBool::new(false);
    let mut count = 0;
    nats.run(&work, 0..500, unit, Some(&cancel), |_| {
        count += 1;
        cancel.store(count >= 100, Ordering::Relaxed);
        Ok(ControlFlow::Continue(()))
    })
    .unwrap();
    assert!((100..500).contains(&count), "{count}");
    let before = COMPUTED[14].load(Ordering::Relaxed);
    let slow = |_| Fault::Sleep(2);
    assert_eq!(collect(&nats, 14, 500, slow).unwrap().0, expected(500));
    let again = COMPUTED[14].load(Ordering::Relaxed) - before;
    assert!(again <= 500 - 100, "{again} units were computed again");
    // A caller that needs no more results ends the job as well.
    let enough = nats.run(&work, 0..500, unit, None, |_| Ok(ControlFlow::Break(())));
    enough.unwrap();
}

#[test]
fn two_hundred_workers_at_once() {
    let Some(server) = Server::start() else { return };
    let fleet = Fleet::new();
    let url = server.url();
    let workers: Vec<RunningWorker> = (0..200).map(|_| fleet.worker(&url, 1)).collect();
    await_workers(&url, 200);
    let (outputs, _) = collect(&fleet.nats(&url), 15, 5000, |_| Fault::Sleep(5)).unwrap();
    assert_eq!(outputs, expected(5000));
    for worker in workers {
        worker.stop().unwrap();
    }
}

/// Commands such as two `claimeven solve` differ only in their units.
#[test]
fn jobs_that_differ_only_in_their_units_do_not_affect_each_other() {
    let Some(server) = Server::start() else { return };
    let (fleet, url) = (Fleet::new(), server.url());
    let _workers = [fleet.worker(&url, 1), fleet.worker(&url, 1)];
    await_workers(&url, 2);
    let nats = [(); 2].map(|()| fleet.nats(&url).with_check_share(0.0));
    thread::scope(|scope| {
        let [short, long] = [(&nats[0], 5, 300), (&nats[1], 10, 400)].map(|(nats, ms, units)| {
            scope.spawn(move || collect(nats, 33, units, |_| Fault::Sleep(ms)))
        });
        wait_until("the end", &fleet, || short.is_finished() && long.is_finished());
        assert_eq!(short.join().unwrap().unwrap().0, expected(300));
        assert_eq!(long.join().unwrap().unwrap().0, expected(400));
    });
    // Neither removed units or results of the other.
    assert_eq!(COMPUTED[33].load(Ordering::Relaxed), 300 + 400);
}

#[test]
fn the_same_job_is_not_run_twice_at_the_same_time() {
    let Some(server) = Server::start() else { return };
    let (fleet, url) = (Fleet::new(), server.url());
    let _worker = fleet.worker(&url, 1);
    await_workers(&url, 1);
    let work = Hashes::<false> { salt: 12345, test: 34 };
    let unit = |number| HashUnit { number, fault: Fault::Sleep(20) };
    let nats = fleet.nats(&url).with_check_share(0.0);
    let cancel = AtomicBool::new(false);
    thread::scope(|scope| {
        let run =
            || nats.run(&work, 0..100_000, unit, Some(&cancel), |_| Ok(ControlFlow::Continue(())));
        let first = scope.spawn(run);
        wait_until("units", &fleet, || COMPUTED[34].load(Ordering::Relaxed) > 5);
        let again = scope.spawn(run);
        wait_until("the refusal", &fleet, || again.is_finished());
        let error = again.join().unwrap().unwrap_err();
        assert!(matches!(error, WorkError::Claimed(_)), "{error}");
        assert!(fleet.has_logged("is being done by another process on"), "{:?}", fleet.log);
        let computed = COMPUTED[34].load(Ordering::Relaxed);
        wait_until("more units", &fleet, || COMPUTED[34].load(Ordering::Relaxed) > computed + 5);
        assert!(!first.is_finished());
        cancel.store(true, Ordering::Relaxed);
        first.join().unwrap().unwrap();
    });
    // Once it has ended, it can be run again.
    let enough = nats.run(&work, 0..100_000, unit, None, |_| Ok(ControlFlow::Break(())));
    enough.unwrap();
}

/// For example after it was frozen.
#[test]
fn a_coordinator_whose_job_was_taken_over_ends_and_leaves_it_alone() {
    let Some(server) = Server::start() else { return };
    let (fleet, url) = (Fleet::new(), server.url());
    let _worker = fleet.worker(&url, 1);
    await_workers(&url, 1);
    let nats = fleet.nats(&url).with_check_share(0.0);
    thread::scope(|scope| {
        let job = scope.spawn(|| collect(&nats, 35, 100_000, |_| Fault::Sleep(20)));
        let mut id = String::new();
        await_status(&url, |status| {
            let Some(job) = status.jobs.first() else { return false };
            id.clone_from(&job.id);
            job.done > 0
        });
        let other = json!({ "host": "other", "id": "1", "process": null }).to_string();
        server.publish(&format!("$KV.claimeven-claims.{id}"), &other);
        wait_until("the end", &fleet, || job.is_finished());
        let error = job.join().unwrap().unwrap_err();
        assert!(matches!(error, WorkError::Claimed(_)), "{error}");
    });
    await_status(&url, |status| status.units > 0 && status.results > 0);
}

#[test]
fn a_job_whose_coordinator_has_died_elsewhere_is_continued() {
    let Some(server) = Server::start() else { return };
    let (fleet, url) = (Fleet::new(), server.url());
    let _worker = fleet.worker(&url, 1);
    await_workers(&url, 1);
    let nats = fleet.nats(&url).with_check_share(0.0);
    let work = Hashes::<false> { salt: 12345, test: 45 };
    let unit = |number| HashUnit { number, fault: Fault::Sleep(5) };
    let cancel = AtomicBool::new(false);
    nats.run(&work, 0..100, unit, Some(&cancel), |_| {
        cancel.store(true, Ordering::Relaxed);
        Ok(ControlFlow::Continue(()))
    })
    .unwrap();
    let mut id = String::new();
    await_status(&url, |status| {
        let Some(job) = status.abandoned.first() else { return false };
        id.clone_from(&job.id);
        job.results > 0
    });
    let other = json!({ "host": "other", "id": "1", "process": null }).to_string();
    server.publish(&format!("$KV.claimeven-claims.{id}"), &other);
    let outputs = collect(&nats, 45, 100, |_| Fault::Sleep(5)).unwrap().0;
    assert_eq!(outputs, expected(100));
    assert!(fleet.has_logged("is being done by another process on other"), "{:?}", fleet.log);
}

/// The results of checks have to be those of the same unit, too.
#[test]
fn a_check_of_another_unit_with_the_same_number_is_ignored() {
    let Some(server) = Server::start() else { return };
    let (fleet, url) = (Fleet::new(), server.url());
    let _workers = [fleet.worker(&url, 1), fleet.worker(&url, 1)];
    await_workers(&url, 2);
    let nats = fleet.nats(&url).with_check_share(1.0);
    thread::scope(|scope| {
        let job = scope.spawn(|| collect(&nats, 36, 60, |_| Fault::Sleep(40)));
        let mut id = String::new();
        await_status(&url, |status| {
            let Some(job) = status.jobs.first() else { return false };
            id.clone_from(&job.id);
            job.done > 0
        });
        let mut is_first = true;
        while !job.is_finished() {
            for number in 0..60 {
                let header = json!({
                    "unit": number, "digest": "of another", "worker": "honest", "status": "done",
                    "is_check": true
                });
                server.publish(&format!("claimeven.results.{id}"), &format!("{header}\n[1,1]"));
            }
            if std::mem::take(&mut is_first) {
                assert!(!job.is_finished());
            }
            thread::sleep(Duration::from_millis(200));
        }
        let (outputs, restarts) = job.join().unwrap().unwrap();
        assert_eq!((outputs, restarts), (expected(60), 0));
    });
    assert!(!fleet.has_logged("is dismissed"), "{:?}", fleet.log);
}

#[test]
fn a_unit_that_panics_is_set_aside_on_local_threads_as_well() {
    let fault = |number| if number % 10 == 3 { Fault::Panic } else { Fault::None };
    let error = collect(&Local { threads: 2 }, 41, 20, fault).unwrap_err();
    let panic = |number: u64| (number, format!("panic: unit {number} is poison"));
    assert_eq!(error, WorkError::SetAside(vec![panic(3), panic(13)]));
    assert_eq!(COMPUTED[41].load(Ordering::Relaxed), 20);
}

#[test]
fn only_the_first_part_of_a_command_waits_long_for_workers() {
    let Some(server) = Server::start() else { return };
    let fleet = Fleet::new();
    let nats = fleet.nats(&server.url());
    collect(&nats, 42, 5, no_fault).unwrap();
    // The machine may be busy during some of them.
    let is_fast = (0..20).any(|_| {
        let started = Instant::now();
        collect(&nats, 42, 5, no_fault).unwrap();
        started.elapsed() < Duration::from_millis(1900)
    });
    assert!(is_fast);
}

/// The arithmetic of dispatchers that were not given one.
#[test]
fn workers_without_an_arithmetic_compute_what_does_not_depend_on_it() {
    let Some(server) = Server::start() else { return };
    let (fleet, url) = (Fleet::new(), server.url());
    let kinds = Kinds::new("").with::<Hashes<false>>();
    let worker = Worker::new(fleet.connection(&url), kinds, 1, fleet.folder.path().join("worker"));
    let stop = AtomicBool::new(false);
    thread::scope(|scope| {
        scope.spawn(|| worker.run(&stop).unwrap());
        await_workers(&url, 1);
        assert_eq!(collect(&fleet.nats(&url), 43, 50, no_fault).unwrap().0, expected(50));
        // A subject without arithmetic is invalid, and so would be its consumer.
        thread::sleep(Duration::from_secs(1));
        stop.store(true, Ordering::Relaxed);
    });
    assert!(!fleet.has_logged("cannot get units"), "{:?}", fleet.log);
}

#[test]
fn a_job_without_an_end_is_refused() {
    let work = Hashes::<false> { salt: 1, test: 44 };
    let unit = |number| HashUnit { number, fault: Fault::None };
    let nats = Fleet::new().nats("nats://127.0.0.1:9");
    let error = nats.run(&work, 0.., unit, None, |_| Ok(ControlFlow::Continue(()))).unwrap_err();
    assert!(matches!(error, WorkError::LocalOnly(_)), "{error}");
}
