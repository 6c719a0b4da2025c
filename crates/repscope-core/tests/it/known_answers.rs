// SPDX-License-Identifier: MIT
//! Data whose right answer is known from theory.

use std::f64::consts::TAU;
use std::sync::Arc;

use crate::common::{Draw, MODEL, numbers, product, score, space, value};
use repscope_core::run::{Driver, Order};
use repscope_core::{Labels, Pairs, Score, Space, Spec, Study, nearest_neighbors};

#[test]
fn two_nn_recovers_the_dimension_of_a_flat_sheet() {
    // The law of the ratios holds where the density is constant around a point. The edges and the unequal widths of
    // the sheet bend it down the more, the higher the dimension: hence the one-sided slack, up to a third at 20, a
    // dimension in which 2,000 rows are few.
    for (d, least, most) in [(2, 1.8, 2.2), (5, 4.5, 5.5), (10, 8.5, 10.5), (20, 13.0, 21.0)] {
        for shape in [Shape::Cube, Shape::Gaussian] {
            let study = Study::new(MODEL, sheet(shape, d));
            for id in ["two_nn", "two_nn(fit=mle)"] {
                let found = value(&study, id, &Spec::default());
                assert!(
                    least <= found && found <= most,
                    "{id} of {shape:?} in {d} dimensions: {found}"
                );
            }
        }
    }
}

#[test]
fn both_fits_of_two_nn_lie_within_each_others_intervals() {
    for d in [2, 5, 10, 20] {
        let study = Study::new(MODEL, sheet(Shape::Gaussian, d));
        let [fit, mle] = ["two_nn", "two_nn(fit=mle)"].map(|id| score(&study, id, &Spec::default()));
        assert!(contains(&fit, mle.value.unwrap()), "{fit:?} {mle:?}");
        assert!(contains(&mle, fit.value.unwrap()), "{fit:?} {mle:?}");
    }
}

#[test]
fn dimensions_from_more_neighbors_recover_that_of_a_flat_sheet() {
    // The more neighbors, the more of them lie beyond the edges of the sheet.
    for (d, least, most) in [(2, 1.7, 2.2), (5, 4.0, 5.5), (10, 6.5, 10.5)] {
        let study = Study::new(MODEL, sheet(Shape::Gaussian, d));
        for id in [
            "mle_id@20",
            "mle_id(normalizer=k-2)@20",
            "gride@2",
            "gride@8",
            "gride@16",
        ] {
            let found = value(&study, id, &Spec::default());
            assert!(least <= found && found <= most, "{id} in {d} dimensions: {found}");
        }
    }
}

#[test]
fn gride_of_two_neighbors_is_two_nn_and_both_normalizers_differ_by_their_ratio() {
    let study = Study::new(MODEL, sheet(Shape::Cube, 5));
    let [two_nn, gride] = ["two_nn(fit=mle)", "gride@2"].map(|id| value(&study, id, &Spec::default()));
    assert!((two_nn - gride).abs() < 1e-10 * two_nn, "{two_nn} {gride}");
    let mut spec = Spec::default();
    spec.dimension.k = vec![3];
    let [plain, unbiased] = ["mle_id@3", "mle_id(normalizer=k-2)@3"].map(|id| value(&study, id, &spec));
    assert!((plain - 2.0 * unbiased).abs() < 1e-12 * plain, "{plain} {unbiased}");
    spec.dimension.k = vec![2];
    let missing = score(&study, "mle_id(normalizer=k-2)@2", &spec);
    assert!(missing.reason.is_some_and(|reason| reason.contains("use a larger k")));
}

#[test]
fn a_flat_sheet_has_as_many_local_principal_components_as_dimensions() {
    let study = Study::new(MODEL, sheet(Shape::Cube, 5));
    assert_eq!(value(&study, "local_pca_id", &Spec::default()), 5.0);
    let found = value(&study, "local_pca_id(version=participation)", &Spec::default());
    assert!(found > 4.0 && found < 5.0, "{found}");
}

