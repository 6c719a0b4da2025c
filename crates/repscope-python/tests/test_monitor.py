# SPDX-License-Identifier: MIT
"""Monitors: exact while all rows are kept, a uniform sample beyond, the same bits however they are merged."""

import copy
import functools
import itertools
import pickle

import numpy as np
import pytest
import repscope
from repscope import Monitor, Score, Scores

METRICS = ["rankme", "uniformity", "two_nn"]
PRINTED = ["rankme(variant=paper)" if name == "rankme" else name for name in METRICS]
RNG = np.random.default_rng(5)
CODES = RNG.normal(size=(400, 6)).astype("f4") @ RNG.normal(size=(6, 6)).astype("f4")


def monitor(*batches, metrics=METRICS, **options):
    made = Monitor(metrics, **options)
    for batch in batches:
        made.update(batch)
    return made


def bits(watching):
    """Every score to the last bit."""
    return {name: (score.value.hex(), score.interval) for name, score in watching.compute().items()}


def held(watching):
    """The rows that are kept, in the order in which metrics see them."""
    return watching._embeddings[np.argsort(watching._contents, kind="stable")]


def parts(count, sizes):
    """Slices of the codes, one after another."""
    ends = np.cumsum(sizes)
    assert ends[-1] == count
    return [CODES[end - size : end] for size, end in zip(sizes, ends, strict=True)]


class Writer:
    """What a SummaryWriter is asked for."""

    def __init__(self):
        self.scalars = []

    def add_scalar(self, tag, scalar_value, global_step=None):
        self.scalars.append((tag, scalar_value, global_step))


# --- scores -----------------------------------------------------------------------------------------------------------


def test_scores_are_those_of_the_functions_while_all_rows_are_kept():
    watching = monitor(*parts(400, [100, 1, 250, 49]))
    scores = watching.compute()
    assert isinstance(scores, Scores)
    assert list(scores) == PRINTED
    assert (len(watching), watching.seen, scores.warnings) == (400, 400, [])
    for name in METRICS:
        expected = getattr(repscope, name)(CODES)
        assert isinstance(scores[name], Score)
        assert scores[name].value == pytest.approx(expected.value, rel=1e-9)
        assert scores[name].n == expected.n
        assert scores[name].interval == pytest.approx(expected.interval, rel=1e-6)


def test_metrics_are_named_by_function_and_by_printed_identity():
    names = ["two_nn(fit=mle)", "rankme(variant=spec)", "rankme", "spectrum", "inertia.share", "two_nn"]
    scores = monitor(CODES, metrics=names).compute()
    # The bare name is the published definition, and is listed under its full name.
    assert list(scores) == [*names[:2], "rankme(variant=paper)", "spectrum.max", "spectrum.min", *names[4:]]
    mle, paper = repscope.two_nn(CODES, fit="mle"), repscope.rankme(CODES, variant="paper")
    assert scores["two_nn(fit=mle)"].value == pytest.approx(mle.value, rel=1e-9)
    assert scores["rankme(variant=paper)"].value == pytest.approx(paper.value, rel=1e-9)
    assert repscope.rankme(CODES).metric == "rankme(variant=paper)"
    assert scores["spectrum.max"].value == pytest.approx(repscope.spectrum(CODES)["max"].value, rel=1e-9)


def test_options_go_to_the_metrics_that_have_them():
    scores = monitor(CODES, discard=0.3, t=1.0, level=0.5, threads=1).compute()
    assert scores["two_nn"].value == pytest.approx(repscope.two_nn(CODES, discard=0.3).value, rel=1e-9)
    assert scores["uniformity"].value == pytest.approx(repscope.uniformity(CODES, t=1.0).value, rel=1e-9)
    assert [scores[name].level for name in METRICS] == [0.5] * 3


