// SPDX-License-Identifier: MIT
//! Files that NumPy wrote: `.npy` of every type, object arrays, `.npz`.

use crate::fixtures::{CLASSES, folder, labels, matrix, message, numbers, read, texts};
use repscope_io::{Data, InputPath, Object, Pool, list_arrays};

#[test]
fn floats_of_every_size_and_byte_order_are_exact() {
    for (name, dtype) in [("f2", "f16"), ("f4", "f32"), ("f8", "f64")] {
        for order in ["little", "big"] {
            let array = read(&format!("{order}_{name}.npy")).unwrap();
            assert_eq!(array.shape(), [4, 3]);
            assert_eq!(array.dtype(), dtype);
            assert_eq!(numbers(&array), matrix(), "{order} {name}");
        }
    }
}

#[test]
fn integers_of_every_size_and_byte_order_keep_their_limits() {
    for (name, low, high) in [
        ("i1", "-128", "127"),
        ("i2", "-32768", "32767"),
        ("i4", "-2147483648", "2147483647"),
        ("i8", "-9223372036854775808", "9223372036854775807"),
        ("u1", "0", "255"),
        ("u2", "0", "65535"),
        ("u4", "0", "4294967295"),
        ("u8", "0", "18446744073709551615"),
    ] {
        for order in ["little", "big"] {
            let file = format!("{order}_{name}.npy");
            assert_eq!(labels(&file), [low, "0", "1", high], "{file}");
            let expected: Vec<f64> = [low, "0", "1", high].iter().map(|t| t.parse().unwrap()).collect();
            assert_eq!(numbers(&read(&file).unwrap()), expected, "{file}");
        }
    }
}

#[test]
fn booleans_are_classes_and_numbers() {
    assert_eq!(labels("bool.npy"), ["True", "False", "True"]);
    assert_eq!(numbers(&read("bool.npy").unwrap()), [1.0, 0.0, 1.0]);
    assert_eq!(
        read("bool.npy").unwrap().into_episodes("done").unwrap().codes(),
        [0, 1, 1]
    );
}

#[test]
fn all_three_versions_of_the_format_are_read() {
    for version in 1..=3 {
        assert_eq!(numbers(&read(&format!("version_{version}.npy")).unwrap()), matrix());
    }
}

#[test]
fn fortran_order_is_turned_into_c_order() {
    assert_eq!(numbers(&read("fortran.npy").unwrap()), matrix());
    let expected: Vec<f64> = (0..24).map(f64::from).collect();
    assert_eq!(numbers(&read("fortran_3d.npy").unwrap()), expected);
}

#[test]
fn strings_lose_their_padding_and_keep_their_characters() {
    for file in ["unicode_little.npy", "unicode_big.npy"] {
        let array = read(file).unwrap();
        assert_eq!(texts(&array), ["Katze", "Hündin", "猫", "🐈\u{200d}⬛ cat", ""]);
        assert_eq!(array.dtype(), "str");
    }
    assert_eq!(texts(&read("bytes.npy").unwrap()), CLASSES);
}

#[test]
fn sequences_are_pooled() {
    let space = read("sequence_3d.npy").unwrap().into_space("z", Pool::Last).unwrap();
    let mut row = [0.0; 4];
    space.read_row(1, &mut row);
    assert_eq!(row, [20.0, 21.0, 22.0, 23.0]);
}

#[test]
fn what_cannot_be_used_is_refused_with_advice() {
    assert!(message("zero_d.npy").contains("0-d array"));
    assert!(message("dates.npy").contains("dates and times"));
    assert!(message("complex.npy").contains("complex"));
    assert!(message("record.npy").contains("structured"));
    assert!(message("little_f4.npy#z").contains("leave out #z"));
    let empty = read("no_rows.npy").unwrap().into_space("z", Pool::Last).unwrap_err();
    assert!(empty.to_string().contains("(0, 3)"), "{empty}");
}

#[test]
fn object_arrays_of_one_kind_become_that_kind() {
    let array = read("object_text.npy").unwrap();
    assert_eq!(texts(&array), CLASSES);
    assert_eq!(array.dtype(), "object");
    assert_eq!(
        numbers(&read("object_integers.npy").unwrap()),
        [3.0, -1.0, 1_099_511_627_776.0]
    );
    let many = texts(&read("object_many.npy").unwrap());
    assert_eq!((many.len(), many[599].as_str()), (1200, "row 299"));
}