/// Rows on a sphere of dimension d, or in a ball, in the first of 14 columns, turned.
fn round(rows: usize, d: usize, is_ball: bool) -> Study {
    let mut draw = Draw::new(90 + d as u64);
    let width = if is_ball { d } else { d + 1 };
    let map = draw.normals(width * 14);
    // A map that keeps lengths: its rows are made orthogonal one by one.
    let mut axes: Vec<Vec<f64>> = Vec::new();
    for row in map.chunks(14) {
        let mut own = row.to_vec();
        for other in &axes {
            let dot: f64 = own.iter().zip(other).map(|(a, b)| a * b).sum();
            own.iter_mut().zip(other).for_each(|(a, b)| *a -= dot * b);
        }
        let length = own.iter().map(|x| x * x).sum::<f64>().sqrt();
        axes.push(own.iter().map(|x| x / length).collect());
    }
    let inner: Vec<f64> = (0..rows)
        .flat_map(|_| {
            let direction = draw.normals(width);
            let length = direction.iter().map(|x| x * x).sum::<f64>().sqrt();
            let radius = if is_ball {
                draw.uniforms(1)[0].powf(1.0 / d as f64)
            } else {
                1.0
            };
            direction
                .into_iter()
                .map(move |x| x / length * radius)
                .collect::<Vec<f64>>()
        })
        .collect();
    Study::new(MODEL, space("latent", 14, product(&inner, width, &axes.concat())))
}

#[test]
fn danco_recovers_the_dimension_of_spheres_and_balls_where_distances_alone_fall_short() {
    for d in 1..=12 {
        for is_ball in [false, true] {
            let study = round(1000, d, is_ball);
            let [whole, fractional, distances] =
                ["danco", "danco(version=fractional)", "danco.distances"].map(|id| value(&study, id, &Spec::default()));
            // Spheres have no edges, and balls do: DANCo(ver="DANCoFit") gives 8 for a sphere of dimension 6, too.
            let over = if is_ball { 1.0 } else { 2.0 };
            let (least, most) = (d as f64 - 1.0, d as f64 + over);
            assert!(least <= whole && whole <= most, "{d}, ball {is_ball}: {whole}");
            assert!((fractional - whole).abs() <= 1.0, "{d}, ball {is_ball}: {fractional}");
            assert!(d < 8 || distances < d as f64 - 0.5, "{d}, ball {is_ball}: {distances}");
        }
    }
}

#[test]
fn danco_draws_the_same_balls_for_the_same_seed_and_looks_at_some_of_many_rows() {
    let study = round(600, 4, false);
    let mut spec = Spec::default();
    let first = score(&study, "danco(version=fractional)", &spec);
    assert_eq!(first, score(&study, "danco(version=fractional)", &spec));
    spec.seed = 7;
    assert_ne!(first.value, score(&study, "danco(version=fractional)", &spec).value);
    // What the rows say does not depend on balls.
    let of_rows = |spec: &Spec| value(&study, "danco.tau", spec);
    assert_eq!(of_rows(&spec), of_rows(&Spec::default()));
    spec.dimension.danco_rows = 300;
    let some = score(&study, "danco", &spec);
    assert_eq!((some.n, some.note.as_deref()), (300, Some("of 300 random rows")));
}

#[test]
fn a_line_has_dimension_one_for_danco_and_equal_distances_none() {
    let along: Vec<f64> = Draw::new(5).uniforms(200);
    let line: Vec<f64> = along.iter().flat_map(|x| [*x, 2.0 * x, -x]).collect();
    let line = Study::new(MODEL, space("latent", 3, line));
    assert_eq!(value(&line, "danco", &Spec::default()), 1.0);
    let simplex: Vec<f64> = (0..20 * 20).map(|at| f64::from(u8::from(at % 21 == 0))).collect();
    let found = score(
        &Study::new(MODEL, space("latent", 20, simplex)),
        "danco",
        &Spec::default(),
    );
    assert!(
        found
            .reason
            .is_some_and(|reason| reason.contains("equally far everywhere"))
    );
}

