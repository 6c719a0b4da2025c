// SPDX-License-Identifier: MIT
//! Writing files atomically.

use std::io::Write;
use std::path::Path;

use image::codecs::png::PngEncoder;
use image::{ExtendedColorType, ImageEncoder};
use safetensors::Dtype;
use safetensors::tensor::TensorView;
use tempfile::NamedTempFile;

use crate::array::{Array, Data};
use crate::error::{Error, Result};
use crate::npy_writer::header;

/// Writes a file so that a reader sees the old bytes or the new ones, never a part: into a temporary
/// file beside it, forced to disk, then renamed. Missing parent folders are made.
pub fn write_whole(path: &Path, bytes: &[u8]) -> Result<()> {
    write_by(path, |file| file.write_all(bytes))
}

/// Copies a file atomically: the copy is complete or absent.
pub fn copy_whole(from: &Path, to: &Path) -> Result<()> {
    let source = std::fs::File::open(from).map_err(|source| Error::write(to, source))?;
    write_by(to, |file| std::io::copy(&mut &source, file).map(drop))
}

/// Writes numbers as a .safetensors file, with a name for each array.
pub fn write_tensors(path: &Path, tensors: &[(String, &Array)]) -> Result<()> {
    let wrong = |text: String| Error::write(path, std::io::Error::other(text));
    let mut views = Vec::new();
    for (name, array) in tensors {
        let Data::F32(values) = array.data() else {
            return Err(wrong(format!("`{name}` holds {}, and f32 are written", array.dtype())));
        };
        let bytes: &[u8] = bytemuck::cast_slice((**values).as_ref());
        let view = TensorView::new(Dtype::F32, array.shape().to_vec(), bytes).map_err(|e| wrong(e.to_string()))?;
        views.push((name, view));
    }
    let file = temporary_beside(path).map_err(|source| Error::write(path, source))?;
    safetensors::serialize_to_file(views, None, file.path()).map_err(|e| wrong(e.to_string()))?;
    file.persist(path).map_err(|e| Error::write(path, e.error))?;
    Ok(())
}

/// Writes integers as a .npy file of one axis.
pub fn write_integers(path: &Path, values: &[i64]) -> Result<()> {
    write_npy(
        path,
        "<i8",
        &[values.len()],
        values.iter().flat_map(|value| value.to_le_bytes()),
    )
}

/// Writes f32 as a .npy file, last index fastest.
pub fn write_floats(path: &Path, shape: &[usize], values: &[f32]) -> Result<()> {
    check_count(path, shape, values.len())?;
    write_npy(path, "<f4", shape, values.iter().flat_map(|value| value.to_le_bytes()))
}

/// Writes bytes, of gray images say, as a .npy file, last index fastest.
pub fn write_bytes(path: &Path, shape: &[usize], values: &[u8]) -> Result<()> {
    check_count(path, shape, values.len())?;
    write_npy(path, "|u1", shape, values.iter().copied())
}

/// Writes names as a .npy file of one axis, each as wide as the longest, as NumPy keeps them.
pub fn write_names(path: &Path, names: &[String]) -> Result<()> {
    let width = names.iter().map(|name| name.chars().count()).max().unwrap_or(0).max(1);
    let mut bytes = header(&format!("<U{width}"), &[names.len()]);
    for name in names {
        let padding = std::iter::repeat_n('\0', width - name.chars().count());
        bytes.extend(name.chars().chain(padding).flat_map(|c| u32::from(c).to_le_bytes()));
    }
    write_whole(path, &bytes)
}

fn write_npy(path: &Path, kind: &str, shape: &[usize], values: impl Iterator<Item = u8>) -> Result<()> {
    let bytes: Vec<u8> = header(kind, shape).into_iter().chain(values).collect();
    write_whole(path, &bytes)
}

fn check_count(path: &Path, shape: &[usize], count: usize) -> Result<()> {
    if shape.iter().product::<usize>() == count {
        Ok(())
    } else {
        Err(Error::write(
            path,
            std::io::Error::other(format!("the shape {shape:?}, but {count} values")),
        ))
    }
}

/// Writes a gray image of (height, width) as PNG.
pub fn write_gray_png(path: &Path, size: (usize, usize), pixels: &[u8]) -> Result<()> {
    let wrong = |text: String| Error::write(path, std::io::Error::other(text));
    let side = |n: usize| u32::try_from(n).ok();
    let (Some(height), Some(width)) = (side(size.0), side(size.1)) else {
        return Err(wrong(format!("{} x {} pixels are too many", size.0, size.1)));
    };
    if size.0.checked_mul(size.1) != Some(pixels.len()) {
        return Err(wrong(format!("{height} x {width} pixels, but {} values", pixels.len())));
    }
    let mut bytes = Vec::new();
    PngEncoder::new(&mut bytes)
        .write_image(pixels, width, height, ExtendedColorType::L8)
        .map_err(|e| wrong(e.to_string()))?;
    write_whole(path, &bytes)
}

