// SPDX-License-Identifier: MIT
//! The files of each analysis, to the letter.

mod summaries {
    use crate::csv_files::*;
    use crate::testdata::{missing, score, two_models};
    use repscope_core::{Better, Curve, SampleTable};

    fn file(command: &str, results: &Results, path: &str) -> String {
        let files = document_files(command, results);
        files
            .into_iter()
            .find(|(p, _)| p == path)
            .expect("the file is written")
            .1
    }

    fn results(scores: Vec<Score>) -> Results {
        Results {
            scores,
            ..Results::default()
        }
    }

    #[test]
    fn smoothness_summary_has_the_columns_of_the_document() {
        let csv = file(
            "smoothness",
            &two_models(),
            "smoothness_analysis/smoothness_summary.csv",
        );
        let expected = "\
Model,Regression_Slope,Regression_Intercept,R_Value,R_Squared,P_Value,Std_Error,Mean_Smoothness_Ratio,\
Std_Smoothness_Ratio,Median_Smoothness_Ratio,Sample_Count
jepa,0.00011531,,,,0.0,,,,,36000
encoder-decoder,0.00011784,,,,3.21e-12,,,,,36000
";
        assert_eq!(csv, expected);
    }

    #[test]
    fn smoothness_raw_data_lists_every_pair_and_leaves_missing_ratios_empty() {
        let columns = vec![
            ("input_distance".to_string(), vec![Some(2.0), Some(0.0)]),
            ("latent_distance".to_string(), vec![Some(0.1), Some(0.3)]),
            ("ratio".to_string(), vec![Some(0.05), None]),
        ];
        let samples = vec![SampleTable {
            model: "jepa".to_string(),
            metric: "smoothness".into(),
            columns,
        }];
        let results = Results {
            samples,
            ..Results::default()
        };
        let expected = "\
Model,Sample_ID,Pixel_Distance,Latent_Distance,Smoothness_Ratio
jepa,0,2.0,0.1,0.05
jepa,1,0.0,0.3,
";
        assert_eq!(
            file("smoothness", &results, "smoothness_analysis/smoothness_raw_data.csv"),
            expected
        );
    }

    #[test]
    fn neighborhood_has_a_row_per_model_and_k() {
        let interval = Some((0.8, 0.8 + 3.92 * 0.25, "rows", "jackknife")); // a standard error of 0.25
        let results = results(vec![
            score("jepa", "trustworthiness@10", 0.9, interval, Better::Higher),
            score("jepa", "trustworthiness@5", 0.91, None, Better::Higher),
            score("jepa", "continuity@5", 0.92, None, Better::Higher),
        ]);
        let expected = "\
Model,k,Trust_mean,Trust_std,Cont_mean,Cont_std
jepa,5,0.91,,0.92,
jepa,10,0.9,0.25,,
";
        let path = "neighborhood_preservation/neighborhood_preservation_summary.csv";
        assert_eq!(file("neighborhood", &results, path), expected);
    }

    #[test]
    fn manifold_writes_dimensions_and_the_spectrum() {
        let mut results = results(vec![
            score("jepa", "participation_ratio", 16.0, None, Better::Neither),
            score("jepa", "dimension_usage", 0.25, None, Better::Neither),
            missing("jepa", "two_nn", "all rows are the same"),
        ]);
        results.curves.push(Curve {
            model: "jepa".to_string(),
            metric: "spectrum".into(),
            x_label: "index".to_string(),
            y_label: "eigenvalue".to_string(),
            x: vec![1.0, 2.0, 3.0],
            y: vec![4.0, 2.0, 0.5],
        });
        let summary = "\
Model,Nominal_Dimension,Participation_Ratio,Intrinsic_Dimension,Dimension_Error,Usage_Efficiency_Percent,\
Max_Eigenvalue,Min_Eigenvalue,Eigenvalue_Count,Sample_Count
jepa,64,16.0,,,25.0,4.0,0.5,3,1797
";
        assert_eq!(
            file(
                "manifold",
                &results,
                "manifold_dimension/manifold_dimension_summary.csv"
            ),
            summary
        );
        let spectrum = "Model,Eigenvalue_Index,Eigenvalue\njepa,1,4.0\njepa,2,2.0\njepa,3,0.5\n";
        assert_eq!(
            file("manifold", &results, "manifold_dimension/manifold_eigenvalues.csv"),
            spectrum
        );
    }

    #[test]
    fn the_dimension_has_its_own_score_where_there_is_one() {
        let results = results(vec![
            score("jepa", "participation_ratio", 16.0, None, Better::Neither),
            score("jepa", "dimension", 65.0, None, Better::Neither),
        ]);
        assert_eq!(dimension("jepa", &results), Some(65));
    }

