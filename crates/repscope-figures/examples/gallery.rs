// SPDX-License-Identifier: MIT
//! Draws a gallery of figures, hard cases among them, into a folder: `cargo run --example gallery -- FOLDER`.
//! Look at each after a change of the layer. Data are made up, by a fixed generator.

use repscope_figures::*;
use std::path::Path;

/// Made-up numbers: uniform from SplitMix64, normal from sums of twelve uniform ones.
struct Made(u64);

impl Made {
    fn uniform(&mut self) -> f64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        ((z ^ (z >> 31)) >> 11) as f64 / (1u64 << 53) as f64
    }

    fn normal(&mut self) -> f64 {
        (0..12).map(|_| self.uniform()).sum::<f64>() - 6.0
    }
}

fn names(models: usize) -> Vec<String> {
    let twelve = [
        "JEPA",
        "Encoder-Decoder",
        "vit_large_patch14_dinov2.lvd142m-seed-3",
        "vit_large_patch14_dinov2.lvd142m-seed-4",
        "resnet50.a1_in1k",
        "convnext_base.fb_in22k_ft_in1k_384",
        "masked autoencoder, 75 % masked",
        "simclr-temperature-0.07",
        "vicreg",
        "barlow-twins-lambda-0.0051-projector-8192",
        "random initialization",
        "pixels",
    ];
    twelve[..models].iter().map(|name| name.to_string()).collect()
}

fn smoothness(models: usize, points: usize) -> Figure {
    let mut made = Made(1);
    let mut scatter = Scatter {
        x: Axis::linear("pixel-space distance dₛ (L2)"),
        y: Axis::linear("distance of unit embeddings (L2)"),
        ..Scatter::default()
    };
    let mut boxes = Boxes {
        axis: Axis::log("smoothness ratio"),
        ..Boxes::default()
    };
    for series in 0..models {
        let slope = 1.15e-4 * (1.0 + 0.6 * series as f64);
        let cloud: Vec<[f64; 2]> = (0..points)
            .map(|_| {
                let x = 500.0 + 3500.0 * made.uniform() * made.uniform().sqrt();
                [x, (0.1 + slope * x + 0.06 * made.normal()).max(0.01)]
            })
            .collect();
        let ratios: Vec<f64> = cloud.iter().map(|[x, y]| y / x).collect();
        boxes.rows.push(BoxRow {
            series,
            boxes: vec![BoxSummary::of(&ratios)],
        });
        scatter.clouds.push(Cloud { series, points: cloud });
        let label = format!("slope {}, R² {}", number(slope), number(0.78));
        scatter.fits.push(Fit {
            series,
            slope,
            intercept: 0.1,
            label,
        });
    }
    Figure {
        series: names(models),
        columns: 2,
        panels: vec![
            Panel::new("Smoothness", scatter),
            Panel::new("Ratio of distances", boxes),
        ],
        notes: vec!["Boxes: quartiles; whiskers: last values within 1.5 interquartile ranges.".into()],
        ..Figure::default()
    }
}

fn robustness(models: usize) -> Figure {
    let mut made = Made(2);
    let mut lines = Lines {
        x: Axis::linear("input noise σ"),
        y: Axis::linear("mean embedding distance").covering(&[0.0]),
        ..Lines::default()
    };
    let mut boxes = Boxes {
        axis: Axis::linear("embedding distance at σ = 0.1"),
        ..Boxes::default()
    };
    for series in 0..models {
        let gain = 1.0 + series as f64 * 0.4;
        let points = [0.01, 0.05, 0.1, 0.15, 0.2].map(|x: f64| {
            let y = gain * x.powf(0.8);
            CurvePoint {
                x,
                y: Some(y),
                band: Some((0.93 * y, 1.07 * y)),
            }
        });
        lines.curves.push(Curve {
            look: CurveLook::Full,
            series,
            points: points.to_vec(),
        });
        let values: Vec<f64> = (0..400).map(|_| gain * 0.16 * (1.0 + 0.2 * made.normal())).collect();
        boxes.rows.push(BoxRow {
            series,
            boxes: vec![BoxSummary::of(&values)],
        });
    }
    Figure {
        series: names(models),
        columns: 2,
        panels: vec![
            Panel::new("Response to noise", lines),
            Panel::new("Spread over samples", boxes),
        ],
        notes: vec!["Bands: 95 % intervals of the mean over episodes.".into()],
        ..Figure::default()
    }
}

