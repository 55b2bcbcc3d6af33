//! The parts that all depth-limited searches share.

use std::time::Duration;

use claimeven_game::{Bits, Board, Column, Player, Position, Rules, Setup, with_board};
use claimeven_solver::Stopped;

use crate::agent::{
    Agent, AgentError, BoundKind, ColumnValue, Decision, Limits, SearchStats, Value,
};
use crate::alphabeta::AlphaBeta;
use crate::heuristic::Heuristic;
use crate::iterative_deepening::IterativeDeepening;
use crate::minimax::Minimax;
use crate::mtdf::Mtdf;
use crate::recorder::Recorder;
use crate::stop::Stop;
use crate::tie_break::TieBreak;
use crate::tree::{Trace, Tree, ValueSource};

/// More than the points of any position.
pub(crate) const INFINITY: i32 = i32::MAX;

/// The parameters of all depth-limited searches.
///
/// ```
/// use claimeven_search::{AlphaBeta, DepthParameters, Heuristic};
///
/// let heuristic = Heuristic::named("sawwan").expect("it is built in");
/// let player = AlphaBeta::new(DepthParameters { depth: 6, heuristic, ..DepthParameters::default() });
/// ```
#[derive(Clone, Debug)]
pub struct DepthParameters {
    /// The depth in plies.
    pub depth: u32,
    /// The time limit per move.
    pub time: Option<Duration>,
    /// The node limit per move. Unlike a time limit, it gives the same moves on every machine.
    pub nodes: Option<u64>,
    /// The heuristic at the horizon.
    pub heuristic: Heuristic,
    /// Which of several equally good moves is played.
    pub tie_break: TieBreak,
    /// The seed for ties that the rule does not decide.
    pub seed: u64,
}

impl Default for DepthParameters {
    fn default() -> Self {
        let heuristic = Heuristic::named("galli").expect("it is built in");
        let tie_break = TieBreak::default();
        DepthParameters { depth: 4, time: None, nodes: None, heuristic, tie_break, seed: 0 }
    }
}

/// The scale of points: which are heuristic values and which are those of finished games.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Scale {
    finished: i32,
    max_estimate: i32,
}

impl Scale {
    pub(crate) fn new(heuristic: &Heuristic, setup: Setup) -> Scale {
        Scale { finished: heuristic.finished(), max_estimate: heuristic.max_estimate(setup) }
    }

    /// Whether points stand for a finished game.
    pub(crate) fn is_proven(self, points: i32) -> bool {
        points.abs() > self.max_estimate
    }

    /// The value of points: beyond the heuristic's maximum they are a win or a loss, minus one
    /// point per ply.
    pub(crate) fn value(self, points: i32) -> Value {
        let plies = || self.finished.abs_diff(points.abs());
        match points {
            _ if !self.is_proven(points) => Value::Points(points),
            0.. => Value::Win(plies()),
            _ => Value::Loss(plies()),
        }
    }
}

/// A depth-limited search algorithm.
pub(crate) trait Algorithm: Send {
    fn parameters(&self) -> &DepthParameters;

    /// Searches the moves of the root in order and adds their points to it.
    fn search<R: Rules, T: Trace>(
        &mut self,
        search: &mut DepthSearch<'_, R, T>,
        board: Board<R>,
        depth: u32,
        root: &mut Root,
    ) -> Result<(), Stopped>;

    /// The size of its transposition table, in bytes.
    fn memory(&self) -> usize {
        0
    }
}

/// Implements [`Agent`] for algorithms.
///
/// A blanket implementation for all algorithms would be compiled by the crates that box players,
/// in several codegen units and without inlining: searches took several times as long.
macro_rules! impl_agent {
    ($($algorithm:ty),*) => {$(
        impl Agent for $algorithm {
            fn decide(
                &mut self,
                position: &Position,
                limits: &Limits,
            ) -> Result<Decision, AgentError> {
                let (decision, ()) = run(self, position, limits, ())?;
                Ok(decision)
            }

            fn decide_with_tree(
                &mut self,
                position: &Position,
                limits: &Limits,
                levels: u32,
            ) -> Result<(Decision, Tree), AgentError> {
                let scale = Scale::new(&self.parameters().heuristic, position.setup());
                let recorder = Recorder::new(position, scale, levels);
                let (decision, recorder) = run(self, position, limits, recorder)?;
                let tree = recorder.finish(&decision);
                Ok((decision, tree))
            }

            fn memory(&self) -> usize {
                Algorithm::memory(self)
            }
        }
    )*};
}

impl_agent!(Minimax, AlphaBeta, Mtdf, IterativeDeepening);

