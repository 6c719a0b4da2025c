// SPDX-License-Identifier: MIT
//! Images to show: as they are and masked, as files by themselves and together in one figure for a paper.

use std::path::Path;

use anyhow::Result;
use repscope_core::Masking;
use repscope_figures::{Channels, Figure, Image, Images, Legend, Panel};
use repscope_io::{write_gray_png, write_whole};
use repscope_render::NamedFigure;

use super::pictures::masked;
use super::tree::Tree;
use crate::options::FigureOptions;
use crate::report_page::draw_files;

/// The folder of the files.
const FOLDER: &str = "example_perturbations";
/// Images of so many classes are shown.
const CLASSES: usize = 4;
/// What is masked has this color, which gray images do not have.
const MASKED: [u8; 3] = [230, 97, 0];

/// An image and its masked versions.
pub struct Example {
    /// Its path, without extension and with `_` for `/`.
    stem: String,
    /// Its folders: `BPSK, SNR_0`.
    classes: String,
    size: (usize, usize),
    pixels: Vec<u8>,
    masked: Vec<(Masking, Vec<u8>)>,
    suffix: String,
}

/// An image with lit pixels of some classes, spread over all of the first level: one of the last class of the others, which for
/// signal-to-noise ratios is the clearest.
pub fn choose(tree: &Tree, maskings: &[Masking], suffix: &str) -> Result<Vec<Example>> {
    let size = (tree.images.shape()[0], tree.images.shape()[1]);
    let Some(level) = tree.levels.first() else {
        return Ok(Vec::new());
    };
    let count = level.classes.len();
    let mut examples: Vec<Example> = Vec::new();
    for number in 0..count.min(CLASSES) {
        let class = (number * count / count.min(CLASSES)) as u32;
        let mut places: Vec<usize> = (0..tree.rows.len())
            .filter(|&place| level.labels[place] == class)
            .collect();
        let others = |place: usize| {
            tree.levels[1..]
                .iter()
                .map(|level| level.labels[place])
                .collect::<Vec<u32>>()
        };
        places.sort_by_key(|&place| std::cmp::Reverse(others(place)));
        for row in places.into_iter().map(|place| tree.rows[place]) {
            let (pixels, masked) = masked(&tree.images, row, maskings)?;
            if pixels.iter().all(|&pixel| pixel == 0) {
                continue;
            }
            let name = &tree.images.names()[row];
            let stem = name.rsplit_once('.').map_or(name.as_str(), |(stem, _)| stem);
            let folders = name.rsplit_once('/').map_or("", |(folders, _)| folders);
            examples.push(Example {
                stem: stem.replace('/', "_"),
                classes: folders.replace('/', ", "),
                size,
                pixels,
                masked: maskings
                    .iter()
                    .cloned()
                    .zip(masked.into_iter().map(|m| m.pixels))
                    .collect(),
                suffix: suffix.to_string(),
            });
            break;
        }
    }
    Ok(examples)
}

/// Writes the versions of the first example one by one, and the figure of all examples.
pub fn write(examples: &[Example], folder: &Path, options: &FigureOptions) -> Result<()> {
    let Some(first) = examples.first() else {
        return Ok(());
    };
    let place = folder.join(FOLDER);
    let stem = &first.stem;
    write_gray_png(&place.join(format!("{stem}_original.png")), first.size, &first.pixels)?;
    for (masking, pixels) in &first.masked {
        let name = format!("{stem}_{}_{}.png", masking.name(), first.suffix);
        write_gray_png(&place.join(name), first.size, pixels)?;
    }
    if options.no_figures || first.masked.is_empty() {
        return Ok(());
    }
    let named = NamedFigure {
        path: format!("{FOLDER}/composite"),
        figure: composite(examples),
    };
    for (name, bytes) in draw_files(&[named], options, |_| true)? {
        write_whole(&folder.join(name), &bytes)?;
    }
    Ok(())
}

