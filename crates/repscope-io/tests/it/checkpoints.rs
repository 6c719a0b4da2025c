// SPDX-License-Identifier: MIT
//! Files that PyTorch wrote (`tests/torch/make.py`), with the values it put into them.

use crate::fixtures::{numbers, torch};
use repscope_io::{Array, Data, InputPath, Weights, list_arrays, read_array, tree};

fn read(name: &str, key: &str) -> repscope_io::Result<Array> {
    read_array(&InputPath {
        path: torch(name),
        key: (!key.is_empty()).then(|| key.to_string()),
    })
}

fn message(name: &str, key: &str) -> String {
    match read(name, key) {
        Ok(array) => panic!("{name}#{key} should not be readable but is {array:?}"),
        Err(error) => error.to_string(),
    }
}

fn listed(name: &str) -> Vec<String> {
    let infos = list_arrays(&torch(name)).unwrap();
    infos.into_iter().map(|info| info.key.unwrap_or_default()).collect()
}

/// What PyTorch put into a file: key, shape and values.
fn expected(file: &str) -> Vec<(String, Vec<usize>, Vec<f64>)> {
    let all = torch("expected.safetensors");
    let keys = list_arrays(&all).unwrap().into_iter().filter_map(|info| info.key);
    let of_file: Vec<(String, Vec<usize>, Vec<f64>)> = keys
        .filter_map(|key| {
            let short = key.strip_prefix(&format!("{file}#"))?.to_string();
            let array = read("expected.safetensors", &key).unwrap();
            Some((short, array.shape().to_vec(), numbers(&array)))
        })
        .collect();
    assert!(!of_file.is_empty(), "{file}");
    of_file
}

/// Compares `file` with what was expected of `like`, under `prefix`.
fn assert_like(file: &str, prefix: &str, like: &str) {
    for (key, shape, values) in expected(like) {
        let array = read(file, &format!("{prefix}{key}")).unwrap();
        assert_eq!(array.shape(), shape, "{file}#{key}");
        assert_eq!(numbers(&array), values, "{file}#{key}");
    }
}

#[test]
fn a_state_dict_is_the_same_in_every_container() {
    assert_like("state_dict.pth", "", "state_dict.pth");
    assert_like("old_state_dict.pth", "", "state_dict.pth");
    assert_like("checkpoint.pth", "encoder_state_dict.", "state_dict.pth");
    assert_eq!(listed("state_dict.pth"), listed("old_state_dict.pth"));
    assert_eq!(listed("state_dict.pth").len(), expected("state_dict.pth").len());
}

#[test]
fn a_pickled_model_has_the_names_of_its_state_dict() {
    assert_like("model.pt", "", "state_dict.pth");
    let weights = Weights::open(&torch("model.pt"), None).unwrap();
    assert_eq!(weights.names().count(), expected("state_dict.pth").len());
}

#[test]
fn every_type_and_every_view_is_read() {
    for file in ["kinds.pt", "old_kinds.pt"] {
        assert_like(file, "", "kinds.pt");
        for (key, dtype) in [
            ("f16", "f16"),
            ("bf16", "bf16"),
            ("f32", "f32"),
            ("f64", "f64"),
            ("i8", "i8"),
            ("i16", "i16"),
            ("i32", "i32"),
            ("i64", "i64"),
            ("u8", "u8"),
            ("u16", "u16"),
            ("bool", "bool"),
            ("scalar", "f32"),
        ] {
            assert_eq!(read(file, key).unwrap().dtype(), dtype, "{file}#{key}");
        }
        assert_eq!(read(file, "scalar").unwrap().shape(), [1]);
        assert_eq!(read(file, "empty").unwrap().shape(), [0, 3]);
    }
}

#[test]
fn a_64_bit_integer_keeps_its_last_digit() {
    let array = read("kinds.pt", "i64").unwrap();
    let repscope_io::Data::I64(values) = array.data() else {
        panic!("64-bit integers stay integers")
    };
    let offset = 1_i64 << 60;
    assert_eq!(values, &[-2 - offset, -offset, 1 - offset, 100 - offset]);
}