    #[test]
    fn geometry_has_the_ends_of_the_intervals_after_the_values() {
        let csv = file("geometry", &two_models(), "geometry_analysis/geometry_summary.csv");
        let mut lines = csv.lines();
        let expected = "\
Model,Uniformity,Silhouette_Score,NMI,AMI,Clustering_Inertia,Inertia_Share,Cluster_Balance,KNN_Accuracy,Sample_Count,\
Uniformity_Low,Uniformity_High,Silhouette_Score_Low,Silhouette_Score_High,NMI_Low,NMI_High,AMI_Low,AMI_High,\
Clustering_Inertia_Low,Clustering_Inertia_High,Inertia_Share_Low,Inertia_Share_High,\
Cluster_Balance_Low,Cluster_Balance_High,KNN_Accuracy_Low,KNN_Accuracy_High";
        assert_eq!(lines.next(), Some(expected));
        let row = lines.next().expect("a row per model");
        assert!(
            row.starts_with("jepa,-2.88912,0.03812,,,,,,0.8612,1797,-2.901"),
            "{row}"
        );
        assert!(row.ends_with(",0.8491,0.873"), "{row}");
    }

    #[test]
    fn evaluate_writes_every_analysis_that_has_results() {
        let paths: Vec<String> = document_files("evaluate", &two_models())
            .into_iter()
            .map(|(path, _)| path)
            .collect();
        let expected = [
            "smoothness_analysis/smoothness_summary.csv",
            "neighborhood_preservation/neighborhood_preservation_summary.csv",
            "manifold_dimension/manifold_dimension_summary.csv",
            "geometry_analysis/geometry_summary.csv",
        ];
        assert_eq!(paths, expected);
        assert_eq!(document_files("evaluate", &Results::default()), []);
    }
}

mod clid {
    use crate::document_files;
    use crate::testdata::{missing, score};
    use repscope_core::*;
    use repscope_core::{Better, Breakdown, NameColumn, NumberColumn};

    fn breakdown(model: &str, metric: &str, key: (&str, &[&str]), columns: &[(&str, &[Option<f64>])]) -> Breakdown {
        let number = |(name, values): &(&str, &[Option<f64>])| NumberColumn {
            name: name.to_string(),
            values: values.to_vec(),
        };
        Breakdown {
            model: model.to_string(),
            metric: metric.into(),
            keys: vec![NameColumn {
                name: key.0.to_string(),
                values: key.1.iter().map(|v| v.to_string()).collect(),
            }],
            columns: columns.iter().map(number).collect(),
        }
    }

    fn file(results: &Results, name: &str) -> Option<String> {
        let mut files = document_files("clid", results).into_iter();
        files.find(|(path, _)| *path == format!("clid/{name}")).map(|f| f.1)
    }

    fn results() -> Results {
        let value = |metric, x| score("jepa", metric, x, None, Better::Neither);
        Results {
            scores: vec![
                value("clid.cl", 0.75),
                value("clid.id", 4.0),
                missing("jepa", "clid", "one model"),
                value("uniformity", -3.0),
                value("numerical_rank", 9.0),
            ],
            breakdowns: vec![
                breakdown(
                    "jepa",
                    "shape",
                    ("model", &["jepa"]),
                    &[("rows", &[Some(60.0)]), ("columns", &[Some(16.0)])],
                ),
                breakdown(
                    "jepa",
                    "clid.cl",
                    ("seed", &["42", "43"]),
                    &[("cl", &[Some(0.5), Some(1.0)]), ("tested", &[Some(30.0), None])],
                ),
            ],
            ..Results::default()
        }
    }

    #[test]
    fn the_summary_has_a_line_per_model_with_the_size_of_its_codes() {
        let text = file(&results(), "clid_summary.csv").expect("a summary");
        let mut lines = text.lines();
        let header = "Model,CL,CL_std,ID,ID_normalized,CLID,N,D,MCR2_total,";
        assert!(lines.next().is_some_and(|line| line.starts_with(header)), "{text}");
        assert_eq!(lines.next(), Some("jepa,0.75,,4.0,,,60,16,,,,-3.0,,,,,"));
    }

    #[test]
    fn the_long_file_has_the_names_of_the_reference_scripts() {
        let text = file(&results(), "clid_metrics.csv");
        let expected = "model,metric,value\njepa,uniformity,-3.0\njepa,cl,0.75\njepa,id,4.0\njepa,clid,\n\
                        jepa,rankme_simple,9.0\n";
        assert_eq!(text.as_deref(), Some(expected));
    }

