// SPDX-License-Identifier: MIT
//! Numbers as files store them, and how each kind becomes [`Data`].

use std::io::Read;

use half::{bf16, f16};

use crate::array::Data;
use crate::error::{Parsed, bail};
use crate::memory;

/// The stored kind of a number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Element {
    Bool,
    I8,
    U8,
    I16,
    U16,
    I32,
    U32,
    I64,
    U64,
    F16,
    BF16,
    F32,
    F64,
}

/// Which byte of a number comes first.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ByteOrder {
    Little,
    Big,
}

impl Element {
    pub(crate) fn bytes(self) -> usize {
        match self {
            Element::Bool | Element::I8 | Element::U8 => 1,
            Element::I16 | Element::U16 | Element::F16 | Element::BF16 => 2,
            Element::I32 | Element::U32 | Element::F32 => 4,
            Element::I64 | Element::U64 | Element::F64 => 8,
        }
    }

    pub(crate) fn name(self) -> &'static str {
        match self {
            Element::Bool => "bool",
            Element::I8 => "i8",
            Element::U8 => "u8",
            Element::I16 => "i16",
            Element::U16 => "u16",
            Element::I32 => "i32",
            Element::U32 => "u32",
            Element::I64 => "i64",
            Element::U64 => "u64",
            Element::F16 => "f16",
            Element::BF16 => "bf16",
            Element::F32 => "f32",
            Element::F64 => "f64",
        }
    }

    /// Reads `count` numbers. The caller has compared `count` with the available bytes.
    pub(crate) fn read(self, from: &mut impl Read, order: ByteOrder, count: usize) -> Parsed<Data> {
        Ok(match self {
            Element::Bool => Data::Bool(collect(from, order, count, |[b]: [u8; 1]| b != 0)?),
            Element::I8 => Data::f32(collect(from, order, count, |b| f32::from(i8::from_le_bytes(b)))?),
            Element::U8 => Data::u8(collect(from, order, count, u8::from_le_bytes)?),
            Element::I16 => Data::f32(collect(from, order, count, |b| f32::from(i16::from_le_bytes(b)))?),
            Element::U16 => Data::f32(collect(from, order, count, |b| f32::from(u16::from_le_bytes(b)))?),
            Element::F16 => Data::f32(collect(from, order, count, |b| f32::from(f16::from_le_bytes(b)))?),
            Element::BF16 => Data::f32(collect(from, order, count, |b| f32::from(bf16::from_le_bytes(b)))?),
            Element::F32 => Data::f32(collect(from, order, count, f32::from_le_bytes)?),
            Element::I32 => Data::f64(collect(from, order, count, |b| f64::from(i32::from_le_bytes(b)))?),
            Element::U32 => Data::f64(collect(from, order, count, |b| f64::from(u32::from_le_bytes(b)))?),
            Element::F64 => Data::f64(collect(from, order, count, f64::from_le_bytes)?),
            Element::I64 => Data::I64(collect(from, order, count, i64::from_le_bytes)?),
            Element::U64 => Data::U64(collect(from, order, count, u64::from_le_bytes)?),
        })
    }
}

/// Reads numbers of `W` bytes a block at a time, so that the bytes are never held beside the numbers.
fn collect<const W: usize, T>(
    from: &mut impl Read,
    order: ByteOrder,
    count: usize,
    convert: impl Fn([u8; W]) -> T,
) -> Parsed<Vec<T>> {
    const BLOCK: usize = 16 * 1024;
    let mut values = reserve(count)?;
    let mut block = vec![0; BLOCK.min(count) * W];
    while values.len() < count {
        let now = BLOCK.min(count - values.len());
        let bytes = &mut block[..now * W];
        from.read_exact(bytes)?;
        if order == ByteOrder::Big {
            bytes.chunks_exact_mut(W).for_each(<[u8]>::reverse);
        }
        values.extend(bytes.as_chunks::<W>().0.iter().map(|b| convert(*b)));
    }
    Ok(values)
}

/// An empty vector with room for `count` values, or a problem where there is no such memory.
pub(crate) fn reserve<T>(count: usize) -> Parsed<Vec<T>> {
    memory::check((count as u64).checked_mul(size_of::<T>() as u64))?;
    let mut values = Vec::new();
    match values.try_reserve_exact(count) {
        Ok(()) => Ok(values),
        Err(_) => bail!("holds {count} values, for which there is not enough memory"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_byte_orders_give_the_same_number() {
        for (bytes, order) in [([0x39, 0x30], ByteOrder::Little), ([0x30, 0x39], ByteOrder::Big)] {
            let Data::F32(v) = Element::I16.read(&mut &bytes[..], order, 1).unwrap() else {
                panic!("16-bit integers are held as f32")
            };
            assert_eq!((*v).as_ref(), [12345.0]);
        }
    }
}
