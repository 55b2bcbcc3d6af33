//! The exact search: null-window negamax over quiet positions.
//!
//! In a *quiet* position the side to move has neither an immediate win nor a
//! threat to block. Forced moves are played out when children are generated,
//! so every node of the search has a choice. Scores count discs: 1 is a win
//! with the winner's last disc, 2 with the one before, and negative scores are
//! losses.

use std::sync::Arc;

use claimeven_game::Bits;

use crate::abdada::CurrentlySearching;
use crate::bounds;
use crate::cpu::Cpu;
use crate::limits::Stop;
use crate::lines::{line_from, line_starts, non_vertical_steps, open_pairs, threats};
use crate::shape::Shape;
use crate::table::{Bound, Slot, Table};
use crate::windows::Interrupt;
use crate::word::Word;

/// Techniques that can be disabled for ablation and tests: a set of these bits is the search's
/// `OFF` parameter.
pub(crate) mod off {
    /// The bound by following up alone, for an even number of empty cells.
    pub(crate) const HOLD_NONE: u32 = 1 << 0;
    /// The bound by one held column, for an odd number of empty cells.
    pub(crate) const HOLD_ONE: u32 = 1 << 1;
    /// The bound by two held columns, for an even number of empty cells.
    pub(crate) const HOLD_TWO: u32 = 1 << 2;
    /// At most 0 for a side that has no possible line left.
    pub(crate) const NO_LINE_LEFT: u32 = 1 << 3;
    /// Cells above an owned threat count as out of reach.
    pub(crate) const CHEAP_TIMING: u32 = 1 << 4;
    /// Lines that would be completed too late, one by one.
    pub(crate) const LINE_TIMING: u32 = 1 << 5;
    /// Looking up all children in the table before searching one.
    pub(crate) const CHILD_TABLE: u32 = 1 << 6;
    pub(crate) const TABLE: u32 = 1 << 7;
    /// One table entry for a position and its mirror image.
    pub(crate) const MIRROR: u32 = 1 << 8;
    /// Playing out only moves: those where every other move loses at once.
    pub(crate) const ONLY_MOVES: u32 = 1 << 9;
    /// Ordering by the effects of a move, not only by its cell.
    pub(crate) const ORDER: u32 = 1 << 10;
    /// Ordering by open pairs.
    pub(crate) const PAIRS: u32 = 1 << 11;
    /// Alternating between steps and bisection; without it, steps from 0.
    pub(crate) const WINDOWS: u32 = 1 << 12;
}

/// A position in which the side to move has neither an immediate win nor a threat to block.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Quiet<B> {
    /// The discs of the side to move and of its opponent.
    own: B,
    opp: B,
    /// Empty cells that would complete a line.
    own_threats: B,
    opp_threats: B,
    /// The number of discs on the board.
    discs: u32,
}

impl<B: Word> Quiet<B> {
    /// The lowest and the highest possible score: either side wins with its second disc at the
    /// earliest, because some move stops the opponent from winning with its first.
    #[inline(always)]
    pub(crate) fn extremes<S: Shape<Bits = B>>(&self, shape: S) -> (i32, i32) {
        let left = (shape.size() - self.discs) as i32;
        (1 - (left >> 1), (left - 1) >> 1)
    }
}

/// A move followed by all the moves it forces.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Child<B> {
    quiet: Quiet<B>,
    slot: Slot<B>,
    order: i32,
    /// Bit index of the move's own cell.
    cell: u32,
    /// The side to move is the same as in the parent.
    same_side: bool,
}

/// A move with everything it forces, played out.
enum Expansion<B> {
    /// Decided, from the point of view of the side that made the move.
    Score(i32),
    Open(Child<B>),
}

impl<B: Word> Child<B> {
    /// The child's null window for a null window of its parent.
    #[inline(always)]
    fn window(&self, alpha: i32) -> i32 {
        if self.same_side { alpha } else { -alpha - 1 }
    }

    /// A score of the child from the parent's point of view.
    #[inline(always)]
    fn for_parent(&self, score: i32) -> i32 {
        if self.same_side { score } else { -score }
    }

