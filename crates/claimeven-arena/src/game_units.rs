//! Games as units of work, which other machines can play as well.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use claimeven_game::{Column, Setup};
use claimeven_work::{File, Files, Job, Work};
use serde::{Deserialize, Serialize};

use crate::game::{Clock, MatchError, Pairing, TimeControl, play_game};
use crate::record::GameRecord;
use crate::roster::AgentSpec;

/// Games between some players: the work of matches and tournaments. A unit is one or more games.
#[derive(Clone, Debug)]
pub struct Games {
    /// The title of the job, if not the names of the players. A different title makes a different
    /// job.
    pub(crate) title: Option<String>,
    /// What tells the job from others between these players: seed, openings and number of games.
    pub(crate) identity: Option<String>,
    pub(crate) setup: Setup,
    pub(crate) players: Vec<AgentSpec>,
    pub(crate) time: TimeControl,
    /// The memory limit of each player's tree, in bytes.
    pub(crate) memory: Option<usize>,
}

/// A game of a unit.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PlannedGame {
    pub(crate) id: String,
    /// The players, by their indices in the list of all.
    pub(crate) players: [usize; 2],
    pub(crate) first_player: usize,
    pub(crate) opening: Vec<Column>,
    pub(crate) seed: u64,
}

/// The parameters of a job.
#[derive(Serialize, Deserialize)]
struct Parameters {
    setup: Setup,
    players: Vec<String>,
    /// Base time and increment in microseconds.
    clock: Option<[u64; 2]>,
    per_move: Option<u64>,
    memory: Option<usize>,
}

impl Games {
    fn pairing<'a>(&'a self, game: &'a PlannedGame) -> Result<Pairing<'a>, MatchError> {
        let player = |index: usize| {
            let missing = || MatchError::Player { id: game.id.clone(), player: index };
            self.players.get(index).ok_or_else(missing)
        };
        let [first, second] = game.players;
        Ok(Pairing {
            setup: self.setup,
            players: [player(first)?, player(second)?],
            first_player: game.first_player,
            opening: &game.opening,
            seed: game.seed,
            time: self.time,
            memory: self.memory,
        })
    }
}

impl Work for Games {
    const KIND: &'static str = "games";
    type Unit = Vec<PlannedGame>;
    type Output = Vec<GameRecord>;
    type Thread = ();
    type Error = MatchError;

    fn job(&self) -> Result<Job, String> {
        let micros = |time: Duration| time.as_micros() as u64;
        let parameters = Parameters {
            setup: self.setup,
            players: self.players.iter().map(ToString::to_string).collect(),
            clock: self.time.clock.map(|clock| [micros(clock.base), micros(clock.increment)]),
            per_move: self.time.per_move.map(micros),
            memory: self.memory,
        };
        let title = match (&self.title, &parameters.players[..]) {
            (Some(title), _) => title.clone(),
            (None, [first, second]) => format!("{first} vs {second}"),
            (None, players) => format!("tournament of {} players", players.len()),
        };
        let job = job_of_players(title, &parameters, &self.players)?;
        let is_deterministic = self.time.is_unlimited() && job.is_deterministic;
        Ok(Job { is_deterministic, identity: self.identity.clone(), ..job })
    }

    fn open(parameters: serde_json::Value, files: &Files) -> Result<Games, String> {
        let parameters: Parameters =
            serde_json::from_value(parameters).map_err(|error| error.to_string())?;
        let player = |text: &String| open_player(text, files);
        let players = parameters.players.iter().map(player).collect::<Result<_, String>>()?;
        let clock = parameters.clock.map(|[base, increment]| Clock {
            base: Duration::from_micros(base),
            increment: Duration::from_micros(increment),
        });
        let per_move = parameters.per_move.map(Duration::from_micros);
        let time = TimeControl { clock, per_move };
        let Parameters { setup, memory, .. } = parameters;
        Ok(Games { title: None, identity: None, setup, players, time, memory })
    }

    fn thread(&self) {}

    fn compute(
        &self,
        (): &mut (),
        unit: &Vec<PlannedGame>,
        cancel: &Arc<AtomicBool>,
    ) -> Result<Option<Vec<GameRecord>>, MatchError> {
        unit.iter().map(|game| play_game(&self.pairing(game)?, game.id.clone(), cancel)).collect()
    }

    fn encode(output: &Vec<GameRecord>) -> Vec<u8> {
        serde_json::to_vec(output).expect("records are plain data")
    }

    fn decode(bytes: &[u8]) -> Result<Vec<GameRecord>, String> {
        serde_json::from_slice(bytes).map_err(|error| error.to_string())
    }

    fn verify(&self, unit: &Vec<PlannedGame>, output: &Vec<GameRecord>) -> Result<(), String> {
        if unit.len() != output.len() {
            return Err(format!("{} games instead of {}", output.len(), unit.len()));
        }
        for (game, record) in unit.iter().zip(output) {
            if game.id != record.id {
                return Err(format!("game '{}' instead of '{}'", record.id, game.id));
            }
            let pairing = self.pairing(game).map_err(|error| error.to_string())?;
            let names = pairing.players.map(ToString::to_string);
            let names = names.each_ref().map(|name| &**name);
            pairing.check_record(record, names).map_err(|error| error.to_string())?;
        }
        Ok(())
    }

