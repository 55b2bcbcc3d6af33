//! Lines of four on boards of one 64-bit word with AVX2: all four directions at once, one per
//! 64-bit lane of a vector.
//!
//! These functions compute what those of [`crate::lines`] with the same names do; see there. They
//! are inlined into a search that is compiled for AVX2 (`cpu.rs`).

#![allow(unsafe_code, reason = "the intrinsics have no safe form, and save a fifth of the work")]
#![allow(clippy::wildcard_imports, reason = "intrinsics are recognisable by their names")]
#![allow(clippy::cast_sign_loss, reason = "the intrinsics take bits as signed numbers")]

use std::arch::x86_64::*;

// SAFETY (all functions and blocks below): the caller ensures that the processor has AVX2, and none
// of these intrinsics accesses memory.

#[inline(always)]
unsafe fn steps(stride: u32, times: i64) -> __m256i {
    let stride = i64::from(stride);
    unsafe { _mm256_set_epi64x(times, times * (stride - 1), times * stride, times * (stride + 1)) }
}

#[inline(always)]
pub(crate) unsafe fn has_line(set: u64, stride: u32) -> bool {
    unsafe {
        let set = _mm256_set1_epi64x(set as i64);
        let pairs = _mm256_and_si256(set, _mm256_srlv_epi64(set, steps(stride, 1)));
        let fours = _mm256_srlv_epi64(pairs, steps(stride, 2));
        _mm256_testz_si256(pairs, fours) == 0
    }
}

/// Not limited to empty cells.
#[inline(always)]
pub(crate) unsafe fn threats(own: u64, stride: u32) -> u64 {
    unsafe {
        let (one, three) = (steps(stride, 1), steps(stride, 3));
        let own = _mm256_set1_epi64x(own as i64);
        let before1 = _mm256_sllv_epi64(own, one);
        let after1 = _mm256_srlv_epi64(own, one);
        let before2 = _mm256_sllv_epi64(_mm256_and_si256(before1, own), one);
        let after2 = _mm256_srlv_epi64(_mm256_and_si256(after1, own), one);
        let third_before = _mm256_sllv_epi64(own, three);
        let third_after = _mm256_srlv_epi64(own, three);
        let found = _mm256_or_si256(
            _mm256_and_si256(before2, _mm256_or_si256(third_before, after1)),
            _mm256_and_si256(after2, _mm256_or_si256(third_after, before1)),
        );
        let half =
            _mm_or_si128(_mm256_castsi256_si128(found), _mm256_extracti128_si256::<1>(found));
        let quarter = _mm_or_si128(half, _mm_unpackhi_epi64(half, half));
        _mm_cvtsi128_si64(quarter) as u64
    }
}

#[inline(always)]
pub(crate) unsafe fn open_pairs(own: u64, empty: u64, stride: u32) -> u32 {
    unsafe {
        let (one, two) = (steps(stride, 1), steps(stride, 2));
        let own = _mm256_set1_epi64x(own as i64);
        let empty = _mm256_set1_epi64x(empty as i64);
        let (o1, e1) = (_mm256_srlv_epi64(own, one), _mm256_srlv_epi64(empty, one));
        let own_pair = _mm256_and_si256(own, o1);
        let empty_pair = _mm256_and_si256(empty, e1);
        let mixed = _mm256_or_si256(_mm256_and_si256(own, e1), _mm256_and_si256(empty, o1));
        let found = _mm256_or_si256(
            _mm256_and_si256(mixed, _mm256_srlv_epi64(mixed, two)),
            _mm256_or_si256(
                _mm256_and_si256(own_pair, _mm256_srlv_epi64(empty_pair, two)),
                _mm256_and_si256(empty_pair, _mm256_srlv_epi64(own_pair, two)),
            ),
        );
        let high = _mm256_extracti128_si256::<1>(found);
        let low = _mm256_castsi256_si128(found);
        // The upper lane of `high` is the vertical direction.
        (_mm_cvtsi128_si64(low) as u64).count_ones()
            + (_mm_cvtsi128_si64(_mm_unpackhi_epi64(low, low)) as u64).count_ones()
            + (_mm_cvtsi128_si64(high) as u64).count_ones()
    }
}