fn neighborhood(models: usize, ks: &[usize]) -> Figure {
    let bars = |top: f64| Bars {
        axis: Axis::linear("score").covering(&[0.0, 1.0]),
        categories: ks.iter().map(|k| k.to_string()).collect(),
        category_label: "neighbors k".into(),
        rows: (0..models)
            .map(|series| BarRow {
                series,
                bars: (0..ks.len())
                    .map(|k| {
                        let value = top - 0.02 * k as f64 - 0.035 * series as f64;
                        Measured {
                            value: Some(value),
                            interval: Some((value - 0.012, value + 0.012)),
                        }
                    })
                    .collect(),
            })
            .collect(),
        chance: vec![Some(0.5)],
        ..Bars::default()
    };
    Figure {
        series: names(models),
        columns: 2,
        panels: vec![
            Panel::new("Trustworthiness ↑", bars(0.96)),
            Panel::new("Continuity ↑", bars(0.93)),
        ],
        notes: vec!["Whiskers: 95 % bootstrap intervals over episodes.".into()],
        ..Figure::default()
    }
}

fn one_bar_each(label: &str, values: &[Option<f64>], spread: f64) -> Bars {
    let measured = |value: &Option<f64>| Measured {
        value: *value,
        interval: value.map(|v| (v - spread, v + spread)),
    };
    Bars {
        axis: Axis::linear(label),
        rows: values
            .iter()
            .enumerate()
            .map(|(series, value)| BarRow {
                series,
                bars: vec![measured(value)],
            })
            .collect(),
        ..Bars::default()
    }
}

fn manifold(models: usize) -> Figure {
    let spread = |base: f64, step: f64| (0..models).map(|m| Some(base + step * m as f64)).collect::<Vec<_>>();
    let mut two_nn = spread(9.2, 1.7);
    if models > 1 {
        two_nn[1] = None;
    }
    let spectrum = |x: Axis| Lines {
        x,
        y: Axis::log("eigenvalue"),
        curves: (0..models)
            .map(|series| Curve {
                look: CurveLook::Full,
                series,
                points: (1..=128)
                    .map(|i| {
                        let x = f64::from(i);
                        let y = 10.0 * (-x / (8.0 + 6.0 * series as f64)).exp() + 1e-4 * (series + 1) as f64;
                        CurvePoint {
                            x,
                            y: Some(y),
                            band: None,
                        }
                    })
                    .collect(),
            })
            .collect(),
        ..Lines::default()
    };
    let summary = Table {
        header: ["model", "dimensions", "PR", "Two-NN", "used"]
            .map(String::from)
            .to_vec(),
        rows: names(models)
            .iter()
            .enumerate()
            .map(|(m, name)| {
                vec![
                    name.as_str().into(),
                    "64".into(),
                    number(12.3 + m as f64).into(),
                    if m == 1 {
                        "".into()
                    } else {
                        number(9.2 + 1.7 * m as f64).into()
                    },
                    Cell {
                        text: format!("{} %", 19 + m),
                        weight: if m == 0 { Weight::Bold } else { Weight::Regular },
                    },
                ]
            })
            .collect(),
    };
    Figure {
        series: names(models),
        columns: 3,
        panels: vec![
            Panel::new("Participation ratio", one_bar_each("PR", &spread(12.3, 3.1), 0.0)),
            Panel::new("Two-NN dimension", one_bar_each("dimension", &two_nn, 0.8))
                .note("Encoder-Decoder: more than half of the rows are duplicates."),
            Panel::new("Dimension usage", one_bar_each("PR / D (%)", &spread(19.2, 4.8), 0.0)),
            Panel::new("Spectrum", spectrum(Axis::linear("index"))),
            Panel::new("Spectrum, log–log", spectrum(Axis::log("index"))),
            Panel::new("Summary", summary).span(if models > 3 { 3 } else { 1 }),
        ],
        ..Figure::default()
    }
}