    #[test]
    fn uniformity_beside_alignment_is_that_of_both_views() {
        let mut results = results();
        results
            .scores
            .push(score("jepa", "alignment.uniformity", -2.5, None, Better::Lower));
        let text = file(&results, "clid_metrics.csv").expect("a file");
        assert!(text.contains("jepa,uniformity,-2.5\n"), "{text}");
    }

    #[test]
    fn every_run_is_a_line_and_what_was_not_asked_for_has_no_file() {
        let text = file(&results(), "clid_runs.csv");
        assert_eq!(
            text.as_deref(),
            Some("Model,seed,cl,tested\njepa,42,0.5,30\njepa,43,1.0,\n")
        );
        assert_eq!(file(&results(), "performance_correlation.csv"), None);
        assert_eq!(file(&results(), "weighted_clid.csv"), None);
    }
}

mod etes {
    use crate::document_files;
    use crate::etes::testdata::{two_systems, without_reference};

    fn file(results: &repscope_core::Results, name: &str) -> String {
        let files = document_files("etes", results);
        let found = files
            .into_iter()
            .find(|(path, _)| path == &format!("etes_analysis/{name}"));
        found.expect("a file of that name").1
    }

    #[test]
    fn groups_have_their_factor_and_counts_are_whole() {
        let csv = file(&two_systems(), "groups.csv");
        let mut lines = csv.lines();
        let header = "model,factor,group,samples,alignment,alignment_low,alignment_high,reference,gap,";
        assert!(lines.next().is_some_and(|line| line.starts_with(header)), "{csv}");
        assert!(
            lines
                .next()
                .is_some_and(|line| line.starts_with("glim,subject,ZDM,120,-0.371,-0.387,-0.355,-0.41,0.039,")),
            "{csv}"
        );
        assert_eq!(lines.next(), Some("glim,subject,ZKW,0,,,,,,,,,,,,"));
    }

    #[test]
    fn bands_are_listed_for_every_system() {
        let csv = file(&two_systems(), "bands.csv");
        assert!(
            csv.starts_with(
                "model,band,from,to,samples,share\nglim,excellent,-1.0,-0.8,0,0.0\nglim,good,-0.8,-0.5,36,0.12\n"
            ),
            "{csv}"
        );
        assert_eq!(csv.lines().count(), 11);
    }

    #[test]
    fn samples_of_all_systems_have_their_system_and_no_texts() {
        let csv = file(&two_systems(), "samples.csv");
        let mut lines = csv.lines();
        assert_eq!(
            lines.next(),
            Some("model,index,etes,quality,total,reference_energy,gap,rank,bleu")
        );
        assert_eq!(lines.next(), Some("glim,0,-0.52,good,-0.47,-0.5,-0.02,1.0,0.25"));
        assert_eq!(csv.lines().filter(|line| line.starts_with("nucleus 0.95,")).count(), 4);
    }

    #[test]
    fn scores_are_the_long_form_of_energies_and_texts_alone() {
        let mut results = without_reference();
        results
            .scores
            .push(crate::testdata::missing("glim", "nmi", "needs labels"));
        let csv = file(&results, "scores.csv");
        assert!(
            csv.contains("\nglim,etes.gap,,,,,300,lower,,no reference was given,,,1\n"),
            "{csv}"
        );
        assert!(csv.contains("\nglim,wer,0.9312,") && !csv.contains("nmi"), "{csv}");
    }

    #[test]
    fn other_results_have_no_files_of_energies() {
        let files = document_files("evaluate", &crate::testdata::two_models());
        assert!(files.iter().all(|(path, _)| !path.starts_with("etes_analysis")));
    }
}

mod perturb {
    use crate::document_files;
    use crate::perturb::testdata::of_document;

    #[test]
    fn every_head_and_set_is_a_line_of_a_file() {
        let results = of_document();
        let files = document_files("perturb", &results);
        let (name, contents) = &files[0];
        assert_eq!(name, "perturbation_analysis/pis.csv");
        let mut lines = contents.lines();
        assert!(
            lines
                .next()
                .is_some_and(|header| header.starts_with("model,head,family,set,")),
            "{contents}"
        );
        let top5 = lines
            .find(|line| line.starts_with("resnet50,combined,top,top5,"))
            .expect("a line");
        assert!(top5.contains(",5.0,0.05,"), "{top5}");
        assert_eq!(contents.lines().count(), 1 + 3 * 6);
    }

    #[test]
    fn classes_are_listed_with_what_was_scored() {
        let files = document_files("perturb", &of_document());
        let per_class = files
            .iter()
            .find(|(name, _)| name.ends_with("pis_per_class.csv"))
            .expect("the file");
        assert!(
            per_class.1.starts_with("model,scored,set,head,class,"),
            "{}",
            per_class.1
        );
    }

    #[test]
    fn results_of_other_commands_have_no_such_files() {
        assert_eq!(document_files("perturb", &crate::testdata::two_models()), []);
    }
}

