//! Players as opponents of many games at once.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;

use claimeven_arena::{AgentSpec, EnginePool};
use claimeven_game::{Board, Player, Rules, Setup as GameSetup};
use claimeven_search::{Agent, AgentError, Limits};

use crate::game_batch::{
    Arrays, Autoreset, Games, Request, State, act, observe, position, reward, write_mask,
};
use crate::work;

/// Games against players, which think on several threads.
///
/// Every episode has a player of its own, so that episodes differ and depend on nothing but the seed.
pub(crate) struct AgainstPlayers<R: Rules> {
    games: State<R>,
    spec: AgentSpec,
    seats: Vec<Seat>,
    /// The most nodes that a player has taken for its first move since the games were seeded.
    first_nodes: Option<u64>,
    computed: Option<Computed<R>>,
}

/// Players that are expected to take no more nodes for their replies are asked on the calling thread:
/// starting one that Ctrl-C can interrupt takes longer than they think.
const FEW_NODES: u64 = 512;

/// Nodes after which a player that was expected to take few is asked again on other threads: a few
/// milliseconds.
const MAX_NODES: u64 = 1 << 12;

/// The player of one episode.
struct Seat {
    seed: u64,
    /// It is built for its first move.
    agent: Option<Box<dyn Agent>>,
    /// The nodes that its previous move took.
    nodes: Option<u64>,
}

/// A step or a reset with the replies. Nothing has changed until it is carried out, so that one which
/// fails or is interrupted leaves the games as they were.
struct Computed<R: Rules> {
    random: fastrand::Rng,
    drafts: Vec<Draft<R>>,
}

/// The next state of a game.
struct Draft<R: Rules> {
    game: usize,
    board: Board<R>,
    reward: f64,
    is_over: bool,
    /// The player who has moved and waits for the reply.
    mover: Option<Player>,
    awaits_reply: bool,
    /// The last board of the previous episode, if it ended in this step.
    last: Option<Board<R>>,
    /// The player of a new episode.
    seat: Option<Seat>,
}

impl<R: Rules> AgainstPlayers<R> {
    /// Fails if the player cannot play with this setup.
    pub(crate) fn new(
        games: State<R>,
        spec: AgentSpec,
        setup: GameSetup,
    ) -> Result<AgainstPlayers<R>, AgentError> {
        let spec = spec.with_engines(&EnginePool::default());
        spec.build(setup, 0)?;
        let seats = games.boards.iter().map(|_| Seat::new(0)).collect();
        Ok(AgainstPlayers { games, spec, seats, first_nodes: None, computed: None })
    }

    fn new_episode(&self, game: usize, random: &mut fastrand::Rng) -> Draft<R> {
        let seat = Some(Seat::new(random.u64(..)));
        let awaits_reply = self.games.first.is_opponent(random);
        let board = self.games.empty;
        Draft {
            game,
            board,
            reward: 0.0,
            is_over: false,
            mover: None,
            awaits_reply,
            last: None,
            seat,
        }
    }

    fn after_action(&self, game: usize, action: i64) -> Draft<R> {
        let mut board = self.games.boards[game];
        let mover = Some(board.player());
        let end = act(&mut board, action);
        let (reward, is_over) = (end.unwrap_or(0.0), end.is_some());
        Draft {
            game,
            board,
            reward,
            is_over,
            mover,
            awaits_reply: !is_over,
            last: None,
            seat: None,
        }
    }

