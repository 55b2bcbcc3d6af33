//! Lines of `connect` cells, found for the whole board at once by shifting.

#![allow(unsafe_code, reason = "the vector code runs only on processors with AVX2")]

use claimeven_game::Bits;

use crate::cpu::Cpu;
use crate::shape::Shape;
use crate::word::Word;

/// Whether the set contains a line.
#[inline(always)]
pub(crate) fn has_line<S: Shape, C: Cpu>(shape: S, set: S::Bits) -> bool {
    #[cfg(target_arch = "x86_64")]
    if C::AVX2 && S::Bits::WIDTH == 64 && shape.connect() == 4 {
        // SAFETY: the search runs on a processor with AVX2.
        return unsafe { crate::four::has_line(set.low_u64(), shape.stride()) };
    }
    (vertical_lines(shape, set) | over_non_vertical(shape, |step| line_starts(shape, set, step)))
        .any()
}

/// Whether the set contains a line that is not vertical.
#[inline(always)]
pub(crate) fn has_non_vertical_line<S: Shape>(shape: S, set: S::Bits) -> bool {
    over_non_vertical(shape, |step| line_starts(shape, set, step)).any()
}

/// The empty cells that would complete a line of `own`.
///
/// For each direction let `before[i]` be the cells with `i` own discs just
/// before them and `after[i]` those with `i` just after. A cell completes a
/// line when some `i` before and `connect - 1 - i` after are own. Vertically
/// nothing is ever after an empty cell.
#[inline(always)]
pub(crate) fn threats<S: Shape, C: Cpu>(shape: S, own: S::Bits, empty: S::Bits) -> S::Bits {
    #[cfg(target_arch = "x86_64")]
    if C::AVX2 && S::Bits::WIDTH == 64 && shape.connect() == 4 {
        // SAFETY: the search runs on a processor with AVX2.
        let threats = unsafe { crate::four::threats(own.low_u64(), shape.stride()) };
        return S::Bits::truncate(threats.into()) & empty;
    }
    let missing = shape.connect() - 1;
    let mut found = S::Bits::ZERO;
    if shape.connect() <= shape.rows() {
        let mut below = own << 1;
        for _ in 1..missing {
            below = (below & own) << 1;
        }
        found |= below;
    }
    found |= over_non_vertical(
        shape,
        #[inline(always)]
        |step| {
            if shape.connect() == 4 {
                let (before1, after1) = (own << step, own >> step);
                let (before2, after2) = ((before1 & own) << step, (after1 & own) >> step);
                let (before3, after3) =
                    (before2 & (own << (3 * step)), after2 & (own >> (3 * step)));
                return before3 | after3 | (before2 & after1) | (before1 & after2);
            }
            let mut completed = S::Bits::ZERO;
            for before in 0..=missing {
                let mut cells = !S::Bits::ZERO;
                for distance in 1..=before {
                    cells &= own << (distance * step);
                }
                for distance in 1..=missing - before {
                    cells &= own >> (distance * step);
                }
                completed |= cells;
            }
            completed
        },
    );
    found & empty
}

/// The number of non-vertical lines of four with two cells of `own` and two `empty` ones; 0 for
/// other lengths.
#[inline(always)]
pub(crate) fn open_pairs<S: Shape, C: Cpu>(shape: S, own: S::Bits, empty: S::Bits) -> i32 {
    if shape.connect() != 4 {
        return 0;
    }
    let stride = shape.stride();
    #[cfg(target_arch = "x86_64")]
    if C::AVX2 && S::Bits::WIDTH == 64 {
        // SAFETY: the search runs on a processor with AVX2.
        return unsafe { crate::four::open_pairs(own.low_u64(), empty.low_u64(), stride) } as i32;
    }
    // On narrower boards, three steps to the right may exceed the width of a word.
    if shape.cols() < 4 {
        return 0;
    }
    let mut total = 0;
    for step in [stride - 1, stride, stride + 1] {
        let (o1, o2, o3) = (own >> step, own >> (2 * step), own.shifted_down(3 * step));
        let (e1, e2, e3) = (empty >> step, empty >> (2 * step), empty.shifted_down(3 * step));
        let near = (own & o1 & e2 & e3) | (empty & e1 & o2 & o3);
        let far = ((own & e1) | (empty & o1)) & ((o2 & e3) | (e2 & o3));
        total += (near | far).count() as i32;
    }
    total
}

/// The first cells of the lines in the set along one direction.
#[inline(always)]
pub(crate) fn line_starts<S: Shape>(shape: S, set: S::Bits, step: u32) -> S::Bits {
    let mut starts = set;
    let mut length = 1;
    while length < shape.connect() {
        let more = length.min(shape.connect() - length);
        starts &= starts >> (more * step);
        length += more;
    }
    starts
}

