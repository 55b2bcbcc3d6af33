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
    /// Games of which this server has the lease, if there are several servers.
    pub(crate) led_games: IntGauge,
    /// Whether the other servers can be heard.
    pub(crate) connected: IntGauge,
    /// Queued searches in games with people.
    pub(crate) waiting_people: IntGauge,
    /// Other queued searches.
    pub(crate) waiting_others: IntGauge,
    /// Searches in progress.
    pub(crate) thinking: IntGauge,
    /// Memory of agents between their moves.
    pub(crate) agent_bytes: IntGauge,
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
            led_games: gauge("led_games", "Games of which this server of several has the lease")?,
            connected: gauge("fleet_connected", "Whether the NATS server can be reached")?,
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