    /// The states of the games after a request; `None` if the players take too many nodes.
    fn compute_within(
        &mut self,
        request: Request<'_>,
        effort: &Effort,
    ) -> Result<Option<Computed<R>>, String> {
        // Random numbers are drawn in the order of the games, whatever the order of the replies.
        let mut random = self.games.random.clone();
        let games = 0..self.games.boards.len();

        // 1. The actions, and the games that start.
        let mut drafts: Vec<Draft<R>> = match request {
            Request::Reset(only) => games
                .filter(|&game| only.is_none_or(|only| only[game]))
                .map(|game| self.new_episode(game, &mut random))
                .collect(),
            Request::Step(actions) => {
                self.games.check_can_step()?;
                let step = |game: usize| {
                    if self.games.is_over[game] {
                        self.new_episode(game, &mut random)
                    } else {
                        self.after_action(game, actions[game])
                    }
                };
                games.map(step).collect()
            }
        };

        // 2. The replies.
        if !self.reply(&mut drafts, effort)? {
            return Ok(None);
        }
        for draft in &mut drafts {
            if let Some(mover) = draft.mover.filter(|_| !draft.is_over && draft.board.is_over()) {
                draft.is_over = true;
                draft.reward = reward(&draft.board, mover);
            }
        }

        // 3. The games that start in the step in which the previous ones ended.
        if self.games.autoreset == Autoreset::SameStep {
            for draft in drafts.iter_mut().filter(|draft| draft.is_over) {
                let (reward, last) = (draft.reward, Some(draft.board));
                *draft = Draft { reward, last, ..self.new_episode(draft.game, &mut random) };
            }
            if !self.reply(&mut drafts, effort)? {
                return Ok(None);
            }
        }
        Ok(Some(Computed { random, drafts }))
    }

    /// Plays the moves that drafts wait for. `false` if the players take too many nodes.
    fn reply(&mut self, drafts: &mut [Draft<R>], effort: &Effort) -> Result<bool, String> {
        let (spec, mut seats) = (&self.spec, self.seats.iter_mut());
        let mut next = 0;
        let tasks: Vec<_> = drafts
            .iter_mut()
            .filter_map(|draft| {
                let own = seats.nth(draft.game - next).expect("drafts are in the order of games");
                next = draft.game + 1;
                let Draft { game, board, seat, .. } = draft;
                let seat = seat.as_mut().unwrap_or(own);
                std::mem::take(&mut draft.awaits_reply).then_some((*game, board, seat))
            })
            .collect();
        let mut expected = tasks.iter().map(|(_, _, seat)| seat.nodes.or(self.first_nodes));
        let expected = expected.try_fold(0_u64, |sum, nodes| Some(sum.saturating_add(nodes?)));
        if effort.is_brief && expected.is_none_or(|nodes| nodes > FEW_NODES) {
            return Ok(tasks.is_empty());
        }
        let threads = effort.threads.min(tasks.len());
        let queue = Mutex::new(tasks.into_iter());
        let replies = Mutex::new(Vec::new());
        let run = || {
            loop {
                let next = queue.lock().expect("nothing panics while it is held").next();
                let Some((game, board, seat)) = next else { return };
                let is_cancelled = |cancel: &Arc<AtomicBool>| cancel.load(Ordering::Relaxed);
                if effort.limits.cancel.as_ref().is_some_and(is_cancelled) {
                    return;
                }
                let reply = seat.play(spec, board, effort);
                let is_last = !matches!(reply, Ok(Some(_)));
                replies.lock().expect("nothing panics while it is held").push((game, reply));
                if is_last {
                    return;
                }
            }
        };
        thread::scope(|scope| {
            for _ in 1..threads {
                scope.spawn(run);
            }
            run();
        });
        let mut replies = replies.into_inner().expect("nothing panics while it is held");
        replies.sort_by_key(|(game, _)| *game);
        for (game, reply) in replies {
            match reply.map_err(|error| format!("game {game}: {error}"))? {
                Some(Reply { nodes, is_first: true }) => {
                    self.first_nodes = self.first_nodes.max(Some(nodes));
                }
                Some(_) => {}
                None => return Ok(false),
            }
        }
        Ok(true)
    }

