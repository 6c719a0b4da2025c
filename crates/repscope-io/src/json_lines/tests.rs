// SPDX-License-Identifier: MIT
use super::*;
use crate::array::Data;

fn array(text: &str, key: &str) -> Array {
    read(text.as_bytes(), Some(key)).unwrap()
}

fn message(text: &str, key: Option<&str>) -> String {
    read(text.as_bytes(), key).unwrap_err().to_string()
}

const LINES: &str = r#"{"text": "a ü", "n": 1, "x": 0.5, "ok": true, "z": [1, 2.5], "meta": {"id": "p", "a.b": {"c": 7}}}

{"text": "", "n": -2, "x": 3, "ok": false, "z": [-1, 4e2], "meta": {"id": "q", "a.b": {"c": 8}}, "more": null}
"#;

#[test]
fn each_kind_of_field_becomes_its_kind_of_array() {
    assert!(matches!(array(LINES, "text").data(), Data::Text(v) if v[..] == ["a ü", ""]));
    assert!(matches!(array(LINES, "n").data(), Data::I64(v) if v[..] == [1, -2]));
    assert!(matches!(array(LINES, "x").data(), Data::F64(v) if (**v).as_ref() == [0.5, 3.0]));
    assert!(matches!(array(LINES, "ok").data(), Data::Bool(v) if v[..] == [true, false]));
    let lists = array(LINES, "z");
    assert_eq!(lists.shape(), [2, 2]);
    assert!(matches!(lists.data(), Data::F64(v) if (**v).as_ref() == [1.0, 2.5, -1.0, 400.0]));
    let large = "{\"n\": 18446744073709551615}";
    assert!(matches!(array(large, "n").data(), Data::U64(v) if v[..] == [u64::MAX]));
}

#[test]
fn fields_inside_others_are_found_also_where_names_have_dots() {
    assert!(matches!(array(LINES, "meta.id").data(), Data::Text(v) if v[..] == ["p", "q"]));
    assert!(matches!(array(LINES, "meta.a.b.c").data(), Data::I64(v) if v[..] == [7, 8]));
    assert!(matches!(array("{\"a.b\": 1, \"a\": {\"b\": 2}}", "a.b").data(), Data::I64(v) if v[..] == [1]));
}

#[test]
fn the_fields_are_listed_and_several_need_a_choice() {
    let keys: Vec<String> = list(LINES.as_bytes())
        .unwrap()
        .into_iter()
        .filter_map(|i| i.key)
        .collect();
    assert_eq!(keys, ["meta.a.b.c", "meta.id", "n", "ok", "text", "x", "z"]);
    let error = message(LINES, None);
    assert!(
        error.contains("holds 7 fields; pick one with #field") && error.contains("`z` (2, 2) f64"),
        "{error}"
    );
    let error = message(LINES, Some("txt"));
    assert!(error.contains("did you mean `text`?"), "{error}");
    let only = read(b"{\"text\": \"a\"}", None).unwrap();
    assert!(matches!(only.data(), Data::Text(v) if v[..] == ["a"]));
}

#[test]
fn what_does_not_fit_is_named_by_its_line() {
    for (text, key, words) in [
        (
            "{\"a\": 1}\n\n{\"b\": 2}",
            "a",
            "lacks the field `a` in line 3, which has `b`",
        ),
        (
            "{\"a\": 1}\n{\"a\": \"x\"}",
            "a",
            "a number for `a` in line 1 but text in line 2",
        ),
        ("{\"a\": 1}\n{\"a\": null}", "a", "null for `a` in line 2"),
        ("{\"a\": null}\n{\"a\": 1}", "a", "null for `a` in line 1"),
        ("{\"a\": {\"b\": 1}}", "a", "an object for `a` in line 1"),
        (
            "{\"a\": [1, 2]}\n{\"a\": [1]}",
            "a",
            "2 numbers in `a` in line 1 but 1 in line 2",
        ),
        ("{\"a\": [1, \"x\"]}", "a", "text in the list `a` in line 1"),
        (
            "{\"a\": 1}\n{\"a\": ",
            "a",
            "no JSON in line 2: EOF while parsing a value at column 5",
        ),
        ("{\"a\": 1}\n{\"a\": NaN}", "a", "NaN and Infinity are not JSON"),
        ("[{\"a\": 1}]", "a", "holds a list in line 1"),
        ("{\"a\": 1}{\"a\": 2}", "a", "no JSON in line 1: trailing characters"),
        ("\n \n", "a", "holds no object"),
        ("{}", "a", "holds no field"),
    ] {
        let error = message(text, Some(key));
        assert!(error.contains(words), "{text}: {error}");
    }
}

#[test]
fn blank_lines_are_no_rows_and_are_counted() {
    let text = "\u{feff}\n{\"a\": 1}\r\n \r\n{\"a\": 2}\n\n";
    assert_eq!(array(text, "a").rows(), 2);
    assert_eq!(blank_lines(text.as_bytes()), 3);
    assert_eq!(blank_lines(b"{\"a\": 1}\n"), 0);
}

#[test]
fn a_deep_object_is_an_error_and_no_overflow() {
    let text = "{\"a\":".repeat(100_000);
    assert!(message(&text, Some("a")).contains("recursion limit"));
}
