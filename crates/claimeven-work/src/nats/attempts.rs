//! The recorded starts of units, which reveal those that crash their workers.
//!
//! Workers are killed by others as well: by operators, by a lack of memory, by power failures. So
//! a worker that was lost with a unit only makes the unit suspect. It is then computed in a process
//! of its own, whose death the worker survives and records as an error of the unit.

use serde::{Deserialize, Serialize};

use super::bus::Bus;
use super::messages::{ResultHeader, Status, frame};
use super::worker::{RETRY, Shared, Unit, hand_back};

/// A unit with this many errors is set aside.
const MAX_ERRORS: usize = 3;

/// A unit with which this many workers were lost is set aside. It may need more memory than a
/// container has, which then ends with all of its processes. The limit is higher than that of
/// errors: in a fleet where a worker is killed during every third unit, one unit in 59 000 is lost
/// with ten workers in a row, but one in 27 with three.
const MAX_LOST: usize = 10;

/// The starts of a unit that have not led to a result. A unit that is published again has none.
#[derive(Default, Serialize, Deserialize)]
struct Attempts {
    starts: Vec<Start>,
}

#[derive(Serialize, Deserialize)]
struct Start {
    worker: String,
    /// The panic message, or how the unit's own process ended. `None` if the worker was lost, or is
    /// still computing the unit.
    error: Option<String>,
}

/// What to do with a unit.
#[derive(Debug, PartialEq)]
enum Step {
    Compute(Place),
    SetAside { reason: String, lost: Vec<String> },
}

/// Where to compute a unit.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Place {
    Thread,
    /// A process of its own.
    Process,
}

impl Attempts {
    fn next_step(&self, worker: &str) -> Step {
        let errors: Vec<&str> =
            self.starts.iter().filter_map(|start| start.error.as_deref()).collect();
        // A worker that asks has not been lost.
        let is_lost = |start: &&Start| start.error.is_none() && start.worker != worker;
        let lost: Vec<String> =
            self.starts.iter().filter(is_lost).map(|start| start.worker.clone()).collect();
        if let [.., error] = errors[..]
            && errors.len() >= MAX_ERRORS
        {
            let workers: Vec<&str> =
                self.starts.iter().map(|start| start.worker.as_str()).collect();
            let reason = format!("{error} (workers {})", workers.join(", "));
            return Step::SetAside { reason, lost: Vec::new() };
        }
        if lost.len() >= MAX_LOST {
            let reason = format!("its workers were lost ({})", lost.join(", "));
            return Step::SetAside { reason, lost };
        }
        Step::Compute(if lost.is_empty() { Place::Thread } else { Place::Process })
    }
}

/// The key of a unit's attempts. It contains the number of its message, so errors from before the
/// unit was published again do not count.
fn key(unit: &Unit) -> String {
    format!("{}.{}", unit.job.id, unit.sequence)
}

/// Records the start of a unit that has been delivered before; returns where to compute it, or
/// `None` if it was set aside or handed back.
pub(super) async fn record_start(shared: &Shared, bus: &Bus, unit: &Unit) -> Option<Place> {
    let Ok(mut attempts) = get(bus, unit).await else {
        hand_back(shared, unit, RETRY).await;
        return None;
    };
    let place = match attempts.next_step(&shared.id) {
        Step::Compute(place) => place,
        Step::SetAside { reason, lost } => {
            set_aside(shared, bus, unit, &reason, lost).await;
            return None;
        }
    };
    attempts.starts.push(Start { worker: shared.id.clone(), error: None });
    if put(bus, unit, &attempts).await.is_err() {
        hand_back(shared, unit, RETRY).await;
        return None;
    }
    Some(place)
}

async fn set_aside(shared: &Shared, bus: &Bus, unit: &Unit, reason: &str, lost: Vec<String>) {
    let header = ResultHeader {
        unit: unit.header.unit,
        digest: unit.header.digest.clone(),
        worker: shared.id.clone(),
        status: Status::SetAside,
        is_check: unit.header.check_of.is_some(),
        lost,
    };
    if bus.store_result(&unit.job.id, frame(&header, reason.as_bytes()), None).await.is_ok() {
        // Its attempts stay until the job ends, because the coordinator looks at them.
        shared.release(unit.key);
        let _ = unit.acker.ack().await;
    } else {
        hand_back(shared, unit, RETRY).await;
    }
}