#[test]
fn object_arrays_of_every_pickle_protocol_are_read() {
    let mut expected: Vec<Object> = CLASSES.iter().map(|c| Object::Text(c.to_string())).collect();
    expected.extend([Object::None, Object::Int(7), Object::Float(2.5), Object::Bool(false)]);
    for protocol in 0..=5 {
        let array = read(&format!("object_protocol_{protocol}.npy")).unwrap();
        let Data::Mixed(objects) = array.data() else {
            panic!("protocol {protocol}: {array:?}")
        };
        assert_eq!(*objects, expected, "protocol {protocol}");
    }
}

#[test]
fn mixed_objects_are_labels_up_to_the_first_missing_one() {
    let array = read("object_mixed.npy").unwrap();
    let Data::Mixed(objects) = array.data() else {
        panic!("{array:?}")
    };
    assert_eq!(objects[5], Object::Text("1180591620717411303424".to_string()));
    assert_eq!(objects[7], Object::None);
    let error = array.clone().into_labels("y").unwrap_err().to_string();
    assert!(error.contains("no value at row 1"), "{error}");
    let error = array.into_space("z", Pool::Last).unwrap_err().to_string();
    assert!(error.contains("\"Cooking\" at row 0"), "{error}");
}

#[test]
fn numpy_scalars_inside_objects_are_plain_values() {
    assert_eq!(message_of_labels("object_numpy_scalars.npy"), "`y` holds 2.5 at row 2");
    let array = read("object_numpy_scalars.npy").unwrap();
    let Data::Mixed(objects) = array.data() else {
        panic!("{array:?}")
    };
    let expected = [
        Object::Text("Hündin".to_string()),
        Object::Int(-7),
        Object::Float(2.5),
        Object::Bool(true),
        Object::Text("x".to_string()),
    ];
    assert_eq!(*objects, expected);
}

fn message_of_labels(name: &str) -> String {
    let error = read(name).unwrap().into_labels("y").unwrap_err().to_string();
    error.split(',').next().unwrap_or_default().to_string()
}

#[test]
fn object_arrays_come_in_c_order() {
    assert_eq!(texts(&read("object_fortran.npy").unwrap()), ["a", "b", "c", "d"]);
}

#[test]
fn objects_that_are_not_plain_are_refused_with_advice() {
    assert!(message("object_lists.npy").contains("something else than text, a number or None at value 0"));
    let dates = message("object_dates.npy");
    assert!(
        dates.contains("`datetime.datetime`") && dates.contains("labels.astype(str)"),
        "{dates}"
    );
}

#[test]
fn archives_stored_and_deflated_give_the_same_arrays() {
    for file in ["stored.npz", "deflated.npz"] {
        let latent = read(&format!("{file}#latent")).unwrap();
        assert_eq!((latent.shape(), numbers(&latent)), (&[4, 3][..], matrix()));
        assert_eq!(labels(&format!("{file}#labels")), ["0", "1", "1", "0"]);
        assert_eq!(labels(&format!("{file}#names")), CLASSES);
    }
    assert_eq!(labels("deflated.npz#objects"), CLASSES);
    assert_eq!(numbers(&read("one.npz").unwrap()), matrix());
}

#[test]
fn an_archive_of_several_arrays_asks_for_one() {
    let text = message("stored.npz");
    assert!(
        text.contains("holds 3 arrays; pick one with #array: `latent` (4, 3) f32, `labels` (4,) i64"),
        "{text}"
    );
    let text = message("stored.npz#latnt");
    assert!(text.contains("has no array `latnt`; did you mean `latent`?"), "{text}");
    let text = message("one.npz#a");
    assert!(text.contains("has no array `a`"), "{text}");
}

#[test]
fn arrays_are_listed_without_their_values() {
    let infos = list_arrays(&folder().join("stored.npz")).unwrap();
    assert_eq!(infos.len(), 3);
    assert_eq!(infos[2].dtype, "str");
    let infos = list_arrays(&folder().join("fortran.npy")).unwrap();
    assert_eq!(
        (infos[0].key.as_deref(), infos[0].shape.as_slice()),
        (None, &[4, 3][..])
    );
}

#[test]
fn ids_are_text_whatever_their_type() {
    let input = InputPath::parse(&folder().join("little_u8.npy").display().to_string());
    assert_eq!(repscope_io::read_ids(&input).unwrap()[3], "18446744073709551615");
}
