//! Figures for Prometheus.

use prometheus::{Histogram, HistogramOpts, IntCounter, IntCounterVec, IntGauge, Opts, Registry, TextEncoder};

/// What the server counts.
pub(crate) struct Metrics {
    registry: Registry,
    /// Requests by status.
    pub(crate) requests: IntCounterVec,
    /// How long they took.
    pub(crate) request_seconds: Histogram,
    /// Games made.
    pub(crate) games: IntCounter,
    /// Games that came to an end.
    pub(crate) finished: IntCounter,
    /// Moves stored.
    pub(crate) moves: IntCounter,
    /// How long it took to store a change.
    pub(crate) store_seconds: Histogram,
    /// How long agents took to answer, waiting for a thread included.
    pub(crate) think_seconds: Histogram,
    /// Open WebSockets.
    pub(crate) sockets: IntGauge,
    /// Games in memory.
    pub(crate) live_games: IntGauge,
    /// Thoughts that wait: people's.
    pub(crate) waiting_people: IntGauge,
    /// Thoughts that wait: others.
    pub(crate) waiting_others: IntGauge,
    /// Thoughts under way.
    pub(crate) thinking: IntGauge,
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
        let histogram = |name: &str, help: &str| -> Result<Histogram, prometheus::Error> {
            let buckets = vec![0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 1.0, 3.0, 10.0];
            let histogram = Histogram::with_opts(HistogramOpts::new(name, help).buckets(buckets))?;
            registry.register(Box::new(histogram.clone()))?;
            Ok(histogram)
        };
        let requests =
            IntCounterVec::new(Opts::new("requests_total", "Requests by status"), &["status"])?;
        registry.register(Box::new(requests.clone()))?;
        Ok(Metrics {
            requests,
            request_seconds: histogram("request_seconds", "How long requests took")?,
            games: counter("games_total", "Games made")?,
            finished: counter("games_finished_total", "Games that came to an end")?,
            moves: counter("moves_total", "Moves stored")?,
            store_seconds: histogram("store_seconds", "How long it took to store a change")?,
            think_seconds: histogram("think_seconds", "How long agents took to answer")?,
            sockets: gauge("sockets", "Open WebSockets")?,
            live_games: gauge("live_games", "Games in memory")?,
            waiting_people: gauge("waiting_people", "Thoughts of people's games that wait")?,
            waiting_others: gauge("waiting_others", "Other thoughts that wait")?,
            thinking: gauge("thinking", "Thoughts under way")?,
            registry,
        })
    }

    /// The figures in Prometheus' text format.
    pub(crate) fn text(&self) -> Result<String, prometheus::Error> {
        TextEncoder::new().encode_to_string(&self.registry.gather())
    }
}
