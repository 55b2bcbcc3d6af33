//! Finding a score by a series of null-window searches.
//!
//! A null window at `alpha` asks whether the score is above `alpha`. In short games windows far
//! from the score are cheap and bisection is fastest; in long games only the windows next to the
//! score are affordable. Which case applies is unknown beforehand, so both methods alternate within
//! a growing node budget: steps from the best guess (MTD(f)), and bisection between the guess and
//! either end of the possible range. The scores of all columns of a position are found by steps
//! alone, which takes fewer nodes in positions of random games.

/// The node budget of the first round, its growth per round, and the number of rounds.
const FIRST_BUDGET: u64 = 100;
const BUDGET_GROWTH: u64 = 8;
const BUDGET_ROUNDS: u32 = 3;

/// How the windows are chosen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Method {
    /// Steps and bisection in turn, then steps.
    Alternate,
    /// Steps only.
    Steps,
}

/// Why a null-window search ended without an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Interrupt {
    /// The node budget of the round is used up.
    Budget,
    /// A limit ended the whole search.
    Limit,
}

/// The range of possible scores, and the best guess within it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Windows {
    pub(crate) low: i32,
    pub(crate) high: i32,
    guess: i32,
}

impl Windows {
    pub(crate) fn new(low: i32, high: i32, guess: i32) -> Windows {
        Windows { low, high, guess }
    }

    /// Narrows the range down to one score, or as far as possible before a limit ends `probe`.
    ///
    /// `probe` searches one null window. It gets `alpha` and the remaining node budget, from which
    /// it subtracts its nodes, and returns an upper bound that is at most `alpha` or a lower bound
    /// above it (fail-soft).
    pub(crate) fn narrow(
        &mut self,
        method: Method,
        mut probe: impl FnMut(i32, &mut u64) -> Result<i32, Interrupt>,
    ) {
        let mut budget = FIRST_BUDGET;
        let rounds = if method == Method::Steps { 0 } else { BUDGET_ROUNDS };
        for _ in 0..rounds {
            for method in [Windows::step, Windows::bisect] {
                let mut left = budget;
                match method(self, &mut |alpha| probe(alpha, &mut left)) {
                    Ok(()) | Err(Interrupt::Limit) => return,
                    Err(Interrupt::Budget) => {}
                }
            }
            budget *= BUDGET_GROWTH;
        }
        // If a limit stops this, the range has the bounds found so far.
        let _ = self.step(&mut |alpha| probe(alpha, &mut { u64::MAX }));
    }

    /// Steps from the guess towards the score, one null window at a time.
    fn step(
        &mut self,
        probe: &mut dyn FnMut(i32) -> Result<i32, Interrupt>,
    ) -> Result<(), Interrupt> {
        while self.low < self.high {
            let alpha = self.guess.clamp(self.low, self.high - 1);
            let found = probe(alpha)?;
            self.update(alpha, found);
            self.guess = if found > alpha { found } else { found - 1 };
        }
        Ok(())
    }

    /// Bisects the range on both sides of the guess in turn.
    fn bisect(
        &mut self,
        probe: &mut dyn FnMut(i32) -> Result<i32, Interrupt>,
    ) -> Result<(), Interrupt> {
        let mut upper = true;
        while self.low < self.high {
            let middle = self.guess.clamp(self.low, self.high - 1);
            let alpha = if upper {
                middle + (self.high - middle) / 2
            } else {
                middle - (middle - self.low + 1) / 2
            };
            let alpha = alpha.clamp(self.low, self.high - 1);
            let found = probe(alpha)?;
            self.update(alpha, found);
            // The score is on the far side of the probe.
            if upper == (found > alpha) {
                self.guess = (self.low + self.high).div_euclid(2);
            }
            upper = !upper;
        }
        Ok(())
    }

    fn update(&mut self, alpha: i32, found: i32) {
        if found > alpha {
            self.low = self.low.max(found).min(self.high);
        } else {
            self.high = self.high.min(found).max(self.low);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every score of every range is found with any budget.
    #[test]
    fn every_score_is_found() {
        for (low, high) in [(-21, 21), (-3, 3), (-1, 1), (0, 5), (-7, -2), (4, 4)] {
            for score in low..=high {
                for (cost, guess) in [(1, 0), (30, 0), (300, low), (3000, high), (30, -25), (1, 25)]
                {
                    for method in [Method::Alternate, Method::Steps] {
                        let mut windows = Windows::new(low, high, guess);
                        windows.narrow(method, |alpha, budget| {
                            *budget = budget.checked_sub(cost).ok_or(Interrupt::Budget)?;
                            Ok(if score > alpha { alpha + 1 } else { alpha })
                        });
                        assert_eq!((windows.low, windows.high), (score, score));
                    }
                }
            }
        }
    }

    #[test]
    fn a_limit_leaves_bounds() {
        let mut windows = Windows::new(-21, 21, 0);
        let mut probes = 3;
        windows.narrow(Method::Alternate, |alpha, _| {
            probes -= 1;
            if probes == 0 {
                Err(Interrupt::Limit)
            } else {
                Ok(if 5 > alpha { alpha + 1 } else { alpha })
            }
        });
        assert!(windows.low <= 5 && 5 <= windows.high && windows.low > -21, "{windows:?}");
    }
}