#[test]
fn neighborhoods_of_every_size_are_kept_by_a_rotation_and_lost_by_shuffling() {
    let rows = 120;
    let input = Draw::new(77).normals(4 * rows);
    let mirrored: Vec<f64> = input.iter().map(|x| 3.0 - 2.0 * x).collect();
    let of = |latent: Vec<f64>| Study {
        input: Some(Arc::new(space("input", 4, input.clone()))),
        ..Study::new(MODEL, space("latent", 4, latent))
    };
    let same = of(mirrored);
    for (id, expected) in [
        ("q_nx@10", 1.0),
        ("r_nx@10", 1.0),
        ("r_nx.auc", 1.0),
        ("mrre.false@10", 0.0),
        ("mrre.missing@10", 0.0),
    ] {
        let found = value(&same, id, &Spec::default());
        assert!((found - expected).abs() < 1e-12, "{id}: {found}");
    }
    let other = of(Draw::new(78).normals(4 * rows));
    for id in ["q_nx@10", "r_nx@10", "r_nx.auc", "mrre.false@10", "mrre.missing@10"] {
        let found = score(&other, id, &Spec::default());
        let (value, chance) = (found.value.unwrap(), found.chance.unwrap());
        assert!((value - chance).abs() < 0.05, "{id}: {value}, by chance {chance}");
    }
}

#[test]
fn two_nn_is_not_the_formula_of_the_reference_script() {
    // 1 / (ln(mean μ) + 0.5772): since μ ≥ 1 it cannot exceed 1 / 0.5772 = 1.7325 whatever the data.
    let codes = sheet(Shape::Gaussian, 20);
    let (_, distances) = nearest_neighbors(&codes, 2, &Driver::silent(Order::Parallel)).unwrap();
    let ratios: Vec<f64> = distances.chunks_exact(2).map(|r| r[1] / r[0]).collect();
    let mean = ratios.iter().sum::<f64>() / ratios.len() as f64;
    let script = 1.0 / (mean.ln() + 0.5772);
    assert!(script < 1.7325, "{script}");
    assert!(value(&Study::new(MODEL, codes), "two_nn", &Spec::default()) > 13.0);
}

#[test]
fn the_participation_ratio_of_isotropic_data_follows_from_rows_and_columns() {
    // N·D / (N + D) up to terms of order 1/N (the mean takes a row away) and sampling noise.
    for (n, d) in [(500, 50), (2000, 10), (60, 200)] {
        let study = Study::new(MODEL, space("latent", d, Draw::new(52).normals(n * d)));
        let (found, expected) = (
            value(&study, "participation_ratio", &Spec::default()),
            (n * d) as f64 / (n + d) as f64,
        );
        assert!(
            (found / expected - 1.0).abs() < 0.04,
            "{n} × {d}: {found}, not {expected}"
        );
    }
}

#[test]
fn the_participation_ratio_of_a_line_is_one() {
    let line = (0..100)
        .flat_map(|i| [1.0, -2.0, 0.5].map(|c| c * f64::from(i) + 7.0))
        .collect();
    let found = value(
        &Study::new(MODEL, space("latent", 3, line)),
        "participation_ratio",
        &Spec::default(),
    );
    // Three eigenvalues, two of them rounding dust.
    assert!((found - 1.0).abs() < 1e-12, "{found}");
}

#[test]
fn neighborhoods_of_a_rotated_copy_are_kept_exactly() {
    let mut draw = Draw::new(53);
    let input = draw.normals(200 * 5);
    let latent = product(&input, 5, &draw.orthogonal(5));
    let study = with_input(space("input", 5, input), space("latent", 5, latent));
    for id in [
        "trustworthiness@5",
        "trustworthiness@15",
        "continuity@5",
        "continuity@15",
    ] {
        assert_eq!(value(&study, id, &Spec::default()), 1.0, "{id}");
    }
}

#[test]
fn neighborhoods_of_noise_are_kept_by_chance() {
    let study = noise(300, 54);
    for id in [
        "trustworthiness@5",
        "trustworthiness@15",
        "continuity@5",
        "continuity@15",
    ] {
        let found = score(&study, id, &Spec::default());
        let (value, chance, error) = (
            found.value.unwrap(),
            found.chance.unwrap(),
            found.standard_error.unwrap(),
        );
        assert!(
            (value - chance).abs() < 4.0 * error,
            "{id}: {value} ± {error}, chance {chance}"
        );
        assert!(error < 0.02, "{id}: {error}");
    }
}