fn geometry(models: usize) -> Figure {
    let along = |base: f64, step: f64| (0..models).map(|m| Some(base + step * m as f64)).collect::<Vec<_>>();
    let no_labels = || Content::Text("No labels were given, so this panel is empty.".into());
    let mut mixed = along(0.31, -0.11);
    mixed[0] = Some(0.31);
    let metrics = [
        "uniformity ↓",
        "silhouette ↑",
        "NMI ↑",
        "inertia ↓",
        "cluster balance ↓",
        "k-NN accuracy ↑",
    ];
    let mut header = vec!["metric".to_string()];
    header.extend(names(models));
    let rows = metrics
        .iter()
        .enumerate()
        .map(|(i, metric)| {
            let mut row: Vec<Cell> = vec![(*metric).into()];
            row.extend((0..models).map(|m| match i {
                2 | 5 => "".into(),
                3 => Cell::from(number(1.35e6 * (m + 1) as f64)),
                i => Cell::from(number(-2.3 + i as f64 + 0.1 * m as f64)),
            }));
            row
        })
        .collect();
    Figure {
        title: "Geometry of the embeddings".into(),
        series: names(models),
        columns: 3,
        panels: vec![
            Panel::new(
                "Uniformity on the hypersphere ↓",
                one_bar_each("log potential", &along(-2.31, 0.14), 0.08),
            ),
            Panel::new("Silhouette ↑", one_bar_each("silhouette", &mixed, 0.02)),
            Panel::new("Clustering quality (NMI) ↑", no_labels()),
            Panel::new("Inertia ↓", one_bar_each("sum of squares", &along(1.35e6, 5.0e5), 1e5)),
            Panel::new(
                "Cluster balance ↓",
                one_bar_each("std / mean of sizes", &along(0.21, 0.07), 0.02),
            ),
            Panel::new("k-NN label consistency ↑", no_labels()),
            Panel::new("Summary", Table { header, rows }).span(3),
        ],
        ..Figure::default()
    }
}

fn retrieval(models: usize, classes: usize) -> Figure {
    let mut made = Made(3);
    let lines = Lines {
        x: Axis::log("K"),
        y: Axis::linear("precision@K").covering(&[0.0, 1.0]),
        curves: (0..models)
            .map(|series| Curve {
                look: CurveLook::Full,
                series,
                points: [1.0, 5.0, 10.0, 20.0, 50.0, 100.0]
                    .map(|k: f64| {
                        let y = 0.92 - 0.11 * k.log10() - 0.06 * series as f64;
                        CurvePoint {
                            x: k,
                            y: Some(y),
                            band: Some((y - 0.02, y + 0.02)),
                        }
                    })
                    .to_vec(),
            })
            .collect(),
        references: vec![Reference {
            at: ReferenceAt::Horizontal(0.1),
            label: "chance 0.10".into(),
            series: None,
        }],
    };
    let label = |i: usize| {
        [
            "walking",
            "running",
            "sitting down slowly",
            "BPSK",
            "64QAM",
            "AM-DSB-WC",
        ][i % 6]
            .to_string()
            + &if i > 5 { format!(" {i}") } else { String::new() }
    };
    let labels: Vec<String> = (0..classes).map(label).collect();
    let per_label = Bars {
        axis: Axis::linear("precision@10").covering(&[0.0, 1.0]),
        orientation: Orientation::Horizontal,
        categories: labels.iter().take(8).cloned().collect(),
        rows: (0..models.min(2))
            .map(|series| BarRow {
                series,
                bars: (0..8)
                    .map(|_| {
                        let v = 0.3 + 0.6 * made.uniform();
                        Measured {
                            value: Some(v),
                            interval: Some((v - 0.03, v + 0.03)),
                        }
                    })
                    .collect(),
            })
            .collect(),
        chance: (0..8).map(|i| Some(0.05 + 0.02 * f64::from(i))).collect(),
        references: vec![Reference {
            at: ReferenceAt::Vertical(0.62),
            label: "macro mean 0.62".into(),
            series: None,
        }],
        ..Bars::default()
    };
    let values = (0..classes)
        .map(|row| {
            let mut cells: Vec<f64> = (0..classes).map(|_| 0.3 * made.uniform().powi(6)).collect();
            cells[row] = 0.5 + 0.5 * made.uniform();
            let sum: f64 = cells.iter().sum();
            cells.iter().map(|cell| Some(cell / sum)).collect()
        })
        .collect();
    let confusion = Heatmap {
        rows: labels.clone(),
        columns: labels,
        row_label: "true class".into(),
        column_label: "retrieved class".into(),
        values,
        value_label: "share of row".into(),
        range: Some((0.0, 1.0)),
        decimals: 2,
        ..Heatmap::default()
    };
    let wide = if classes > 12 { 2 } else { 1 };
    Figure {
        series: names(models),
        columns: 2,
        panels: vec![
            Panel::new("Precision at K", lines),
            Panel::new("Precision by label", per_label),
            Panel::new("Retrieval confusion", confusion).span(wide),
        ],
        ..Figure::default()
    }
}