def test_every_metric_of_codes_alone_can_be_watched():
    names = [m for m in repscope.metrics() if m in repscope.monitor._watchable()]
    assert {"rankme", "two_nn", "uniformity", "participation_ratio", "stable_rank", "silhouette", "clid"} <= set(names)
    scores = monitor(CODES[:80], metrics=[m for m in names if m != "clid"], clusters=3).compute()
    assert len(scores) >= len(names) - 1
    expected = repscope.participation_ratio(CODES[:80])
    assert scores["participation_ratio"].value == pytest.approx(expected.value, rel=1e-9)


def test_a_score_that_does_not_exist_is_undefined_with_a_reason():
    score = monitor(CODES[:2], metrics=["two_nn"]).compute()["two_nn"]
    assert score.value is None
    assert "at least 3 rows" in score.reason


# --- what comes in ----------------------------------------------------------------------------------------------------


def test_batches_may_be_of_any_kind_and_type():
    pandas, polars = pytest.importorskip("pandas"), pytest.importorskip("polars")
    whole = np.round(CODES * 4).astype("f4")
    expected = held(monitor(whole))
    kinds = [np.asfortranarray, pandas.DataFrame, polars.DataFrame, np.ndarray.tolist, lambda b: b[::-1].copy()[::-1]]
    for kind in kinds:
        assert np.array_equal(held(monitor(kind(whole))), expected)
    for dtype in ("f2", "f8", "i1", "i8"):
        assert np.array_equal(held(monitor(whole.astype(dtype))), expected)


def test_a_tensor_is_detached():
    class Tensor:
        """As much of torch's tensor as is asked for."""

        device = type("device", (), {"type": "cuda"})
        dtype = "torch.float32"
        calls: list = []

        def detach(self):
            self.calls.append("detach")
            return self

        def resolve_conj(self):
            return self

        def resolve_neg(self):
            return self

        def cpu(self):
            self.calls.append("cpu")
            return self

        def numpy(self):
            return CODES

    Tensor.__module__ = "torch"
    assert bits(monitor(Tensor())) == bits(monitor(CODES))
    assert Tensor.calls == ["detach", "cpu"]


def test_a_batch_that_is_overwritten_later_was_copied():
    batch = CODES.copy()
    watching = monitor(batch)
    batch[:] = 0.0
    assert bits(watching) == bits(monitor(CODES))


@pytest.mark.parametrize(
    ("batch", "kind", "said"),
    [
        (CODES[0], ValueError, r"shape \(6,\); give one row of embeddings per sample, shape \(B, D\)"),
        (CODES.reshape(20, 20, 6), ValueError, r"shape \(20, 20, 6\)"),
        (np.ones((4, 5)), ValueError, "a batch has 5 columns, and the rows before it had 6"),
        (np.where(np.arange(6) == 2, np.nan, CODES), ValueError, "NaN or infinity in 400 of 400 rows, row 0 first"),
        (["a", "b"], TypeError, "`batch` holds Python objects"),
        (np.array(["a", "b"]), TypeError, "`batch` holds texts"),
    ],
)
def test_a_wrong_batch_is_refused_and_changes_nothing(batch, kind, said):
    watching = monitor(CODES[:50])
    before = bits(watching)
    with pytest.raises(kind, match=said):
        watching.update(batch)
    assert (bits(watching), watching.seen) == (before, 50)


@pytest.mark.parametrize(
    ("metrics", "options", "kind", "said"),
    [
        ([], {}, ValueError, "no metrics to watch"),
        (["rank_me"], {}, ValueError, "there is no metric 'rank_me'; a monitor watches .*rankme"),
        (["trustworthiness"], {}, ValueError, "'trustworthiness' needs more than embeddings"),
        (["nmi"], {}, ValueError, "'nmi' needs more than embeddings"),
        (["two_nn(fit=best)"], {}, ValueError, r"'two_nn\(fit=best\)'; it has two_nn, two_nn\(fit=mle\)"),
        (METRICS, {"rows": 0}, ValueError, "rows = 0 must be an integer from 1"),
        (METRICS, {"rows": 2.5}, ValueError, "rows = 2.5"),
        (METRICS, {"seed": -1}, ValueError, "seed = -1"),
        (METRICS, {"clusters": 4}, TypeError, "none of rankme, uniformity, two_nn has an option 'clusters'"),
        (METRICS, {"episodes": [1]}, TypeError, "has an option 'episodes'"),
    ],
)
def test_a_wrong_monitor_is_refused(metrics, options, kind, said):
    with pytest.raises(kind, match=said):
        Monitor(metrics, **options)


