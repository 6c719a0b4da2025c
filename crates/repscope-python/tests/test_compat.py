# SPDX-License-Identifier: MIT
"""The drop-in shims against the libraries they stand in for."""

import inspect
import pickle
import subprocess
import sys
import warnings

import numpy as np
import pytest
from repscope.compat import nearest, skdim, sklearn

RNG = np.random.default_rng(7)
INPUTS = RNG.normal(size=(240, 12))
CODES = INPUTS[:, :3] + 0.4 * RNG.normal(size=(240, 3))
LABELS = np.argmax(INPUTS[:, :4] + 0.8 * RNG.normal(size=(240, 4)), axis=1)


@pytest.fixture
def manifold():
    return pytest.importorskip("sklearn.manifold")


@pytest.fixture
def metrics():
    return pytest.importorskip("sklearn.metrics")


@pytest.fixture
def original():
    return pytest.importorskip("skdim.id").TwoNN


def plain(value):
    """Refuses NumPy's floats and Scores."""
    assert type(value) is float
    return value


# --- scikit-learn -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", sklearn.__all__[1:])
def test_a_signature_is_that_of_scikit_learn(name, manifold, metrics):
    theirs = inspect.signature(getattr(manifold if name == "trustworthiness" else metrics, name)).parameters
    ours = inspect.signature(getattr(sklearn, name)).parameters
    parts = [[(p.name, p.kind, p.default) for p in own.values()] for own in (ours, theirs)]
    assert parts[0] == parts[1]


@pytest.mark.parametrize("metric", ["euclidean", "l2", "cosine", "manhattan", lambda a, b: np.abs(a - b).max()])
@pytest.mark.parametrize("n_neighbors", [1, 5, 40])
def test_trustworthiness_is_that_of_scikit_learn(n_neighbors, metric, manifold):
    ours = plain(sklearn.trustworthiness(INPUTS, CODES, n_neighbors=n_neighbors, metric=metric))
    theirs = manifold.trustworthiness(INPUTS, CODES, n_neighbors=n_neighbors, metric=metric)
    assert 0.5 < ours < 1.0
    assert ours == pytest.approx(theirs, abs=1e-14)


def test_trustworthiness_takes_distances_lists_frames_sparse_matrices_and_f32(manifold, metrics):
    pandas, sparse = pytest.importorskip("pandas"), pytest.importorskip("scipy.sparse")
    expected = manifold.trustworthiness(INPUTS, CODES)
    distances = metrics.pairwise_distances(INPUTS)
    assert plain(sklearn.trustworthiness(distances, CODES, metric="precomputed")) == pytest.approx(expected, abs=1e-14)
    for kind in (list, pandas.DataFrame, sparse.csr_array, sparse.csc_matrix, np.asfortranarray):
        assert plain(sklearn.trustworthiness(kind(INPUTS), kind(CODES))) == pytest.approx(expected, abs=1e-14)
    small = INPUTS.astype("f4"), CODES.astype("f4")
    assert sklearn.trustworthiness(*small) == pytest.approx(manifold.trustworthiness(*small), abs=1e-4)


def test_distances_that_are_given_are_left_as_they_are(metrics):
    distances = metrics.pairwise_distances(INPUTS)
    before = distances.copy()
    sklearn.trustworthiness(distances, CODES, metric="precomputed")
    sklearn.silhouette_score(distances, LABELS, metric="precomputed")
    assert np.array_equal(distances, before)


def test_ties_are_ordered_by_row_number_with_and_without_a_matrix_of_distances():
    # On a grid of integers squared distances are exact, and most are tied.
    inputs, codes = RNG.integers(0, 4, size=(90, 3)), RNG.integers(0, 4, size=(90, 2))
    squared = ((inputs[:, None] - inputs) ** 2).sum(axis=2)
    for k in (1, 4, 20):
        with_matrix = sklearn.trustworthiness(squared, codes, n_neighbors=k, metric="precomputed")
        assert sklearn.trustworthiness(inputs, codes, n_neighbors=k) == pytest.approx(with_matrix, abs=1e-15)


