//! Work split into numbered units, each of whose results depends only on the work and the unit.
//!
//! [`Work`] describes it: the games of a tournament, the positions of a book. A [`Dispatcher`] runs
//! its units: [`Local`] on the threads of this process, `Nats` (feature `nats`) on all workers that
//! are connected to a NATS server. The results are the same, no matter where and how often a unit
//! was computed.
//!
//! ```
//! use std::ops::ControlFlow;
//! use std::sync::{Arc, atomic::AtomicBool};
//!
//! use claimeven_work::{Dispatcher, Files, Job, Local, DispatchEvent, Work, WorkError};
//!
//! struct Squares;
//!
//! impl Work for Squares {
//!     const KIND: &'static str = "squares";
//!     type Unit = u64;
//!     type Output = u64;
//!     type Thread = ();
//!     type Error = WorkError;
//!
//!     fn job(&self) -> Result<Job, String> {
//!         Ok(Job::new("squares", &()))
//!     }
//!     fn open(_: serde_json::Value, _: &Files) -> Result<Squares, String> {
//!         Ok(Squares)
//!     }
//!     fn thread(&self) {}
//!     fn compute(&self, (): &mut (), unit: &u64, _: &Arc<AtomicBool>) -> Result<Option<u64>, WorkError> {
//!         Ok(Some(unit * unit))
//!     }
//!     fn encode(output: &u64) -> Vec<u8> {
//!         output.to_le_bytes().to_vec()
//!     }
//!     fn decode(bytes: &[u8]) -> Result<u64, String> {
//!         bytes.try_into().map(u64::from_le_bytes).map_err(|_| "not a number".to_owned())
//!     }
//! }
//!
//! let mut sum = 0;
//! Local { threads: 2 }.run(&Squares, 0..10, |number| number, None, |event| {
//!     if let DispatchEvent::Output(_, square) = event {
//!         sum += square;
//!     }
//!     Ok(ControlFlow::Continue(()))
//! })?;
//! assert_eq!(sum, 285);
//! # Ok::<(), WorkError>(())
//! ```

mod local;
#[cfg(feature = "nats")]
mod nats;
mod work;

pub use local::{Local, run_jobs};
#[cfg(feature = "nats")]
pub use nats::{
    AbandonedJob, Channel, ChannelMessages, Connection, FLEET_TIMEOUT, FleetMonitor, FleetSnapshot,
    FleetStatus, JobStatus, Kinds, Log, Nats, UnitCommand, Worker, WorkerStatus, cancel_job,
    process_name, run_unit, watch_fleet,
};
pub use work::{
    DispatchEvent, Dispatcher, DynDispatcher, File, Files, Job, Work, WorkError, run_in_order,
};
