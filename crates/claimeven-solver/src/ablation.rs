//! The search without one technique, to measure its effect and to check that it changes no score.

use claimeven_game::{AnySize, Position, Setup, Standard};

use crate::Score;
use crate::cpu::Portable;
#[cfg(target_arch = "x86_64")]
use crate::cpu::X86V3;
use crate::engine::{Engine, Query, Searchers};
use crate::limits::Stop;
use crate::search::off;
use crate::solver::Options;
use crate::windows::Method;

macro_rules! techniques {
    ($($name:literal: $flag:ident,)*) => {
        /// The names of the techniques that can be left out.
        pub const TECHNIQUES: &[&str] = &[$($name),*];

        fn engine(setup: Setup, technique: &str, options: &Options) -> Option<Box<dyn Engine>> {
            match technique {
                $($name => Some(engine_without::<{ off::$flag }>(setup, options)),)*
                _ => None,
            }
        }
    };
}

techniques! {
    "following up": HOLD_NONE,
    "holding one column": HOLD_ONE,
    "holding two columns": HOLD_TWO,
    "no line left": NO_LINE_LEFT,
    "cheap timing": CHEAP_TIMING,
    "timing of lines": LINE_TIMING,
    "table look-ups of children": CHILD_TABLE,
    "transposition table": TABLE,
    "mirror images": MIRROR,
    "only moves played out": ONLY_MOVES,
    "ordering": ORDER,
    "ordering by pairs": PAIRS,
    "windows": WINDOWS,
}

fn engine_without<const OFF: u32>(setup: Setup, options: &Options) -> Box<dyn Engine> {
    if setup == Setup::STANDARD {
        let rules = Standard::default();
        #[cfg(target_arch = "x86_64")]
        if let Some(cpu) = X86V3::detect() {
            return Box::new(Searchers::<_, _, OFF>::new(rules, cpu, options));
        }
        return Box::new(Searchers::<_, _, OFF>::new(rules, Portable, options));
    }
    let rules = AnySize::<u128>::new(setup).expect("a setup has at most 128 bits");
    Box::new(Searchers::<_, _, OFF>::new(rules, Portable, options))
}

/// A solver without one technique and without books.
pub struct Ablated {
    engine: Box<dyn Engine>,
    nodes: u64,
}

impl Ablated {
    /// A solver for positions of a setup; `None` if the technique is unknown.
    pub fn new(setup: Setup, technique: &str, options: &Options) -> Option<Ablated> {
        Some(Ablated { engine: engine(setup, technique, options)?, nodes: 0 })
    }

    /// The score of a position, if it takes no more than this many nodes.
    pub fn score(&mut self, position: &Position, nodes: u64) -> Option<Score> {
        if position.setup() != self.engine.setup() {
            return None;
        }
        if let Some(score) = Score::of_finished(position) {
            return Some(score);
        }
        let max = position.setup().cells() as i32;
        let query = Query { range: [-max, max], guess: 0, method: Method::Alternate };
        let (bounds, nodes) = self.engine.solve(position, query, nodes, &Stop::default());
        self.nodes += nodes;
        bounds.exact()
    }

    /// The number of nodes searched so far.
    pub fn nodes(&self) -> u64 {
        self.nodes
    }

    /// Forgets the results of earlier searches.
    pub fn clear(&mut self) {
        self.engine.clear();
    }
}