fn perturbation() -> Figure {
    let kinds = [
        ("brightest pixels", [11.75, 6.94, 5.02, 4.04, 4.07]),
        ("dimmest pixels", [48.67, 24.29, 16.18, 12.16, 9.72]),
        ("random pixels", [-3.67, -1.04, 0.01, 0.54, 0.87]),
    ];
    let lines = Lines {
        x: Axis::linear("pixels blacked out (%)"),
        y: Axis::linear("perturbation impact score"),
        curves: kinds
            .iter()
            .enumerate()
            .map(|(series, (_, pis))| Curve {
                look: CurveLook::Full,
                series,
                points: (1..=5)
                    .map(|x| CurvePoint {
                        x: f64::from(x),
                        y: Some(pis[x as usize - 1]),
                        band: None,
                    })
                    .collect(),
            })
            .collect(),
        references: vec![Reference {
            at: ReferenceAt::Horizontal(0.0),
            label: "no impact".into(),
            series: None,
        }],
    };
    let bars = Bars {
        axis: Axis::linear("perturbation impact score"),
        categories: vec!["1 %".into(), "5 %".into()],
        rows: kinds
            .iter()
            .enumerate()
            .map(|(series, (_, pis))| BarRow {
                series,
                bars: [pis[0], pis[4]]
                    .map(|v| Measured {
                        value: Some(v),
                        interval: Some((v - 0.8, v + 0.8)),
                    })
                    .to_vec(),
            })
            .collect(),
        ..Bars::default()
    };
    Figure {
        series: kinds.iter().map(|(name, _)| name.to_string()).collect(),
        columns: 2,
        panels: vec![
            Panel::new("Impact by extent", lines),
            Panel::new("Impact at 1 % and 5 %", bars),
        ],
        ..Figure::default()
    }
}

/// Impact by class with intervals, below zero too, and accuracy over the extent with bands.
fn perturbed_classes() -> Figure {
    let mut made = Made(9);
    let classes = [
        "BPSK", "QPSK", "8PSK", "16QAM", "32QAM", "64QAM", "128QAM", "256QAM", "OOK", "4ASK", "FM",
    ];
    let kinds = ["brightest pixels", "dimmest pixels", "random pixels"];
    let impact = Bars {
        axis: Axis::linear("perturbation impact score"),
        categories: classes.map(str::to_string).to_vec(),
        rows: (0..kinds.len())
            .map(|series| BarRow {
                series,
                bars: classes
                    .map(|_| {
                        let value = [9.0, 16.0, -1.5][series] * made.uniform() + made.normal();
                        Measured {
                            value: Some(value),
                            interval: Some((value - 1.2, value + 1.2)),
                        }
                    })
                    .to_vec(),
            })
            .collect(),
        ..Bars::default()
    };
    let falls = [0.019, 0.052, 0.006];
    let accuracy = Lines {
        x: Axis::linear("pixels blacked out (%)").covering(&[0.0]),
        y: Axis::linear("accuracy").covering(&[0.0, 1.0]),
        curves: (0..kinds.len())
            .map(|series| Curve {
                look: CurveLook::Full,
                series,
                points: (0..=10)
                    .map(|x| {
                        let y = 0.12 + 0.79 * (-falls[series] * f64::from(x * x)).exp();
                        CurvePoint {
                            x: f64::from(x),
                            y: Some(y),
                            band: Some((y - 0.025, y + 0.025)),
                        }
                    })
                    .collect(),
            })
            .collect(),
        references: vec![Reference {
            at: ReferenceAt::Horizontal(1.0 / 11.0),
            label: "chance".into(),
            series: None,
        }],
    };
    Figure {
        series: kinds.map(str::to_string).to_vec(),
        columns: 2,
        panels: vec![
            Panel::new("Impact by class", impact).span(2),
            Panel::new("Accuracy by extent", accuracy),
        ],
        notes: vec!["Error bars and bands are 95 % intervals over images.".into()],
        ..Figure::default()
    }
}

