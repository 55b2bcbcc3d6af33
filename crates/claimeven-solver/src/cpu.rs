//! The instruction set of the search, chosen at run time.
//!
//! The whole search is compiled twice: for any processor ([`Portable`]) and, on x86-64, for those
//! with AVX2, BMI and bit counting instructions ([`X86V3`], the level x86-64-v3). Everything below
//! the functions of [`Cpu`] is inlined into them, so it is compiled for the same instructions; they
//! are the only functions of the search that are not inlined.
//!
//! With `CLAIMEVEN_PORTABLE` in its environment, a program uses no vector instructions. All tests
//! also run in this mode.

use std::env;
use std::sync::LazyLock;

use crate::bounds::View;
use crate::search::{Child, Quiet, Root, Search};
use crate::shape::Shape;
use crate::table::Slot;
use crate::windows::Interrupt;

/// Whether this process uses only instructions that every processor of its kind has, because
/// `CLAIMEVEN_PORTABLE` is set in its environment.
pub fn is_portable() -> bool {
    static IS_PORTABLE: LazyLock<bool> =
        LazyLock::new(|| env::var_os("CLAIMEVEN_PORTABLE").is_some());
    *IS_PORTABLE
}

/// A kind of processor. A value of the type proves that the program runs on one.
pub(crate) trait Cpu: Copy + Send + Sync + 'static {
    /// Whether the vector code of `four.rs` can be used.
    const AVX2: bool;

    /// See [`Search::search_body`].
    fn search<S: Shape, const OFF: u32>(
        search: &mut Search<S, Self, OFF>,
        node: &Quiet<S::Bits>,
        slot: Slot<S::Bits>,
        alpha: i32,
        stack: &mut [Child<S::Bits>],
    ) -> Result<i32, Interrupt>;

    /// See [`Search::root_body`].
    fn root<S: Shape, const OFF: u32>(
        search: &Search<S, Self, OFF>,
        own: S::Bits,
        opp: S::Bits,
    ) -> Root<S::Bits>;

    /// See [`View::hold_two_body`].
    fn hold_two<S: Shape, const OFF: u32>(
        view: &View<S, Self, OFF>,
        held: S::Bits,
        alpha: i32,
    ) -> bool;

    /// See [`View::each_line_late_body`].
    fn each_line_late<S: Shape, const OFF: u32>(
        view: &View<S, Self, OFF>,
        reach: S::Bits,
        owned: S::Bits,
    ) -> bool;
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct Portable;

impl Cpu for Portable {
    const AVX2: bool = false;

    #[inline(never)]
    fn search<S: Shape, const OFF: u32>(
        search: &mut Search<S, Self, OFF>,
        node: &Quiet<S::Bits>,
        slot: Slot<S::Bits>,
        alpha: i32,
        stack: &mut [Child<S::Bits>],
    ) -> Result<i32, Interrupt> {
        search.search_body(node, slot, alpha, stack)
    }

    #[inline(never)]
    fn root<S: Shape, const OFF: u32>(
        search: &Search<S, Self, OFF>,
        own: S::Bits,
        opp: S::Bits,
    ) -> Root<S::Bits> {
        search.root_body(own, opp)
    }

    #[inline(never)]
    fn hold_two<S: Shape, const OFF: u32>(
        view: &View<S, Self, OFF>,
        held: S::Bits,
        alpha: i32,
    ) -> bool {
        view.hold_two_body(held, alpha)
    }

    #[inline(never)]
    fn each_line_late<S: Shape, const OFF: u32>(
        view: &View<S, Self, OFF>,
        reach: S::Bits,
        owned: S::Bits,
    ) -> bool {
        view.each_line_late_body(reach, owned)
    }
}

#[cfg(target_arch = "x86_64")]
pub(crate) use x86::X86V3;

#[cfg(target_arch = "x86_64")]
mod x86 {
    #![allow(unsafe_code, reason = "instructions that not every processor has cannot be safe")]

    use super::{Child, Cpu, Interrupt, Quiet, Root, Search, Shape, Slot, View, is_portable};

    /// An x86-64 processor with AVX2, BMI1, BMI2, LZCNT and POPCNT.
    #[derive(Clone, Copy, Debug)]
    pub(crate) struct X86V3(());

    impl X86V3 {
        /// `None` if the processor lacks one of the instruction sets.
        pub(crate) fn detect() -> Option<X86V3> {
            let has_all = !is_portable()
                && is_x86_feature_detected!("avx2")
                && is_x86_feature_detected!("bmi1")
                && is_x86_feature_detected!("bmi2")
                && is_x86_feature_detected!("lzcnt")
                && is_x86_feature_detected!("popcnt");
            has_all.then_some(X86V3(()))
        }
    }

    // SAFETY (all calls below): a `Search` or `View` of this `Cpu` exists only where a value of
    // `X86V3` does, and only `detect` makes one.
    impl Cpu for X86V3 {
        const AVX2: bool = true;

        #[inline(always)]
        fn search<S: Shape, const OFF: u32>(
            search: &mut Search<S, Self, OFF>,
            node: &Quiet<S::Bits>,
            slot: Slot<S::Bits>,
            alpha: i32,
            stack: &mut [Child<S::Bits>],
        ) -> Result<i32, Interrupt> {
            unsafe { search_v3(search, node, slot, alpha, stack) }
        }

        #[inline(always)]
        fn root<S: Shape, const OFF: u32>(
            search: &Search<S, Self, OFF>,
            own: S::Bits,
            opp: S::Bits,
        ) -> Root<S::Bits> {
            unsafe { root_v3(search, own, opp) }
        }

        #[inline(always)]
        fn hold_two<S: Shape, const OFF: u32>(
            view: &View<S, Self, OFF>,
            held: S::Bits,
            alpha: i32,
        ) -> bool {
            unsafe { hold_two_v3(view, held, alpha) }
        }

        #[inline(always)]
        fn each_line_late<S: Shape, const OFF: u32>(
            view: &View<S, Self, OFF>,
            reach: S::Bits,
            owned: S::Bits,
        ) -> bool {
            unsafe { each_line_late_v3(view, reach, owned) }
        }
    }

    #[inline(never)]
    #[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
    fn search_v3<S: Shape, const OFF: u32>(
        search: &mut Search<S, X86V3, OFF>,
        node: &Quiet<S::Bits>,
        slot: Slot<S::Bits>,
        alpha: i32,
        stack: &mut [Child<S::Bits>],
    ) -> Result<i32, Interrupt> {
        search.search_body(node, slot, alpha, stack)
    }

    #[inline(never)]
    #[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
    fn root_v3<S: Shape, const OFF: u32>(
        search: &Search<S, X86V3, OFF>,
        own: S::Bits,
        opp: S::Bits,
    ) -> Root<S::Bits> {
        search.root_body(own, opp)
    }

    #[inline(never)]
    #[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
    fn hold_two_v3<S: Shape, const OFF: u32>(
        view: &View<S, X86V3, OFF>,
        held: S::Bits,
        alpha: i32,
    ) -> bool {
        view.hold_two_body(held, alpha)
    }

    #[inline(never)]
    #[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
    fn each_line_late_v3<S: Shape, const OFF: u32>(
        view: &View<S, X86V3, OFF>,
        reach: S::Bits,
        owned: S::Bits,
    ) -> bool {
        view.each_line_late_body(reach, owned)
    }
}
