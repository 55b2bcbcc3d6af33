//! What the searches that look a number of plies ahead have in common.

use std::time::Duration;

use claimeven_game::{Bits, Board, Column, Player, Position, Rules, Setup, with_board};

use crate::agent::{
    Agent, AgentError, BoundKind, ColumnValue, Decision, Limits, SearchStats, Value,
};
use crate::heuristic::Heuristic;
use crate::recorder::Recorder;
use crate::stop::{Stop, Stopped};
use crate::tie_break::TieBreak;
use crate::tree::{Source, Trace, Tree};

/// More than any position is worth.
pub(crate) const INFINITY: i32 = i32::MAX;

/// The parameters that all of them have.
#[derive(Clone, Debug)]
pub struct DepthParameters {
    /// How many plies to look ahead.
    pub depth: u32,
    /// How long to think at most.
    pub time: Option<Duration>,
    /// What a position at the horizon is worth.
    pub heuristic: Heuristic,
    /// Which of several equally good moves is played.
    pub tie_break: TieBreak,
    /// What chooses where the tie rule does not.
    pub seed: u64,
}

impl Default for DepthParameters {
    fn default() -> Self {
        let heuristic = Heuristic::named("galli").expect("it is built in");
        DepthParameters { depth: 4, time: None, heuristic, tie_break: TieBreak::default(), seed: 0 }
    }
}

/// What the points of a search mean.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Scale {
    finished: i32,
    max_estimate: i32,
}

impl Scale {
    pub(crate) fn new(heuristic: &Heuristic, setup: Setup) -> Scale {
        Scale { finished: heuristic.finished(), max_estimate: heuristic.max_estimate(setup) }
    }

    /// Whether a game that ends so was seen to its end.
    pub(crate) fn is_proven(self, points: i32) -> bool {
        points.abs() > self.max_estimate
    }

    /// The points in words: what is beyond every estimate is a game won or lost, one point less for
    /// each ply to its end.
    pub(crate) fn value(self, points: i32) -> Value {
        let plies = || self.finished.abs_diff(points.abs());
        match points {
            _ if !self.is_proven(points) => Value::Points(points),
            0.. => Value::Win(plies()),
            _ => Value::Loss(plies()),
        }
    }
}

/// A player that looks a number of plies ahead, by its way to search.
pub(crate) trait Algorithm: Send {
    /// What the player is to do.
    fn parameters(&self) -> &DepthParameters;

    /// Looks at the moves of the root in their order and reports what they are worth.
    fn search<R: Rules, T: Trace>(
        &mut self,
        search: &mut DepthSearch<'_, R, T>,
        board: Board<R>,
        depth: u32,
        root: &mut Root,
    ) -> Result<(), Stopped>;
}

