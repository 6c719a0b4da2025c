// SPDX-License-Identifier: MIT
use super::super::similarity::Side;
use super::*;
use crate::data::Space;
use crate::run::Order;
use crate::spec::Similarity;
use rand::Rng;

fn drawn(name: &str, n: usize, d: usize) -> Vec<f64> {
    let mut rng = crate::random::stream(7, name, 0);
    (0..n * d)
        .map(|_| (rng.next_u64() >> 11) as f64 / (1u64 << 52) as f64 - 0.8)
        .collect()
}

/// The same pairs in f64 and by panels.
fn both(n: usize, d: usize, signals: Vec<f64>, texts: Vec<f64>) -> [Matched; 2] {
    let driver = Driver::silent(Order::Parallel);
    let signals = Space::from_f64("signals", n, d, signals).unwrap();
    let texts = Space::from_f64("texts", n, d, texts).unwrap();
    let query = Side::new(&signals, Similarity::Cosine, &driver);
    let target = Side::new(&texts, Similarity::Cosine, &driver);
    let products = Products {
        query: &query,
        target: &target,
    };
    [true, false].map(|is_direct| Meeting::new(&products, is_direct, &driver).run(&driver))
}

#[test]
fn three_pairs_are_as_a_hand_calculation_says() {
    // Signals at 0°, 90°, 0°; texts at 60°, 60°, 90°. Cosines: ½ ½ 0 / √¾ √¾ 1 / ½ ½ 0.
    let h = 0.75f64.sqrt();
    let [direct, _] = both(3, 2, vec![2.0, 0.0, 0.0, 1.0, 3.0, 0.0], vec![0.5, h, 0.5, h, 0.0, 1.0]);
    assert_eq!(
        (direct.nearer.as_slice(), direct.as_near.as_slice()),
        (&[0, 1, 2][..], &[1, 1, 0][..])
    );
    // Matched: ½, √¾, 0. Mismatched: ½, 0, √¾, 1, ½, ½. Above: ½ beats 0 and ties three (2.5), √¾ beats four and ties
    // one (4.5), 0 ties one (0.5).
    assert!((direct.auc - 7.5 / 18.0).abs() < 1e-15, "{}", direct.auc);
    // As matched: 2.5, 4.5, 0.5 of 6. As signal, of 2 · 3: ½ and 0 (1.5 + 2.5), √¾ and 1 (0.5 + 0), ½ and ½ (3).
    // As text: √¾ and ½ (0.5 + 1.5), ½ and ½ (3), 0 and 1 (2.5).
    let auc = 7.5 / 18.0;
    for (found, parts) in direct
        .effects
        .iter()
        .zip([2.5 + 4.0 + 2.0, 4.5 + 0.5 + 3.0, 0.5 + 3.0 + 2.5])
    {
        let expected = (parts / 6.0 - 3.0 * auc) / 6.0f64.sqrt();
        assert!((found - expected).abs() < 1e-15, "{found} {expected}");
    }
    // Energies of −½ lie on the edge of two bins.
    assert_eq!(
        (direct.bins[49] + direct.bins[50], direct.bins[0], direct.bins[100]),
        (3, 1, 1)
    );
}

#[test]
fn panels_decide_as_f64_does() {
    // No multiple of any block; every fifth text repeated, some texts moved by less than f32 can tell.
    let (n, d) = (523, 24);
    let signals = drawn("signals", n, d);
    let mut texts: Vec<f64> = drawn("texts", n, d).iter().zip(&signals).map(|(t, s)| t + s).collect();
    for i in (5..n).step_by(5) {
        let (before, own) = texts.split_at_mut(i * d);
        own[..d].copy_from_slice(&before[(i - 5) * d..(i - 4) * d]);
        own[0] += if i % 2 == 0 { 1e-9 } else { 0.0 };
    }
    let [direct, panels] = both(n, d, signals, texts);
    assert_eq!(direct.nearer, panels.nearer);
    assert_eq!(direct.as_near, panels.as_near);
    assert!(direct.as_near.iter().any(|&e| e > 0));
    assert!((direct.auc - panels.auc).abs() < 1e-6 && direct.auc > 0.6);
    for (a, b) in direct.effects.iter().zip(&panels.effects) {
        assert!((a - b).abs() < 1e-6);
    }
    let moved: u64 = direct.bins.iter().zip(&panels.bins).map(|(a, b)| a.abs_diff(*b)).sum();
    assert!(moved < 10, "{moved}");
}

#[test]
fn a_system_that_always_says_the_same_is_at_chance_in_f32_too() {
    let (n, d) = (101, 7);
    let [direct, panels] = both(n, d, drawn("signals", n, d), drawn("texts", 1, d).repeat(n));
    assert_eq!((direct.auc, panels.auc), (0.5, 0.5));
    assert_eq!((&direct.nearer, &direct.as_near), (&panels.nearer, &panels.as_near));
    assert_eq!((direct.nearer[3], direct.as_near[3]), (0, 100));
    // What a sample gains as a matched pair it loses as a signal; as a text it lacks its own signal, one of 101.
    assert!(direct.effects.iter().all(|e| e.abs() < 1.0 / (n * n) as f64));
}