/// Confusion matrices with numbers in their cells.
fn confusion(classes: usize) -> Figure {
    let mut made = Made(10);
    let names: Vec<String> = (0..classes).map(|i| format!("{}-QAM", 4 << (i % 9))).collect();
    let names: Vec<String> = names
        .iter()
        .enumerate()
        .map(|(i, name)| format!("{name} {i}"))
        .collect();
    let values = (0..classes)
        .map(|row| {
            let weights: Vec<f64> = (0..classes)
                .map(|column| match row.abs_diff(column) {
                    0 => 3.0 + 4.0 * made.uniform(),
                    1 => made.uniform(),
                    _ => 0.15 * made.uniform() * made.uniform(),
                })
                .collect();
            let total: f64 = weights.iter().sum();
            weights.iter().map(|weight| Some(weight / total)).collect()
        })
        .collect();
    let heatmap = Heatmap {
        rows: names.clone(),
        columns: names,
        row_label: "true class".into(),
        column_label: "predicted class".into(),
        values,
        value_label: "share of the row".into(),
        range: Some((0.0, 1.0)),
        decimals: 2,
        ..Heatmap::default()
    };
    Figure {
        panels: vec![Panel::new("", heatmap)],
        columns: 1,
        ..Figure::default()
    }
}

fn etes() -> Figure {
    let mut made = Made(4);
    let matched: Vec<f64> = (0..4000).map(|_| 0.72 + 0.09 * made.normal()).collect();
    let shuffled: Vec<f64> = (0..4000).map(|_| 0.31 + 0.14 * made.normal()).collect();
    let edges = bin_edges(&[&matched, &shuffled]);
    let bins = |series, values: &[f64], look| Bins {
        series,
        heights: bin_shares(&edges, values),
        edges: edges.clone(),
        look,
    };
    let histogram = Histogram {
        x: Axis::linear("similarity"),
        y: Axis::linear("share of pairs"),
        series: vec![
            bins(0, &matched, BinsLook::Filled),
            bins(1, &shuffled, BinsLook::Filled),
        ],
        references: vec![Reference {
            at: ReferenceAt::Vertical(0.72),
            label: "mean of matched".into(),
            series: Some(0),
        }],
    };
    let gap = Scatter {
        x: Axis::linear("similarity of matched pair"),
        y: Axis::linear("gap to shuffled"),
        clouds: vec![Cloud {
            series: 0,
            points: matched.iter().zip(&shuffled).map(|(a, b)| [*a, a - b]).collect(),
        }],
        references: vec![
            Reference {
                at: ReferenceAt::Diagonal,
                label: "y = x".into(),
                series: None,
            },
            Reference {
                at: ReferenceAt::Horizontal(0.0),
                label: "no gap".into(),
                series: None,
            },
        ],
        ..Scatter::default()
    };
    let shares = Shares {
        names: names(4),
        parts: ["0–1 Hz", "1–4 Hz", "4–10 Hz", "over 10 Hz"].map(String::from).to_vec(),
        values: vec![
            vec![Some(0.42), Some(0.3), Some(0.2), Some(0.08)],
            vec![Some(0.1), Some(0.2), Some(0.3), Some(0.4)],
            vec![Some(0.7), Some(0.26), Some(0.02), Some(0.02)],
            vec![None, Some(0.2), Some(0.3), Some(0.4)],
        ],
    };
    Figure {
        series: vec!["matched pairs".into(), "shuffled pairs".into()],
        columns: 3,
        panels: vec![
            Panel::new("Similarities", histogram),
            Panel::new("Gap", gap),
            Panel::new("Energy by band", shares),
        ],
        ..Figure::default()
    }
}