#[test]
fn points_spread_evenly_over_the_circle_reach_the_best_uniformity() {
    // The mean of exp(−2d²) = exp(4 cos φ − 4) over the circle is e⁻⁴·I₀(4). Evenly spread points give that mean to
    // the last digit, with the point itself among them; leaving it out takes a little away.
    let n = 1000;
    let circle = (0..n)
        .flat_map(|i| [(TAU * i as f64 / n as f64).cos(), (TAU * i as f64 / n as f64).sin()])
        .collect();
    let found = value(
        &Study::new(MODEL, space("latent", 2, circle)),
        "uniformity",
        &Spec::default(),
    );
    let with_self = (-4f64).exp() * bessel_i0(4.0);
    let expected = ((n as f64 * with_self - 1.0) / (n as f64 - 1.0)).ln();
    assert!((found - expected).abs() < 1e-10, "{found}, not {expected}");
    assert!((found + 1.575).abs() < 0.005, "{found}");
}

#[test]
fn tight_blobs_far_apart_are_separated_perfectly() {
    let study = blobs(55);
    assert!(value(&study, "silhouette", &Spec::default()) > 0.99);
    assert_eq!(value(&study, "knn_accuracy@5", &Spec::default()), 1.0);
    let spec = Spec {
        clusters: 4,
        ..Spec::default()
    };
    // Ratios of sums of logarithms: equal up to a few roundings.
    assert!((value(&study, "nmi", &spec) - 1.0).abs() < 1e-12);
    assert!((value(&study, "ami", &spec) - 1.0).abs() < 1e-12);
    assert!(value(&study, "inertia.share", &spec) < 1e-4);
    assert_eq!(value(&study, "cluster_balance", &spec), 0.0);
}

#[test]
fn labels_drawn_by_lot_are_told_by_chance() {
    let mut draw = Draw::new(56);
    let labels = Labels::from_codes((0..400).map(|i| i % 2).collect(), 2);
    let study = Study {
        labels: Some(Arc::new(labels)),
        ..Study::new(MODEL, space("latent", 6, draw.normals(400 * 6)))
    };
    let found = score(&study, "knn_accuracy@5", &Spec::default());
    let value = found.value.unwrap();
    assert_eq!(found.chance, Some(0.5));
    // Four standard errors of a share of 400: √(0.25 / 400) each.
    assert!((value - 0.5).abs() < 0.1, "{value}");
    let ami = crate::common::value(&study, "ami", &Spec::default());
    assert!(ami.abs() < 0.02, "{ami}");
}

#[test]
fn codes_of_twice_the_input_have_a_slope_of_two() {
    let study = walk(Labels::from_codes(vec![0; 90], 1), 0.0);
    for (id, expected) in [
        ("smoothness.slope", 2.0),
        ("smoothness.intercept", 0.0),
        ("smoothness.r", 1.0),
        ("smoothness.r2", 1.0),
        ("smoothness.ratio_mean", 2.0),
        ("smoothness.ratio_std", 0.0),
        ("smoothness.ratio_median", 2.0),
        ("smoothness.lipschitz_p99", 2.0),
        ("smoothness.lipschitz_max", 2.0),
    ] {
        let found = value(&study, id, &Spec::default());
        // Doubling is exact, so only the sums of the regression round.
        assert!((found - expected).abs() < 1e-12, "{id}: {found}");
    }
}

#[test]
fn a_jump_between_episodes_is_no_step() {
    let episodes = Labels::from_codes((0..90).map(|i| i / 30).collect(), 3);
    let found = |jump: f64, id: &str| value(&walk(episodes.clone(), jump), id, &Spec::default());
    for id in [
        "smoothness.slope",
        "smoothness.r",
        "smoothness.ratio_mean",
        "smoothness.lipschitz_max",
    ] {
        let (calm, jumping) = (found(0.0, id), found(1024.0, id));
        // Adding a power of two to numbers around 1 rounds them at 1e-13.
        assert!((calm - jumping).abs() < 1e-10, "{id}: {calm} {jumping}");
        assert_eq!(
            score(&walk(episodes.clone(), 1024.0), id, &Spec::default()).n,
            87,
            "{id}"
        );
    }
    let one_episode = walk(Labels::from_codes(vec![0; 90], 1), 1024.0);
    assert!(value(&one_episode, "smoothness.lipschitz_max", &Spec::default()) > 100.0);
}

