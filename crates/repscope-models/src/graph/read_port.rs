// SPDX-License-Identifier: MIT
//! Reads the declaration of an input or output.

use super::port::{Dim, Element, PortInfo};
use super::wire::Fields;
use crate::error::Result;

pub(super) fn read_port(bytes: &[u8]) -> Result<PortInfo> {
    let mut fields = Fields::of(bytes);
    let mut port = PortInfo {
        name: String::new(),
        element: None,
        dims: None,
    };
    while let Some((field, content)) = fields.next()? {
        match field {
            1 => port.name = content.text()?,
            2 => {
                let mut kinds = Fields::of(content.bytes()?);
                while let Some((kind, content)) = kinds.next()? {
                    // Other kinds are sequences, maps and options.
                    if kind == 1 {
                        read_tensor_type(content.bytes()?, &mut port)?;
                    }
                }
            }
            _ => {}
        }
    }
    Ok(port)
}

fn read_tensor_type(bytes: &[u8], port: &mut PortInfo) -> Result<()> {
    let mut fields = Fields::of(bytes);
    while let Some((field, content)) = fields.next()? {
        match field {
            1 => port.element = Some(Element::from_code(content.number()?)),
            2 => {
                let mut dims = Vec::new();
                let mut shape = Fields::of(content.bytes()?);
                while let Some((field, content)) = shape.next()? {
                    if field == 1 {
                        dims.push(read_dim(content.bytes()?)?);
                    }
                }
                port.dims = Some(dims);
            }
            _ => {}
        }
    }
    Ok(())
}

fn read_dim(bytes: &[u8]) -> Result<Dim> {
    let mut fields = Fields::of(bytes);
    let mut dim = Dim::Named(String::new());
    while let Some((field, content)) = fields.next()? {
        match field {
            // Old exporters write -1 or 0 for sizes that are not fixed.
            1 => {
                let size = content.number()?.cast_signed();
                dim = match usize::try_from(size) {
                    Ok(size) if size > 0 => Dim::Fixed(size),
                    _ => Dim::Named(String::new()),
                };
            }
            2 => dim = Dim::Named(content.text()?),
            _ => {}
        }
    }
    Ok(dim)
}