def test_a_monitor_without_rows_says_so():
    for empty in (Monitor(METRICS), monitor(CODES[:0])):
        assert (len(empty), empty.seen, bool(empty)) == (0, 0, True)
        with pytest.raises(ValueError, match="no rows yet"):
            empty.compute()


def test_after_a_reset_a_monitor_is_as_new():
    watching = monitor(CODES[:300], rows=50)
    watching.reset()
    assert (len(watching), watching.seen) == (0, 0)
    watching.update(np.ones((4, 9)) * np.arange(4)[:, None])
    watching.reset()
    watching.update(CODES)
    assert bits(watching) == bits(monitor(CODES, rows=50))


# --- the sample -------------------------------------------------------------------------------------------------------


def test_memory_is_bounded_and_the_sample_is_said():
    watching = Monitor(METRICS, rows=64)
    for _ in range(30):
        watching.update(RNG.normal(size=(100, 6)))
    assert (len(watching), watching.seen, watching._embeddings.shape) == (64, 3000, (64, 6))
    assert [len(watching._keys), len(watching._contents)] == [64, 64]
    assert watching.compute().warnings[0] == "scores of a random sample of 64 of 3000 rows; raise rows to keep more"
    assert watching.compute()["two_nn"].n == 64


def test_rows_that_stay_were_seen_and_how_they_came_in_batches_does_not_matter():
    expected = monitor(CODES, rows=90)
    rows = {row.tobytes() for row in CODES}
    assert {row.tobytes() for row in held(expected)} <= rows
    assert len({row.tobytes() for row in held(expected)}) == 90
    for sizes in ([400], [1] * 100 + [300], [89, 1, 1, 309], [200, 0, 200]):
        assert np.array_equal(held(monitor(*parts(400, sizes), rows=90)), held(expected))
    assert bits(monitor(*parts(400, [7] * 57 + [1]), rows=90)) == bits(expected)


def test_another_seed_draws_another_sample():
    rows = [{row.tobytes() for row in held(monitor(CODES, rows=100, seed=seed))} for seed in (1, 2)]
    # Two independent samples of 100 out of 400 share 25 rows, ± 3.8.
    assert 25 - 5 * 3.8 < len(rows[0] & rows[1]) < 25 + 5 * 3.8


def chi_squared(counts):
    """Σ (n − expected)² / expected; about as large as there are counts."""
    expected = counts.sum() / len(counts)
    return ((counts - expected) ** 2).sum() / expected


