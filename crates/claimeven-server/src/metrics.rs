//! Metrics for Prometheus.

use std::time::Duration;

use prometheus::{
    Histogram, HistogramOpts, HistogramVec, IntCounter, IntCounterVec, IntGauge, Opts, Registry,
    TextEncoder,
};

/// The server's metrics.
pub(crate) struct Metrics {
    registry: Registry,
    /// Requests by status.
    pub(crate) requests: IntCounterVec,
    /// Duration of requests.
    pub(crate) request_seconds: Histogram,
    /// Games created.
    pub(crate) games: IntCounter,
    /// Games finished.
    pub(crate) finished: IntCounter,
    /// Moves stored.
    pub(crate) moves: IntCounter,
    /// Duration of writes to the database.
    pub(crate) store_seconds: Histogram,
    /// Duration of agents' searches, including the time in the queue.
    pub(crate) think_seconds: Histogram,
    /// Time of searches in the engine's queue, by lane.
    queue_seconds: HistogramVec,
    /// Duration of searches, by lane.
    search_seconds: HistogramVec,
    /// Open WebSockets.
    pub(crate) sockets: IntGauge,
    /// Games in memory.
    pub(crate) live_games: IntGauge,
    /// Games whose lease this server holds, in a fleet of servers.
    pub(crate) leased_games: IntGauge,
    /// Whether the NATS server can be reached.
    pub(crate) connected: IntGauge,
    /// Messages to other servers, those that could not be sent, and those received.
    pub(crate) bus_sent: IntCounter,
    pub(crate) bus_dropped: IntCounter,
    pub(crate) bus_received: IntCounter,
    /// Round trip of messages over the NATS server.
    pub(crate) bus_seconds: Histogram,
    /// Games reloaded because another process had changed them.
    pub(crate) reloads: IntCounter,
    /// Leases of games that this server has taken and lost.
    pub(crate) leases_taken: IntCounter,
    pub(crate) leases_lost: IntCounter,
    /// The workers of the fleet, whichever server they work for.
    pub(crate) workers: WorkerMetrics,
    /// Queued searches in games with people.
    pub(crate) waiting_people: IntGauge,
    /// Other queued searches.
    pub(crate) waiting_others: IntGauge,
    /// Searches in progress.
    pub(crate) thinking: IntGauge,
    /// Memory of agents between their moves.
    pub(crate) agent_bytes: IntGauge,
}

/// Metrics of the fleet's workers.
pub(crate) struct WorkerMetrics {
    pub(crate) workers: IntGauge,
    pub(crate) threads: IntGauge,
    pub(crate) jobs: IntGauge,
    pub(crate) running: IntGauge,
    pub(crate) waiting: IntGauge,
    pub(crate) done: IntCounter,
    pub(crate) handed_back: IntCounter,
    pub(crate) repeated: IntCounter,
    pub(crate) checked: IntCounter,
    pub(crate) set_aside: IntCounter,
    pub(crate) dismissed: IntCounter,
}

