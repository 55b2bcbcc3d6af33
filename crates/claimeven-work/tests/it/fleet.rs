//! Results are right and complete, whatever happens to workers, coordinator and server.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::ControlFlow;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use claimeven_work::{
    Connection, Dispatcher, Kinds, Local, Nats, Taken, Work, WorkError, Worker, watch_fleet,
};

use super::server::{Line, Server};
use super::works::{COMPUTED, Hashes, Mischief, Number, OPENED, SLOW_TO_OPEN, truth};

const ACK_WAIT: Duration = Duration::from_secs(2);
/// An upper limit for everything, on a busy machine.
pub(super) const LONG: Duration = Duration::from_mins(5);

type Lines = Arc<Mutex<Vec<String>>>;

pub(super) struct Fleet {
    pub(super) folder: tempfile::TempDir,
    pub(super) said: Lines,
}

pub(super) struct Hand {
    stop: Arc<AtomicBool>,
    thread: Option<JoinHandle<Result<(), WorkError>>>,
}

impl Hand {
    pub(super) fn stop(mut self) -> Result<(), WorkError> {
        self.stop.store(true, Ordering::Relaxed);
        self.thread.take().unwrap().join().unwrap()
    }
}

impl Drop for Hand {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
    }
}

impl Fleet {
    pub(super) fn new() -> Fleet {
        Fleet { folder: tempfile::tempdir().unwrap(), said: Lines::default() }
    }

    pub(super) fn connection(&self, url: &str) -> Connection {
        let said = Arc::clone(&self.said);
        let log = Arc::new(move |line: &str| said.lock().unwrap().push(line.to_owned()));
        Connection::new(url).with_ack_wait(ACK_WAIT).with_log(log)
    }

    fn cache(&self) -> &Path {
        self.folder.path()
    }

    pub(super) fn worker_of<W: Work>(&self, connection: Connection, threads: usize) -> Hand {
        let kinds = Kinds::new("test").with::<W>();
        let worker = Worker::new(connection, kinds, threads, self.cache().join("worker"));
        let stop = Arc::new(AtomicBool::new(false));
        let flag = Arc::clone(&stop);
        Hand { stop, thread: Some(thread::spawn(move || worker.run(&flag))) }
    }

    pub(super) fn worker(&self, url: &str, threads: usize) -> Hand {
        self.worker_of::<Hashes<false>>(self.connection(url), threads)
    }

    pub(super) fn nats(&self, url: &str) -> Nats {
        self.nats_of(self.connection(url))
    }

    pub(super) fn nats_of(&self, connection: Connection) -> Nats {
        Nats::new(connection, 2, self.cache().join("coordinator"))
    }

    pub(super) fn has_said(&self, text: &str) -> bool {
        self.said.lock().unwrap().iter().any(|line| line.contains(text))
    }
}