mod retrieval {
    use crate::document_files;
    use crate::testdata::{names, numbers, score, two_models};
    use repscope_core::*;
    use repscope_core::{Better, Score};

    fn results() -> Results {
        let precision = score(
            "clip",
            "label_precision.text2sensor.macro(labels=l2)@100",
            0.5,
            Some((0.25, 0.75, "queries", "Student t")),
            Better::Higher,
        );
        let mut results = two_models();
        results.scores.push(Score {
            effective_k: Some(37),
            ..precision.with_chance(0.1)
        });
        results
            .scores
            .push(score("clip", "mrr.text2sensor", 1.0, None, Better::Higher));
        results.breakdowns = vec![
            Breakdown {
                model: "clip".to_string(),
                metric: "label_precision.text2sensor(labels=l2)@10".into(),
                keys: vec![names("label", &["Cook, \"eat\"", "Nap"])],
                columns: vec![
                    numbers("queries", &[Some(12.0), Some(1.0)]),
                    numbers("hits", &[Some(30.0), None]),
                    numbers("precision", &[Some(1.0), None]),
                ],
            },
            Breakdown {
                model: "clip".to_string(),
                metric: "label_precision.text2sensor.confusion(labels=l2)@10".into(),
                keys: vec![names("label", &["Cook", "Cook"]), names("retrieved", &["Cook", "Nap"])],
                columns: vec![
                    numbers("count", &[Some(3.0), Some(1.0)]),
                    numbers("share", &[Some(0.75), Some(0.25)]),
                ],
            },
        ];
        results
    }

    #[test]
    fn every_label_is_a_line_and_undefined_numbers_are_empty() {
        let expected = "\
model,labels,direction,k,label,queries,hits,precision
clip,l2,text2sensor,10,\"Cook, \"\"eat\"\"\",12,30,1.0
clip,l2,text2sensor,10,Nap,1,,
";
        let files = document_files("retrieval", &results());
        assert_eq!(files[1], ("retrieval/per_label.csv".to_string(), expected.to_string()));
    }

    #[test]
    fn confusion_lists_pairs_of_labels() {
        let expected = "\
model,labels,direction,k,label,retrieved,count,share
clip,l2,text2sensor,10,Cook,Cook,3,0.75
clip,l2,text2sensor,10,Cook,Nap,1,0.25
";
        let files = document_files("retrieval", &results());
        assert_eq!(files[2], ("retrieval/confusion.csv".to_string(), expected.to_string()));
    }

    #[test]
    fn scores_are_those_of_the_retrieval_with_their_identity_in_columns() {
        let expected = "\
model,metric,labels,direction,measure,k,effective_k,value,low,high,level,n,better,chance,reason,unit,method,runs
clip,label_precision.text2sensor.macro(labels=l2)@100,l2,text2sensor,label_precision.macro,100,37,\
0.5,0.25,0.75,0.95,1797,higher,0.1,,queries,Student t,1
clip,mrr.text2sensor,,text2sensor,mrr,,,1.0,,,,1797,higher,,,,,1
";
        let files = document_files("retrieval", &results());
        assert_eq!(files[0], ("retrieval/scores.csv".to_string(), expected.to_string()));
    }

    #[test]
    fn results_without_a_retrieval_have_no_such_files() {
        assert_eq!(document_files("retrieval", &two_models()), []);
    }
}

mod long {
    use crate::testdata::two_models;
    use crate::{Color, Format, render};
    use repscope_core::{Better, Results, Score};

    #[test]
    fn each_score_is_a_line_with_every_digit() {
        let csv = render(&two_models(), Format::Csv, 80, Color::No);
        let lines: Vec<&str> = csv.lines().collect();
        assert_eq!(
            lines[0],
            "model,metric,value,low,high,level,n,better,chance,reason,unit,method,runs"
        );
        assert_eq!(
            lines[1],
            "jepa,smoothness.slope,0.00011531,0.00011312,0.00011749,0.95,36000,lower,,,episodes,jackknife,1"
        );
        assert_eq!(lines[8], "jepa,nmi,,,,,1797,higher,,needs labels; give --labels,,,1");
    }

    #[test]
    fn names_with_commas_and_quotes_are_quoted() {
        let mut score = Score::number("r", 1.0, 3);
        score.better = Better::Higher;
        score.model = "a, \"b\"".to_string();
        let csv = render(
            &Results {
                scores: vec![score],
                ..Results::default()
            },
            Format::Csv,
            80,
            Color::No,
        );
        assert_eq!(csv.lines().nth(1), Some(r#""a, ""b""",r,1.0,,,,3,higher,,,,,1"#));
    }
}
