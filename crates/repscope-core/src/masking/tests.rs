// SPDX-License-Identifier: MIT
//! Masks of images whose answer is known, and what is true of all of them.

use std::collections::BTreeSet;

use super::*;

/// Two thousand lit pixels of few values among ten thousand, as in a histogram.
fn histogram() -> Vec<u8> {
    let mut pixels = vec![0; 10_000];
    for i in 0..2000 {
        pixels[(i * 4999 + 17) % 10_000] = [9, 9, 9, 9, 9, 9, 9, 40, 40, 200][i % 10];
    }
    pixels
}

const SIZE: (usize, usize) = (100, 100);

fn places(masking: &Masking, image: &[u8], key: u64) -> BTreeSet<usize> {
    let lit = Lit::of(image);
    let chosen = masking.choose(image, SIZE, &lit, key);
    let places: BTreeSet<usize> = chosen.iter().map(|&p| p as usize).collect();
    assert_eq!(places.len(), chosen.len(), "a pixel is chosen twice");
    places
}

#[test]
fn an_exact_mask_of_equal_pixels_takes_its_percentage_and_a_threshold_takes_all() {
    let image: Vec<u8> = (0..10_000).map(|i| if i % 5 == 0 { 77 } else { 0 }).collect();
    for shape in [Kind::Top, Kind::Bottom] {
        for percent in 1..=5 {
            let exact = Masking::new(shape, f64::from(percent), 42);
            let masked = exact.apply(&image, SIZE, 1).unwrap();
            assert_eq!(
                (masked.masked_lit, masked.masked, masked.lit),
                (20 * percent as usize, 20 * percent as usize, 2000)
            );
            assert_eq!(
                masked.pixels.iter().filter(|v| **v == 77).count(),
                2000 - 20 * percent as usize
            );
            let threshold = Masking {
                rule: Rule::Threshold,
                ..exact
            };
            assert_eq!(threshold.apply(&image, SIZE, 1).unwrap().masked_lit, 2000);
        }
    }
}

#[test]
fn percentages_are_counted_without_rounding_errors() {
    let count = |percent, of| Masking::new(Kind::Top, percent, 0).count(of);
    // 0.07 · 100 and 0.29 · 100 are a little above 7 and a little below 29 in binary.
    assert_eq!(
        [count(5.0, 100), count(7.0, 100), count(29.0, 100), count(0.1, 1000)],
        [5, 7, 29, 1]
    );
    assert_eq!([count(1.0, 150), count(1.0, 1), count(100.0, 3)], [2, 1, 3]);
    let down = |percent, of| {
        let rule = Rule::Threshold;
        Masking {
            rule,
            ..Masking::new(Kind::Random, percent, 0)
        }
        .count(of)
    };
    // 1 % and 5 % of 224 · 224 pixels are 501.76 and 2508.8.
    assert_eq!([down(1.0, 50_176), down(5.0, 50_176), down(29.0, 100)], [501, 2508, 29]);
}

#[test]
fn the_brightest_go_first_and_the_dimmest_go_first() {
    let image = [0, 5, 9, 1, 0, 7, 3, 9, 2, 8];
    let pixels = |shape, percent| {
        let masking = Masking::new(shape, percent, 3);
        masking.apply(&image, (2, 5), 0).unwrap().pixels
    };
    // Eight lit pixels: 25 % are two, 50 % are four.
    assert_eq!(pixels(Kind::Top, 25.0), [0, 5, 0, 1, 0, 7, 3, 0, 2, 8]);
    assert_eq!(pixels(Kind::Top, 50.0), [0, 5, 0, 1, 0, 0, 3, 0, 2, 0]);
    assert_eq!(pixels(Kind::Bottom, 50.0), [0, 0, 9, 0, 0, 7, 0, 9, 0, 8]);
    assert_eq!(pixels(Kind::Bottom, 100.0), [0; 10]);
}

#[test]
fn masks_of_one_shape_are_nested() {
    let image = histogram();
    for shape in Kind::ALL {
        for (rule, random_from) in [
            (Rule::Exact, RandomFrom::Lit),
            (Rule::Exact, RandomFrom::All),
            (Rule::Threshold, RandomFrom::All),
        ] {
            let mut inner = BTreeSet::new();
            for percent in [0.5, 1.0, 2.0, 5.0, 11.0, 20.0, 60.0, 100.0] {
                let masking = Masking {
                    rule,
                    random_from,
                    ..Masking::new(shape, percent, 42)
                };
                let outer = places(&masking, &image, 7);
                assert!(inner.is_subset(&outer), "{shape:?} {rule:?} {percent}");
                inner = outer;
            }
            assert!(inner.len() >= 2000, "{shape:?}: 100 % hold all lit pixels");
        }
    }
}

