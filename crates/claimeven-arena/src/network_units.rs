//! The tests of a training run as units of work: games of the gate, positions of the exam.

use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use claimeven_game::{Position, Setup};
use claimeven_work::{File, Files, Job, Work, WorkError};
use claimeven_zero::{
    Exam, ExamPoint, GatePair, GateParameters, Inference, Network, play_gate_pairs,
};

/// The names of the files.
const NEW: &str = "new";
const BEST: &str = "best";
const EXAM: &str = "exam";

/// The number of pairs and of positions per unit.
pub(crate) const PAIRS_PER_UNIT: usize = 2;
pub(crate) const POSITIONS_PER_UNIT: usize = 25;

fn file(name: &str, content: Vec<u8>) -> File {
    File { name: name.to_owned(), content }
}

fn read(files: &Files, name: &str) -> Result<Vec<u8>, String> {
    let path = files.get(name).ok_or_else(|| format!("file {name} is missing"))?;
    std::fs::read(path).map_err(|error| error.to_string())
}

fn read_network(files: &Files, name: &str) -> Result<Network, String> {
    Network::from_bytes(&read(files, name)?).map_err(|error| error.to_string())
}

/// Games between two networks.
pub struct GateGames {
    networks: [Network; 2],
    inferences: [Inference; 2],
    parameters: GateParameters,
}

impl GateGames {
    pub(crate) fn new(networks: [Network; 2], parameters: GateParameters) -> GateGames {
        let inferences = networks.each_ref().map(Inference::new);
        GateGames { networks, inferences, parameters }
    }

    fn setup(&self) -> Setup {
        self.networks[0].setup()
    }
}

impl Work for GateGames {
    const KIND: &'static str = "gate";
    /// Openings of pairs of games.
    type Unit = Vec<Position>;
    type Output = Vec<GatePair>;
    type Thread = ();
    type Error = WorkError;

    fn job(&self) -> Result<Job, String> {
        let [new, best] = self.networks.each_ref().map(Network::to_bytes);
        let files = vec![file(NEW, new), file(BEST, best)];
        let arithmetic = Some(claimeven_zero::arithmetic().to_owned());
        let title = format!("gate on {}", self.setup());
        Ok(Job { files, arithmetic, ..Job::new(title, &self.parameters) })
    }

    fn open(parameters: serde_json::Value, files: &Files) -> Result<GateGames, String> {
        let parameters = serde_json::from_value(parameters).map_err(|error| error.to_string())?;
        let networks = [read_network(files, NEW)?, read_network(files, BEST)?];
        Ok(GateGames::new(networks, parameters))
    }

    fn thread(&self) {}

    fn compute(
        &self,
        (): &mut (),
        unit: &Vec<Position>,
        cancel: &Arc<AtomicBool>,
    ) -> Result<Option<Vec<GatePair>>, WorkError> {
        let [new, best] = &self.inferences;
        let mut pairs = Vec::new();
        for opening in unit.chunks(PAIRS_PER_UNIT) {
            match play_gate_pairs(new, best, &self.parameters, opening, cancel) {
                Some(played) => pairs.extend(played),
                None => return Ok(None),
            }
        }
        Ok(Some(pairs))
    }

    fn encode(output: &Vec<GatePair>) -> Vec<u8> {
        serde_json::to_vec(output).expect("results are numbers")
    }

    fn decode(bytes: &[u8]) -> Result<Vec<GatePair>, String> {
        serde_json::from_slice(bytes).map_err(|error| error.to_string())
    }

    fn verify(&self, unit: &Vec<Position>, output: &Vec<GatePair>) -> Result<(), String> {
        if unit.len() == output.len() && output.iter().flatten().all(|&points| points <= 2) {
            return Ok(());
        }
        Err(format!("not the results of {} pairs", unit.len()))
    }
}

/// The positions of an exam, evaluated by a network.
pub struct ExamEvaluations {
    network: Network,
    inference: Inference,
    exam: Exam,
    simulations: u32,
}

impl ExamEvaluations {
    pub(crate) fn new(network: Network, exam: Exam, simulations: u32) -> ExamEvaluations {
        ExamEvaluations { inference: Inference::new(&network), network, exam, simulations }
    }
}

impl Work for ExamEvaluations {
    const KIND: &'static str = "exam";
    type Unit = Range<usize>;
    type Output = Vec<ExamPoint>;
    type Thread = ();
    type Error = WorkError;

    fn job(&self) -> Result<Job, String> {
        let files = vec![file(NEW, self.network.to_bytes()), file(EXAM, self.exam.to_bytes())];
        let arithmetic = Some(claimeven_zero::arithmetic().to_owned());
        let title = format!("exam on {}", self.network.setup());
        Ok(Job { files, arithmetic, ..Job::new(title, &self.simulations) })
    }

    fn open(parameters: serde_json::Value, files: &Files) -> Result<ExamEvaluations, String> {
        let simulations = serde_json::from_value(parameters).map_err(|error| error.to_string())?;
        let network = read_network(files, NEW)?;
        let exam = Exam::from_bytes(&read(files, EXAM)?, network.setup());
        Ok(ExamEvaluations::new(network, exam.map_err(|error| error.to_string())?, simulations))
    }

    fn thread(&self) {}

    fn compute(
        &self,
        (): &mut (),
        unit: &Range<usize>,
        _: &Arc<AtomicBool>,
    ) -> Result<Option<Vec<ExamPoint>>, WorkError> {
        Ok(Some(self.exam.points(&self.inference, self.simulations, unit.clone())))
    }

    /// Exact bits, because results are compared with those of other machines.
    fn encode(output: &Vec<ExamPoint>) -> Vec<u8> {
        output.iter().flatten().flat_map(|number| number.to_le_bytes()).collect()
    }

    fn decode(bytes: &[u8]) -> Result<Vec<ExamPoint>, String> {
        let (points, rest) = bytes.as_chunks::<12>();
        if !rest.is_empty() {
            return Err("truncated result".to_owned());
        }
        let number = |bytes: &[u8; 4]| f32::from_le_bytes(*bytes);
        let point = |bytes: &[u8; 12]| {
            let (numbers, _) = bytes.as_chunks::<4>();
            [number(&numbers[0]), number(&numbers[1]), number(&numbers[2])]
        };
        Ok(points.iter().map(point).collect())
    }

    fn verify(&self, unit: &Range<usize>, output: &Vec<ExamPoint>) -> Result<(), String> {
        let is_error = |number: &f32| (0.0..=1.0).contains(number);
        if unit.len() == output.len() && output.iter().flatten().all(is_error) {
            return Ok(());
        }
        Err(format!("not the errors in {} positions", unit.len()))
    }
}
