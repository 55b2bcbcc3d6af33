//! A discrete-event simulation of a job: coordinator, NATS server and workers are stations that
//! serve one message after another, connected by links with a latency.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

/// Processor seconds that a unit takes from each part, apart from computing it.
#[derive(Clone, Copy)]
pub(super) struct Costs {
    pub(super) coordinator: f64,
    pub(super) broker: f64,
    pub(super) worker: f64,
}

/// The machines of a job.
pub(super) struct Fleet {
    pub(super) workers: usize,
    /// Threads of a worker.
    pub(super) threads: usize,
    /// Mean time of a unit, in seconds.
    pub(super) unit: f64,
    /// Units take between `1 - spread` and `1 + spread` times as long.
    pub(super) spread: f64,
    /// Time from one machine to another, in seconds.
    pub(super) latency: f64,
    /// If all parts share a machine, its processors; units then wait instead of computing.
    pub(super) shared_cores: Option<usize>,
}

pub(super) struct Simulated {
    pub(super) units_per_second: f64,
    /// Shares of the time.
    pub(super) broker_busy: f64,
    pub(super) coordinator_busy: f64,
}

/// How long units are queued at a worker, as in `claimeven-work`.
const QUEUE_TIME: f64 = 0.05;

/// Simulates a job of this many units.
pub(super) fn simulate(costs: &Costs, fleet: &Fleet, units: u64) -> Simulated {
    let mut simulation = Simulation::new(costs, fleet, units);
    simulation.run();
    let seconds = simulation.now;
    let busy = |station: usize| simulation.stations[station].served / seconds;
    Simulated {
        units_per_second: units as f64 / seconds,
        broker_busy: busy(BROKER),
        coordinator_busy: busy(COORDINATOR),
    }
}

const COORDINATOR: usize = 0;
const BROKER: usize = 1;
/// The part of a worker that talks to the server. Workers have stations of their own only if they
/// share a machine; otherwise, this time is part of the unit's.
const WORKERS: usize = 2;

/// A step of a unit, with the worker that has it.
#[derive(Clone, Copy)]
enum Step {
    /// The coordinator has sent it.
    Published,
    /// The server has it.
    Stored,
    /// The server has a worker's request.
    Requested(usize),
    /// The server has sent it to a worker.
    Delivered(usize),
    /// The worker has it.
    Received(usize),
    /// A thread has computed it.
    Computed(usize),
    /// The worker has sent the result.
    Answered(usize),
    /// The server has the result.
    ResultStored(usize),
    /// The coordinator has the result.
    Collected,
    /// A station has served a message.
    Served(usize),
}

struct Station {
    /// Messages that are served at the same time.
    parallel: usize,
    busy: usize,
    queue: VecDeque<(f64, Step)>,
    /// Seconds of service so far.
    served: f64,
}

struct Machine {
    cores: usize,
    busy: usize,
}

#[derive(Clone)]
struct Worker {
    free_threads: usize,
    waiting: usize,
}

struct Simulation<'a> {
    fleet: &'a Fleet,
    costs: &'a Costs,
    now: f64,
    /// Times in nanoseconds, so that they are ordered, with a number that keeps equal ones in order.
    events: BinaryHeap<Reverse<(u64, u64)>>,
    steps: Vec<Step>,
    stations: [Station; 3],
    /// Coordinator and server, or all parts, are on one machine.
    machine: Machine,
    workers: Vec<Worker>,
    /// Requests at the server, by worker.
    requests: VecDeque<usize>,
    stored: usize,
    unpublished: u64,
    outstanding: usize,
    window: usize,
    uncollected: u64,
    random: u64,
}

