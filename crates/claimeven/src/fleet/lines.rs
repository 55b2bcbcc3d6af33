//! Lines of positions to solve as units of work.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use claimeven_solver::{Limits, Solver};
use claimeven_work::{Files, Job, Work, WorkError};
use serde::{Deserialize, Serialize};

use super::scores::{SolverParameters, SolverWork};
use crate::Failure;
use crate::solve::{AnswerFormat, answer_within};

/// Positions that are solved for `claimeven solve`.
pub(crate) struct SolveLines {
    pub(crate) solver: SolverWork,
    pub(crate) format: AnswerFormat,
}

#[derive(Serialize, Deserialize)]
struct Parameters {
    solver: SolverParameters,
    format: AnswerFormat,
}

/// The answer to a line, or what is wrong with it.
pub(crate) type Answer = Result<String, String>;

impl Work for SolveLines {
    const KIND: &'static str = "solve";
    type Unit = Vec<String>;
    type Output = Vec<Answer>;
    type Thread = Solver;
    type Error = WorkError;

    fn job(&self) -> Result<Job, String> {
        let title = format!("positions of {}", self.solver.setup());
        let parameters = Parameters { solver: self.solver.parameters(), format: self.format };
        Ok(Job { files: self.solver.files(), ..Job::new(title, &parameters) })
    }

    fn open(parameters: serde_json::Value, files: &Files) -> Result<SolveLines, String> {
        let Parameters { solver, format } =
            serde_json::from_value(parameters).map_err(|error| error.to_string())?;
        Ok(SolveLines { solver: SolverWork::open(solver, files)?, format })
    }

    fn thread(&self) -> Solver {
        self.solver.solver()
    }

    fn compute(
        &self,
        solver: &mut Solver,
        unit: &Vec<String>,
        cancel: &Arc<AtomicBool>,
    ) -> Result<Option<Vec<Answer>>, WorkError> {
        let limits = Limits::default().with_cancel(Arc::clone(cancel));
        let mut answers = Vec::new();
        for line in unit {
            if cancel.load(Ordering::Relaxed) {
                return Ok(None);
            }
            match answer_within(line, self.solver.setup(), self.format, solver, &limits) {
                Err(Failure::Interrupted) => return Ok(None),
                answered => answers.push(answered.map_err(|failure| failure.message())),
            }
        }
        Ok(Some(answers))
    }

    fn encode(output: &Vec<Answer>) -> Vec<u8> {
        serde_json::to_vec(output).expect("answers are text")
    }

    fn decode(bytes: &[u8]) -> Result<Vec<Answer>, String> {
        serde_json::from_slice(bytes).map_err(|error| error.to_string())
    }

    fn verify(&self, unit: &Vec<String>, output: &Vec<Answer>) -> Result<(), String> {
        let is_answer = |(line, answer): (&String, &Answer)| match answer {
            Ok(answer) => self.format.json || answer.starts_with(line.as_str()),
            Err(_) => true,
        };
        if unit.len() == output.len() && unit.iter().zip(output).all(is_answer) {
            return Ok(());
        }
        Err("the answers do not match the lines".to_owned())
    }
}

#[cfg(test)]
mod tests {
    use std::thread;
    use std::time::{Duration, Instant};

    use claimeven_game::{Ruleset, Setup};

    use super::*;

    #[test]
    fn a_single_position_can_be_cancelled() {
        // It would take hours.
        let setup = Setup::new(8, 8, 4, Ruleset::Standard).unwrap();
        let format = AnswerFormat { all: true, weak: false, json: false };
        let work = SolveLines { solver: SolverWork::with_embedded_books(setup), format };
        let cancel = Arc::new(AtomicBool::new(false));
        thread::scope(|scope| {
            let solving = scope.spawn(|| {
                let unit = vec![String::new()];
                work.compute(&mut work.thread(), &unit, &cancel).unwrap()
            });
            thread::sleep(Duration::from_millis(300));
            let started = Instant::now();
            cancel.store(true, Ordering::Relaxed);
            while !solving.is_finished() {
                if started.elapsed() > Duration::from_mins(2) {
                    // The scope would wait for it.
                    eprintln!("it was not cancelled");
                    std::process::abort();
                }
                thread::sleep(Duration::from_millis(5));
            }
            assert_eq!(solving.join().unwrap(), None);
        });
    }
}