#[test]
fn every_image_and_every_shape_has_a_lot_of_its_own() {
    let image = histogram();
    for shape in Kind::ALL {
        let masking = Masking::new(shape, 5.0, 42);
        assert_eq!(places(&masking, &image, 1), places(&masking, &image, 1));
        assert_ne!(places(&masking, &image, 1), places(&masking, &image, 2), "{shape:?}");
        let other = Masking {
            seed: 43,
            ..masking.clone()
        };
        assert_ne!(places(&masking, &image, 1), places(&other, &image, 1), "{shape:?}");
    }
}

#[test]
fn each_of_equal_pixels_is_taken_as_often_as_the_others() {
    // 10 of 40 equal pixels, 2,000 images: each pixel about 500 times, within 5 standard deviations of 19.4.
    let image: Vec<u8> = vec![50; 40];
    let mut counts = [0i32; 40];
    for key in 0..2000 {
        let masking = Masking::new(Kind::Bottom, 25.0, 42);
        let masked = masking.apply(&image, (4, 10), key).unwrap();
        let black = masked.pixels.iter().zip(&mut counts);
        black.for_each(|(value, count)| *count += i32::from(*value == 0));
    }
    assert!(counts.iter().all(|count| (count - 500).abs() < 97), "{counts:?}");
}

#[test]
fn random_pixels_come_from_the_lit_ones_or_from_all() {
    let image = histogram();
    let from = |random_from| {
        let masking = Masking {
            random_from,
            ..Masking::new(Kind::Random, 5.0, 42)
        };
        masking.apply(&image, SIZE, 3).unwrap()
    };
    let (lit, all) = (from(RandomFrom::Lit), from(RandomFrom::All));
    assert_eq!((lit.masked_lit, lit.masked), (100, 100));
    // 500 of 10,000, of which about a fifth are lit: 100 ± 5 · 8.7.
    assert_eq!(all.masked, 500);
    assert!((56..=144).contains(&all.masked_lit), "{}", all.masked_lit);
}

#[test]
fn a_patch_is_a_square_and_a_ring_is_round_and_both_hold_enough_lit_pixels() {
    let image = histogram();
    let patch = places(&Masking::new(Kind::Patch, 5.0, 42), &image, 5);
    let (rows, columns): (BTreeSet<usize>, BTreeSet<usize>) = patch.iter().map(|p| (p / 100, p % 100)).unzip();
    let ends = |set: &BTreeSet<usize>| (*set.first().unwrap(), *set.last().unwrap());
    let ((top, bottom), (left, right)) = (ends(&rows), ends(&columns));
    assert_eq!(patch.len(), (bottom - top + 1) * (right - left + 1));
    let lit = |places: &BTreeSet<usize>| places.iter().filter(|&&p| image[p] != 0).count();
    assert!(lit(&patch) >= 100);
    // Without its outermost pixels it holds too few.
    let inner = patch
        .iter()
        .filter(|p| (top + 1..bottom).contains(&(*p / 100)) && (left + 1..right).contains(&(*p % 100)));
    assert!(lit(&inner.copied().collect()) < 100);
    let ring = places(&Masking::new(Kind::Ring, 5.0, 42), &image, 5);
    assert!((100..=140).contains(&lit(&ring)), "{}", lit(&ring));
    let radius = |p: usize| ((p / 100) as f64 - 49.5).hypot((p % 100) as f64 - 49.5);
    let radii: Vec<f64> = ring.iter().map(|&p| radius(p)).collect();
    let (low, high) = radii.iter().fold((f64::MAX, 0.0f64), |(l, h), &r| (l.min(r), h.max(r)));
    // No pixel strictly between the two circles is left out.
    assert!((0..10_000).all(|p| ring.contains(&p) || radius(p) <= low || radius(p) >= high));
}

#[test]
fn fills_are_those_of_a_hand_calculation() {
    let image = [10, 20, 30, 40, 250, 60, 70, 80, 91];
    let filled = |fill| {
        let masking = Masking {
            fill,
            ..Masking::new(Kind::Top, 1.0, 0)
        };
        masking.apply(&image, (3, 3), 0).unwrap().pixels[4]
    };
    assert_eq!(filled(Fill::Black), 0);
    // 401 / 8 = 50.1.
    assert_eq!(filled(Fill::Mean), 50);
    // (2 · (20 + 40 + 60 + 80) + 10 + 30 + 70 + 91) / 12 = 601 / 12 = 50.1.
    assert_eq!(filled(Fill::Inpaint), 50);
    let all = Masking {
        fill: Fill::Mean,
        ..Masking::new(Kind::Top, 100.0, 0)
    };
    assert_eq!(all.apply(&image, (3, 3), 0).unwrap().pixels, [0; 9]);
}