/// Runs an algorithm, which reports its nodes to the trace.
fn run<T: Trace>(
    algorithm: &mut impl Algorithm,
    position: &Position,
    limits: &Limits,
    trace: T,
) -> Result<(Decision, T), AgentError> {
    let DepthParameters { depth, time, nodes, heuristic, tie_break, seed } =
        algorithm.parameters().clone();
    let stop = Stop::new(limits, time, nodes);
    let mut root = Root::new(position, tie_break.order(position, seed))?;
    let empty = position.setup().cells() - position.ply();
    let depth = depth.min(limits.depth.unwrap_or(u32::MAX)).clamp(1, empty);
    with_board!(position, board => {
        let mut search = DepthSearch::new(&board, &heuristic, stop, trace);
        let stopped = algorithm.search(&mut search, board, depth, &mut root).is_err();
        let guess = heuristic.points(&board, board.player());
        let scale = Scale::new(&heuristic, position.setup());
        let decision = root.decision(scale, guess, &search.stats, &search.stop, stopped);
        Ok((decision, search.trace))
    })
}

/// The moves of the root with their points.
pub(crate) struct Root {
    /// The legal columns in tie-break order.
    order: Vec<Column>,
    columns: Vec<Option<(i32, BoundKind)>>,
    best: Option<(Column, i32)>,
    pv: Vec<Column>,
}

impl Root {
    fn new(position: &Position, order: Vec<Column>) -> Result<Root, AgentError> {
        if order.is_empty() {
            return Err(AgentError::GameOver);
        }
        let columns = vec![None; position.setup().cols().into()];
        Ok(Root { order, columns, best: None, pv: Vec::new() })
    }

    /// The legal columns in tie-break order.
    pub(crate) fn order(&self) -> Vec<Column> {
        self.order.clone()
    }

    /// The same moves without points, the best one first.
    pub(crate) fn best_first(&self) -> Root {
        let mut order = self.order.clone();
        if let Some((best, _)) = self.best {
            order.sort_by_key(|&column| column != best);
        }
        Root { order, columns: vec![None; self.columns.len()], best: None, pv: Vec::new() }
    }

    /// The points of the best move so far; -infinity without one.
    pub(crate) fn best_points(&self) -> i32 {
        self.best.map_or(-INFINITY, |(_, points)| points)
    }

    /// Clears the points before another pass.
    pub(crate) fn clear(&mut self) {
        self.columns.fill(None);
        self.best = None;
    }

    /// Adds a move with its points and the principal variation after it. It becomes the best move
    /// if it has more points than those before it.
    pub(crate) fn add(&mut self, column: Column, points: i32, bound: BoundKind, rest: &[Column]) {
        self.columns[column.index()] = Some((points, bound));
        if points > self.best_points() {
            self.best = Some((column, points));
            self.pv = [&[column], rest].concat();
        }
    }

    /// Replaces the principal variation.
    pub(crate) fn set_pv(&mut self, pv: Vec<Column>) {
        self.pv = pv;
    }

    /// Marks the points of the best move as exact.
    pub(crate) fn mark_best_exact(&mut self) {
        if let Some((column, points)) = self.best {
            self.columns[column.index()] = Some((points, BoundKind::Exact));
        }
    }

    /// The legal columns without points.
    pub(crate) fn unknown(&self) -> Vec<Column> {
        let unknown = |column: &&Column| self.columns[column.index()].is_none();
        self.order.iter().filter(unknown).copied().collect()
    }

    /// The decision. If no move has points, it is the first in tie-break order with the heuristic
    /// value of the root.
    fn decision(
        self,
        scale: Scale,
        guess: i32,
        stats: &SearchStats,
        stop: &Stop,
        stopped: bool,
    ) -> Decision {
        let (column, points) = self.best.unwrap_or((self.order[0], guess));
        let pv = if self.pv.is_empty() { vec![column] } else { self.pv };
        let known = |(points, bound)| ColumnValue { value: scale.value(points), bound };
        Decision {
            column,
            value: scale.value(points),
            columns: self.columns.into_iter().map(|column| column.map(known)).collect(),
            shares: Vec::new(),
            pv,
            stats: *stats,
            time: stop.elapsed(),
            stopped,
        }
    }
}

/// A running search. The algorithms are its methods, one file each.
///
/// Points are from the point of view of the side to move (*negamax*): those of a node are the
/// maximum of its children's points with the sign changed.
pub(crate) struct DepthSearch<'a, R: Rules, T: Trace> {
    heuristic: &'a Heuristic,
    scale: Scale,
    /// The player at the root, whose point of view the heuristic takes.
    player: Player,
    /// The cells of each column, from the centre outwards: the order in which moves are tried.
    order: Vec<(Column, R::Bits)>,
    /// The principal variation from each ply on (*triangular PV table*).
    pv_table: Vec<Vec<Column>>,
    pub(crate) stats: SearchStats,
    pub(crate) stop: Stop,
    pub(crate) trace: T,
}

impl<'a, R: Rules, T: Trace> DepthSearch<'a, R, T> {
    pub(crate) fn new(board: &Board<R>, heuristic: &'a Heuristic, stop: Stop, trace: T) -> Self {
        let setup = board.rules().setup();
        let cells_of = |column| (column, board.rules().column(column));
        let order = Column::from_centre(setup).map(cells_of).collect();
        DepthSearch {
            heuristic,
            scale: Scale::new(heuristic, setup),
            player: board.player(),
            order,
            pv_table: vec![Vec::new(); setup.cells() as usize + 2],
            stats: SearchStats::default(),
            stop,
            trace,
        }
    }