    /// The lowest and the highest possible score from the parent's point of view.
    #[inline(always)]
    fn extremes<S: Shape<Bits = B>>(&self, shape: S) -> (i32, i32) {
        let (low, high) = self.quiet.extremes(shape);
        if self.same_side { (low, high) } else { (-high, -low) }
    }

    #[inline(always)]
    fn at_most<S: Shape<Bits = B>, C: Cpu, const OFF: u32>(&self, shape: S, alpha: i32) -> bool {
        let quiet = &self.quiet;
        let even = (shape.size() - quiet.discs).is_multiple_of(2);
        bounds::at_most::<S, C, OFF>(shape, quiet.own, quiet.opp, quiet.opp_threats, alpha, even)
    }
}

/// The search of one thread; all threads share the table.
pub(crate) struct Search<S: Shape, C: Cpu, const OFF: u32 = 0> {
    shape: S,
    /// Proves that the processor can run the search.
    _cpu: C,
    table: Arc<Table<S::Bits>>,
    searching: Option<Arc<CurrentlySearching>>,
    /// Space for the children of every node on the current path.
    stack: Vec<Child<S::Bits>>,
    /// By bit index, see [`cell_order`].
    cell_order: Vec<i32>,
    pub(crate) nodes: u64,
    /// The node count at which the search ends.
    end: u64,
    /// The node count at which the limits are checked next.
    checkpoint: u64,
    stop: Stop,
}

/// With fewer empty cells, searching is cheaper than a table look-up.
const TABLE_MIN_EMPTY: u32 = 5;
/// With fewer empty cells, ordering by pairs costs more than it saves.
const PAIRS_MIN_EMPTY: u32 = 12;
/// With fewer empty cells, children are not deferred to other threads.
const DEFER_MIN_EMPTY: u32 = 20;
/// A move score below this marks a child that another thread is searching.
const DEFERRED: i32 = -1_000_000;
/// Positions that took at least this many nodes are kept longer in the table.
const HARD_NODES: u64 = 60;
/// Nodes between two checks of clock and flag. A node takes 0.1 microseconds on the standard board,
/// and up to 20 on tall, narrow ones, where many moves are forced.
const POLL_INTERVAL: u64 = 128;

/// The starting point of a search.
pub(crate) enum Root<B> {
    /// Decided without search.
    Score(i32),
    /// The first position with a choice, and whether the side to move is the same.
    Quiet { quiet: Quiet<B>, same_side: bool },
}

impl<S: Shape, C: Cpu, const OFF: u32> Search<S, C, OFF> {
    pub(crate) fn new(
        shape: S,
        cpu: C,
        table: Arc<Table<S::Bits>>,
        searching: Option<Arc<CurrentlySearching>>,
    ) -> Self {
        let none = S::Bits::ZERO;
        let quiet = Quiet { own: none, opp: none, own_threats: none, opp_threats: none, discs: 0 };
        let blank = Child { quiet, slot: Slot::default(), order: 0, cell: 0, same_side: false };
        Search {
            shape,
            _cpu: cpu,
            table,
            searching,
            stack: vec![blank; ((shape.size() + 1) * shape.cols()) as usize],
            cell_order: cell_order(shape),
            nodes: 0,
            end: 0,
            checkpoint: 0,
            stop: Stop::default(),
        }
    }

    /// Plays forced moves from a position without a line, up to the first choice.
    pub(crate) fn root(&self, own: S::Bits, opp: S::Bits) -> Root<S::Bits> {
        C::root(self, own, opp)
    }

    #[inline(always)]
    pub(crate) fn root_body(&self, own: S::Bits, opp: S::Bits) -> Root<S::Bits> {
        let shape = self.shape;
        let discs = (own | opp).count();
        let left = (shape.size() - discs) as i32;
        let empty = shape.cells() & !(own | opp);
        let own_threats = threats::<S, C>(shape, own, empty);
        let opp_threats = threats::<S, C>(shape, opp, empty);
        let playable = shape.playable(own | opp);
        if (own_threats & playable).any() {
            return Root::Score((left + 1) / 2);
        }
        let forced = opp_threats & playable;
        let moves = if forced.any() { forced } else { playable };
        let safe = moves & !(opp_threats >> 1);
        if forced.without_lowest().any() || safe.is_empty() {
            return Root::Score(if left < 2 { 0 } else { -(left / 2) });
        }
        let quiet = Quiet { own, opp, own_threats, opp_threats, discs };
        if forced.is_empty() && left >= 2 {
            return Root::Quiet { quiet, same_side: true };
        }
        match self.play(&quiet, safe.lowest()) {
            Expansion::Score(score) => Root::Score(score),
            Expansion::Open(Child { quiet, same_side, .. }) => Root::Quiet { quiet, same_side },
        }
    }