#[inline(always)]
pub(crate) fn vertical_lines<S: Shape>(shape: S, set: S::Bits) -> S::Bits {
    if shape.connect() <= shape.rows() { line_starts(shape, set, 1) } else { S::Bits::ZERO }
}

/// The union of `find` over the shifts of falling, horizontal and rising lines; directions in which
/// the board is too small for a line are skipped.
#[inline(always)]
pub(crate) fn over_non_vertical<S: Shape>(shape: S, find: impl Fn(u32) -> S::Bits) -> S::Bits {
    let stride = shape.stride();
    let mut found = S::Bits::ZERO;
    if shape.connect() <= shape.cols() {
        found |= find(stride);
        if shape.connect() <= shape.rows() {
            found |= find(stride - 1);
            found |= find(stride + 1);
        }
    }
    found
}

/// The shifts of [`over_non_vertical`].
pub(crate) fn non_vertical_steps<S: Shape>(shape: S) -> impl Iterator<Item = u32> {
    let stride = shape.stride();
    let fits = shape.connect() <= shape.cols();
    let diagonal = fits && shape.connect() <= shape.rows();
    [(stride - 1, diagonal), (stride, fits), (stride + 1, diagonal)]
        .into_iter()
        .filter_map(|(step, exists)| exists.then_some(step))
}

/// The cells of the line that starts at `start`.
#[inline(always)]
pub(crate) fn line_from<S: Shape>(shape: S, start: S::Bits, step: u32) -> S::Bits {
    let mut line = start;
    for _ in 1..shape.connect() {
        line |= line << step;
    }
    line
}

/// The cells below a line that is not vertical, in its own columns.
///
/// ```text
///   . . . . L .
///   . . . L x .
///   . . L x x .
///   . L x x x .
///   . x x x x .
/// ```
#[inline(always)]
pub(crate) fn below_line<S: Shape>(shape: S, start: S::Bits, line: S::Bits) -> S::Bits {
    let shift = start.lowest_index() / shape.stride() * shape.stride();
    let span = shape.connect() * shape.stride();
    let bottoms = if span >= S::Bits::WIDTH {
        shape.bottom()
    } else {
        shape.bottom() & (S::Bits::ONE << span).minus(S::Bits::ONE)
    };
    line.minus(bottoms << shift)
}

#[cfg(test)]
mod tests {
    use claimeven_game::{AnySize, Rules, Ruleset, Setup};

    use super::*;
    use crate::cpu::Portable;
    #[cfg(target_arch = "x86_64")]
    use crate::cpu::X86V3;

    /// Random sets of cells on every board of at most 64 bits, with lines of two to six cells.
    fn for_each_set(mut check: impl FnMut(AnySize<u64>, u64, u64)) {
        let mut random = fastrand::Rng::with_seed(11);
        for cols in 1..=Setup::MAX_SIDE {
            for rows in 1..=Setup::MAX_SIDE {
                for connect in 2..=6 {
                    let Ok(setup) = Setup::new(cols, rows, connect, Ruleset::Standard) else {
                        continue;
                    };
                    let Some(rules) = AnySize::<u64>::new(setup) else { continue };
                    for _ in 0..20 {
                        // Half of the cells, or three quarters, so that long lines occur.
                        let half = random.u64(..);
                        let filled = rules.cells() & (half | (random.u64(..) & random.u64(..)));
                        let empty = rules.cells() & !filled & random.u64(..);
                        // No disc rests on an empty cell.
                        check(rules, filled & !(empty << 1), empty);
                    }
                }
            }
        }
    }

    #[test]
    fn the_portable_code_agrees_with_the_rules() {
        let mut lines = 0;
        for_each_set(|rules, own, empty| {
            let setup = rules.setup();
            assert_eq!(has_line::<_, Portable>(rules, own), rules.has_line(own), "{setup}");
            assert_eq!(
                threats::<_, Portable>(rules, own, empty),
                rules.threats(own) & empty,
                "{setup}"
            );
            lines += u32::from(rules.has_line(own));
        });
        assert!(lines > 1000, "{lines} sets hold a line");
    }

    #[test]
    #[cfg(target_arch = "x86_64")]
    fn the_vector_code_agrees_with_the_portable_code() {
        if X86V3::detect().is_none() {
            eprintln!("SKIPPED: this processor has no AVX2");
            return;
        }
        let mut pairs = 0;
        for_each_set(|rules, own, empty| {
            let setup = rules.setup();
            assert_eq!(has_line::<_, X86V3>(rules, own), has_line::<_, Portable>(rules, own));
            assert_eq!(
                threats::<_, X86V3>(rules, own, empty),
                threats::<_, Portable>(rules, own, empty),
                "{setup}"
            );
            let found = open_pairs::<_, Portable>(rules, own, empty);
            assert_eq!(open_pairs::<_, X86V3>(rules, own, empty), found, "{setup}");
            pairs += found;
        });
        assert!(pairs > 1000, "{pairs} open pairs");
    }
}