/// A temporary file in the folder of `path`, which is made where it is missing.
pub(crate) fn temporary_beside(path: &Path) -> std::io::Result<NamedTempFile> {
    let parent = match path.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    };
    std::fs::create_dir_all(parent)?;
    let mut builder = tempfile::Builder::new();
    builder.prefix(".repscope-");
    // Temporary files are private by default; results are ordinary files, as the umask allows.
    #[cfg(unix)]
    builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o666));
    builder.tempfile_in(parent)
}

fn write_by(path: &Path, fill: impl FnOnce(&mut std::fs::File) -> std::io::Result<()>) -> Result<()> {
    let written = || {
        let mut file = temporary_beside(path)?;
        fill(file.as_file_mut())?;
        file.as_file().sync_all()?;
        file.persist(path).map_err(|e| e.error)
    };
    written().map(drop).map_err(|source| Error::write(path, source))
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;

    #[test]
    fn missing_folders_are_made_and_no_temporary_file_stays() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a/b/results.json");
        write_whole(&path, b"old").unwrap();
        write_whole(&path, b"new").unwrap();
        assert_eq!(std::fs::read(&path).unwrap(), b"new");
        assert_eq!(std::fs::read_dir(path.parent().unwrap()).unwrap().count(), 1);
    }

    #[test]
    fn tensors_are_read_back_and_a_copy_is_whole() {
        let folder = tempfile::tempdir().unwrap();
        let array = Array::new(
            vec![2, 3],
            "f32",
            Data::F32(Arc::new(vec![1.0, 2.0, 3.0, 4.0, 5.0, 6.5])),
        )
        .unwrap();
        let path = folder.path().join("a/z.safetensors");
        write_tensors(&path, &[("z".to_string(), &array)]).unwrap();
        let copy = folder.path().join("b/copy.safetensors");
        copy_whole(&path, &copy).unwrap();
        assert_eq!(std::fs::read(&copy).unwrap(), std::fs::read(&path).unwrap());
        let back = crate::read_array(&crate::InputPath::file(&copy)).unwrap();
        assert_eq!(back.shape(), [2, 3]);
        let Data::F32(values) = back.data() else {
            panic!("{}", back.dtype())
        };
        assert_eq!((**values).as_ref(), [1.0, 2.0, 3.0, 4.0, 5.0, 6.5]);
    }

    #[test]
    fn integers_and_gray_images_are_read_back() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a/n.npy");
        write_integers(&path, &[3, -1, 1 << 40]).unwrap();
        let array = crate::read_array(&crate::InputPath::file(&path)).unwrap();
        assert!(matches!(array.data(), Data::I64(values) if values[..] == [3, -1, 1 << 40]));
        let pixels = [0, 7, 255, 1, 2, 3];
        write_gray_png(&folder.path().join("p/x.png"), (2, 3), &pixels).unwrap();
        let images = crate::Images::open(&folder.path().join("p"), crate::BadImages::Refuse).unwrap();
        let mut read = Vec::new();
        images.read(0..1, &mut read).unwrap();
        assert_eq!((images.shape(), &read[..]), (&[2, 3][..], &pixels.map(f32::from)[..]));
        assert!(write_gray_png(&path, (2, 2), &[0; 3]).is_err());
    }

    #[test]
    fn floats_bytes_and_names_are_read_back() {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name);
        let read = |name: &str| crate::read_array(&crate::InputPath::file(path(name))).unwrap();
        write_floats(&path("f.npy"), &[2, 2], &[1.0, -2.5, 0.0, 7.0]).unwrap();
        assert!(matches!(read("f.npy").data(), Data::F32(v) if (**v).as_ref() == [1.0, -2.5, 0.0, 7.0]));
        write_bytes(&path("b.npy"), &[3, 1], &[0, 7, 255]).unwrap();
        let bytes = read("b.npy");
        assert_eq!(bytes.shape(), [3, 1]);
        assert!(matches!(bytes.data(), Data::U8(v) if (**v).as_ref() == [0, 7, 255]));
        let names = ["upper left", "", "é"].map(String::from);
        write_names(&path("n.npy"), &names).unwrap();
        assert!(matches!(read("n.npy").data(), Data::Text(v) if v[..] == names));
        assert!(write_floats(&path("f.npy"), &[3], &[0.0; 2]).is_err());
    }

    #[test]
    fn a_path_that_cannot_be_written_is_named() {
        let folder = tempfile::tempdir().unwrap();
        write_whole(&folder.path().join("file"), b"x").unwrap();
        let below = folder.path().join("file/below.json");
        let error = write_whole(&below, b"x").unwrap_err().to_string();
        assert!(
            error.starts_with("cannot write ") && error.contains("below.json"),
            "{error}"
        );
    }
}