    /// Searches a null window at the root with at most this many nodes; see [`Self::search_body`].
    pub(crate) fn probe(
        &mut self,
        root: &Quiet<S::Bits>,
        alpha: i32,
        nodes: u64,
        stop: Stop,
    ) -> Result<i32, Interrupt> {
        let slot = self.slot_of(root);
        if OFF & off::TABLE == 0
            && let Some(score) = self.table.get(slot).and_then(|bound| bound.decides(alpha))
        {
            return Ok(score);
        }
        self.end = self.nodes.saturating_add(nodes);
        self.checkpoint = self.nodes;
        self.stop = stop;
        let mut stack = std::mem::take(&mut self.stack);
        let found = C::search(self, root, slot, alpha, &mut stack);
        self.stack = stack;
        found
    }

    /// Ends the search, or sets the next checkpoint.
    #[cold]
    fn check_limits(&mut self) -> Result<(), Interrupt> {
        if self.nodes >= self.end {
            return Err(Interrupt::Budget);
        }
        if self.stop.is_requested() {
            return Err(Interrupt::Limit);
        }
        self.checkpoint = self.end.min(self.nodes + POLL_INTERVAL);
        Ok(())
    }

    /// A fail-soft bound on the score of the side to move: an upper bound if it
    /// is at most `alpha`, a lower bound if it is above.
    ///
    /// `slot` is that of the node, whose table entry does not decide the window;
    /// `stack` has room for the children of all nodes below.
    #[expect(clippy::too_many_lines, reason = "the steps are meant to be read in one go")]
    #[inline(always)]
    pub(crate) fn search_body(
        &mut self,
        node: &Quiet<S::Bits>,
        slot: Slot<S::Bits>,
        alpha: i32,
        stack: &mut [Child<S::Bits>],
    ) -> Result<i32, Interrupt> {
        if self.nodes >= self.checkpoint {
            self.check_limits()?;
        }
        self.nodes += 1;
        let shape = self.shape;
        let left = shape.size() - node.discs;
        let use_table = OFF & off::TABLE == 0 && left >= TABLE_MIN_EMPTY;
        let (children, deeper) = stack.split_at_mut(shape.cols() as usize);
        let mut count = 0;

        // 1. The worst case: the opponent wins with its next disc.
        let mut best = -((left / 2) as i32);

        // 2. Each move that does not let the opponent win at once, with all
        //    the moves it forces. Keep those that only a search can decide.
        let playable = shape.playable(node.own | node.opp);
        let mut moves = playable & !(node.opp_threats >> 1);
        while moves.any() {
            let cell = moves.lowest();
            moves = moves.without_lowest();
            let mut child = match self.play(node, cell) {
                Expansion::Open(child) => child,
                Expansion::Score(score) => {
                    if score > alpha {
                        return Ok(score);
                    }
                    best = best.max(score);
                    continue;
                }
            };
            // 2a. All possible scores are on one side of alpha.
            let (low, high) = child.extremes(shape);
            if low > alpha {
                return Ok(low);
            }
            if high <= alpha {
                best = best.max(high);
                continue;
            }
            // 2b. The opponent of the child's side to move has a proven strategy.
            if child.at_most::<S, C, OFF>(shape, child.window(alpha)) {
                if !child.same_side {
                    return Ok(alpha + 1);
                }
                best = best.max(alpha);
                continue;
            }
            if use_table {
                child.slot = self.slot_of(&child.quiet);
                self.table.prefetch(child.slot);
            }
            children[count] = child;
            count += 1;
        }

        // 3. Table look-ups of the children.
        if use_table && OFF & off::CHILD_TABLE == 0 {
            let mut index = 0;
            while index < count {
                let child = &children[index];
                match self
                    .table
                    .get(child.slot)
                    .and_then(|bound| bound.decides(child.window(alpha)))
                {
                    None => index += 1,
                    Some(score) => {
                        let score = child.for_parent(score);
                        if score > alpha {
                            self.table.put(slot, Bound::AtLeast(score), false);
                            return Ok(score);
                        }
                        best = best.max(score);
                        count -= 1;
                        children[index] = children[count];
                    }
                }
            }
        }

        // 4. Search the rest, best move score first. Children that other threads are searching come
        //    last.
        let children = &mut children[..count];
        if count > 1 {
            for child in children.iter_mut() {
                child.order = self.move_score(child, node.discs);
            }
        }
        let before = self.nodes;
        let mut next = 0;
        while next < count && best <= alpha {
            let first = (next + 1..count).fold(next, |first, other| {
                if children[other].order > children[first].order { other } else { first }
            });
            children.swap(next, first);
            let child = &mut children[next];
            let deferred = child.order < DEFERRED;
            if next > 0
                && !deferred
                && left >= DEFER_MIN_EMPTY
                && self.is_being_searched(child.slot)
            {
                child.order += 2 * DEFERRED;
                continue;
            }
            let window = child.window(alpha);
            let score = match self.recheck_table(child, window, deferred, use_table) {
                Some(score) => score,
                None => self.search_child(child, window, left, deeper)?,
            };
            best = best.max(child.for_parent(score));
            next += 1;
        }

        // 5. Store the result in the table.
        if use_table {
            let bound = if best > alpha { Bound::AtLeast(best) } else { Bound::AtMost(best) };
            self.table.put(slot, bound, self.nodes - before > HARD_NODES);
        }
        Ok(best)
    }

