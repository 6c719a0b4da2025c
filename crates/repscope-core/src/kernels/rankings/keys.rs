// SPDX-License-Identifier: MIT
//! A target and its f32 similarity in one number.

/// A key that sorts by value descending, then by row ascending.
#[inline(always)]
pub(super) fn key_of(value: f32, row: u32) -> u64 {
    // Adding 0 turns −0 into 0. Flipping all bits of a negative number, and the sign of a positive one, makes bits order
    // like numbers; flipping all of that turns the order round.
    let bits = (value + 0.0).to_bits();
    let ascending = bits ^ (((bits as i32 >> 31) as u32) | 0x8000_0000);
    u64::from(!ascending) << 32 | u64::from(row)
}

pub(super) fn row_of(key: u64) -> u32 {
    key as u32
}

pub(super) fn value_of(key: u64) -> f32 {
    let ascending = !((key >> 32) as u32);
    let mask = if ascending & 0x8000_0000 == 0 {
        u32::MAX
    } else {
        0x8000_0000
    };
    f32::from_bits(ascending ^ mask)
}

/// The largest f32 not above `x`.
pub(super) fn down(x: f64) -> f32 {
    let rounded = x as f32;
    if f64::from(rounded) > x {
        rounded.next_down()
    } else {
        rounded
    }
}