fn maps() -> Figure {
    let mut made = Made(5);
    let clusters = |made: &mut Made, classes: usize, points: usize| {
        let centers: Vec<[f64; 2]> = (0..classes)
            .map(|_| [3.0 * made.normal(), 2.0 * made.normal()])
            .collect();
        let class: Vec<Option<usize>> = (0..points).map(|i| Some(i % classes)).collect();
        let points: Vec<[f64; 2]> = class
            .iter()
            .map(|c| {
                let center = centers[c.unwrap_or(0)];
                [center[0] + 0.6 * made.normal(), center[1] + 0.6 * made.normal()]
            })
            .collect();
        (points, class)
    };
    let map = |points: Vec<[f64; 2]>, colored_by| Map {
        x_label: "PC 1 (34 %)".into(),
        y_label: "PC 2 (12 %)".into(),
        points,
        colored_by,
    };
    let class_names = |n: usize| (0..n).map(|i| format!("class {}", i + 1)).collect::<Vec<_>>();
    let (a, a_class) = clusters(&mut made, 6, 1500);
    let (b, b_class) = clusters(&mut made, 30, 20_000);
    let (c, _) = clusters(&mut made, 5, 3000);
    let values: Vec<Option<f64>> = c
        .iter()
        .map(|[x, y]| {
            if x * y > 9.0 {
                None
            } else {
                Some(1.0 / (1.0 + x * x + y * y))
            }
        })
        .collect();
    Figure {
        columns: 3,
        panels: vec![
            Panel::new(
                "By label",
                map(
                    a,
                    ColoredBy::Class {
                        names: class_names(6),
                        of: a_class,
                    },
                ),
            ),
            Panel::new(
                "By label, 30 classes",
                map(
                    b,
                    ColoredBy::Class {
                        names: class_names(30),
                        of: b_class,
                    },
                ),
            ),
            Panel::new(
                "By trustworthiness",
                map(
                    c,
                    ColoredBy::Value {
                        label: "local trustworthiness".into(),
                        of: values,
                        range: None,
                    },
                ),
            ),
        ],
        ..Figure::default()
    }
}

fn examples() -> Figure {
    let mut made = Made(6);
    let captions = [
        "original",
        "brightest 1 %",
        "brightest 5 %",
        "dimmest 1 %",
        "dimmest 5 %",
        "random 5 %",
    ];
    let images = captions.map(|caption| {
        let size = 64;
        let mut pixels = vec![0u8; size * size];
        for _ in 0..900 {
            let corner = |u: f64| if u < 0.5 { 20.0 } else { 44.0 };
            let (x, y) = (
                corner(made.uniform()) + 3.0 * made.normal(),
                corner(made.uniform()) + 3.0 * made.normal(),
            );
            let at = (y.clamp(0.0, 63.0) as usize) * size + x.clamp(0.0, 63.0) as usize;
            pixels[at] = pixels[at].saturating_add(60);
        }
        Image {
            caption: caption.into(),
            width: size,
            height: size,
            channels: Channels::Gray,
            pixels,
        }
    });
    Figure {
        panels: vec![Panel::new(
            "QPSK, 20 dB",
            Images {
                columns: 6,
                images: images.to_vec(),
            },
        )],
        ..Figure::default()
    }
}