impl<'a> Simulation<'a> {
    fn new(costs: &'a Costs, fleet: &'a Fleet, units: u64) -> Simulation<'a> {
        let station = |parallel| Station { parallel, busy: 0, queue: VecDeque::new(), served: 0.0 };
        let threads = fleet.workers * fleet.threads;
        let cores = fleet.shared_cores.unwrap_or(2);
        let mut simulation = Simulation {
            fleet,
            costs,
            now: 0.0,
            events: BinaryHeap::new(),
            steps: Vec::new(),
            stations: [station(1), station(1), station(cores)],
            machine: Machine { cores, busy: 0 },
            workers: vec![Worker { free_threads: fleet.threads, waiting: 0 }; fleet.workers],
            requests: VecDeque::new(),
            stored: 0,
            unpublished: units,
            outstanding: 0,
            window: (64 * threads).clamp(512, 16_384),
            uncollected: units,
            random: 1,
        };
        let capacity = match fleet.unit {
            0.0 => 257,
            unit => 1 + (QUEUE_TIME / unit).min(256.0) as usize,
        };
        for _ in 0..fleet.threads * capacity {
            simulation.requests.extend(0..fleet.workers);
        }
        simulation
    }

    fn run(&mut self) {
        self.publish();
        while self.uncollected > 0 {
            let Reverse((nanos, number)) = self.events.pop().expect("units are on their way");
            self.now = nanos as f64 / 1e9;
            self.on(self.steps[number as usize]);
        }
    }

    fn at(&mut self, delay: f64, step: Step) {
        let number = self.steps.len() as u64;
        self.steps.push(step);
        self.events.push(Reverse((((self.now + delay) * 1e9) as u64, number)));
    }

    /// Has a station serve a message; `step` follows.
    fn serve(&mut self, station: usize, time: f64, step: Step) {
        self.stations[station].queue.push_back((time, step));
        self.start();
    }

    /// Starts serving what can be served, the least used station first.
    fn start(&mut self) {
        while self.machine.busy < self.machine.cores {
            let ready = (0..self.stations.len())
                .filter(|&index| {
                    let station = &self.stations[index];
                    station.busy < station.parallel && !station.queue.is_empty()
                })
                .min_by(|&one, &two| {
                    self.stations[one].served.total_cmp(&self.stations[two].served)
                });
            let Some(index) = ready else { return };
            let station = &mut self.stations[index];
            let (time, step) = station.queue.pop_front().expect("it is not empty");
            station.busy += 1;
            station.served += time;
            self.machine.busy += 1;
            self.at(time, Step::Served(index));
            self.at(time, step);
        }
    }

    fn publish(&mut self) {
        while self.unpublished > 0 && self.outstanding < self.window {
            self.unpublished -= 1;
            self.outstanding += 1;
            self.serve(COORDINATOR, self.costs.coordinator / 2.0, Step::Published);
        }
    }

    fn on(&mut self, step: Step) {
        let broker = self.costs.broker / 3.0;
        let latency = self.fleet.latency;
        match step {
            Step::Served(station) => {
                self.stations[station].busy -= 1;
                self.machine.busy -= 1;
                self.start();
            }
            Step::Published => self.serve(BROKER, broker, Step::Stored),
            Step::Stored => {
                self.stored += 1;
                self.deliver();
            }
            Step::Requested(worker) => {
                self.requests.push_back(worker);
                self.deliver();
            }
            Step::Delivered(worker) => self.at(latency, Step::Received(worker)),
            Step::Received(worker) => {
                self.workers[worker].waiting += 1;
                self.compute(worker);
            }
            Step::Computed(worker) => {
                self.workers[worker].free_threads += 1;
                self.compute(worker);
                if self.fleet.shared_cores.is_some() {
                    self.serve(WORKERS, self.costs.worker, Step::Answered(worker));
                } else {
                    self.at(latency, Step::Answered(worker));
                }
            }
            Step::Answered(worker) => self.serve(BROKER, broker, Step::ResultStored(worker)),
            Step::ResultStored(worker) => {
                // The acknowledgement goes to the worker, whose next request comes back.
                self.at(2.0 * latency, Step::Requested(worker));
                self.serve(COORDINATOR, self.costs.coordinator / 2.0, Step::Collected);
            }
            Step::Collected => {
                self.uncollected -= 1;
                self.outstanding -= 1;
                self.publish();
            }
        }
    }

    fn deliver(&mut self) {
        if self.stored > 0
            && let Some(worker) = self.requests.pop_front()
        {
            self.stored -= 1;
            self.serve(BROKER, self.costs.broker / 3.0, Step::Delivered(worker));
        }
    }

    fn compute(&mut self, index: usize) {
        let worker = &mut self.workers[index];
        if worker.waiting == 0 || worker.free_threads == 0 {
            return;
        }
        worker.waiting -= 1;
        worker.free_threads -= 1;
        let spread = self.fleet.spread * (2.0 * self.draw() - 1.0);
        let own = if self.fleet.shared_cores.is_some() { 0.0 } else { self.costs.worker };
        self.at(self.fleet.unit * (1.0 + spread) + own, Step::Computed(index));
    }

    /// A number from 0 to 1 (xorshift).
    fn draw(&mut self) -> f64 {
        self.random ^= self.random << 13;
        self.random ^= self.random >> 7;
        self.random ^= self.random << 17;
        (self.random >> 11) as f64 / (1_u64 << 53) as f64
    }
}