    /// The score of a child, if another thread has stored a bound since the child was generated.
    #[inline(always)]
    fn recheck_table(
        &self,
        child: &Child<S::Bits>,
        window: i32,
        deferred: bool,
        use_table: bool,
    ) -> Option<i32> {
        let recheck = deferred || OFF & off::CHILD_TABLE != 0;
        if recheck && use_table { self.table.get(child.slot)?.decides(window) } else { None }
    }

    /// Runs [`Self::search_body`] on a child, marked for the other threads if there are any.
    #[inline(always)]
    fn search_child(
        &mut self,
        child: &Child<S::Bits>,
        window: i32,
        left: u32,
        stack: &mut [Child<S::Bits>],
    ) -> Result<i32, Interrupt> {
        if left < DEFER_MIN_EMPTY || self.searching.is_none() {
            return C::search(self, &child.quiet, child.slot, window, stack);
        }
        let id = child.slot.id();
        self.searching.as_ref().inspect(|searching| searching.enter(id));
        let found = C::search(self, &child.quiet, child.slot, window, stack);
        self.searching.as_ref().inspect(|searching| searching.leave(id));
        found
    }

    #[inline(always)]
    fn is_being_searched(&self, slot: Slot<S::Bits>) -> bool {
        self.searching.as_ref().is_some_and(|searching| searching.contains(slot.id()))
    }

    /// Plays one safe move and then every forced one: a block, or the only move that does not lose
    /// at once.
    #[inline(always)]
    fn play(&self, node: &Quiet<S::Bits>, cell: S::Bits) -> Expansion<S::Bits> {
        let shape = self.shape;
        // `mover` has just moved; `replier` is to move and cannot win.
        let mut mover = node.own | cell;
        let mut replier = node.opp;
        let mut mover_threats = threats::<S, C>(shape, mover, shape.cells() & !(mover | replier));
        let mut replier_threats = node.opp_threats & !cell;
        let mut discs = node.discs + 1;
        let mut by_first = true;
        loop {
            let left = (shape.size() - discs) as i32;
            let playable = shape.playable(mover | replier);
            let blocks = mover_threats & playable;
            let safe = (if blocks.any() { blocks } else { playable }) & !(mover_threats >> 1);
            if safe.is_empty() || blocks.without_lowest().any() {
                // `mover` wins with its next disc, if there is room for one.
                let score = if left < 2 { 0 } else { left >> 1 };
                return Expansion::Score(if by_first { score } else { -score });
            }
            let choice = safe.without_lowest().any() || (OFF & off::ONLY_MOVES != 0 && left >= 2);
            if blocks.is_empty() && choice {
                break;
            }
            (mover, replier) = (replier | safe, mover);
            replier_threats = mover_threats & !safe;
            mover_threats = threats::<S, C>(shape, mover, shape.cells() & !(mover | replier));
            discs += 1;
            by_first = !by_first;
        }
        let (own_threats, opp_threats) = (replier_threats, mover_threats);
        let quiet = Quiet { own: replier, opp: mover, own_threats, opp_threats, discs };
        Expansion::Open(Child {
            quiet,
            slot: Slot::default(),
            order: 0,
            cell: cell.lowest_index(),
            same_side: !by_first,
        })
    }