#[test]
fn special_tensors_are_refused_by_name_and_do_not_hide_the_others() {
    for file in ["kinds.pt", "old_kinds.pt"] {
        assert_eq!(listed(file).len(), expected("kinds.pt").len());
        for (key, words) in [
            (
                "complex",
                "type complex64, which are not read; save torch.view_as_real(x)",
            ),
            ("sparse", "is a sparse tensor"),
            ("quantised", "is a quantised tensor"),
            ("float8", "type float8_e5m2"),
        ] {
            let error = message(file, key);
            assert!(error.contains(words) && error.contains(&format!("`{key}`")), "{error}");
        }
    }
    let error = list_arrays(&torch("refused.pt")).unwrap_err().to_string();
    assert!(error.contains("`sparse`, which is a sparse tensor"), "{error}");
}

#[test]
fn bytes_stay_bytes_in_every_container() {
    for file in ["kinds.pt", "old_kinds.pt"] {
        let array = read(file, "u8").unwrap();
        assert!(matches!(array.data(), Data::U8(_)), "{file}");
        assert_eq!(numbers(&array), [0.0, 2.0, 3.0, 102.0], "{file}");
    }
    let expected = read("expected.safetensors", "kinds.pt#u8").unwrap();
    assert!(matches!(expected.data(), Data::U8(_)));
}

#[test]
fn other_protocols_nested_lists_and_single_tensors_are_read() {
    assert_like("protocol_5.pt", "", "protocol_5.pt");
    assert_like("tensor.pt", "", "tensor.pt");
    assert_eq!(listed("protocol_5.pt"), ["a", "b.c.0", "b.c.1.0"]);
}

#[test]
fn numbers_with_the_high_byte_first_are_turned() {
    assert_eq!(numbers(&read("big_endian.pth", "w").unwrap()), [1.5, -2.0, 3.25]);
    assert_eq!(
        numbers(&read("big_endian.pth", "n").unwrap()),
        [7.0, (1_u64 << 40) as f64]
    );
}

#[test]
fn an_object_of_an_unknown_class_can_be_looked_into() {
    assert_like("dataset.pth", "", "dataset.pth");
    let starts = read("dataset.pth", "train_dataset.valid_start_indices").unwrap();
    assert_eq!(numbers(&starts), [0.0, 1.0, 2.0, 3.0]);
}

#[test]
fn numpy_arrays_inside_pickles_are_read() {
    for file in ["numpy.pt", "pickle_2.bin", "pickle_4.bin", "pickle_5.bin"] {
        assert_like(file, "", "numpy.pt");
        assert_eq!(crate::fixtures::texts(&read(file, "names").unwrap()), ["a", "ü"]);
        assert_eq!(crate::fixtures::texts(&read(file, "labels").unwrap()), ["cat", "dog"]);
    }
}

#[test]
fn a_missing_key_lists_the_nearest_with_their_shapes() {
    let error = message("checkpoint.pth", "encoder_state_dict.fc.wieght");
    assert!(
        error.contains("did you mean `encoder_state_dict.fc.weight`?")
            && error.contains("`encoder_state_dict.fc.weight` (3, 2) f32"),
        "{error}"
    );
    let error = message("kinds.pt", "f3");
    assert!(
        error.contains("The nearest of its 22 are `f32` (4, 3) f32") && error.contains("and there are 2 more"),
        "{error}"
    );
}

#[test]
fn the_tree_shows_shapes_values_and_classes() {
    let text = tree(&torch("checkpoint.pth")).unwrap();
    for line in [
        "epoch  3",
        "encoder_state_dict  dict of 9",
        "  fc.weight  f32 (3, 2)",
        "  norm.num_batches_tracked  i64 ()",
        "  val_loss  [0.5, 0.375]",
        "config  argparse.Namespace",
        "  latent_dim  64",
    ] {
        assert!(text.lines().any(|l| l == line), "no line `{line}` in\n{text}");
    }
    let text = tree(&torch("dataset.pth")).unwrap();
    assert!(
        text.contains(
            "val_dataset  src.data.dataset.ExperienceDataset\n  sequence_length  4\n  states  f32 (1, 3, 2, 2)"
        ),
        "{text}"
    );
    let text = tree(&torch("kinds.pt")).unwrap();
    assert!(text.contains("sparse  is a sparse tensor"), "{text}");
    let text = tree(&torch("model.pt")).unwrap();
    assert!(
        text.contains("conv_layers  torch.nn.modules.container.ModuleList") && !text.contains("_hooks"),
        "{text}"
    );
    assert!(
        tree(&torch("module.safetensors"))
            .unwrap()
            .contains("module.fc.bias  f32 (3,)")
    );
}