    fn fingerprint(output: &Vec<GameRecord>) -> Vec<u8> {
        let mut games = output.clone();
        for game in &mut games {
            game.time.clear();
            game.moves.iter_mut().for_each(|chosen| chosen.ms = 0.0);
        }
        Self::encode(&games)
    }
}

/// A job with the players' files, the arithmetic of their networks, and whether their moves are
/// reproducible.
pub(crate) fn job_of_players(
    title: String,
    parameters: &impl Serialize,
    players: &[AgentSpec],
) -> Result<Job, String> {
    let mut files = BTreeMap::new();
    for player in players {
        for (name, path) in player.files()? {
            let content = std::fs::read(&path)
                .map_err(|error| format!("cannot read {}: {error}", path.display()))?;
            files.insert(name, content);
        }
    }
    let has_network = players.iter().any(|player| player.kind().name == "zero");
    Ok(Job {
        files: files.into_iter().map(|(name, content)| File { name, content }).collect(),
        arithmetic: has_network.then(|| claimeven_zero::arithmetic().to_owned()),
        is_deterministic: !players.iter().any(AgentSpec::depends_on_time),
        ..Job::new(title, parameters)
    })
}

/// A player of a job with the files of that job. A job cannot start programs or read files of this
/// machine.
pub(crate) fn open_player(text: &str, files: &Files) -> Result<AgentSpec, String> {
    let player = text.parse::<AgentSpec>().map_err(|error| error.to_string())?;
    if let Some((name, _)) = player.files()?.into_iter().find(|(name, _)| !files.contains_key(name))
    {
        return Err(format!("file {name} of {text} is missing"));
    }
    Ok(player.with_files(files))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn games(players: &[&str]) -> Games {
        let players = players.iter().map(|text| text.parse().unwrap()).collect();
        Games {
            title: None,
            identity: None,
            setup: Setup::STANDARD,
            players,
            time: TimeControl::default(),
            memory: None,
        }
    }

    #[test]
    fn a_job_contains_everything_that_another_machine_needs() {
        let folder = tempfile::tempdir().unwrap();
        let weights = folder.path().join("weights.toml");
        std::fs::write(&weights, "centre = 3").unwrap();
        let player = format!("alphabeta:depth=2,eval={}", weights.display());
        let local = games(&[&player, "mcts:sims=20"]);
        let job = local.job().unwrap();
        assert!(job.is_deterministic && job.arithmetic.is_none());
        let copy = folder.path().join("copy");
        std::fs::write(&copy, &job.files[0].content).unwrap();
        std::fs::remove_file(&weights).unwrap();
        let files = Files::from([(job.files[0].name.clone(), copy)]);
        let remote = Games::open(job.parameters, &files).unwrap();
        let unit = vec![PlannedGame {
            id: "1".to_owned(),
            players: [0, 1],
            first_player: 1,
            opening: vec![Column::from_index(3).unwrap()],
            seed: 5,
        }];
        let games = remote.compute(&mut (), &unit, &Arc::default()).unwrap().unwrap();
        assert_eq!(games[0].players[0].agent, player);
        remote.verify(&unit, &games).unwrap();
        let again = remote.compute(&mut (), &unit, &Arc::default()).unwrap().unwrap();
        assert_eq!(Games::fingerprint(&games), Games::fingerprint(&again));
        assert_eq!(Games::decode(&Games::encode(&games)).unwrap(), games);

        let mut wrong = games.clone();
        wrong[0].seed += 1;
        let error = remote.verify(&unit, &wrong).unwrap_err();
        assert_eq!(error, "game 1 differs from the plan in its seed or time control");
        assert!(remote.verify(&unit, &Vec::new()).is_err());
    }

    #[test]
    fn jobs_depend_on_networks_and_clocks() {
        let job = games(&["zero:sims=10", "random"]).job().unwrap();
        assert_eq!(job.arithmetic.as_deref(), Some(claimeven_zero::arithmetic()));
        for timed in ["timed", "mcts:ms=5"] {
            assert!(!games(&[timed, "random"]).job().unwrap().is_deterministic);
        }
        let clock = Clock { base: Duration::from_secs(1), increment: Duration::ZERO };
        let time = TimeControl { clock: Some(clock), per_move: None };
        let timed = Games { time, ..games(&["random", "level:1"]) };
        let job = timed.job().unwrap();
        assert!(!job.is_deterministic);
        assert_eq!(Games::open(job.parameters, &Files::new()).unwrap().time, time);
    }

    #[test]
    fn programs_on_this_machine_are_not_distributed() {
        let error = games(&["random", "ugi:cmd=engine"]).job().unwrap_err();
        assert_eq!(error, "ugi:cmd=engine is a program on this machine");
        let parameters = serde_json::json!({
            "setup": Setup::STANDARD, "players": ["ugi:cmd=\"rm -r x\"", "random"],
            "clock": null, "per_move": null,
        });
        assert!(Games::open(parameters, &Files::new()).is_err());
    }

    #[test]
    fn jobs_cannot_read_files_of_this_machine() {
        for player in ["proof:file=my.proof", "minimax:depth=1,eval=my.toml", "zero:model=mine"] {
            let parameters = serde_json::json!({
                "setup": Setup::STANDARD, "players": [player, "random"],
                "clock": null, "per_move": null,
            });
            let error = Games::open(parameters, &Files::new()).err().unwrap();
            assert!(error.ends_with(&format!("of {player} is missing")), "{error}");
        }
    }
}
