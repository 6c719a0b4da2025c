// SPDX-License-Identifier: MIT

use super::*;
use crate::runtime::Elem;

fn port(dims: &[usize]) -> Port {
    let dims = std::iter::once(None)
        .chain(dims.iter().map(|&n| (n > 0).then_some(n)))
        .collect();
    Port {
        name: "x".to_string(),
        elem: Elem::F32,
        dims,
    }
}

/// The fed shape of rows; a size of 0 in the port stands for any.
fn fed(row: &[usize], wanted: &[usize]) -> Option<Vec<usize>> {
    Fit::find(row, &port(wanted), None).ok().map(|fit| fit.shape)
}

#[test]
fn rows_that_fit_are_fed_as_they_are_and_nothing_is_said() {
    for (row, wanted) in [
        (&[3, 8, 8][..], &[3, 0, 0][..]),
        (&[12], &[12]),
        (&[64, 64, 3], &[64, 64, 3]),
        (&[4, 5], &[0, 5]),
    ] {
        let fit = Fit::find(row, &port(wanted), None).unwrap();
        assert_eq!((fit.shape.as_slice(), &fit.note), (row, &None));
    }
}

#[test]
fn a_missing_channel_axis_is_added_where_the_graph_wants_one() {
    assert_eq!(fed(&[64, 64], &[1, 64, 64]), Some(vec![1, 64, 64]));
    assert_eq!(fed(&[64, 64], &[1, 0, 0]), Some(vec![1, 64, 64]));
    assert_eq!(fed(&[64, 64], &[64, 64, 1]), Some(vec![64, 64, 1]));
    assert_eq!(fed(&[1, 64, 64], &[64, 64]), Some(vec![64, 64]));
    assert_eq!(fed(&[64, 64], &[3, 64, 64]), None, "gray is not made color");
}

#[test]
fn vectors_and_images_of_the_same_size_fit() {
    assert_eq!(fed(&[1, 8, 8], &[64]), Some(vec![64]));
    assert_eq!(fed(&[64], &[1, 8, 8]), Some(vec![1, 8, 8]));
    assert_eq!(fed(&[], &[1]), Some(vec![1]));
    assert_eq!(fed(&[63], &[1, 8, 8]), None);
    assert_eq!(fed(&[64], &[1, 0, 8]), None, "an open size is not guessed");
}

#[test]
fn channels_are_moved_and_the_values_with_them() {
    // Two pixels of one line: (1, 2, 3) and (4, 5, 6).
    let fit = Fit::find(&[1, 2, 3], &port(&[3, 1, 2]), None).unwrap();
    let mut laid = Vec::new();
    fit.lay(&[1.0, 2.0, 3.0, 4.0, 5.0, 6.0], &mut laid);
    assert_eq!(laid, [1.0, 4.0, 2.0, 5.0, 3.0, 6.0]);
    assert!(
        fit.note
            .is_some_and(|n| n.contains("(1, 2, 3)") && n.contains("(3, 1, 2)"))
    );

    let back = Fit::find(&[3, 1, 2], &port(&[1, 2, 3]), None).unwrap();
    let mut again = Vec::new();
    back.lay(&laid, &mut again);
    assert_eq!(again, [1.0, 2.0, 3.0, 4.0, 5.0, 6.0]);
}

#[test]
fn a_given_layout_decides_where_both_would_do() {
    let open = port(&[0, 0, 0]);
    let shape = |layout| Fit::find(&[3, 5, 3], &open, layout).unwrap().shape;
    assert_eq!(shape(None), [3, 5, 3]);
    assert_eq!(shape(Some(Layout::ChannelsFirst)), [3, 5, 3]);
    assert_eq!(shape(Some(Layout::ChannelsLast)), [3, 3, 5]);
    assert!(Fit::find(&[3, 5, 3], &open, Some(Layout::Flat)).is_err());
    assert_eq!(
        Fit::find(&[3, 5, 3], &port(&[45]), Some(Layout::Flat)).unwrap().shape,
        [45]
    );
}

#[test]
fn a_refusal_names_both_shapes() {
    let said = Fit::find(&[64, 64, 3], &port(&[1, 0, 32]), None)
        .unwrap_err()
        .to_string();
    assert!(said.contains("(64, 64, 3)") && said.contains("(1, any, 32)"), "{said}");
}

#[test]
fn mean_and_std_follow_the_channels() {
    let options = Options {
        scale: Some(2.0),
        mean: vec![1.0, 2.0],
        std: vec![0.5],
        ..Options::default()
    };
    // Scaled: 1 2 3 4. First channel less 1, second less 2, all divided by 0.5.
    let given = [2.0, 4.0, 6.0, 8.0];
    for (shape, expected) in [([2, 1, 2], [0.0, 2.0, 2.0, 4.0]), ([2, 2, 1], [0.0, 2.0, 2.0, 4.0])] {
        let port = port(&shape);
        let fit = Fit::find(&shape, &port, None).unwrap();
        let normal = fit.normalization(&port, &options);
        if shape == [2, 2, 1] {
            // One channel, at the end: two means are too many.
            assert!(normal.err().unwrap().to_string().contains("1 channels"));
            continue;
        }
        let mut row = given;
        normal.unwrap().apply(&mut row);
        assert_eq!(row, expected);
    }
    let vector = port(&[2]);
    let fit = Fit::find(&[2], &vector, None).unwrap();
    let mut row = [2.0, 4.0];
    fit.normalization(&vector, &options).unwrap().apply(&mut row);
    assert_eq!(row, [0.0, 0.0]);
}