    /// Enters a node, unless a limit is reached.
    #[inline]
    pub(crate) fn enter(&mut self, alpha: i32, beta: i32) -> Result<(), Stopped> {
        self.stop.check(self.stats.nodes)?;
        self.stats.nodes += 1;
        self.trace.enter(alpha, beta);
        Ok(())
    }

    /// Leaves a node that was searched.
    #[inline]
    pub(crate) fn leave(&mut self, points: i32, alpha: i32, beta: i32) -> i32 {
        let bound = match points {
            _ if points <= alpha => BoundKind::Upper,
            _ if points >= beta => BoundKind::Lower,
            _ => BoundKind::Exact,
        };
        self.trace.leave(points, bound, ValueSource::Search);
        points
    }

    /// The points of a node that is not searched: the game is over or the horizon is reached.
    #[inline]
    pub(crate) fn leaf(&mut self, board: &Board<R>, depth: u32, ply: u32) -> Option<i32> {
        let (points, source) = if board.is_over() {
            (self.finished_points(board, ply), ValueSource::GameOver)
        } else if depth == 0 {
            (self.estimate(board, ply), ValueSource::Evaluation)
        } else {
            return None;
        };
        self.stats.leaves += 1;
        self.pv_table[ply as usize].clear();
        self.trace.leave(points, BoundKind::Exact, source);
        Some(points)
    }

    /// The points of a finished game, minus one for each ply from the root, so that fast wins and
    /// slow losses are preferred.
    fn finished_points(&self, board: &Board<R>, ply: u32) -> i32 {
        let won = self.heuristic.finished() - ply as i32;
        match board.leader() {
            None => 0,
            Some(winner) if winner == board.player() => won,
            Some(_) => -won,
        }
    }

    #[inline]
    fn estimate(&self, board: &Board<R>, ply: u32) -> i32 {
        let points = self.heuristic.points(board, self.player);
        if ply.is_multiple_of(2) { points } else { -points }
    }

    /// The number of columns; [`child`](Self::child) skips full ones.
    #[inline]
    pub(crate) fn move_count(&self) -> usize {
        self.order.len()
    }

    /// The position after the move with an index in the move order; `None` if the column is full.
    #[inline]
    pub(crate) fn child(&mut self, board: &Board<R>, index: usize) -> Option<(Column, Board<R>)> {
        let (column, cells) = self.order[index];
        let cell = board.open() & cells;
        if cell.is_empty() {
            return None;
        }
        let mut child = *board;
        child.play_cell(cell);
        self.trace.step(column);
        Some((column, child))
    }

    /// The position after a move at the root.
    pub(crate) fn play(&mut self, board: &Board<R>, column: Column) -> Board<R> {
        let mut child = *board;
        child.play_unchecked(column);
        self.trace.step(column);
        child
    }

    /// The principal variation from a ply on.
    pub(crate) fn pv(&self, ply: u32) -> &[Column] {
        &self.pv_table[ply as usize]
    }

    /// Sets the principal variation from a ply on to a move followed by the variation of the next
    /// ply.
    #[inline]
    pub(crate) fn extend_pv(&mut self, ply: u32, column: Column) {
        let (pvs, rest) = self.pv_table.split_at_mut(ply as usize + 1);
        let pv = &mut pvs[ply as usize];
        pv.clear();
        pv.push(column);
        pv.extend_from_slice(&rest[0]);
    }

    /// Clears the principal variation from a ply on.
    #[inline]
    pub(crate) fn clear_pv(&mut self, ply: u32) {
        self.pv_table[ply as usize].clear();
    }

    /// Counts a cutoff and reports the moves that were not tried to the trace.
    #[inline]
    pub(crate) fn prune_all_but(&mut self, board: &Board<R>, tried: impl Fn(usize) -> bool) {
        self.stats.cutoffs += 1;
        let open = board.open();
        let pruned = (0..)
            .zip(&self.order)
            .filter(|&(index, (_, cells))| !tried(index) && !(open & *cells).is_empty());
        self.trace.prune(|| pruned.map(|(_, (column, _))| *column).collect());
    }

    /// Counts a cutoff at the root and reports the pruned moves to the trace.
    pub(crate) fn prune_root(&mut self, pruned: Vec<Column>) {
        self.stats.cutoffs += 1;
        self.trace.prune(|| pruned);
    }

    /// The columns that are not full, from the centre outwards.
    pub(crate) fn open_columns(&self, board: &Board<R>) -> Vec<Column> {
        let open = self.order.iter().filter(|(_, cells)| !(board.open() & *cells).is_empty());
        open.map(|(column, _)| *column).collect()
    }

    /// Reports the result so far to the monitor.
    pub(crate) fn report(&self, root: &Root) {
        let value = self.scale.value(root.best_points());
        self.stop.report(self.stats.nodes, self.stats.depth, value, &root.pv);
    }

    /// Whether points stand for a finished game.
    pub(crate) fn is_proven(&self, points: i32) -> bool {
        self.scale.is_proven(points)
    }

    /// The heuristic value of the root.
    pub(crate) fn evaluate(&self, board: &Board<R>) -> i32 {
        self.estimate(board, 0)
    }
}