impl<A: Algorithm> Agent for A {
    fn decide(&mut self, position: &Position, limits: &Limits) -> Result<Decision, AgentError> {
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
}

/// Decides by an algorithm, which tells the trace what it does.
fn run<T: Trace>(
    algorithm: &mut impl Algorithm,
    position: &Position,
    limits: &Limits,
    trace: T,
) -> Result<(Decision, T), AgentError> {
    let DepthParameters { depth, time, heuristic, tie_break, seed } =
        algorithm.parameters().clone();
    let stop = Stop::new(limits, time);
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

/// What is known of the moves at the root.
pub(crate) struct Root {
    /// The legal columns, the preferred one of equals first.
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

    /// The legal columns, the preferred one of equals first.
    pub(crate) fn order(&self) -> Vec<Column> {
        self.order.clone()
    }

    /// The same moves, none of which has been looked at, the best one first.
    pub(crate) fn best_first(&self) -> Root {
        let mut order = self.order.clone();
        if let Some((best, _)) = self.best {
            order.sort_by_key(|&column| column != best);
        }
        Root { order, columns: vec![None; self.columns.len()], best: None, pv: Vec::new() }
    }

    /// The points of the best move so far.
    pub(crate) fn best_points(&self) -> i32 {
        self.best.map_or(-INFINITY, |(_, points)| points)
    }

    /// Forgets the moves, before they are looked at once more.
    pub(crate) fn forget(&mut self) {
        self.columns.fill(None);
        self.best = None;
    }

    /// Takes note of what a move is worth and how play goes on after it; it is the best one if no
    /// move before it was as good.
    pub(crate) fn add(&mut self, column: Column, points: i32, bound: BoundKind, rest: &[Column]) {
        self.columns[column.index()] = Some((points, bound));
        if points > self.best_points() {
            self.best = Some((column, points));
            self.pv = [&[column], rest].concat();
        }
    }

    /// Changes how play goes on, from the best move.
    pub(crate) fn set_pv(&mut self, pv: Vec<Column>) {
        self.pv = pv;
    }

    /// Takes note that the points of the best move are exact.
    pub(crate) fn settle(&mut self) {
        if let Some((column, points)) = self.best {
            self.columns[column.index()] = Some((points, BoundKind::Exact));
        }
    }

    /// The legal columns of which nothing is known.
    pub(crate) fn unknown(&self) -> Vec<Column> {
        let unknown = |column: &&Column| self.columns[column.index()].is_none();
        self.order.iter().filter(unknown).copied().collect()
    }

    /// The decision; without any move looked at it is the preferred one and a guess.
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

/// A search under way. The algorithms are methods of it, each in a file of its own.
///
/// Points are those of the side to move at the node (*negamax*): what is good for one side is as
/// bad for the other, so each node takes the greatest of its children's points with the sign
/// changed, and maximum and minimum need not be told apart.
pub(crate) struct DepthSearch<'a, R: Rules, T: Trace> {
    heuristic: &'a Heuristic,
    scale: Scale,
    /// The player at the root, for whom unfinished games are judged.
    player: Player,
    /// The cells of each column, from the centre outwards: the order in which moves are tried.
    order: Vec<(Column, R::Bits)>,
    /// The best line found from each ply on.
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

    /// Enters a node, unless a limit says that the search is to end.
    #[inline]
    pub(crate) fn enter(&mut self, alpha: i32, beta: i32) -> Result<(), Stopped> {
        self.stop.check(self.stats.nodes)?;
        self.stats.nodes += 1;
        self.trace.enter(alpha, beta);
        Ok(())
    }

    /// Leaves a node whose points were found by looking at its moves.
    #[inline]
    pub(crate) fn leave(&mut self, points: i32, alpha: i32, beta: i32) -> i32 {
        let bound = match points {
            _ if points <= alpha => BoundKind::Upper,
            _ if points >= beta => BoundKind::Lower,
            _ => BoundKind::Exact,
        };
        self.trace.leave(points, bound, Source::Search);
        points
    }

    /// The points of a node that is not to be searched: the game is over, or the horizon reached.
    #[inline]
    pub(crate) fn leaf(&mut self, board: &Board<R>, depth: u32, ply: u32) -> Option<i32> {
        let (points, source) = if board.is_over() {
            (self.finished_points(board, ply), Source::GameOver)
        } else if depth == 0 {
            (self.estimate(board, ply), Source::Evaluation)
        } else {
            return None;
        };
        self.stats.leaves += 1;
        self.pv_table[ply as usize].clear();
        self.trace.leave(points, BoundKind::Exact, source);
        Some(points)
    }

    /// One point less for each ply from the root, so that a won game is won by the shortest way
    /// and a lost one lost by the longest.
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

    /// The number of columns; full ones are passed over by [`child`](Self::child).
    #[inline]
    pub(crate) fn move_count(&self) -> usize {
        self.order.len()
    }

    /// The position after the move at a place in the order; `None` if the column is full.
    #[inline]
    pub(crate) fn child(&mut self, board: &Board<R>, place: usize) -> Option<(Column, Board<R>)> {
        let (column, cells) = self.order[place];
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

    /// The best line found from a ply on.
    pub(crate) fn pv(&self, ply: u32) -> &[Column] {
        &self.pv_table[ply as usize]
    }

    /// Remembers that the best line from a ply on begins with a move and goes on as the line from
    /// the next ply does.
    #[inline]
    pub(crate) fn extend_pv(&mut self, ply: u32, column: Column) {
        let (pvs, rest) = self.pv_table.split_at_mut(ply as usize + 1);
        let pv = &mut pvs[ply as usize];
        pv.clear();
        pv.push(column);
        pv.extend_from_slice(&rest[0]);
    }

    /// Forgets the best line from a ply on.
    #[inline]
    pub(crate) fn clear_pv(&mut self, ply: u32) {
        self.pv_table[ply as usize].clear();
    }

    /// Counts a cut-off and tells the trace which moves it spared: those at the places that have
    /// not been tried.
    #[inline]
    pub(crate) fn prune_all_but(&mut self, board: &Board<R>, tried: impl Fn(usize) -> bool) {
        self.stats.cutoffs += 1;
        let open = board.open();
        let spared = (0..)
            .zip(&self.order)
            .filter(|&(place, (_, cells))| !tried(place) && !(open & *cells).is_empty());
        self.trace.prune(|| spared.map(|(_, (column, _))| *column).collect());
    }

    /// Counts a cut-off at the root and tells the trace which moves it spared.
    pub(crate) fn prune_root(&mut self, spared: Vec<Column>) {
        self.stats.cutoffs += 1;
        self.trace.prune(|| spared);
    }

    /// The columns that are not full, from the centre outwards.
    pub(crate) fn open_columns(&self, board: &Board<R>) -> Vec<Column> {
        let open = self.order.iter().filter(|(_, cells)| !(board.open() & *cells).is_empty());
        open.map(|(column, _)| *column).collect()
    }

    /// Tells whoever watches what is known of the root.
    pub(crate) fn tell(&self, root: &Root) {
        let value = self.scale.value(root.best_points());
        self.stop.tell(self.stats.nodes, self.stats.depth, value, &root.pv);
    }

    /// Whether points are those of a game that was seen to its end.
    pub(crate) fn is_proven(&self, points: i32) -> bool {
        self.scale.is_proven(points)
    }

    /// What the evaluation says of the root.
    pub(crate) fn evaluate(&self, board: &Board<R>) -> i32 {
        self.estimate(board, 0)
    }
}