#[test]
fn a_file_without_tensors_shows_what_it_holds_instead() {
    for error in [
        list_arrays(&torch("no_tensor.pt")).unwrap_err().to_string(),
        message("no_tensor.pt", "w"),
        Weights::open(&torch("no_tensor.pt"), None).unwrap_err().to_string(),
    ] {
        assert!(
            error.contains("holds no tensor; it holds:\ndict of 3\nepoch  3\n"),
            "{error}"
        );
        assert!(error.contains("layers  list of 20: 0, 1, 2, 3, 4, 5, …"), "{error}");
        assert!(!error.contains('\x1b'), "{error}");
    }
}

#[test]
fn weights_are_found_under_the_usual_names_and_without_wrappers() {
    for (file, key, prefix, like, like_prefix) in [
        ("state_dict.pth", None, "", "state_dict.pth", ""),
        ("module.safetensors", None, "module.", "state_dict.pth", ""),
        ("checkpoint.pth", None, "encoder_state_dict.", "state_dict.pth", ""),
        (
            "checkpoint.pth",
            Some("predictor_state_dict"),
            "predictor_state_dict.",
            "checkpoint.pth",
            "predictor_state_dict.",
        ),
        (
            "lightning.ckpt",
            None,
            "state_dict.model.",
            "lightning.ckpt",
            "state_dict.model.",
        ),
        (
            "moco.pth.tar",
            Some("encoder_q"),
            "state_dict.module.encoder_q.",
            "moco.pth.tar",
            "state_dict.module.encoder_q.",
        ),
    ] {
        let weights = Weights::open(&torch(file), key).unwrap();
        assert_eq!(weights.prefix(), prefix, "{file}");
        let mut compared = 0;
        for (name, shape, values) in expected(like) {
            let Some(name) = name.strip_prefix(like_prefix) else {
                continue;
            };
            // A single number has no dimensions here, but one row as an array.
            let count: usize = weights.shape(name).unwrap().iter().product();
            assert_eq!(count, shape.iter().product::<usize>());
            let found: Vec<f64> = weights.values(name).unwrap().into_iter().map(f64::from).collect();
            assert_eq!(found, values, "{file} {name}");
            compared += 1;
        }
        assert_eq!(compared, weights.count(), "{file}");
    }
}

#[test]
fn a_missing_weight_is_an_error_that_lists_what_there_is() {
    let weights = Weights::open(&torch("state_dict.pth"), None).unwrap();
    assert!(weights.shape("norm.num_batches_tracked").unwrap().is_empty());
    assert_eq!(weights.dtype("norm.num_batches_tracked").unwrap(), "i64");
    let error = weights.values("fc.wieght").unwrap_err().to_string();
    assert!(
        error.contains("state_dict.pth has no tensor `fc.wieght`; did you mean `fc.weight`?")
            && error.contains("`conv_layers.0.weight` (2, 1, 3, 3) f32"),
        "{error}"
    );
    let error = Weights::open(&torch("checkpoint.pth"), Some("decoder"))
        .unwrap_err()
        .to_string();
    assert!(
        error.contains("no weights under `decoder`") && error.contains("`predictor_state_dict` (2 tensors)"),
        "{error}"
    );
    let special = Weights::open(&torch("kinds.pt"), None).unwrap();
    let error = special.values("sparse").unwrap_err().to_string();
    assert!(error.contains("is a sparse tensor"), "{error}");
    let lightning = Weights::open(&torch("lightning.ckpt"), None).unwrap();
    assert_eq!(
        lightning.values("weight").unwrap(),
        lightning.values("state_dict.model.weight").unwrap()
    );
}

#[test]
fn files_that_are_no_checkpoints_say_what_they_are() {
    let error = message("scripted.pt", "");
    assert!(
        error.contains("is a TorchScript program") && error.contains("ONNX"),
        "{error}"
    );
    let error = message("wrapped.pth", "");
    assert!(error.contains("`checkpoint_0100.pth.tar`; unpack it"), "{error}");
    let scratch = tempfile::tempdir().unwrap();
    let renamed = |from: &str, to: &str| {
        let path = scratch.path().join(to);
        std::fs::copy(self::torch(from), &path).unwrap();
        read_array(&InputPath::file(path)).unwrap_err().to_string()
    };
    assert!(renamed("module.safetensors", "a.pth").contains("looks like .safetensors: rename it"));
    assert!(renamed("state_dict.pth", "a.npz").contains("looks like .pth: rename it"));
    assert!(renamed("old_state_dict.pth", "a.safetensors").contains("looks like .pth: rename it"));
    assert!(renamed("state_dict.pth", "a.tar").contains("unknown extension .tar"));
}