impl Metrics {
    pub(crate) fn new() -> Result<Metrics, prometheus::Error> {
        let registry = Registry::new_custom(Some("claimeven".to_owned()), None)?;
        let counter = |name: &str, help: &str| -> Result<IntCounter, prometheus::Error> {
            let counter = IntCounter::new(name, help)?;
            registry.register(Box::new(counter.clone()))?;
            Ok(counter)
        };
        let gauge = |name: &str, help: &str| -> Result<IntGauge, prometheus::Error> {
            let gauge = IntGauge::new(name, help)?;
            registry.register(Box::new(gauge.clone()))?;
            Ok(gauge)
        };
        let durations = |name: &str, help: &str| {
            let buckets = vec![0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 1.0, 3.0, 10.0];
            HistogramOpts::new(name, help).buckets(buckets)
        };
        let histogram = |name: &str, help: &str| -> Result<Histogram, prometheus::Error> {
            let histogram = Histogram::with_opts(durations(name, help))?;
            registry.register(Box::new(histogram.clone()))?;
            Ok(histogram)
        };
        let by_lane = |name: &str, help: &str| -> Result<HistogramVec, prometheus::Error> {
            let histogram = HistogramVec::new(durations(name, help), &["lane"])?;
            registry.register(Box::new(histogram.clone()))?;
            Ok(histogram)
        };
        let requests =
            IntCounterVec::new(Opts::new("requests_total", "Requests by status"), &["status"])?;
        registry.register(Box::new(requests.clone()))?;
        Ok(Metrics {
            requests,
            request_seconds: histogram("request_seconds", "Duration of requests")?,
            games: counter("games_total", "Games created")?,
            finished: counter("games_finished_total", "Games finished")?,
            moves: counter("moves_total", "Moves stored")?,
            store_seconds: histogram("store_seconds", "Duration of writes to the database")?,
            think_seconds: histogram(
                "think_seconds",
                "Duration of agents' searches, including the time in the queue",
            )?,
            queue_seconds: by_lane("queue_seconds", "Time of searches in the engine's queue")?,
            search_seconds: by_lane("search_seconds", "Duration of searches")?,
            sockets: gauge("sockets", "Open WebSockets")?,
            live_games: gauge("live_games", "Games in memory")?,
            leased_games: gauge("leased_games", "Games whose lease this server holds")?,
            connected: gauge("fleet_connected", "Whether the NATS server can be reached")?,
            bus_sent: counter("bus_sent_total", "Messages to other servers")?,
            bus_dropped: counter(
                "bus_dropped_total",
                "Messages to other servers that could not be sent",
            )?,
            bus_received: counter("bus_received_total", "Messages from other servers")?,
            bus_seconds: histogram("bus_seconds", "Round trip of messages over the NATS server")?,
            reloads: counter(
                "game_reloads_total",
                "Games reloaded because another server or an operator had changed them",
            )?,
            leases_taken: counter("leases_taken_total", "Leases of games taken")?,
            leases_lost: counter(
                "leases_lost_total",
                "Leases of games lost because this server's registration expired",
            )?,
            workers: WorkerMetrics {
                workers: gauge("fleet_workers", "Workers")?,
                threads: gauge("fleet_threads", "Threads of all workers")?,
                jobs: gauge("fleet_jobs", "Jobs that workers are working on")?,
                running: gauge("fleet_units_running", "Units being computed")?,
                waiting: gauge("fleet_units_waiting", "Units waiting for a worker")?,
                done: counter("fleet_units_done_total", "Units completed by workers")?,
                handed_back: counter("fleet_units_handed_back_total", "Units handed back")?,
                repeated: counter("fleet_units_repeated_total", "Results received more than once")?,
                checked: counter(
                    "fleet_units_checked_total",
                    "Units computed twice for comparison",
                )?,
                set_aside: counter("fleet_units_set_aside_total", "Units set aside")?,
                dismissed: counter("fleet_workers_dismissed_total", "Workers dismissed")?,
            },
            waiting_people: gauge("waiting_people", "Queued searches in games with people")?,
            waiting_others: gauge("waiting_others", "Other queued searches")?,
            thinking: gauge("thinking", "Searches in progress")?,
            agent_bytes: gauge("agent_bytes", "Memory of agents between their moves")?,
            registry,
        })
    }

    /// Counts a search that has left the queue for a lane of the engine.
    pub(crate) fn waited(&self, lane: &str, time: Duration) {
        self.queue_seconds.with_label_values(&[lane]).observe(time.as_secs_f64());
    }

    /// Counts a search that has ended.
    pub(crate) fn searched(&self, lane: &str, time: Duration) {
        self.search_seconds.with_label_values(&[lane]).observe(time.as_secs_f64());
    }

    /// The metrics in Prometheus' text format.
    pub(crate) fn text(&self) -> Result<String, prometheus::Error> {
        TextEncoder::new().encode_to_string(&self.registry.gather())
    }
}