fn oddities() -> Figure {
    let orders = Bars {
        axis: Axis::log("condition number"),
        ..one_bar_each("", &[Some(3.0e-2), Some(8.0), Some(4.0e4), Some(0.0)], 0.0)
    };
    let mut orders = orders;
    orders.axis = Axis::log("condition number");
    let one_point = Scatter {
        x: Axis::linear("x"),
        y: Axis::linear("y"),
        clouds: vec![Cloud {
            series: 0,
            points: vec![[3.0, 1e-5]],
        }],
        ..Scatter::default()
    };
    let constant = Lines {
        x: Axis::linear("step"),
        y: Axis::linear("value"),
        curves: vec![Curve {
            look: CurveLook::Full,
            series: 1,
            points: (0..6)
                .map(|x| CurvePoint {
                    x: f64::from(x),
                    y: if x == 3 { None } else { Some(2.0) },
                    band: None,
                })
                .collect(),
        }],
        ..Lines::default()
    };
    let empty = Scatter {
        x: Axis::log("x"),
        clouds: vec![Cloud {
            series: 0,
            points: vec![[-1.0, 2.0]],
        }],
        ..Scatter::default()
    };
    let diverging = Heatmap {
        rows: names(3),
        columns: names(3),
        values: vec![
            vec![Some(0.0), Some(0.12), Some(-0.31)],
            vec![Some(-0.12), Some(0.0), None],
            vec![Some(0.31), None, Some(0.0)],
        ],
        value_label: "difference".into(),
        colors: Colors::Diverging,
        decimals: 2,
        ..Heatmap::default()
    };
    let horizontal = Boxes {
        axis: Axis::linear("embedding distance"),
        orientation: Orientation::Horizontal,
        rows: (0..4)
            .map(|series| BoxRow {
                series,
                boxes: vec![if series == 2 {
                    None
                } else {
                    BoxSummary::of(&[1.0, 2.0, 2.5, 3.0 + series as f64, 9.0 + series as f64])
                }],
            })
            .collect(),
        ..Boxes::default()
    };
    Figure {
        title: "Oddities: <one point>, \"nothing\", six orders & 模型 names".into(),
        series: vec![
            "JEPA".into(),
            "模型 <α & β>".into(),
            "long-name-of-a-model-that-goes-on".into(),
            "d".into(),
        ],
        columns: 3,
        panels: vec![
            Panel::new("Six orders of magnitude", orders),
            Panel::new("One point", one_point),
            Panel::new("Constant, one missing", constant),
            Panel::new("Nothing to draw", empty),
            Panel::new("Differences between models", diverging),
            Panel::new("Boxes to the right", horizontal),
        ],
        ..Figure::default()
    }
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let folder = std::env::args().nth(1).ok_or("give a folder to draw into")?;
    std::fs::create_dir_all(&folder)?;
    let wide = Style::default();
    let narrow = Style {
        width: Width::OneColumn,
        ..Style::default()
    };
    let dark = Style {
        theme: Theme::Dark,
        ..Style::default()
    };
    let figures = [
        ("smoothness_2", smoothness(2, 800), &wide),
        ("smoothness_12", smoothness(12, 10_000), &wide),
        ("smoothness_2_narrow", smoothness(2, 300), &narrow),
        ("robustness_3", robustness(3), &wide),
        ("robustness_12_dark", robustness(12), &dark),
        ("neighborhood_2", neighborhood(2, &[5, 10, 15]), &wide),
        ("neighborhood_12", neighborhood(12, &[5, 10, 15]), &wide),
        ("neighborhood_4_narrow", neighborhood(4, &[5, 10]), &narrow),
        ("manifold_2", manifold(2), &wide),
        ("manifold_12", manifold(12), &wide),
        ("geometry_2", geometry(2), &wide),
        ("geometry_12", geometry(12), &wide),
        ("geometry_4_dark", geometry(4), &dark),
        ("retrieval_6", retrieval(3, 8), &wide),
        ("retrieval_30", retrieval(2, 30), &wide),
        ("retrieval_narrow", retrieval(12, 50), &narrow),
        ("perturbation", perturbation(), &wide),
        ("perturbation_narrow", perturbation(), &narrow),
        ("perturbed_classes", perturbed_classes(), &wide),
        ("perturbed_classes_narrow", perturbed_classes(), &narrow),
        ("confusion_11", confusion(11), &wide),
        ("confusion_19", confusion(19), &wide),
        ("etes", etes(), &wide),
        ("maps", maps(), &wide),
        (
            "maps_dark_narrow",
            maps(),
            &Style {
                width: Width::OneColumn,
                ..dark.clone()
            },
        ),
        ("examples", examples(), &wide),
        ("oddities", oddities(), &wide),
        ("oddities_narrow", oddities(), &narrow),
    ];
    for (name, figure, style) in &figures {
        write(&folder, name, figure, style)?;
    }
    Ok(())
}

#[allow(clippy::disallowed_methods, reason = "an example may leave half a file behind")]
fn write(folder: &str, name: &str, figure: &Figure, style: &Style) -> Result<(), Box<dyn std::error::Error>> {
    let path = |ending: &str| Path::new(folder).join(format!("{name}.{ending}"));
    std::fs::write(path("svg"), to_svg(figure, style))?;
    std::fs::write(path("png"), to_png(figure, style)?)?;
    std::fs::write(path("pdf"), to_pdf(figure, style)?)?;
    Ok(())
}