    /// The move-ordering score of a child, for the side that moves into it.
    ///
    /// The weights were found by coordinate descent on node counts. Threats
    /// count most if they can be reached soon or are stacked, followed by
    /// those on the rows this side gets by parity.
    #[inline(always)]
    fn move_score(&self, child: &Child<S::Bits>, discs: u32) -> i32 {
        if OFF & off::ORDER != 0 {
            return self.cell_order[child.cell as usize];
        }
        let shape = self.shape;
        let quiet = &child.quiet;
        let playable = shape.playable(quiet.own | quiet.opp);
        let (me, them, mine, theirs) = if child.same_side {
            (quiet.own, quiet.opp, quiet.own_threats, quiet.opp_threats)
        } else {
            (quiet.opp, quiet.own, quiet.opp_threats, quiet.own_threats)
        };
        let useful = mine & !(theirs << 1);
        let count = |set: S::Bits| set.count() as i32;
        let leader_moves = (shape.size() - discs).is_multiple_of(2);
        let parity_rows = if leader_moves { !shape.follow_rows() } else { shape.follow_rows() };
        let chain = (quiet.discs - discs - 1) as i32;
        let choices = count(playable & !(quiet.opp_threats >> 1));
        105 * count(useful & (playable << 1))
            + 82 * count(useful & (playable << 2))
            + 50 * count(useful & (useful << 1))
            + 9 * count(useful)
            + 23 * count(useful & parity_rows)
            - 6 * count(theirs)
            - 5 * count(theirs & parity_rows)
            + 10 * chain
            + if child.same_side { 9 * choices } else { -8 * choices }
            + if OFF & off::PAIRS == 0 && shape.size() - discs >= PAIRS_MIN_EMPTY {
                let empty = shape.cells() & !(me | them);
                6 * (open_pairs::<S, C>(shape, me, empty) - open_pairs::<S, C>(shape, them, empty))
            } else {
                0
            }
            + self.cell_order[child.cell as usize]
    }

    #[inline(always)]
    fn slot_of(&self, quiet: &Quiet<S::Bits>) -> Slot<S::Bits> {
        // Filled cells plus own cells: the bits of each column identify its height and contents,
        // and mirroring swaps the columns.
        let key = (quiet.own | quiet.opp).plus(quiet.own);
        let canonical = if OFF & off::MIRROR == 0 { key.min(self.shape.mirror(key)) } else { key };
        self.table.slot(self.shape, canonical)
    }
}

/// The static move score of each cell: the lines through it and its distance from the centre.
fn cell_order<S: Shape>(shape: S) -> Vec<i32> {
    let mut order = vec![0i32; S::Bits::WIDTH as usize];
    let steps: Vec<u32> =
        non_vertical_steps(shape).chain((shape.connect() <= shape.rows()).then_some(1)).collect();
    for step in steps {
        let mut starts = line_starts(shape, shape.cells(), step);
        while starts.any() {
            let mut line = line_from(shape, starts.lowest(), step);
            starts = starts.without_lowest();
            while line.any() {
                order[line.lowest_index() as usize] += 2;
                line = line.without_lowest();
            }
        }
    }
    for col in 0..shape.cols() {
        let side = col.min(shape.cols() - 1 - col) as i32;
        let centre = (side * 7 - 6).max(0);
        for row in 0..shape.rows() {
            order[(col * shape.stride() + row) as usize] += centre + 2 * row as i32;
        }
    }
    order
}