#[test]
fn intervals_of_the_slope_cover_the_line_the_codes_were_drawn_around() {
    // Independent pairs from the origin to s and to 1 + 2s + noise: the model that Student's t is exact for.
    assert_coverage("smoothness.slope", |seed| {
        let mut draw = Draw::new(3000 + seed);
        let steps: Vec<f64> = (0..100).map(|_| 1.0 + draw.uniform()).collect();
        let codes: Vec<f64> = steps.iter().map(|s| 1.0 + 2.0 * s + 0.1 * draw.normal()).collect();
        let from_origin = |to: Vec<f64>, name: &str| space(name, 1, [vec![0.0; 100], to].concat());
        let study = Study {
            pairs: Some(Arc::new(Pairs::stacked(100, None))),
            ..with_input(from_origin(steps, "input"), from_origin(codes, "latent"))
        };
        (score(&study, "smoothness.slope", &Spec::default()), 2.0)
    });
}

#[test]
fn intervals_of_uniformity_cover_the_expected_kernel() {
    // Directions +1 with probability 0.3, else −1: two of them agree with probability 0.58, else d² = 4.
    let truth = (0.58 + 0.42 * (-8f64).exp()).ln();
    assert_coverage("uniformity", |seed| {
        let mut draw = Draw::new(2000 + seed);
        let signs = (0..100)
            .map(|_| if draw.uniform() < 0.3 { 1.0 } else { -1.0 })
            .collect();
        (
            score(
                &Study::new(MODEL, space("latent", 1, signs)),
                "uniformity",
                &Spec::default(),
            ),
            truth,
        )
    });
}

#[test]
fn intervals_of_trustworthiness_of_noise_cover_the_chance_level() {
    assert_covers_population("trustworthiness@10", &Spec::default(), Truth::Chance, 270, |seed| {
        noise(100, seed)
    });
}

#[test]
fn intervals_of_neighborhoods_of_a_lossy_code_cover_the_population() {
    for id in ["trustworthiness@10", "continuity@10"] {
        assert_covers_population(id, &Spec::default(), Truth::Mean, 270, |seed| lossy_code(100, seed));
    }
}

#[test]
fn intervals_from_anchors_cover_the_population_too() {
    let spec = Spec {
        sample: Some(80),
        ..Spec::default()
    };
    for id in ["trustworthiness@10", "continuity@10", "silhouette"] {
        assert_covers_population(id, &spec, Truth::Mean, 270, |seed| lossy_code(160, seed));
    }
}

#[test]
fn intervals_over_episodes_cover_the_population() {
    // Continuity: 85 %, since what its interval leaves out (rows that stand between others) adds up over an episode.
    for (id, least) in [("trustworthiness@10", 270), ("continuity@10", 255), ("silhouette", 270)] {
        assert_covers_population(id, &Spec::default(), Truth::Mean, least, episodes_apart);
    }
}

#[test]
fn intervals_of_the_silhouette_of_overlapping_classes_cover_the_population() {
    assert_covers_population("silhouette", &Spec::default(), Truth::Mean, 270, |seed| {
        lossy_code(100, seed)
    });
}

enum Truth {
    /// The score's chance level.
    Chance,
    /// The mean over all seeds: it has about a thirtieth of the error of one value.
    Mean,
}

/// Of 300 data sets the 95 % interval holds the truth in at least so many (it is approximate, and rather too wide),
/// and is on average at most twice as wide as the range of 95 % of the values of 900 data sets.
fn assert_covers_population(id: &str, spec: &Spec, truth: Truth, least: usize, data: impl Fn(u64) -> Study) {
    let scores: Vec<Score> = (0..900).map(|seed| score(&data(4000 + seed), id, spec)).collect();
    let mut values: Vec<f64> = scores.iter().map(|s| s.value.expect("a number")).collect();
    let truth = match truth {
        Truth::Chance => scores[0].chance.expect("a chance level"),
        Truth::Mean => values.iter().sum::<f64>() / 900.0,
    };
    let covered = scores[..300].iter().filter(|s| contains(s, truth)).count();
    assert!(covered >= least, "{id}: {covered} of 300");
    let widths = scores
        .iter()
        .map(|s| s.interval.expect("an interval"))
        .map(|[low, high]| high - low);
    values.sort_by(f64::total_cmp);
    let (width, range) = (widths.sum::<f64>() / 900.0, values[877] - values[22]);
    assert!(width <= 2.0 * range, "{id}: {width} wide, values range over {range}");
}