/// Waits until this many workers answer.
pub(super) fn await_workers(url: &str, count: usize) {
    let began = Instant::now();
    let mut seen = BTreeSet::new();
    let shown = watch_fleet(&Connection::new(url), Duration::from_millis(100), |status| {
        seen.extend(status.workers.iter().map(|worker| worker.id.clone()));
        assert!(began.elapsed() < LONG, "{} of {count} workers", seen.len());
        if seen.len() >= count { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    });
    shown.unwrap();
}

/// The outputs of units without mischief, and how often everything came again.
pub(super) fn collect(
    dispatcher: &impl Dispatcher,
    test: usize,
    units: u64,
    mischief: impl Fn(u64) -> Mischief + Sync,
) -> Result<(BTreeMap<u64, u64>, usize), WorkError> {
    let work = Hashes::<false> { salt: 12345, test };
    let (mut outputs, mut restarts) = (BTreeMap::new(), 0);
    let unit = |number| Number { number, mischief: mischief(number) };
    dispatcher.run(&work, 0..units, unit, None, |taken| {
        match taken {
            Taken::Output(number, (output, _)) => {
                assert_eq!(outputs.insert(number, output), None, "unit {number} came twice");
            }
            Taken::Restart => {
                outputs.clear();
                restarts += 1;
            }
        }
        Ok(ControlFlow::Continue(()))
    })?;
    Ok((outputs, restarts))
}

pub(super) fn expected(units: u64) -> BTreeMap<u64, u64> {
    (0..units).map(|number| (number, truth(12345, number))).collect()
}

pub(super) fn none(_: u64) -> Mischief {
    Mischief::None
}

#[test]
fn workers_compute_what_threads_compute() {
    let Some(server) = Server::start() else { return };
    let fleet = Fleet::new();
    let (local, _) = collect(&Local { threads: 2 }, 0, 500, none).unwrap();
    assert_eq!(local, expected(500));
    let _workers = [fleet.worker(&server.url(), 1), fleet.worker(&server.url(), 2)];
    await_workers(&server.url(), 2);
    // A second time at once: results of the first are neither missing nor taken for new ones.
    for test in [1, 1, 2] {
        let (remote, restarts) = collect(&fleet.nats(&server.url()), test, 500, none).unwrap();
        assert_eq!((&remote, restarts), (&local, 0));
    }
    assert!(!fleet.has_said("working here"));
}

#[test]
fn two_workers_check_each_other_without_waiting_for_the_coordinator() {
    let Some(server) = Server::start() else { return };
    let fleet = Fleet::new();
    // The coordinator would do old checks itself, after twice this time.
    let patience = Duration::from_mins(1);
    let connection = || fleet.connection(&server.url()).with_ack_wait(patience);
    let workers = [(); 2].map(|()| fleet.worker_of::<Hashes<false>>(connection(), 1));
    await_workers(&server.url(), workers.len());
    for _ in 0..30 {
        let began = Instant::now();
        let nats = fleet.nats_of(connection()).with_check_share(1.0);
        let (outputs, restarts) = collect(&nats, 16, 4, none).unwrap();
        assert_eq!((outputs, restarts), (expected(4), 0));
        assert!(began.elapsed() < patience, "{:?}", began.elapsed());
    }
}

#[test]
fn without_workers_the_coordinator_works_itself_and_says_so() {
    let Some(server) = Server::start() else { return };
    let fleet = Fleet::new();
    let (outputs, _) = collect(&fleet.nats(&server.url()), 3, 50, none).unwrap();
    assert_eq!(outputs, expected(50));
    assert!(fleet.has_said("no worker of version") && fleet.has_said("working here"));
}

#[test]
fn without_a_server_there_is_an_error() {
    let fleet = Fleet::new();
    let error = collect(&fleet.nats("nats://127.0.0.1:9"), 4, 5, none).unwrap_err().to_string();
    assert!(error.starts_with("NATS: cannot connect to nats://127.0.0.1:9"), "{error}");
}

#[test]
fn a_slow_unit_is_not_computed_twice() {
    let Some(server) = Server::start() else { return };
    let fleet = Fleet::new();
    let _workers = [fleet.worker(&server.url(), 1), fleet.worker(&server.url(), 1)];
    await_workers(&server.url(), 2);
    let long = 3 * ACK_WAIT.as_millis() as u64;
    let mischief = |number: u64| if number == 0 { Mischief::Sleep(long) } else { Mischief::None };
    let nats = fleet.nats(&server.url()).with_check_share(0.0);
    let (outputs, _) = collect(&nats, 5, 20, mischief).unwrap();
    assert_eq!(outputs, expected(20));
    assert_eq!(COMPUTED[5].load(Ordering::Relaxed), 20);
}

#[test]
fn a_worker_that_is_cut_off_is_not_waited_for_and_its_late_results_do_no_harm() {
    let Some(server) = Server::start() else { return };
    let fleet = Fleet::new();
    let line = Line::new(&server);
    let _cut_off = fleet.worker(&line.url(), 2);
    await_workers(&server.url(), 1);
    let slow = |_| Mischief::Sleep(20);
    thread::scope(|scope| {
        let job = scope.spawn(|| collect(&fleet.nats(&server.url()), 6, 400, slow));
        let began = Instant::now();
        while COMPUTED[6].load(Ordering::Relaxed) < 20 {
            assert!(began.elapsed() < LONG);
            thread::sleep(Duration::from_millis(5));
        }
        line.cut();
        let _other = fleet.worker(&server.url(), 2);
        thread::sleep(3 * ACK_WAIT);
        line.mend();
        assert_eq!(job.join().unwrap().unwrap().0, expected(400));
    });
}

#[test]
fn killed_and_emptied_servers_cost_time_alone() {
    let Some(mut server) = Server::start() else { return };
    let fleet = Fleet::new();
    let url = server.url();
    let _workers = [fleet.worker(&url, 1), fleet.worker(&url, 1)];
    await_workers(&url, 2);
    let slow = |_| Mischief::Sleep(10);
    thread::scope(|scope| {
        let job = scope.spawn(|| collect(&fleet.nats(&url), 7, 1000, slow));
        let wait_for = |count| {
            let began = Instant::now();
            while COMPUTED[7].load(Ordering::Relaxed) < count {
                assert!(began.elapsed() < LONG);
                thread::sleep(Duration::from_millis(5));
            }
        };
        for count in [50, 300] {
            wait_for(count);
            server.kill_and_restart();
        }
        wait_for(500);
        server.kill_and_lose_disk();
        let began = Instant::now();
        while !job.is_finished() {
            if began.elapsed() > LONG {
                // The scope would wait for the job.
                eprintln!("the job does not end; {:?}", fleet.said.lock().unwrap());
                std::process::abort();
            }
            thread::sleep(Duration::from_millis(10));
        }
        assert_eq!(job.join().unwrap().unwrap().0, expected(1000));
    });
}

#[test]
fn poison_is_set_aside_after_three_panics_and_the_rest_is_done() {
    let Some(server) = Server::start() else { return };
    let fleet = Fleet::new();
    let _workers = [fleet.worker(&server.url(), 1), fleet.worker(&server.url(), 1)];
    await_workers(&server.url(), 2);
    let mischief = |number| if number == 7 { Mischief::Panic } else { Mischief::None };
    let error = collect(&fleet.nats(&server.url()).with_check_share(0.0), 8, 100, mischief);
    let Err(WorkError::SetAside(units)) = error else { panic!("{error:?}") };
    assert_eq!(units.len(), 1);
    let (number, reason) = &units[0];
    assert_eq!(*number, 7);
    assert!(reason.starts_with("panic: unit 7 is poison"), "{reason}");
    assert_eq!(COMPUTED[8].load(Ordering::Relaxed), 99 + 3);
}

#[test]
fn an_error_of_the_work_is_the_same_as_on_this_machine() {
    let Some(server) = Server::start() else { return };
    let fleet = Fleet::new();
    let _worker = fleet.worker(&server.url(), 1);
    let mischief = |number| if number == 7 { Mischief::Fail } else { Mischief::None };
    let local = collect(&Local { threads: 1 }, 9, 20, mischief).unwrap_err();
    assert_eq!(collect(&fleet.nats(&server.url()), 9, 20, mischief).unwrap_err(), local);
}

#[test]
fn a_worker_that_lies_is_dismissed_and_its_results_are_redone() {
    let Some(server) = Server::start() else { return };
    for (test, share, honest) in [(10, 0.6, 2), (11, 0.6, 0)] {
        let fleet = Fleet::new();
        let url = server.url();
        let liar = fleet.worker_of::<Hashes<true>>(fleet.connection(&url), 2);
        let honest: Vec<Hand> = (0..honest).map(|_| fleet.worker(&url, 1)).collect();
        await_workers(&url, 1 + honest.len());
        let nats = fleet.nats(&url).with_check_share(share);
        let (outputs, restarts) = collect(&nats, test, 300, |_| Mischief::Sleep(2)).unwrap();
        assert_eq!(outputs, expected(300));
        assert_eq!(restarts, 1);
        assert!(fleet.has_said("is dismissed: its result of unit"), "{:?}", fleet.said);
        let ended = liar.stop().unwrap_err();
        assert!(matches!(ended, WorkError::Dismissed(_)), "{ended}");
        for worker in honest {
            worker.stop().unwrap();
        }
    }
}

#[test]
fn all_may_come_to_a_new_server_at_once() {
    let Some(server) = Server::start() else { return };
    let (fleet, url) = (Fleet::new(), server.url());
    let workers: Vec<Hand> = (0..8).map(|_| fleet.worker(&url, 1)).collect();
    await_workers(&url, workers.len());
    let outputs = collect(&fleet.nats(&url), 16, 40, none).unwrap().0;
    assert_eq!(outputs, expected(40));
    for worker in workers {
        worker.stop().unwrap();
    }
}

/// Servers before 2.9.12 forget units of one job when those of another one are purged.
#[test]
fn jobs_that_end_leave_the_units_and_results_of_others_alone() {
    let Some(server) = Server::start() else { return };
    let (fleet, url) = (Fleet::new(), server.url());
    let _workers = [fleet.worker(&url, 1), fleet.worker(&url, 1)];
    await_workers(&url, 2);
    let nats = fleet.nats(&url).with_check_share(0.0);
    let slow = |_| Mischief::Sleep(4);
    thread::scope(|scope| {
        let long = scope.spawn(|| collect(&nats, 22, 1500, slow));
        let began = Instant::now();
        let mut others = 0;
        while !long.is_finished() {
            assert!(began.elapsed() < LONG, "{:?}", fleet.said.lock().unwrap());
            // A job that ends before all of its units are done.
            let work = Hashes::<false> { salt: 12345, test: 23 };
            let unit = |number| Number { number, mischief: Mischief::Sleep(1) };
            let mut count = 0;
            let ended = nats.run(&work, 0..400, unit, None, |_| {
                count += 1;
                let is_enough = count == 20;
                Ok(if is_enough { ControlFlow::Break(()) } else { ControlFlow::Continue(()) })
            });
            ended.unwrap();
            others += 1;
        }
        assert_eq!(long.join().unwrap().unwrap().0, expected(1500));
        assert!(others > 2, "{others}");
    });
    // Nothing had to be done again.
    assert_eq!(COMPUTED[22].load(Ordering::Relaxed), 1500);
    assert!(!fleet.has_said("hand out"), "{:?}", fleet.said);
}

/// The results of a worker that was about to open the job would stay for days.
#[test]
fn a_job_that_ends_while_a_worker_opens_it_leaves_nothing_behind() {
    let Some(server) = Server::start() else { return };
    let (fleet, url) = (Fleet::new(), server.url());
    let _workers = [fleet.worker(&url, 1), fleet.worker(&url, 1)];
    await_workers(&url, 2);
    let work = Hashes::<false> { salt: 12345, test: SLOW_TO_OPEN };
    let unit = |number| Number { number, mischief: Mischief::None };
    let began = Instant::now();
    let both_have_opened = || OPENED[SLOW_TO_OPEN].load(Ordering::Relaxed) == 2;
    let enough = fleet.nats(&url).run(&work, 0..400, unit, None, |_| {
        while !both_have_opened() {
            assert!(began.elapsed() < LONG);
            thread::sleep(Duration::from_millis(1));
        }
        Ok(ControlFlow::Break(()))
    });
    enough.unwrap();
    // The second worker has it open only now.
    thread::sleep(Duration::from_secs(2));
    watch_fleet(&Connection::new(&url), Duration::from_millis(100), |status| {
        assert_eq!((status.units, status.results), (0, 0));
        ControlFlow::Break(())
    })
    .unwrap();
}

#[test]
fn workers_of_another_version_are_told_and_get_nothing() {
    let Some(server) = Server::start() else { return };
    let fleet = Fleet::new();
    let url = server.url();
    let old = fleet.worker_of::<Hashes<true>>(fleet.connection(&url).with_version("0.0.1"), 2);
    await_workers(&url, 1);
    let slow = |_| Mischief::Sleep(40);
    let (outputs, restarts) = collect(&fleet.nats(&url), 12, 100, slow).unwrap();
    assert_eq!((outputs, restarts), (expected(100), 0));
    let own = env!("CARGO_PKG_VERSION");
    let told = format!("has version 0.0.1 and cannot help with work of version {own}");
    let refused = format!("is left to others: it needs version {own}, this worker has 0.0.1");
    assert!(fleet.has_said(&told) && fleet.has_said(&refused), "{:?}", fleet.said);
    old.stop().unwrap();
}

#[test]
fn a_worker_that_is_stopped_leaves_within_five_seconds_and_hands_back() {
    let Some(server) = Server::start() else { return };
    let fleet = Fleet::new();
    let url = server.url();
    let first = fleet.worker(&url, 2);
    await_workers(&url, 1);
    thread::scope(|scope| {
        let slow = |number| Mischief::Sleep(if number < 2 { 20_000 } else { 1 });
        let nats = fleet.nats(&url).with_check_share(0.0);
        let job = scope.spawn(move || collect(&nats, 13, 50, slow));
        let began = Instant::now();
        while COMPUTED[13].load(Ordering::Relaxed) < 2 {
            assert!(began.elapsed() < LONG);
            thread::sleep(Duration::from_millis(5));
        }
        let began = Instant::now();
        first.stop().unwrap();
        assert!(began.elapsed() < Duration::from_secs(5), "{:?}", began.elapsed());
        let _second = fleet.worker(&url, 4);
        assert_eq!(job.join().unwrap().unwrap().0, expected(50));
    });
}

#[test]
fn a_job_that_is_cancelled_is_resumed_from_its_results() {
    let Some(server) = Server::start() else { return };
    let fleet = Fleet::new();
    let _worker = fleet.worker(&server.url(), 2);
    let work = Hashes::<false> { salt: 12345, test: 14 };
    let unit = |number| Number { number, mischief: Mischief::Sleep(2) };
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
    let slow = |_| Mischief::Sleep(2);
    assert_eq!(collect(&nats, 14, 500, slow).unwrap().0, expected(500));
    let again = COMPUTED[14].load(Ordering::Relaxed) - before;
    assert!(again <= 500 - 100, "{again} units were computed again");
    // Enough results end a job, too.
    let enough = nats.run(&work, 0..500, unit, None, |_| Ok(ControlFlow::Break(())));
    enough.unwrap();
}

#[test]
fn two_hundred_workers_at_once() {
    let Some(server) = Server::start() else { return };
    let fleet = Fleet::new();
    let url = server.url();
    let workers: Vec<Hand> = (0..200).map(|_| fleet.worker(&url, 1)).collect();
    await_workers(&url, 200);
    let (outputs, _) = collect(&fleet.nats(&url), 15, 5000, |_| Mischief::Sleep(5)).unwrap();
    assert_eq!(outputs, expected(5000));
    for worker in workers {
        worker.stop().unwrap();
    }
}