/// All masks of the first example, a panel per kind; and the strongest of each kind for one image of each class.
fn composite(examples: &[Example]) -> Figure {
    let first = &examples[0];
    let kinds: Vec<&str> = kinds(first);
    let of_kind = |kind: &&str| {
        let own = first.masked.iter().filter(|(masking, _)| masking.shape.name() == *kind);
        let own = own.map(|(masking, pixels)| first.shown(format!("{} %", masking.percent), pixels));
        let images: Vec<Image> = std::iter::once(first.as_it_is("original".to_string()))
            .chain(own)
            .collect();
        let content = Images {
            columns: images.len(),
            images,
        };
        Panel::new(format!("{kind} ({})", first.classes), content)
    };
    let mut panels: Vec<Panel> = kinds.iter().map(of_kind).collect();
    if examples.len() > 1 {
        let mut strongest = Vec::new();
        for example in examples {
            strongest.push(example.as_it_is(example.classes.clone()));
            for kind in &kinds {
                let mut own = example.masked.iter().rev();
                let own = own.find(|(masking, _)| masking.shape.name() == *kind);
                let caption = |masking: &Masking| format!("{kind} {} %", masking.percent);
                strongest.extend(own.map(|(masking, pixels)| example.shown(caption(masking), pixels)));
            }
        }
        // Two classes side by side.
        let content = Images {
            columns: 2 * (kinds.len() + 1),
            images: strongest,
        };
        panels.push(Panel::new("The strongest masks of some classes", content));
    }
    Figure {
        description: format!(
            "Images as they are and masked: {}.",
            examples
                .iter()
                .map(|e| e.classes.as_str())
                .collect::<Vec<_>>()
                .join("; ")
        ),
        columns: 1,
        panels,
        legend: Legend::Hidden,
        notes: vec!["Masked pixels are orange here; the classifier sees them filled.".to_string()],
        ..Figure::default()
    }
}

/// The kinds of masks, in their order.
fn kinds(example: &Example) -> Vec<&'static str> {
    crate::search::distinct(example.masked.iter().map(|(masking, _)| masking.shape.name()))
}

impl Example {
    fn as_it_is(&self, caption: String) -> Image {
        let pixels = self.pixels.iter().map(|&pixel| self.bright(pixel)).collect();
        Image {
            caption,
            width: self.size.1,
            height: self.size.0,
            channels: Channels::Gray,
            pixels,
        }
    }

    fn shown(&self, caption: String, masked: &[u8]) -> Image {
        let pixel = |(&before, &after): (&u8, &u8)| {
            if before == after {
                [self.bright(before); 3]
            } else {
                MASKED
            }
        };
        Image {
            caption,
            width: self.size.1,
            height: self.size.0,
            channels: Channels::Rgb,
            pixels: self.pixels.iter().zip(masked).flat_map(pixel).collect(),
        }
    }

    /// A gray value that can be seen in print: the brightest pixel of the image is white.
    fn bright(&self, pixel: u8) -> u8 {
        let most = self.pixels.iter().copied().max().unwrap_or(255).max(1);
        (f32::from(pixel) * 255.0 / f32::from(most)).round() as u8
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use repscope_core::masking::Kind;
    use repscope_figures::Content;

    #[test]
    fn the_figure_holds_every_mask_and_every_class_with_the_masked_pixels_marked() {
        let masking = |kind, percent| Masking::new(kind, percent, 42);
        let example = |classes: &str| Example {
            stem: "x".to_string(),
            classes: classes.to_string(),
            size: (1, 3),
            pixels: vec![0, 50, 100],
            masked: vec![
                (masking(Kind::Top, 1.0), vec![0, 50, 0]),
                (masking(Kind::Top, 5.0), vec![0, 0, 0]),
                (masking(Kind::Bottom, 1.0), vec![0, 0, 100]),
            ],
            suffix: "blackout".to_string(),
        };
        let figure = composite(&[example("BPSK, SNR_0"), example("QPSK, SNR_0")]);
        let images = |panel: usize| match &figure.panels[panel].content {
            Content::Images(images) => images.clone(),
            _ => panic!("pictures"),
        };
        let captions = |panel: usize| {
            images(panel)
                .images
                .iter()
                .map(|i| i.caption.clone())
                .collect::<Vec<_>>()
        };
        assert_eq!(captions(0), ["original", "1 %", "5 %"]);
        assert_eq!(captions(1), ["original", "1 %"]);
        assert_eq!(
            captions(2),
            [
                "BPSK, SNR_0",
                "top 5 %",
                "bottom 1 %",
                "QPSK, SNR_0",
                "top 5 %",
                "bottom 1 %"
            ]
        );
        assert_eq!((images(0).columns, images(1).columns, images(2).columns), (3, 2, 6));
        assert_eq!(figure.panels[1].title, "bottom (BPSK, SNR_0)");
        // The dim pixel is at half of the brightest, which is masked.
        assert_eq!(images(0).images[0].pixels, [0, 128, 255]);
        assert_eq!(images(0).images[1].pixels, [0, 0, 0, 128, 128, 128, 230, 97, 0]);
    }
}