@pytest.mark.parametrize("metric", ["euclidean", "cosine", "cityblock", "chebyshev"])
@pytest.mark.parametrize("sample_size", [None, 100])
def test_silhouette_is_that_of_scikit_learn(metric, sample_size, metrics):
    options = {"metric": metric, "sample_size": sample_size, "random_state": 3}
    ours = plain(sklearn.silhouette_score(INPUTS, LABELS, **options))
    assert abs(ours) > 1e-3
    assert ours == pytest.approx(metrics.silhouette_score(INPUTS, LABELS, **options), abs=1e-13)


def test_a_sample_is_drawn_from_a_state_and_from_the_global_one_as_scikit_learn_draws(metrics):
    for random_state in (np.random.RandomState, lambda seed: np.random.seed(seed)):
        ours = sklearn.silhouette_score(INPUTS, LABELS, sample_size=60, random_state=random_state(11))
        theirs = metrics.silhouette_score(INPUTS, LABELS, sample_size=60, random_state=random_state(11))
        assert ours == pytest.approx(theirs, abs=1e-13)
        assert ours != pytest.approx(sklearn.silhouette_score(INPUTS, LABELS), abs=1e-6)


def test_silhouette_takes_any_labels_and_distances(metrics):
    pandas, sparse = pytest.importorskip("pandas"), pytest.importorskip("scipy.sparse")
    expected = metrics.silhouette_score(INPUTS, LABELS)
    words = np.array(["a", "be", "sea", "dee"])[LABELS]
    texts = [words, list(words), words.astype(object), pandas.Series(words)]
    for labels in (*texts, LABELS - 9, LABELS / 4, LABELS[:, None]):
        assert plain(sklearn.silhouette_score(INPUTS, labels)) == pytest.approx(expected, abs=1e-13)
    distances = metrics.pairwise_distances(INPUTS)
    for given in (distances, sparse.csr_array(distances), distances.tolist()):
        assert sklearn.silhouette_score(given, LABELS, metric="precomputed") == pytest.approx(expected, abs=1e-13)
    sampled = {"metric": "precomputed", "sample_size": 50, "random_state": 0}
    theirs = metrics.silhouette_score(distances, LABELS, **sampled)
    assert sklearn.silhouette_score(distances, LABELS, **sampled) == pytest.approx(theirs, abs=1e-13)


def test_classes_of_one_sample_and_samples_in_one_point_have_the_silhouette_of_scikit_learn(metrics):
    rows = np.array([[0.0], [1.0], [1.0], [2.0], [3.0], [3.0], [9.0]])
    labels = [0, 1, 1, 1, 2, 2, 3]
    expected = metrics.silhouette_score(rows, labels)
    assert sklearn.silhouette_score(rows, labels) == pytest.approx(expected, abs=1e-15)
    assert sklearn.silhouette_score(np.abs(rows - rows.T), labels, metric="precomputed") == pytest.approx(expected)
    same = np.ones((6, 2))
    assert sklearn.silhouette_score(same, [0, 0, 0, 1, 1, 1]) == 0.0
    assert sklearn.silhouette_score(np.zeros((6, 6)), [0, 0, 0, 1, 1, 1], metric="precomputed") == 0.0


def test_rows_of_zeros_have_the_cosine_distances_of_scikit_learn(metrics):
    rows = INPUTS.copy()
    rows[[3, 50, 51]] = 0.0
    theirs = metrics.silhouette_score(rows, LABELS, metric="cosine")
    assert sklearn.silhouette_score(rows, LABELS, metric="cosine") == pytest.approx(theirs, abs=1e-13)


def test_further_arguments_of_a_metric_go_to_scikit_learn(metrics):
    for options in ({"squared": True}, {"metric": "minkowski", "p": 3}, {"n_jobs": 1}):
        theirs = metrics.silhouette_score(INPUTS, LABELS, **options)
        assert sklearn.silhouette_score(INPUTS, LABELS, **options) == pytest.approx(theirs, abs=1e-13)


