// SPDX-License-Identifier: MIT
//! Numbers as pickles write them.

use super::{Step, damaged, refuse};
use crate::array::Object;

/// A little-endian two's complement number; one too large for 64 bits is kept as its digits.
pub(super) fn whole(bytes: &[u8]) -> Step<Object> {
    if bytes.len() > 16 {
        return refuse("holds a number of more than 128 bits");
    }
    let fill = if bytes.last().is_some_and(|b| b & 0x80 != 0) {
        0xff
    } else {
        0
    };
    let mut wide = [fill; 16];
    wide[..bytes.len()].copy_from_slice(bytes);
    let value = i128::from_le_bytes(wide);
    Ok(match i64::try_from(value) {
        Ok(value) => Object::Int(value),
        Err(_) => Object::Text(value.to_string()),
    })
}

/// A number in digits, as protocol 0 writes it: `3`, `3L`, `2.5`, and `01` for true.
pub(super) fn written(digits: &str) -> Step<Object> {
    Ok(match digits {
        "00" => Object::Bool(false),
        "01" => Object::Bool(true),
        _ => match digits.trim_end_matches('L').parse() {
            Ok(whole) => Object::Int(whole),
            Err(_) => Object::Float(digits.parse().map_err(|_| damaged())?),
        },
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_integers_keep_their_sign_and_size() {
        assert_eq!(whole(&[0xfe, 0xff]).unwrap(), Object::Int(-2));
        assert_eq!(whole(&[]).unwrap(), Object::Int(0));
        let beyond = [0, 0, 0, 0, 0, 0, 0, 0x80, 0];
        assert_eq!(whole(&beyond).unwrap(), Object::Text("9223372036854775808".to_string()));
    }
}
