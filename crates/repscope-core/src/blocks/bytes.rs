// SPDX-License-Identifier: MIT
//! Tasks and partials as bytes: numbers of 64 bits, little-endian, one behind the other.

use crate::error::{Error, Result};

/// Writes what [`Reader`] reads.
#[derive(Default)]
pub(super) struct Writer(Vec<u8>);

impl Writer {
    pub(super) fn number(&mut self, value: u64) {
        self.0.extend(value.to_le_bytes());
    }

    pub(super) fn size(&mut self, value: usize) {
        self.number(value as u64);
    }

    pub(super) fn truth(&mut self, value: bool) {
        self.number(u64::from(value));
    }

    pub(super) fn float(&mut self, value: f64) {
        self.number(value.to_bits());
    }

    pub(super) fn floats(&mut self, values: &[f64]) {
        self.size(values.len());
        self.0.reserve(8 * values.len());
        values.iter().for_each(|value| self.float(*value));
    }

    pub(super) fn words(&mut self, values: &[u32]) {
        self.size(values.len());
        self.0.reserve(4 * values.len());
        values.iter().for_each(|value| self.0.extend(value.to_le_bytes()));
    }

    pub(super) fn singles(&mut self, values: &[f32]) {
        self.size(values.len());
        values.iter().for_each(|value| self.0.extend(value.to_le_bytes()));
    }

    pub(super) fn sizes(&mut self, values: &[usize]) {
        self.size(values.len());
        values.iter().for_each(|value| self.size(*value));
    }

    /// What was finished before.
    pub(super) fn of(bytes: Vec<u8>) -> Self {
        Writer(bytes)
    }

    pub(super) fn append(&mut self, other: Writer) {
        self.0.extend(other.0);
    }

    pub(super) fn finish(self) -> Vec<u8> {
        self.0
    }
}

/// Reads what [`Writer`] wrote, in the same order.
pub(super) struct Reader<'a>(&'a [u8]);

impl<'a> Reader<'a> {
    pub(super) fn new(bytes: &'a [u8]) -> Self {
        Reader(bytes)
    }

    fn take<const N: usize>(&mut self) -> Result<[u8; N]> {
        let (own, rest) = self.0.split_first_chunk::<N>().ok_or_else(cut)?;
        self.0 = rest;
        Ok(*own)
    }

    pub(super) fn number(&mut self) -> Result<u64> {
        Ok(u64::from_le_bytes(self.take()?))
    }

    pub(super) fn size(&mut self) -> Result<usize> {
        Ok(self.number()? as usize)
    }

    pub(super) fn truth(&mut self) -> Result<bool> {
        Ok(self.number()? != 0)
    }

    pub(super) fn float(&mut self) -> Result<f64> {
        Ok(f64::from_bits(self.number()?))
    }

    /// The bytes of as many values of `width` bytes as are announced.
    fn many(&mut self, width: usize) -> Result<&'a [u8]> {
        let bytes = self.size()?.checked_mul(width).filter(|bytes| *bytes <= self.0.len());
        let (own, rest) = self.0.split_at(bytes.ok_or_else(cut)?);
        self.0 = rest;
        Ok(own)
    }

    pub(super) fn floats(&mut self) -> Result<Vec<f64>> {
        let (bytes, _) = self.many(8)?.as_chunks::<8>();
        Ok(bytes.iter().map(|own| f64::from_le_bytes(*own)).collect())
    }

    pub(super) fn words(&mut self) -> Result<Vec<u32>> {
        let (bytes, _) = self.many(4)?.as_chunks::<4>();
        Ok(bytes.iter().map(|own| u32::from_le_bytes(*own)).collect())
    }

    pub(super) fn singles(&mut self) -> Result<Vec<f32>> {
        let (bytes, _) = self.many(4)?.as_chunks::<4>();
        Ok(bytes.iter().map(|own| f32::from_le_bytes(*own)).collect())
    }

    pub(super) fn sizes(&mut self) -> Result<Vec<usize>> {
        let (bytes, _) = self.many(8)?.as_chunks::<8>();
        Ok(bytes.iter().map(|own| u64::from_le_bytes(*own) as usize).collect())
    }

    /// What was not read yet.
    pub(super) fn rest(&self) -> &'a [u8] {
        self.0
    }

    /// Nothing may be left.
    pub(super) fn end(&self) -> Result<()> {
        if self.0.is_empty() { Ok(()) } else { Err(cut()) }
    }
}

fn cut() -> Error {
    Error::input(
        "a partial or a task is cut, or of another version; remove the folder that runs resume from, and use the same version everywhere",
    )
}