/// Records that a unit has crashed its thread or its own process.
pub(super) async fn record_error(shared: &Shared, bus: &Bus, unit: &Unit, error: String) {
    let mut attempts = get(bus, unit).await.unwrap_or_default();
    match attempts.starts.last_mut() {
        Some(last) if last.worker == shared.id && last.error.is_none() => last.error = Some(error),
        _ => attempts.starts.push(Start { worker: shared.id.clone(), error: Some(error) }),
    }
    let _ = put(bus, unit, &attempts).await;
}

/// Whether the attempts of a published unit are a reason for setting it aside. For its coordinator,
/// which may have been told so by a worker that is wrong.
pub(super) async fn is_hopeless(bus: &Bus, job: &str, sequence: u64) -> bool {
    let Ok(Some(bytes)) = bus.attempts.get(format!("{job}.{sequence}")).await else { return false };
    let attempts: Attempts = serde_json::from_slice(&bytes).unwrap_or_default();
    matches!(attempts.next_step(""), Step::SetAside { .. })
}

/// Removes the recorded start of a unit that is handed back on purpose and not after a crash.
pub(super) async fn forget_start(shared: &Shared, bus: &Bus, unit: &Unit) {
    if unit.delivered <= 1 {
        return;
    }
    let Ok(mut attempts) = get(bus, unit).await else { return };
    attempts.starts.retain(|start| start.worker != shared.id || start.error.is_some());
    let _ = put(bus, unit, &attempts).await;
}

/// Removes the attempts of a unit that has a result.
pub(super) async fn forget(bus: &Bus, unit: &Unit) {
    let _ = bus.attempts.purge(key(unit)).await;
}

/// The server did not answer.
struct Unavailable;

async fn get(bus: &Bus, unit: &Unit) -> Result<Attempts, Unavailable> {
    let known = bus.attempts.get(key(unit)).await.map_err(|_| Unavailable)?;
    Ok(known.and_then(|bytes| serde_json::from_slice(&bytes).ok()).unwrap_or_default())
}

async fn put(bus: &Bus, unit: &Unit, attempts: &Attempts) -> Result<(), Unavailable> {
    let bytes = serde_json::to_vec(attempts).expect("attempts are plain data");
    bus.attempts.put(key(unit), bytes.into()).await.map(drop).map_err(|_| Unavailable)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The next step of the worker `me` after these starts: `!` marks an error, other workers were
    /// lost.
    fn next_step(starts: &[&str]) -> Step {
        let start = |text: &&str| Start {
            worker: text.trim_end_matches('!').to_owned(),
            error: text.ends_with('!').then(|| "panic: no".to_owned()),
        };
        Attempts { starts: starts.iter().map(start).collect() }.next_step("me")
    }

    #[test]
    fn errors_count_more_than_lost_workers() {
        assert_eq!(next_step(&[]), Step::Compute(Place::Thread));
        assert_eq!(next_step(&["a!", "b!"]), Step::Compute(Place::Thread));
        let set_aside = |reason: &str, lost| Step::SetAside { reason: reason.to_owned(), lost };
        assert_eq!(
            next_step(&["a!", "b!", "a!"]),
            set_aside("panic: no (workers a, b, a)", vec![])
        );
        assert_eq!(next_step(&["a"]), Step::Compute(Place::Process));
        assert_eq!(next_step(&["a", "b", "c", "d!", "e!"]), Step::Compute(Place::Process));
        assert_eq!(
            next_step(&["a", "b!", "c!", "d!"]),
            set_aside("panic: no (workers a, b, c, d)", vec![])
        );
        // This worker was frozen, and the server delivered its unit again.
        assert_eq!(next_step(&["me"; 20]), Step::Compute(Place::Thread));
        assert_eq!(next_step(&["a"; MAX_LOST - 1]), Step::Compute(Place::Process));
        let lost = vec!["a".to_owned(); MAX_LOST];
        let reason = format!("its workers were lost ({})", lost.join(", "));
        assert_eq!(next_step(&["a"; MAX_LOST]), set_aside(&reason, lost));
    }
}