    /// Carries out what has been computed; `results` takes those of a step.
    fn carry_out(
        &mut self,
        observations: &mut [i8],
        masks: &mut [i8],
        mut results: impl FnMut(&Draft<R>),
    ) {
        let Some(Computed { random, drafts }) = self.computed.take() else { return };
        let setup = self.games.empty.rules().setup();
        let (size, cols) = (2 * setup.cells() as usize, usize::from(setup.cols()));
        self.games.random = random;
        for draft in drafts {
            let game = draft.game;
            results(&draft);
            self.games.boards[game] = draft.board;
            self.games.is_over[game] = draft.is_over;
            observe(&draft.board, &mut observations[game * size..][..size]);
            write_mask(&draft.board, draft.is_over, &mut masks[game * cols..][..cols]);
            if let Some(seat) = draft.seat {
                self.seats[game] = seat;
            }
        }
    }
}

/// How players are asked.
struct Effort {
    limits: Limits,
    threads: usize,
    /// Whether the limits are not those of the games.
    is_brief: bool,
}

/// A reply that has been played.
struct Reply {
    nodes: u64,
    /// Whether it was the player's first move.
    is_first: bool,
}

impl Seat {
    fn new(seed: u64) -> Seat {
        Seat { seed, agent: None, nodes: None }
    }

    /// Plays the player's move; `None` if it takes too many nodes.
    fn play<R: Rules>(
        &mut self,
        spec: &AgentSpec,
        board: &mut Board<R>,
        effort: &Effort,
    ) -> Result<Option<Reply>, AgentError> {
        let is_first = self.nodes.is_none();
        // A player that panics is not used again.
        let mut agent = match self.agent.take() {
            Some(agent) => agent,
            None => spec.build(board.rules().setup(), self.seed)?,
        };
        let decision = agent.decide(&position(board), &effort.limits)?;
        let nodes = decision.stats.nodes;
        if effort.is_brief && decision.stopped {
            // A new player begins again, as if it had not been asked.
            if !is_first {
                self.agent = Some(agent);
                self.nodes = Some(u64::MAX);
            }
            return Ok(None);
        }
        self.agent = Some(agent);
        self.nodes = Some(nodes);
        let cell = board.open() & board.rules().column(decision.column);
        board.play_cell(cell);
        Ok(Some(Reply { nodes, is_first }))
    }
}

impl<R: Rules> Games for AgainstPlayers<R> {
    fn seed(&mut self, seed: u64) {
        self.games.seed(seed);
        self.first_nodes = None;
    }

    fn compute_briefly(&mut self, request: Request<'_>) -> Result<bool, String> {
        let limits = Limits::default().with_nodes(MAX_NODES);
        let effort = Effort { limits, threads: 1, is_brief: true };
        // Other programs may understand limits in their own way.
        let is_external = self.spec.to_string().starts_with("ugi");
        self.computed = if is_external { None } else { self.compute_within(request, &effort)? };
        Ok(self.computed.is_some())
    }

    fn compute(&mut self, request: Request<'_>, cancel: &Arc<AtomicBool>) -> Result<(), String> {
        let limits = Limits::default().with_cancel(Arc::clone(cancel));
        let effort = Effort { limits, threads: work::threads(None), is_brief: false };
        self.computed = None;
        self.computed = self.compute_within(request, &effort)?;
        Ok(())
    }

    fn reset(&mut self, _: Option<&[bool]>, observations: &mut [i8], masks: &mut [i8]) {
        self.carry_out(observations, masks, |_| {});
    }

    fn step(
        &mut self,
        _: &[i64],
        arrays: Arrays<'_>,
        mut last_observations: Option<&mut [i8]>,
    ) -> Result<(), String> {
        let size = 2 * self.games.empty.rules().setup().cells() as usize;
        let Arrays { observations, masks, rewards, terminated } = arrays;
        self.carry_out(observations, masks, |draft| {
            rewards[draft.game] = draft.reward;
            terminated[draft.game] = draft.is_over || draft.last.is_some();
            if let (Some(all), Some(last)) = (&mut last_observations, &draft.last) {
                observe(last, &mut all[draft.game * size..][..size]);
            }
        });
        Ok(())
    }

    fn random_actions(&mut self, actions: &mut [i64]) {
        self.games.random_actions(actions);
    }

    fn plies(&self) -> Vec<i64> {
        self.games.plies()
    }

    fn boards(&self) -> Vec<u8> {
        self.games.boards()
    }
}
