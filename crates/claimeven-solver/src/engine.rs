//! The search threads of one setup, which share a transposition table.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use claimeven_game::{AnySize, Bits, Fixed, Position, Ruleset, Setup, Standard, with_board};

use crate::Score;
use crate::abdada::CurrentlySearching;
#[cfg(target_arch = "x86_64")]
use crate::cpu::X86V3;
use crate::cpu::{Cpu, Portable};
use crate::limits::Stop;
use crate::search::{Quiet, Root, Search, off};
use crate::shape::Shape;
use crate::solver::{Bounds, Options};
use crate::table::Table;
use crate::windows::{Interrupt, Method, Windows};

/// The range, the first guess and the method of a search for a score.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Query {
    /// Scores outside the range count as its nearer end.
    pub(crate) range: [i32; 2],
    pub(crate) guess: i32,
    pub(crate) method: Method,
}

/// Solves positions of one setup.
pub(crate) trait Engine: Send {
    fn setup(&self) -> Setup;

    /// The bounds of an unfinished position's score, and the nodes searched. The search ends when
    /// the score is found, after `nodes` nodes, or when `stop` is requested.
    fn solve(
        &mut self,
        position: &Position,
        query: Query,
        nodes: u64,
        stop: &Stop,
    ) -> (Bounds, u64);

    fn clear(&mut self);

    /// The size of the transposition table, in bytes.
    fn memory(&self) -> usize;
}

/// The fastest engine for a setup: specialised for its size if that is a common one.
pub(crate) fn engine(setup: Setup, options: &Options) -> Box<dyn Engine> {
    fn boxed<S: Shape>(shape: S, options: &Options) -> Box<dyn Engine> {
        #[cfg(target_arch = "x86_64")]
        if !options.is_portable()
            && let Some(cpu) = X86V3::detect()
        {
            return Box::new(Searchers::<S, X86V3>::new(shape, cpu, options));
        }
        Box::new(Searchers::<S, Portable>::new(shape, Portable, options))
    }
    if setup.ruleset() == Ruleset::Standard {
        match (setup.cols(), setup.rows(), setup.connect()) {
            (7, 6, 4) => return boxed(Standard::default(), options),
            (8, 7, 4) => return boxed(Fixed::<8, 7, 4>, options),
            (6, 5, 4) => return boxed(Fixed::<6, 5, 4>, options),
            (5, 5, 4) => return boxed(Fixed::<5, 5, 4>, options),
            _ => {}
        }
    }
    match AnySize::<u64>::new(setup) {
        Some(rules) => boxed(rules, options),
        None => boxed(AnySize::<u128>::new(setup).expect("a setup has at most 128 bits"), options),
    }
}

/// One searcher per thread, with a shared table. `OFF` is the set of disabled techniques.
pub(crate) struct Searchers<S: Shape, C: Cpu, const OFF: u32 = 0> {
    shape: S,
    table: Arc<Table<S::Bits>>,
    searches: Vec<Search<S, C, OFF>>,
}

impl<S: Shape, C: Cpu, const OFF: u32> Searchers<S, C, OFF> {
    pub(crate) fn new(shape: S, cpu: C, options: &Options) -> Self {
        let threads = options.threads();
        let table = Arc::new(Table::new(shape, (options.table_mb() * threads) << 20));
        let searching = (threads > 1).then(|| Arc::new(CurrentlySearching::new()));
        let search = |_| Search::new(shape, cpu, Arc::clone(&table), searching.clone());
        Searchers { shape, searches: (0..threads).map(search).collect(), table }
    }

    fn nodes(&self) -> u64 {
        self.searches.iter().map(|search| search.nodes).sum()
    }

    /// Searches one null window with all threads until the first of them has the answer.
    fn probe_with_all(
        &mut self,
        quiet: &Quiet<S::Bits>,
        alpha: i32,
        nodes: u64,
        stop: &Stop,
    ) -> Result<i32, Interrupt> {
        let answered = Arc::new(AtomicBool::new(false));
        let nodes = nodes / self.searches.len() as u64;
        let probe = |search: &mut Search<S, C, OFF>| {
            let found = search.probe(quiet, alpha, nodes, stop.with_answered(&answered));
            if found.is_ok() {
                answered.store(true, Ordering::Relaxed);
            }
            found
        };
        thread::scope(|scope| {
            // The current thread searches as well; a thread that cannot be started is skipped.
            let (first, others) =
                self.searches.split_first_mut().expect("there is at least one thread");
            let start = |search| thread::Builder::new().spawn_scoped(scope, || probe(search)).ok();
            let threads: Vec<_> = others.iter_mut().filter_map(start).collect();
            let found = probe(first);
            let answers =
                threads.into_iter().map(|thread| thread.join().expect("a search does not panic"));
            answers.fold(found, Result::or)
        })
    }
}

impl<S: Shape, C: Cpu, const OFF: u32> Engine for Searchers<S, C, OFF> {
    fn setup(&self) -> Setup {
        self.shape.setup()
    }

    fn solve(
        &mut self,
        position: &Position,
        query: Query,
        nodes: u64,
        stop: &Stop,
    ) -> (Bounds, u64) {
        let Query { range, guess, method } = query;
        // 1. The first position with a choice, and who is to move there.
        let [own, other] =
            with_board!(position, board => [board.own().widen(), board.other().widen()]);
        let [own, other] = [own, other].map(S::Bits::truncate);
        let (root, sign) = match self.searches[0].root(own, other) {
            Root::Score(score) => return (Bounds::within(range, score, score), 0),
            Root::Quiet { quiet, same_side } => (quiet, if same_side { 1 } else { -1 }),
        };

        // 2. The requested range of scores.
        let [min, max] = if sign == 1 { range } else { [-range[1], -range[0]] };
        let (low, high) = root.extremes(self.shape);
        let mut windows = Windows::new(low.clamp(min, max), high.clamp(min, max), sign * guess);

        self.table.warm_up(stop);

        // 3. Null windows, searched by one thread while they are cheap and then by all.
        let before = self.nodes();
        let method = if OFF & off::WINDOWS == 0 { method } else { Method::Steps };
        windows.narrow(method, |alpha, budget| {
            let start = self.nodes();
            let allowed = nodes.saturating_sub(start - before);
            let nodes = allowed.min(*budget);
            let found = if self.searches.len() == 1 || *budget < u64::MAX {
                self.searches[0].probe(&root, alpha, nodes, stop.clone())
            } else {
                self.probe_with_all(&root, alpha, nodes, stop)
            };
            let ran_out = if allowed <= *budget { Interrupt::Limit } else { Interrupt::Budget };
            *budget = budget.saturating_sub(self.nodes() - start);
            found.map_err(|interrupt| match interrupt {
                Interrupt::Budget => ran_out,
                Interrupt::Limit => Interrupt::Limit,
            })
        });
        let (low, high) =
            if sign == 1 { (windows.low, windows.high) } else { (-windows.high, -windows.low) };
        (Bounds::within(range, low, high), self.nodes() - before)
    }

    fn clear(&mut self) {
        self.table.clear();
    }

    fn memory(&self) -> usize {
        self.table.memory()
    }
}

impl Bounds {
    fn within([min, max]: [i32; 2], low: i32, high: i32) -> Bounds {
        let score = |value: i32| Score::new(value.clamp(min, max));
        Bounds { low: score(low), high: score(high) }
    }
}