@pytest.mark.parametrize("width", [1, 3])
def test_the_sample_is_uniform_over_places_and_over_values(width):
    # 50 counts: 49 degrees of freedom, 99.99 % of all chi-squared values are between 18 and 97. Drawing without
    # replacement makes the value smaller by the share that is left, 0.9.
    values = np.arange(40_000.0)
    codes = np.stack([values] * width, axis=1)
    drawn = [held(monitor(rows, rows=4000))[:, 0] for rows in (codes, codes[::-1], codes.astype("f4"))]
    for kept in drawn:
        assert len(np.unique(kept)) == 4000
        assert 16 < chi_squared(np.bincount(kept.astype(int) // 800, minlength=50)) < 97
        assert 16 < chi_squared(np.bincount(kept.astype(int) % 50, minlength=50)) < 97
    # The same values at other places are drawn otherwise; the same at the same places are drawn alike.
    assert len(np.intersect1d(drawn[0], drawn[1])) == pytest.approx(400, abs=5 * 19)
    assert np.array_equal(np.sort(drawn[0]), np.sort(drawn[2]))


def test_every_row_is_as_likely_to_stay_over_many_seeds():
    counts = np.zeros(40)
    for seed in range(300):
        kept = held(monitor(np.arange(40.0)[:, None], rows=10, seed=seed))[:, 0]
        counts += np.bincount(kept.astype(int), minlength=40)
    # 300 draws with a probability of 1/4 each: 75 ± 7.5.
    assert counts.sum() == 3000
    assert np.abs(counts - 75).max() < 4.5 * 7.5


def test_copies_of_a_row_stay_in_their_share():
    # Six rows in ten are the same, as in a collapse; a draw by numbers alone would keep all of them or none.
    codes = RNG.normal(size=(20_000, 4))
    codes[RNG.random(20_000) < 0.6] = 0.0
    is_zero = ~held(monitor(codes, rows=2000)).any(axis=1)
    assert is_zero.mean() == pytest.approx((~codes.any(axis=1)).mean(), abs=5 * 0.011)


def test_rows_drawn_are_the_rows_that_functions_are_asked_about():
    watching = monitor(CODES, rows=120)
    scores = watching.compute()
    for name in METRICS:
        assert scores[name].value == getattr(repscope, name)(held(watching)).value


# --- merging ----------------------------------------------------------------------------------------------------------


def four(rows, **options):
    return [monitor(part, rows=rows, **options) for part in parts(400, [130, 20, 240, 10])]


def merged(monitors):
    return functools.reduce(Monitor.merge, [copy.deepcopy(m) for m in monitors])


@pytest.mark.parametrize("rows", [10_000, 150, 15])
def test_merging_is_commutative_and_associative_to_the_bit(rows):
    a, b, c, d = four(rows)
    expected = merged([a, b, c, d])
    assert (len(expected), expected.seen) == (min(rows, 400), 400)
    for order in itertools.permutations([a, b, c, d]):
        assert np.array_equal(held(merged(order)), held(expected))
    assert bits(merged([d, c, b, a])) == bits(expected)
    assert bits(merged([a, merged([b, merged([c, d])])])) == bits(expected)
    assert bits(merged([merged([c, a]), merged([d, b])])) == bits(expected)


def test_merging_all_rows_has_the_bits_of_one_pass():
    one = monitor(CODES)
    assert bits(merged(four(10_000))) == bits(one)
    assert bits(merged([monitor(CODES[1::2]), monitor(CODES[::2])])) == bits(one)
    assert bits(monitor(CODES[::-1])) == bits(one)


def test_a_merged_sample_is_uniform_over_monitors():
    codes = np.arange(40_000.0)[:, None]
    monitors = [monitor(codes[first::4], rows=4000) for first in range(4)]
    kept = held(merged(monitors))[:, 0].astype(int)
    assert len(np.unique(kept)) == 4000
    assert 16 < chi_squared(np.bincount(kept // 800, minlength=50)) < 97
    # 3 degrees of freedom: 99.99 % are below 21.
    assert chi_squared(np.bincount(kept % 4, minlength=4)) < 21


def test_processes_that_see_the_same_rows_draw_on_their_own_with_streams():
    rows = RNG.normal(size=(4000, 3))
    shares = {}
    for name, streams in (("alike", [0, 0]), ("apart", [0, 1])):
        kept = held(merged([monitor(rows, rows=1000, stream=stream) for stream in streams]))
        counts = np.unique(kept, axis=0, return_counts=True)[1]
        shares[name] = (counts == 2).sum()
    # 1000 of 8000 rows: pairs that stay together, against 4000 / 64 = 62.5 ± 7.6 of them by chance.
    assert shares["alike"] == 500
    assert shares["apart"] == pytest.approx(62.5, abs=5 * 7.6)


def test_a_monitor_goes_on_after_a_merge_with_keys_of_its_own():
    first = monitor(CODES[:100], rows=60)
    first.merge(monitor(CODES[100:300], rows=60))
    first.update(CODES[300:])
    other = monitor(CODES[:100], CODES[300:], rows=60)
    other.merge(monitor(CODES[100:300], rows=60))
    assert bits(first) == bits(other)


def test_merging_changes_only_the_one_that_takes():
    a, b = monitor(CODES[:100]), monitor(CODES[100:])
    before = bits(b)
    assert a.merge(b) is a
    assert (bits(b), len(b), len(a)) == (before, 300, 400)
    a.merge(a)
    assert (len(a), a.seen) == (800, 800)
    assert np.array_equal(np.unique(held(a), axis=0), np.unique(CODES, axis=0))


def test_a_monitor_without_rows_is_the_neutral_element():
    full = monitor(CODES, rows=100)
    assert bits(Monitor(METRICS, rows=100).merge(full)) == bits(full)
    assert bits(copy.deepcopy(full).merge(Monitor(METRICS, rows=100))) == bits(full)


def test_f32_and_f64_merge_in_any_order():
    a, b = monitor(CODES[:200], rows=150), monitor(CODES[200:].astype("f8"), rows=150)
    assert held(merged([a, b])).dtype == held(merged([b, a])).dtype == np.float64
    assert bits(merged([a, b])) == bits(merged([b, a]))


def test_monitors_that_do_not_fit_are_refused_with_both_numbers():
    watching = monitor(CODES)
    with pytest.raises(ValueError, match="rows = 10000 and rows = 5 do not merge"):
        watching.merge(monitor(CODES, rows=5))
    with pytest.raises(ValueError, match="seed = 42 and seed = 43 do not merge"):
        watching.merge(monitor(CODES, seed=43))
    with pytest.raises(ValueError, match="the other monitor has 4 columns, and the rows before it had 6"):
        watching.merge(monitor(CODES[:, :4]))
    with pytest.raises(TypeError, match="not with ndarray"):
        watching.merge(CODES)


@pytest.mark.parametrize("rows", [10_000, 70])
def test_a_pickled_monitor_goes_on_as_if_nothing_had_happened(rows):
    watching = monitor(CODES[:100], CODES[100:140], rows=rows, metrics=["two_nn", "rankme(variant=paper)"])
    copied = pickle.loads(pickle.dumps(watching))
    assert bits(copied) == bits(watching)
    for each in (watching, copied):
        each.update(CODES[140:])
    assert bits(copied) == bits(watching)
    assert len(copied) == min(rows, 400)


# --- TensorBoard ------------------------------------------------------------------------------------------------------


def test_scores_are_written_through_the_users_writer():
    writer, watching = Writer(), monitor(CODES)
    scores = watching.log(writer, 700)
    assert writer.scalars == [(f"repscope/{name}", scores[name].value, 700) for name in PRINTED]
    assert all(type(value) is float for _, value, _ in writer.scalars)
    watching.log(writer, 800, prefix="val/")
    assert [(tag, step) for tag, _, step in writer.scalars[3:]] == [(f"val/{name}", 800) for name in PRINTED]


def test_a_score_that_does_not_exist_is_not_written():
    writer = Writer()
    scores = monitor(CODES[:2], metrics=["two_nn", "rankme"]).log(writer, 1)
    assert scores["two_nn"].value is None
    assert [tag for tag, _, _ in writer.scalars] == ["repscope/rankme(variant=paper)"]


def test_a_real_writer_stores_the_scores(tmp_path):
    tensorboardx = pytest.importorskip("tensorboardX", reason="tensorboardX is not installed; a stand-in was tested")
    with tensorboardx.SummaryWriter(str(tmp_path)) as writer:
        scores = monitor(CODES).log(writer, 3)
        stored = next(tmp_path.glob("events*"))
        writer.flush()
    from tensorboardX.proto.event_pb2 import Event

    data, found, at = stored.read_bytes(), {}, 0
    while at < len(data):  # length, its checksum, the event, its checksum
        length = int.from_bytes(data[at : at + 8], "little")
        event = Event.FromString(data[at + 12 : at + 12 + length])
        found |= {value.tag: (value.simple_value, event.step) for value in event.summary.value}
        at += 16 + length
    # The writer replaces characters of names that TensorBoard does not show.
    names = {name: name.replace("(", "_").replace("=", "_").replace(")", "_") for name in PRINTED}
    assert found == {f"repscope/{tag}": (pytest.approx(scores[name].value, rel=1e-6), 3) for name, tag in names.items()}