/// Of 200 data sets the 95 % interval holds the truth in 88 % to 99 %: wide enough for the binomial spread of 200
/// draws (1.5 %) and for what N = 100 takes from an asymptotic interval.
fn assert_coverage(id: &str, data: impl Fn(u64) -> (Score, f64)) {
    let covered = (0..200)
        .map(data)
        .filter(|(score, truth)| contains(score, *truth))
        .count();
    assert!((176..=198).contains(&covered), "{id}: {covered} of 200");
}

fn contains(score: &Score, truth: f64) -> bool {
    let [low, high] = score.interval.expect("an interval");
    low <= truth && truth <= high
}

#[derive(Debug, Clone, Copy)]
enum Shape {
    Cube,
    Gaussian,
}

/// 2,000 codes that fill `d` of 30 dimensions, under a random linear map.
fn sheet(shape: Shape, d: usize) -> Space {
    let mut draw = Draw::new(51);
    let map = draw.normals(d * 30);
    let inner = match shape {
        Shape::Cube => draw.uniforms(2000 * d),
        Shape::Gaussian => draw.normals(2000 * d),
    };
    space("latent", 30, product(&inner, d, &map))
}

fn with_input(input: Space, latent: Space) -> Study {
    Study {
        input: Some(Arc::new(input)),
        ..Study::new(MODEL, latent)
    }
}

/// Codes that know nothing of their inputs.
fn noise(rows: usize, seed: u64) -> Study {
    let mut draw = Draw::new(seed);
    let input = space("input", 6, draw.normals(6 * rows));
    with_input(input, space("latent", 4, draw.normals(4 * rows)))
}

/// Three overlapping classes in five dimensions, coded by a noisy map to two.
fn lossy_code(rows: usize, seed: u64) -> Study {
    let mut draw = Draw::new(seed);
    let labels: Vec<u32> = (0..rows).map(|_| draw.below(3) as u32).collect();
    let center = |i: usize| if i % 5 == labels[i / 5] as usize { 2.0 } else { 0.0 };
    let input: Vec<f64> = (0..5 * rows).map(|i| center(i) + draw.normal()).collect();
    let latent = noisy_map(&input, &mut draw);
    Study {
        labels: Some(Arc::new(Labels::from_codes(labels, 3))),
        ..with_input(space("input", 5, input), latent)
    }
}

/// Twenty episodes of 6 rows, each around a place of its own, and classes as in a lossy code.
fn episodes_apart(seed: u64) -> Study {
    let mut draw = Draw::new(seed);
    let (labels, places): (Vec<u32>, _) = ((0..120).map(|i| i % 3).collect(), draw.normals(5 * 20));
    let center = |i: usize| places[i / 30 * 5 + i % 5] + if i % 5 == labels[i / 5] as usize { 2.0 } else { 0.0 };
    let input: Vec<f64> = (0..5 * 120).map(|i| center(i) + 0.7 * draw.normal()).collect();
    let latent = noisy_map(&input, &mut draw);
    Study {
        labels: Some(Arc::new(Labels::from_codes(labels.clone(), 3))),
        episodes: Some(Arc::new(Labels::from_codes((0..120).map(|i| i / 6).collect(), 20))),
        ..with_input(space("input", 5, input), latent)
    }
}

/// Five columns to two, by the same map for every seed of the noise.
fn noisy_map(input: &[f64], draw: &mut Draw) -> Space {
    let codes = product(input, 5, &Draw::new(58).normals(10));
    space("latent", 2, codes.iter().map(|z| z + 0.3 * draw.normal()).collect())
}

/// Four classes of 50 rows, each 0.1 wide, at corners 100 apart.
fn blobs(seed: u64) -> Study {
    let mut draw = Draw::new(seed);
    let labels: Vec<u32> = (0..200).map(|i| i % 4).collect();
    let corner = |i: usize| if i % 4 == labels[i / 4] as usize { 100.0 } else { 0.0 };
    let latent = (0..800).map(|i| corner(i) + 0.1 * draw.normal()).collect();
    Study {
        labels: Some(Arc::new(Labels::from_codes(labels.clone(), 4))),
        ..Study::new(MODEL, space("latent", 4, latent))
    }
}