#[test]
fn images_without_lit_pixels_stay_as_they_are_and_wrong_shapes_are_refused() {
    for shape in Kind::ALL {
        for fill in Fill::ALL {
            let masking = Masking {
                fill,
                random_from: RandomFrom::All,
                ..Masking::new(shape, 5.0, 42)
            };
            for size in [(3, 4), (0, 7), (7, 0), (1, 1)] {
                let dark = vec![0; size.0 * size.1];
                let masked = masking.apply(&dark, size, 0).unwrap();
                assert_eq!((masked.pixels, masked.masked, masked.lit), (dark, 0, 0));
            }
            // A single lit pixel is its own square and ring.
            let one = masking.apply(&[9], (1, 1), 0).unwrap();
            assert_eq!((one.masked, one.lit), (1, 1), "{shape:?}");
        }
    }
    let error = |masking: &Masking, size| masking.apply(&[1; 12], size, 0).unwrap_err().to_string();
    let plain = Masking::new(Kind::Top, 5.0, 42);
    assert!(error(&plain, (3, 5)).contains("3 x 5 pixels has 12 values"));
    assert!(plain.apply(&[1], (usize::MAX, 2), 0).is_err());
    for percent in [0.0, -1.0, 100.5, f64::NAN, f64::INFINITY] {
        assert!(error(&Masking::new(Kind::Top, percent, 42), (3, 4)).contains(&percent.to_string()));
    }
}

#[test]
fn several_masks_of_one_image_are_those_of_each_alone() {
    let image = histogram();
    let shapes = Kind::ALL.into_iter();
    let maskings: Vec<Masking> = shapes
        .flat_map(|shape| {
            Fill::ALL.map(|fill| Masking {
                fill,
                ..Masking::new(shape, 3.0, 42)
            })
        })
        .collect();
    let together = apply_all(&maskings, &image, SIZE, 9).unwrap();
    for (masking, masked) in maskings.iter().zip(together) {
        assert_eq!(masking.apply(&image, SIZE, 9).unwrap(), masked, "{masking:?}");
    }
}

// Expected values: golden/masks.json, by NumPy and SciPy.
#[test]
fn thresholds_blur_and_inpainting_are_those_of_numpy_and_scipy() {
    let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../golden/masks.json");
    let text = std::fs::read_to_string(path).expect("a part of the repository");
    let document: serde_json::Value = serde_json::from_str(&text).expect("what masks.py wrote");
    let cases = document["cases"].as_array().expect("a list");
    assert_eq!(cases.len(), 10);
    for case in cases {
        let name = case["name"].as_str().expect("a name");
        let number = |key: &str| case[key].as_u64().expect("a number") as usize;
        let (image, size) = (bytes(&case["pixels"]), (number("height"), number("width")));
        let masked = |shape, percent, fill| {
            let masking = Masking {
                rule: Rule::Threshold,
                fill,
                ..Masking::new(shape, percent, 42)
            };
            (
                masking.name(),
                masking.apply(&image, size, 0).expect("a valid mask").pixels,
            )
        };
        for shape in [Kind::Top, Kind::Bottom] {
            for percent in [1.0, 2.5, 5.0, 50.0] {
                let (mask, pixels) = masked(shape, percent, Fill::Black);
                assert_eq!(pixels, bytes(&case["masked"][&mask]), "{name} {mask}");
            }
        }
        assert_eq!(masked(Kind::Top, 5.0, Fill::Blur).1, bytes(&case["blur"]), "{name}");
        // The sweeps stop a little before the solution: a gray value more or less.
        if !case["inpaint"].is_null() {
            let found = masked(Kind::Top, 5.0, Fill::Inpaint).1;
            let pairs = found.into_iter().zip(bytes(&case["inpaint"]));
            assert!(pairs.clone().all(|(a, b)| a.abs_diff(b) <= 1), "{name}");
            assert!(pairs.filter(|(a, b)| a != b).count() <= image.len() / 100, "{name}");
        }
    }
}

fn bytes(hexadecimal: &serde_json::Value) -> Vec<u8> {
    let text = hexadecimal.as_str().expect("a text").as_bytes().chunks_exact(2);
    let byte = |pair: &[u8]| u8::from_str_radix(std::str::from_utf8(pair).expect("ASCII"), 16).expect("two digits");
    text.map(byte).collect()
}
