// SPDX-License-Identifier: MIT
//! `.safetensors`: a JSON header with names, types, shapes and offsets, then the values.

use safetensors::tensor::Metadata;
use safetensors::{Dtype, SafeTensorError, SafeTensors};

use crate::array::{Array, ArrayInfo, Data, Shape, check_dimensions, count};
use crate::choose::choose;
use crate::element::{ByteOrder, Element};
use crate::error::{Parsed, bail, problem};
use crate::mapped::{MappedFile, mapped_data};
use crate::read::Take;

/// The tensors in the file, by name.
pub(crate) fn list(bytes: &[u8]) -> Parsed<Vec<ArrayInfo>> {
    let tensors = open(bytes)?;
    let mut infos: Vec<ArrayInfo> = tensors
        .iter()
        .map(|(name, tensor)| ArrayInfo {
            key: Some(name.to_string()),
            shape: tensor.shape().to_vec(),
            dtype: match element(tensor.dtype()) {
                Some(element) => element.name().to_string(),
                None => format!("{:?}", tensor.dtype()).to_lowercase(),
            },
        })
        .collect();
    infos.sort_by(|a, b| a.key.cmp(&b.key));
    Ok(infos)
}

/// Reads one tensor, which must have rows.
pub(crate) fn read(file: &MappedFile, key: Option<&str>) -> Parsed<Array> {
    let (info, data) = read_data(file, key)?;
    check_dimensions(&info.shape)?;
    Array::checked(info.shape, &info.dtype, data)
}

/// Reads the values of one tensor; bytes and aligned `f32` and `f64` stay where they are in the file.
pub(crate) fn read_data(file: &MappedFile, key: Option<&str>) -> Parsed<(ArrayInfo, Data)> {
    let infos = list(file)?;
    let info = &infos[choose(&infos, key, "tensor")?];
    read_tensor(file, &open(file)?, info)
}

/// Reads every tensor, one after the other.
pub(crate) fn read_each(file: &MappedFile, take: Take) -> Parsed<()> {
    let tensors = open(file)?;
    for info in list(file)? {
        let array = read_tensor(file, &tensors, &info).and_then(|(info, data)| {
            check_dimensions(&info.shape)?;
            Array::checked(info.shape, &info.dtype, data)
        });
        take(info.key, array)?;
    }
    Ok(())
}

fn read_tensor(file: &MappedFile, tensors: &SafeTensors, info: &ArrayInfo) -> Parsed<(ArrayInfo, Data)> {
    let name = info.key.as_deref().unwrap_or_default();
    let tensor = tensors.tensor(name).map_err(|e| problem!("is damaged: {e}"))?;
    let Some(element) = element(tensor.dtype()) else {
        let dtype = &info.dtype;
        bail!("holds tensor `{name}` of type {dtype}, which is not read; convert it to float32");
    };
    let bytes = tensor.data();
    let count = count(tensor.shape()).filter(|n| n.checked_mul(element.bytes()) == Some(bytes.len()));
    let Some(count) = count else {
        let (count, shape) = (bytes.len(), Shape(tensor.shape()));
        bail!("holds tensor `{name}` with {count} bytes, which do not fill its shape {shape}");
    };
    let start = bytes.as_ptr().addr() - file.as_ptr().addr();
    let data = match mapped_data(file, element, ByteOrder::Little, start, count)? {
        Some(data) => data,
        None => element.read(&mut &*bytes, ByteOrder::Little, count)?,
    };
    Ok((info.clone(), data))
}

fn open(bytes: &[u8]) -> Parsed<SafeTensors<'_>> {
    SafeTensors::deserialize(bytes).map_err(|error| match (&error, promised_bytes(bytes)) {
        (SafeTensorError::MetadataIncompleteBuffer, Some(promised)) => problem!(
            "should have {promised} bytes by its header but has {}; it may have been cut off while copying",
            bytes.len()
        ),
        _ => problem!(
            "is not a readable .safetensors file ({error}); it has {} bytes",
            bytes.len()
        ),
    })
}

/// The file size that the header requires, if the header is complete.
fn promised_bytes(bytes: &[u8]) -> Option<usize> {
    let length = usize::try_from(u64::from_le_bytes(*bytes.first_chunk()?)).ok()?;
    let end = length.checked_add(8)?;
    let metadata: Metadata = serde_json::from_slice(bytes.get(8..end)?).ok()?;
    end.checked_add(metadata.data_len())
}

fn element(dtype: Dtype) -> Option<Element> {
    Some(match dtype {
        Dtype::BOOL => Element::Bool,
        Dtype::I8 => Element::I8,
        Dtype::U8 => Element::U8,
        Dtype::I16 => Element::I16,
        Dtype::U16 => Element::U16,
        Dtype::I32 => Element::I32,
        Dtype::U32 => Element::U32,
        Dtype::I64 => Element::I64,
        Dtype::U64 => Element::U64,
        Dtype::F16 => Element::F16,
        Dtype::BF16 => Element::BF16,
        Dtype::F32 => Element::F32,
        Dtype::F64 => Element::F64,
        _ => return None,
    })
}