/// A random walk of 90 rows and codes of twice its states, displaced by `jump` from episode to episode.
fn walk(episodes: Labels, jump: f64) -> Study {
    let mut draw = Draw::new(57);
    let mut at = [0.0; 3];
    let mut input = Vec::new();
    for _ in 0..90 {
        at.iter_mut().for_each(|x| *x += draw.normal());
        input.extend(at);
    }
    let input = space("input", 3, input);
    let displaced = |(i, x): (usize, f64)| 2.0 * x + jump * (i / 90) as f64;
    let latent = numbers(&input).into_iter().enumerate().map(displaced).collect();
    Study {
        pairs: Some(Arc::new(Pairs::consecutive(90, Some(&episodes)))),
        episodes: Some(Arc::new(episodes)),
        ..with_input(input, space("latent", 3, latent))
    }
}

/// I₀(x) = Σ ((x/2)^m / m!)².
fn bessel_i0(x: f64) -> f64 {
    let (mut term, mut sum) = (1.0, 1.0);
    for m in 1..60 {
        term *= (x / 2.0 / f64::from(m)).powi(2);
        sum += term;
    }
    sum
}

#[test]
fn the_unit_of_the_inputs_does_not_decide_which_of_them_move() {
    let mut draw = Draw::new(61);
    let (input, latent) = (draw.normals(3 * 60), draw.normals(2 * 60));
    let study = |factor: f64| Study {
        pairs: Some(Arc::new(Pairs::consecutive(60, None))),
        ..with_input(
            space("input", 3, input.iter().map(|x| x * factor).collect()),
            space("latent", 2, latent.clone()),
        )
    };
    let small = score(&study(1e-30), "smoothness.ratio_median", &Spec::default());
    let usual = score(&study(1.0), "smoothness.ratio_median", &Spec::default());
    let ratio = small.value.expect("inputs that move") / usual.value.expect("inputs that move");
    assert!((ratio / 1e30 - 1.0).abs() < 1e-9 && small.n == usual.n, "{small:?}");
}

#[test]
fn rounded_storage_is_noted_where_it_is_what_is_measured() {
    // 300 rows that fill 20 of 40 dimensions: in f64 nothing is left of the others, in f32 their rounding is.
    let mut draw = Draw::new(62);
    let rows = product(&draw.normals(300 * 20), 20, &draw.normals(20 * 40));
    let rounded: Vec<f32> = rows.iter().map(|x| *x as f32).collect();
    let single = Study::new(
        MODEL,
        Space::from_f32("latent", 300, 40, rounded).expect("finite numbers"),
    );
    for id in ["condition_number", "alpha_req"] {
        let found = score(&single, id, &Spec::default());
        let note = found.note.unwrap_or_default();
        assert!(
            note.contains("32-bit") && note.contains("only 20 dimensions"),
            "{id}: {note}"
        );
    }
    let full = Study::new(MODEL, space("latent", 40, draw.normals(300 * 40)));
    assert_eq!(score(&full, "condition_number", &Spec::default()).note, None);
}

#[test]
fn no_interval_of_a_rank_leaves_its_range_and_heavy_tails_are_noted() {
    // Nearly equal singular values: ranks near their bound.
    let mut draw = Draw::new(63);
    let even = Study::new(MODEL, space("latent", 3, draw.normals(3 * 200)));
    for id in [
        "rankme(variant=spec)",
        "rankme(variant=paper)",
        "stable_rank",
        "participation_ratio",
    ] {
        let found = score(&even, id, &Spec::default());
        let [low, high] = found.interval.expect("an interval");
        assert!(
            1.0 <= low && high <= 3.0 && found.value.is_some_and(|v| low <= v && v <= high),
            "{found:?}"
        );
    }
    let mut far = draw.normals(3 * 200);
    far[0] = 40.0;
    let found = score(
        &Study::new(MODEL, space("latent", 3, far)),
        "participation_ratio",
        &Spec::default(),
    );
    let note = found.note.unwrap_or_default();
    assert!(note.contains("heavy tails: one of 200 rows"), "{note}");
}