@pytest.mark.parametrize("average_method", ["arithmetic", "geometric", "max", "min"])
def test_nmi_is_that_of_scikit_learn(average_method, metrics):
    options = {"average_method": average_method}
    for classes, size in ((2, 10), (5, 300), (40, 1000), (300, 300)):
        a, b = RNG.integers(0, classes, size), RNG.integers(0, classes + 3, size)
        b[: size // 3] = a[: size // 3]
        theirs = metrics.normalized_mutual_info_score(a, b, **options)
        assert plain(sklearn.normalized_mutual_info_score(a, b, **options)) == pytest.approx(theirs, abs=1e-14)
        words = [f"class {label}" for label in a]
        assert sklearn.normalized_mutual_info_score(words, b, **options) == pytest.approx(theirs, abs=1e-14)


def test_nmi_of_ten_rows_is_that_of_the_core():
    # The value of the core's own test: I over the mean of the entropies, in nats.
    a, b = [0, 0, 0, 1, 1, 1, 2, 2, 2, 2], [0, 0, 1, 1, 1, 1, 2, 2, 0, 2]
    assert sklearn.normalized_mutual_info_score(a, b) == pytest.approx(0.6180656462921543, abs=1e-15)


def test_nmi_of_partitions_with_nothing_to_know_is_one_and_with_nothing_known_is_zero():
    nmi = sklearn.normalized_mutual_info_score
    assert (plain(nmi([], [])), plain(nmi([4], [9])), plain(nmi([1, 1, 1], [2, 2, 2]))) == (1.0, 1.0, 1.0)
    assert (plain(nmi([1, 1, 1], [0, 1, 2])), plain(nmi([0, 0, 1, 1] * 9, [0, 1, 0, 1] * 9))) == (0.0, 0.0)


def test_nmi_warns_of_labels_that_look_continuous(metrics):
    for score in (sklearn.normalized_mutual_info_score, metrics.normalized_mutual_info_score):
        with pytest.warns(UserWarning, match="received continuous values for label, and multiclass values for target"):
            score([0.5, 1.5, 2.5], [0, 1, 2])


TRUST, SILHOUETTE, NMI = "trustworthiness", "silhouette_score", "normalized_mutual_info_score"
WITH_NAN = np.where(np.arange(12) == 5, np.nan, INPUTS)


@pytest.mark.parametrize(
    ("name", "args", "options", "said"),
    [
        (TRUST, (INPUTS[:7], CODES[:7]), {}, r"n_neighbors \(5\) should be less than n_samples / 2 \(3.5\)"),
        (TRUST, (INPUTS, CODES), {"n_neighbors": 0}, "The 'n_neighbors' parameter of trustworthiness must be an int"),
        (TRUST, (INPUTS, CODES), {"n_neighbors": 2.5}, "The 'n_neighbors' parameter of trustworthiness must be an int"),
        (TRUST, (INPUTS, CODES), {"metric": 3}, "The 'metric' parameter of trustworthiness must be a str"),
        (TRUST, (WITH_NAN, CODES), {}, "contains NaN"),
        (TRUST, (INPUTS[:, 0], CODES), {}, "Expected 2D array, got 1D array instead"),
        (TRUST, (INPUTS, CODES), {"metric": "precomputed"}, "Precomputed metric requires shape"),
        (TRUST, (-np.ones((12, 12)), CODES[:12]), {"metric": "precomputed"}, "Negative values in data passed to"),
        (SILHOUETTE, (INPUTS, np.zeros(240)), {}, r"Number of labels is 1\. Valid values are 2 to n_samples - 1"),
        (
            SILHOUETTE,
            (INPUTS, np.arange(240)),
            {},
            r"labels is 240\. Valid values are 2 to n_samples - 1 \(inclusive\)",
        ),
        (SILHOUETTE, (INPUTS, LABELS[:9]), {}, r"inconsistent numbers of samples: \[240, 9\]"),
        (SILHOUETTE, (INPUTS, np.full(240, np.nan)), {}, "Input y contains NaN"),
        (SILHOUETTE, (INPUTS, np.ones((240, 2))), {}, r"should be a 1d array, got an array of shape \(240, 2\)"),
        (SILHOUETTE, (np.full((240, 2), np.inf), LABELS), {}, "contains infinity"),
        (SILHOUETTE, (INPUTS[:, 0], LABELS), {}, "Expected 2D array, got 1D array instead"),
        (
            SILHOUETTE,
            (INPUTS, LABELS),
            {"sample_size": 0},
            "'sample_size' parameter of silhouette_score must be an int",
        ),
        (SILHOUETTE, (INPUTS, LABELS), {"metric": "nonsense"}, "metric"),
        (SILHOUETTE, (np.ones((4, 4)), [0, 0, 1, 1]), {"metric": "precomputed"}, "contains non-zero elements on the"),
        (NMI, ([0, 1], [1, 1, 1]), {}, r"Found input variables with inconsistent numbers of samples: \[2, 3\]"),
        (NMI, ([[0, 1], [1, 0]], [1, 1]), {}, r"labels_true must be 1D: shape is \(2, 2\)"),
        (NMI, ([0, 1], [[0, 1], [1, 0]]), {}, r"labels_pred must be 1D: shape is \(2, 2\)"),
        (NMI, ([0, 1], [np.nan, 1]), {}, "Input contains NaN"),
        (NMI, ([0, 1], [1, np.inf]), {}, "Input contains infinity"),
        (
            NMI,
            ([0, 1], [1, 0]),
            {"average_method": "harmonic"},
            "'average_method' parameter of normalized_mutual_info_score",
        ),
    ],
)
@pytest.mark.filterwarnings("ignore:invalid value encountered in reduce")
def test_an_error_is_that_of_scikit_learn(name, args, options, said, manifold, metrics):
    theirs = getattr(manifold if name == TRUST else metrics, name)
    for function in (theirs, getattr(sklearn, name)):
        with pytest.raises(ValueError, match=said):
            function(*args, **options)


def test_a_wrong_parameter_is_an_error_of_type_and_of_value():
    for kind in (TypeError, ValueError, sklearn.InvalidParameterError):
        with pytest.raises(kind, match="sample_size"):
            sklearn.silhouette_score(INPUTS, LABELS, sample_size="half")


def test_inputs_and_embedding_of_different_lengths_are_refused_with_both_numbers():
    for options in ({}, {"metric": "cosine"}):
        with pytest.raises(ValueError, match=r"\[240, 239\]"):
            sklearn.trustworthiness(INPUTS, CODES[:-1], **options)


def test_without_scikit_learn_other_metrics_are_refused_with_what_there_is(monkeypatch):
    monkeypatch.setitem(sys.modules, "sklearn.metrics", None)
    supported = "needs scikit-learn, which is not installed; .* takes 'euclidean', 'cosine' and 'precomputed'"
    with pytest.raises(ValueError, match=supported):
        sklearn.trustworthiness(INPUTS, CODES, metric="manhattan")
    with pytest.raises(ValueError, match="squared " + supported):
        sklearn.silhouette_score(INPUTS, LABELS, squared=True)
    assert sklearn.silhouette_score(INPUTS, LABELS, metric="cosine") > 0.0


def test_the_shims_import_neither_library():
    code = (
        "import sys, numpy as np\n"
        "from repscope.compat.sklearn import silhouette_score, trustworthiness, normalized_mutual_info_score\n"
        "from repscope.compat.skdim import TwoNN\n"
        "z = np.random.RandomState(0).rand(40, 3); y = np.arange(40) % 2\n"
        "for metric in ('euclidean', 'cosine'):\n"
        "    trustworthiness(z, z, metric=metric); silhouette_score(z, y, metric=metric)\n"
        "normalized_mutual_info_score(y, y); TwoNN().fit(z).x_\n"
        "print([name for name in ('sklearn', 'skdim', 'scipy', 'numba') if name in sys.modules])\n"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert (run.stdout.strip(), run.returncode) == ("[]", 0), run.stderr


def test_nearest_rows_are_exact_with_ties_by_row_number():
    for rows in (RNG.normal(size=(60, 4)), RNG.integers(0, 3, size=(60, 3)), 1e6 + RNG.normal(size=(60, 30))):
        distances = np.sqrt(((rows[:, None].astype("f8") - rows) ** 2).sum(axis=2))
        np.fill_diagonal(distances, np.inf)
        order = np.argsort(distances, axis=1, kind="stable")[:, :7]
        found, lengths = nearest(rows, 7)
        assert np.array_equal(found, order)
        assert lengths == pytest.approx(np.take_along_axis(distances, order, axis=1), rel=1e-14)


# --- scikit-dimension -------------------------------------------------------------------------------------------------


def rolled():
    angle, height = 1 + 9 * RNG.random(400), RNG.random(400)
    return np.stack([angle * np.cos(angle), 20 * height, angle * np.sin(angle)], axis=1)


DATA = {
    "a ball": RNG.normal(size=(300, 3)),
    "a roll": rolled(),
    "a plane in 40 columns": RNG.normal(size=(300, 2)) @ RNG.normal(size=(2, 40)),
    "wide": RNG.normal(size=(200, 60)),
    "integers with duplicates": RNG.integers(0, 12, size=(300, 3)),
    "f32": RNG.normal(size=(250, 10)).astype("f4"),
}


@pytest.mark.parametrize("options", [{}, {"discard_fraction": 0.35}, {"method": "mle"}], ids=str)
@pytest.mark.parametrize("data", DATA)
@pytest.mark.filterwarnings("ignore:Dropping")
def test_dimension_and_line_are_those_of_scikit_dimension(data, options, original):
    ours, theirs = skdim.TwoNN(**options).fit(DATA[data]), original(**options).fit(DATA[data])
    assert plain(ours.dimension_) == pytest.approx(theirs.dimension_, rel=1e-10)
    assert ours.x_ == pytest.approx(theirs.x_, abs=1e-10)
    assert ours.y_ == pytest.approx(theirs.y_, abs=1e-12)
    assert ours.x_.shape == theirs.x_.shape
    assert ours.n_features_in_ == theirs.n_features_in_


def test_the_line_gives_the_dimension():
    fitted = skdim.TwoNN().fit(DATA["a ball"])
    x, y = fitted.x_.ravel(), fitted.y_.ravel()
    assert fitted.dimension_ == pytest.approx(x @ y / (x @ x), rel=1e-12)


def test_the_line_is_that_of_the_rows_that_were_fitted():
    rows = DATA["a ball"].copy()
    fitted = skdim.TwoNN().fit(rows)
    rows[:] = 0.0
    assert np.array_equal(fitted.x_, skdim.TwoNN().fit(DATA["a ball"]).x_)


@pytest.mark.parametrize("method", ["linear", "mle"])
def test_distances_to_two_neighbors_can_be_given(method, original):
    _, pairs = nearest(DATA["a roll"], 2)
    ours = skdim.TwoNN(dist=True, method=method).fit(pairs)
    assert ours.dimension_ == pytest.approx(original(dist=True, method=method).fit(pairs).dimension_, rel=1e-10)
    assert ours.dimension_ == pytest.approx(skdim.TwoNN(method=method).fit(DATA["a roll"]).dimension_, rel=1e-10)


def test_mle_that_discards_nothing_is_that_of_scikit_dimension(original):
    options = {"method": "mle", "discard_fraction": 0}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        theirs = original(**options).fit(DATA["a ball"])
    assert skdim.TwoNN(**options).fit(DATA["a ball"]).dimension_ == pytest.approx(theirs.dimension_, rel=1e-10)


def test_dimensions_around_rows_are_those_of_scikit_dimension(original):
    rows = DATA["a roll"][:80]
    ours = skdim.TwoNN().fit_transform_pw(rows, n_neighbors=20, smooth=True)
    theirs = original().fit_transform_pw(rows, n_neighbors=20, smooth=True)
    for own, its in zip(ours, theirs, strict=True):
        assert own == pytest.approx(its, rel=1e-9)
    fitted = skdim.TwoNN().fit_pw(rows, n_neighbors=20)
    assert np.array_equal(fitted.transform_pw(), fitted.dimension_pw_)
    assert fitted.dimension_pw_ == pytest.approx(theirs[0], rel=1e-9)
    with pytest.raises(ValueError, match="minimum of 101"):
        skdim.TwoNN().fit_pw(rows)


def test_duplicates_are_dropped_with_the_warning_of_scikit_dimension(original):
    rows = np.concatenate([DATA["a ball"], DATA["a ball"][:7]])
    said = "Dropping 14 points with zero distance to their nearest neighbour"
    values = []
    for method in ("linear", "mle"):
        for kind in (skdim.TwoNN, original):
            with pytest.warns(UserWarning, match=said):
                values.append(kind(method=method).fit(rows).dimension_)
    assert values[0] == pytest.approx(values[1], rel=1e-10)
    assert values[2] == pytest.approx(values[3], rel=1e-10)


def test_fit_transform_and_transform_give_the_dimension():
    estimator = skdim.TwoNN()
    dimension = estimator.fit_transform(DATA["a ball"])
    assert 2.0 < dimension < 4.0
    assert estimator.transform() == estimator.transform(DATA["a ball"]) == dimension
    with pytest.raises(ValueError, match="X has 2 features, but TwoNN is expecting 3 features"):
        estimator.transform(np.ones((5, 2)))


def test_an_estimator_that_was_not_fitted_says_so():
    for ask in (lambda e: e.transform(), lambda e: e.transform_pw(), lambda e: e.x_):
        for kind in (ValueError, AttributeError):
            with pytest.raises(kind, match="not fitted yet"):
                ask(skdim.TwoNN())


def test_parameters_are_read_set_copied_and_pickled():
    base = pytest.importorskip("sklearn.base")
    estimator = skdim.TwoNN(discard_fraction=0.2)
    assert base.clone(estimator).get_params() == {"discard_fraction": 0.2, "dist": False, "method": "linear"}
    assert repr(estimator) == "TwoNN(discard_fraction=0.2)"
    assert estimator.set_params(method="mle") is estimator
    assert estimator.method == "mle"
    with pytest.raises(ValueError, match="Invalid parameter 'k'"):
        estimator.set_params(k=3)
    copied = pickle.loads(pickle.dumps(estimator.fit(DATA["a ball"])))
    assert (copied.dimension_, copied.x_.tolist()) == (estimator.dimension_, estimator.x_.tolist())


@pytest.mark.parametrize(
    ("rows", "options", "said"),
    [
        (np.ones((20, 3)), {}, "Fewer than 2 points left to estimate the dimension"),
        (np.ones((20, 3)), {"method": "mle"}, "Fewer than 2 points left to estimate the dimension"),
        (DATA["a ball"][:, :1], {}, "Found array with 1 feature.* while a minimum of 2 is required"),
        (DATA["a ball"][0], {}, "Expected 2D array, got 1D array instead"),
        (np.full((9, 3), np.nan), {}, "contains NaN"),
        (DATA["a ball"], {"method": "quadratic"}, "method must be 'linear' or 'mle'"),
    ],
)
@pytest.mark.filterwarnings("ignore")
def test_an_error_is_that_of_scikit_dimension(rows, options, said, original):
    for kind in (original, skdim.TwoNN):
        with pytest.raises(ValueError, match=said):
            kind(**options).fit(rows)


def test_what_has_no_dimension_is_an_error_with_the_reason():
    grid = np.stack(np.meshgrid(np.arange(6.0), np.arange(6.0)), axis=-1).reshape(-1, 2)
    for method in ("linear", "mle"):
        with pytest.raises(ValueError, match="equally far everywhere, as on a grid"):
            skdim.TwoNN(method=method).fit(grid)
    with pytest.raises(ValueError, match="at least 3 rows, not 2"):
        skdim.TwoNN().fit(grid[:2])
    with pytest.raises(ValueError, match="discard_fraction = 0 leaves the largest ratio in"):
        skdim.TwoNN(discard_fraction=0.0).fit(DATA["a ball"])
