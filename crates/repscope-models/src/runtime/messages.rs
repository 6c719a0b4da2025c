// SPDX-License-Identifier: MIT
//! What a process and the child that runs a graph for it say to each other, over two pipes: numbers of 8 bytes, texts and arrays with
//! their length before them, in the order of bytes of the machine.

use std::io::{Error, ErrorKind, Read, Result, Write};

use super::{Data, Elem, Port, Value};

pub(super) fn put_number(to: &mut impl Write, number: u64) -> Result<()> {
    to.write_all(&number.to_ne_bytes())
}

pub(super) fn number(from: &mut impl Read) -> Result<u64> {
    let mut bytes = [0; 8];
    from.read_exact(&mut bytes)?;
    Ok(u64::from_ne_bytes(bytes))
}

pub(super) fn put_text(to: &mut impl Write, text: &str) -> Result<()> {
    put_number(to, text.len() as u64)?;
    to.write_all(text.as_bytes())
}

pub(super) fn text(from: &mut impl Read) -> Result<String> {
    let mut bytes = vec![0; count(from)?];
    from.read_exact(&mut bytes)?;
    String::from_utf8(bytes).map_err(|_| odd())
}

pub(super) fn put_list<T>(
    to: &mut impl Write,
    items: &[T],
    put: impl Fn(&mut Vec<u8>, &T) -> Result<()>,
) -> Result<()> {
    let mut bytes = Vec::new();
    put_number(&mut bytes, items.len() as u64)?;
    items.iter().try_for_each(|item| put(&mut bytes, item))?;
    to.write_all(&bytes)
}

pub(super) fn list<R: Read, T>(from: &mut R, read: impl Fn(&mut R) -> Result<T>) -> Result<Vec<T>> {
    (0..count(from)?).map(|_| read(from)).collect()
}

pub(super) fn put_port(to: &mut Vec<u8>, port: &Port) -> Result<()> {
    put_text(to, &port.name)?;
    let (kind, name) = match &port.elem {
        Elem::F32 => (0, ""),
        Elem::I64 => (1, ""),
        Elem::U8 => (2, ""),
        Elem::Other(name) => (3, name.as_str()),
    };
    put_number(to, kind)?;
    put_text(to, name)?;
    // A size of 0 stands for any.
    put_list(to, &port.dims, |to, size| put_number(to, size.unwrap_or(0) as u64))
}

pub(super) fn port(from: &mut impl Read) -> Result<Port> {
    let name = text(from)?;
    let (kind, other) = (number(from)?, text(from)?);
    let dims = list(from, |from| {
        number(from).map(|size| Some(size as usize).filter(|&size| size > 0))
    })?;
    let elem = match kind {
        0 => Elem::F32,
        1 => Elem::I64,
        2 => Elem::U8,
        _ => Elem::Other(other),
    };
    Ok(Port { name, elem, dims })
}

pub(super) fn put_value(to: &mut impl Write, value: &Value) -> Result<()> {
    put_list(to, &value.shape, |to, &size| put_number(to, size as u64))?;
    let (kind, bytes): (u64, &[u8]) = match &value.data {
        Data::F32(values) => (0, bytemuck::cast_slice(values)),
        Data::I64(values) => (1, bytemuck::cast_slice(values)),
    };
    put_number(to, kind)?;
    put_number(to, bytes.len() as u64)?;
    to.write_all(bytes)
}

pub(super) fn value(from: &mut impl Read) -> Result<Value> {
    let shape = list(from, |from| number(from).map(|size| size as usize))?;
    let (kind, bytes) = (number(from)?, count(from)?);
    let data = match kind {
        0 => Data::F32(numbers(from, bytes)?),
        _ => Data::I64(numbers(from, bytes)?),
    };
    Ok(Value { shape, data })
}

fn numbers<T: bytemuck::Pod>(from: &mut impl Read, bytes: usize) -> Result<Vec<T>> {
    let mut values = vec![T::zeroed(); bytes / size_of::<T>()];
    from.read_exact(bytemuck::cast_slice_mut(&mut values))?;
    Ok(values)
}

fn count(from: &mut impl Read) -> Result<usize> {
    usize::try_from(number(from)?).map_err(|_| odd())
}

fn odd() -> Error {
    Error::new(ErrorKind::InvalidData, "a message is garbled")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_and_ports_arrive_as_they_were_sent() {
        let values = [
            Value::floats(vec![2, 2], vec![1.5, -0.0, f32::NAN, 4.0]),
            Value::ints(vec![3], vec![i64::MIN, 0, 7]),
            Value::floats(vec![0, 5], Vec::new()),
        ];
        let mut sent = Vec::new();
        values.iter().for_each(|value| put_value(&mut sent, value).unwrap());
        let mut from = sent.as_slice();
        for sent in &values {
            let arrived = value(&mut from).unwrap();
            assert_eq!(arrived.shape, sent.shape);
            // NaN differs from itself: bits are compared.
            assert_eq!(format!("{:?}", arrived.data), format!("{:?}", sent.data));
        }
        let ports = [Elem::F32, Elem::I64, Elem::U8, Elem::Other("a list".to_string())].map(|elem| Port {
            name: "x".to_string(),
            elem,
            dims: vec![None, Some(3)],
        });
        let mut sent = Vec::new();
        put_list(&mut sent, &ports, put_port).unwrap();
        assert_eq!(list(&mut sent.as_slice(), port).unwrap(), ports);
        assert!(value(&mut &sent[..5]).is_err());
    }
}
