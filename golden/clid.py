# SPDX-License-Identifier: MIT
"""Golden cases of CLID and of the scores beside it: MCR² and alignment.

CLID draws starts of k-means and halves of the rows by lot. Most cases are made so that no draw changes the answer:
`certain_learnability` checks that. In the others it is a mean over many halves, with a tolerance of five standard
errors.
"""
import math
import sys
import warnings

from case import Case, agree, blobs, digits, f64, principal_codes, unit

import numpy as np
import skdim
from scipy.spatial.distance import cdist, pdist
from scipy.special import logsumexp
from sklearn.cluster import KMeans
from sklearn.datasets import make_blobs
from sklearn.model_selection import train_test_split
from sklearn.neighbors import KNeighborsClassifier
from sklearn.preprocessing import StandardScaler, normalize

# The steps of CLID by document 002 and by its paper; a case names one and what it changes.
PRESETS = {
    "robust": {"standardize": True, "unit_length": "vote", "clusters": 10, "restarts": 10, "k": 5, "splits": 1,
               "repeats": 5, "id_norm": "dim"},
    "paper": {"standardize": False, "unit_length": "all", "clusters": "sqrt", "restarts": 1, "k": 1, "splits": 10,
              "repeats": 5, "id_norm": "pool"},
}
# Seeds of the reference: of k-means, of halves that must not matter, and of halves that are averaged over.
STARTS, HALVES, SAMPLED_HALVES = 20, 100, 2000


# ---------------------------------------------------------------- CLID


def prepared(Z, steps):
    """The rows that are clustered, those that vote, and those that TwoNN measures."""
    X = StandardScaler().fit_transform(Z) if steps["standardize"] else Z
    V = X if steps["unit_length"] == "none" else normalize(X)
    return (V, V, V) if steps["unit_length"] == "all" else (X, V, Z)


def unique_clusters(name, X, clusters, restarts):
    """The clusters of k-means, numbered by their first row. The case only makes sense if every seed finds them."""
    found = []
    for seed in range(STARTS):
        labels = KMeans(clusters, n_init=restarts, random_state=seed).fit(X).labels_
        first_rows = np.unique(labels, return_index=True)[1]
        found.append(np.argsort(np.argsort(first_rows))[labels])
    if any((other != found[0]).any() for other in found):
        sys.exit(f"{name}: k-means finds other clusters from another seed; pick another case")
    return found[0]


def cut(labels, seed):
    """Halves of every cluster; a cluster of one row has none."""
    rows = np.flatnonzero(np.bincount(labels)[labels] > 1)
    return train_test_split(rows, test_size=0.5, stratify=labels[rows], random_state=seed)


def accuracy(V, labels, train, test, k):
    voters = KNeighborsClassifier(k, algorithm="brute").fit(V[train], labels[train])
    return voters.score(V[test], labels[test])


def certain_learnability(name, V, labels, k):
    """An accuracy that no choice of halves can change: seen in many, and because clusters lie farther from each other
    than they are wide. Only clusters too small to fill a vote are predicted wrong."""
    sizes = np.bincount(labels)[labels]
    distances, same = cdist(V, V), labels[:, None] == labels
    apart = distances[sizes > 1][:, sizes > 1][~same[sizes > 1][:, sizes > 1]].min()
    if distances[same].max() >= 0.95 * apart:
        sys.exit(f"{name}: clusters {distances[same].max():.3f} wide are only {apart:.3f} apart; pick another case")
    found = {accuracy(V, labels, *cut(labels, seed), k) for seed in range(HALVES)}
    if len(found) > 1:
        sys.exit(f"{name}: the accuracy depends on the halves: {sorted(found)}")
    return found.pop()


def dimension(name, rows):
    """TwoNN of scikit-dimension, and by its formula on the rows that have no duplicate; None if there are too few."""
    nearest = np.sort(cdist(rows, rows), axis=1)[:, 1:3]
    ratios = np.sort(np.log(nearest[nearest[:, 0] > 0, 1] / nearest[nearest[:, 0] > 0, 0]))
    if len(ratios) < 3:
        return None
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the library announces dropped duplicates
        fit = skdim.id.TwoNN(discard_fraction=0.1, dist=True).fit(nearest).dimension_
    N = len(ratios)
    x, y = ratios[:int(0.9 * N)], -np.log1p(-np.arange(1, int(0.9 * N) + 1) / N)
    agree(f"{name} TwoNN", (x * y).sum() / (x * x).sum(), fit, 1e-10)
    return fit


class Answers:
    """CL and ID of one model, where they exist, and what the runs look like."""

    def __init__(self, name, latent, steps, is_sampled):
        Z, k, self.rows = f64(latent), steps["k"], len(latent)
        X, V, measured = prepared(Z, steps)
        self.columns, self.cl, self.spread, self.run = Z.shape[1], None, None, None
        self.id, self.id_missing = dimension(name, measured), "fewer than 3 rows without a duplicate"
        # Rows of length 1 are stored as f32, where the codes are.
        rounded = latent.dtype == np.float32 and steps["unit_length"] == "all"
        self.id_tolerance = 1e-5 if rounded else 1e-10
        clusters = math.isqrt(len(Z)) if steps["clusters"] == "sqrt" else steps["clusters"]
        runs = steps["splits"] * steps["repeats"]
        self.cl_missing = f"{clusters} clusters of {len(Z)} rows" if clusters >= len(Z) else "all rows are equal"
        self.spread_missing = self.cl_missing
        if clusters >= len(Z) or np.ptp(Z, axis=0).max() == 0.0:
            return
        labels = unique_clusters(name, X, clusters, steps["restarts"])
        fitted = f"y = KMeans({clusters}, n_init={steps['restarts']}).fit(X).labels_, the same from {STARTS} seeds"
        scored = (f"KNeighborsClassifier({k}).fit(V[train], y[train]).score(V[test], y[test]), train, test = "
                  f"train_test_split(arange(N), test_size=0.5, stratify=y), {fitted}")
        if is_sampled:
            found = np.array([accuracy(V, labels, *cut(labels, seed), k) for seed in range(SAMPLED_HALVES)])
            self.cl, deviation = found.mean(), found.std(ddof=1)
            self.cl_tolerance = 5 * deviation * math.sqrt(1 / runs + 1 / SAMPLED_HALVES)
            self.cl_call = f"mean over {SAMPLED_HALVES} halves of {scored}; 5 standard errors of both means"
            # The variance of a sample variance, by the fourth moment; a deviation has half its relative error.
            kurtosis = ((found - self.cl) ** 4).mean() / deviation ** 4
            relative = math.sqrt((kurtosis - 1) / 4 * (1 / runs + 1 / SAMPLED_HALVES))
            self.spread, self.spread_tolerance = deviation, 5 * relative * deviation
            self.spread_call = f"std(ddof=1) over {SAMPLED_HALVES} halves; 5 standard errors of both"
        else:
            self.cl, self.cl_tolerance = certain_learnability(name, V, labels, k), 1e-12
            self.cl_call = f"{scored} and by {HALVES} pairs of halves"
            self.spread, self.spread_tolerance = 0.0, 1e-12
            self.spread_call = f"std(ddof=1) of equal numbers, by {HALVES} pairs of halves"
        if runs == 1:
            self.spread, self.spread_missing = None, "one run has no spread"
        self.run = self.sizes(labels, k)

    def sizes(self, labels, k):
        """What is the same for all halves."""
        by_half = []
        for seed in range(HALVES):
            train, test = cut(labels, seed)
            training, tested = np.bincount(labels[train]), np.bincount(labels[test])
            by_half.append({"tested": len(test), "clusters": np.count_nonzero(training),
                            "lone": np.count_nonzero(np.bincount(labels) == 1),
                            "small": np.count_nonzero((training > 0) & (training < k)),
                            "largest": tested.max() / len(test)})
        if sum(len(half) for half in cut(labels, 0)) % 2:  # scikit-learn tests the odd row, it may train here
            for sizes in by_half:
                del sizes["tested"], sizes["largest"]
        return {key: value for key, value in by_half[0].items() if all(sizes.get(key) == value for sizes in by_half)}


def expect_model(case, answers, steps, where):
    """CL and ID of one model."""
    if answers.cl is None:
        case.undefine("clid.cl", answers.cl_missing, **where)
    else:
        case.expect("clid.cl", answers.cl, answers.cl_tolerance, "absolute", "scikit-learn", answers.cl_call, **where)
        for column, value in answers.run.items():
            case.expect("clid.cl", value, 1e-12, "absolute", "scikit-learn",
                        f"{column} of train_test_split(arange(N), test_size=0.5, stratify=y)", part="cell",
                        row=["42", "0"], column=column, **where)
        if "largest" in answers.run:
            case.expect("clid.cl", answers.run["largest"], 1e-12, "absolute", "numpy",
                        "max(bincount(y[test])) / len(test)", part="chance", **where)
    if answers.spread is None:
        case.undefine("clid.cl_std", answers.spread_missing, **where)
    else:
        case.expect("clid.cl_std", answers.spread, answers.spread_tolerance, "absolute", "numpy",
                    answers.spread_call, **where)
    if answers.id is None:
        case.undefine("clid.id", answers.id_missing, **where)
    else:
        rows = "normalize(Z)" if steps["unit_length"] == "all" else "Z"
        case.expect("clid.id", answers.id, answers.id_tolerance, "relative", "scikit-dimension",
                    f"TwoNN(discard_fraction=0.1, dist=True).fit(r1_r2 of {rows}).dimension_", **where)


def expect_sums(case, models, steps):
    """The normalised ID and CLID, by D or over the models that have both parts."""
    both = [a for a in models.values() if a.cl is not None and a.id is not None]
    for name, answers in models.items():
        found = {}
        if steps["id_norm"] == "dim":
            why = "no CL" if answers.cl is None else "no ID"
            if answers.id is not None:
                share = min(answers.id / answers.columns, 1.0)
                found["clid.id_normalized"] = (share, answers.id_tolerance, "min(ID / D, 1)")
            if answers in both:
                found["clid"] = (answers.cl + share, answers.cl_tolerance + answers.id_tolerance, "CL + min(ID / D, 1)")
        else:
            why = "no CL, no ID" if answers not in both else "a single model has no common scale"
            if len(both) > 1 and answers in both:
                found = over_pool(both, answers)
        for metric in ("clid.id_normalized", "clid"):
            where = {"model": name} if name else {}
            if metric in found:
                value, tolerance, call = found[metric]
                case.expect(metric, value, tolerance, "absolute", "numpy", call, **where)
            else:
                case.undefine(metric, why, **where)


def over_pool(both, answers):
    """ID, and the sum of CL and ID, standardised over the models."""
    cls, ids = np.array([a.cl for a in both]), np.array([a.id for a in both])
    error = max(a.id_tolerance * a.id for a in both)
    standardized = lambda value, values: (value - values.mean()) / values.std() if np.ptp(values) > 0 else 0.0
    cl, dimensions = standardized(answers.cl, cls), standardized(answers.id, ids)
    tolerance = error / ids.std() * (2 + abs(dimensions)) + 1e-11
    call = "(v - mean(v)) / std(v, ddof=0) over the models that have CL and ID; 0 where all are equal"
    return {"clid.id_normalized": (dimensions, tolerance, f"{call}, v = ID"),
            "clid": (cl + dimensions, tolerance, f"{call}, of CL and of ID, added")}


def clid_case(name, about, latent, preset="robust", is_sampled=False, **changes):
    """`latent` is the codes of a model, or of several by name."""
    steps = PRESETS[preset] | changes
    pool = latent if isinstance(latent, dict) else {"": latent}
    arrays = {f"latent_{model}" if model else "latent": codes for model, codes in pool.items()}
    case = Case("clid", name, about, arrays, {"clid": {"preset": preset} | changes})
    models = {model: Answers(f"clid/{name} {model}", codes, steps, is_sampled) for model, codes in pool.items()}
    for model, answers in models.items():
        expect_model(case, answers, steps, {"model": model} if model else {})
    expect_sums(case, models, steps)


def corners(rng, sizes, width, spread, filled=None, leaning=0.0):
    """Blobs around orthogonal directions in shuffled order, `filled` dimensions thick. They are apart also once columns
    have variance 1, since none has noise only, and once rows have length 1. Pairs may lean to the first blob."""
    blob = rng.permutation(np.repeat(np.arange(len(sizes)), sizes))
    noise = np.zeros((len(blob), width))
    noise[:, :filled] = rng.standard_normal((len(blob), width))[:, :filled]
    centres = np.eye(len(sizes), width)
    centres[np.array(sizes) == 2, 0] = leaning
    turned = (centres[blob] + spread * noise) @ np.linalg.qr(rng.standard_normal((width, width)))[0]
    return np.round(turned, 9)


def jittered_lattice(rng, centres, side, jitter):
    """A square of nearly equal steps around each centre."""
    steps = np.array([(x, y) for x in range(side) for y in range(side)], dtype=np.float64) - (side - 1) / 2
    rows = np.concatenate([centre + steps for centre in np.asarray(centres, dtype=np.float64)])
    return rows + jitter * rng.standard_normal(rows.shape)


def clid_cases():
    clid_case("document-002", "The blobs of document 002's validation, which prints 1.000, 8.437 and 1.844.",
              make_blobs(200, centers=3, n_features=10, cluster_std=1.0, random_state=42)[0], clusters=3)
    rng = np.random.default_rng(1201)
    rows = np.insert(corners(rng, [60, 36, 20, 14], 6, 0.05), 2, 0.1, axis=1)
    clid_case("unequal", "Blobs of 60 to 14 rows; the third column is constant.", rows * [1, 10, 1, 1, 0.1, 1, 1] + 3,
              clusters=4)
    rng = np.random.default_rng(1202)
    clid_case("float32", "f32, three halves of each of five clusterings.",
              (100 * corners(rng, [41, 30, 21], 8, 0.05)).astype(np.float32), clusters=3, splits=3)
    rng = np.random.default_rng(1203)
    clid_case("outvoted", "Two clusters of two rows: one trains, and five vote.",
              corners(rng, [40, 40, 2, 2], 5, 0.05), clusters=4)
    rng = np.random.default_rng(1204)
    clid_case("lone-rows", "Two clusters of one row, which cannot be cut and are left out.",
              corners(rng, [30, 20, 1, 1], 5, 0.05), clusters=4)
    rng = np.random.default_rng(1205)
    clid_case("more-dimensions-than-columns", "Nearly equal steps on a plane: ID is far above D and counts as 1.",
              jittered_lattice(rng, [[0, 0], [60, 0], [0, 60]], 6, 0.02), clusters=3)
    rng = np.random.default_rng(1206)
    rows = corners(rng, [30, 20, 10], 4, 0.05)
    clid_case("duplicates", "A quarter of the rows is repeated: TwoNN leaves out both of each.",
              np.concatenate([rows, rows[::4]]), clusters=3, k=3)
    rng = np.random.default_rng(1207)
    clid_case("one-run", "One clustering and one pair of halves have no spread.",
              corners(rng, [20, 16, 14], 3, 0.05), clusters=3, repeats=1)
    rng = np.random.default_rng(1208)
    clid_case("as-many-clusters-as-rows", "10 clusters of 10 rows leave nothing to learn; ID exists.",
              rng.standard_normal((10, 4)))
    clid_case("constant", "Equal rows: one cluster, and no distance.", np.full((40, 3), 2.0), clusters=2)
    rng = np.random.default_rng(1209)
    lengths = 10 ** rng.uniform(-1, 1, (70, 1))
    alone = corners(rng, [9] * 6 + [8] * 2, 12, 1e-3) * lengths
    clid_case("paper", "The paper's steps on 70 rows, 8 clusters; a single model has no common scale.", alone, "paper")
    rng = np.random.default_rng(1210)
    clid_case("paper-pool", "Three models of 12, 9 and 30 columns by the paper's steps: all have CL 1, which adds 0.",
              {"narrow": corners(rng, [8] * 8, 12, 1e-3, 2), "wide": corners(rng, [10] * 4 + [6] * 4, 30, 1e-3) * 5,
               "f32": corners(rng, [12] + [8] * 5 + [6] * 2, 9, 1e-2).astype(np.float32)}, "paper")
    rng = np.random.default_rng(1211)
    clid_case("paper-pool-outvoted", "Two models by the paper's steps but with k = 3: pairs of rows are outvoted.",
              {"pairs": corners(rng, [10] * 6 + [2] * 2, 10, 1e-3, leaning=0.3),
               "plain": corners(rng, [9] * 4 + [8] * 2 + [6] * 2, 8, 1e-3, 3)}, "paper", k=3)
    rng = np.random.default_rng(1212)
    clid_case("pool", "Document 002's steps over a pool of four, one of them collapsed: three share a scale.",
              {"one": corners(rng, [30, 20, 12, 2], 6, 0.05), "two": corners(rng, [40, 20, 2, 2], 8, 0.05, 4),
               "three": corners(rng, [26, 14, 14, 10], 4, 0.05), "dead": np.ones((64, 5))}, clusters=4, id_norm="pool")
    clid_case("overlapping", "Clusters without gaps: CL is a mean over halves.", overlapping(1202), clusters=3,
              splits=2000, repeats=1, is_sampled=True)
    clid_case("overlapping-unit", "The same with one neighbour and rows of length 1 throughout.", overlapping(1346),
              "paper", clusters=3, restarts=10, splits=2000, repeats=1, id_norm="dim", is_sampled=True)
    clid_case("overlapping-even-k", "Codes as they are and four voters: one vote in many is tied.", overlapping(1227),
              standardize=False, unit_length="none", clusters=3, k=4, splits=2000, repeats=1, is_sampled=True)


def overlapping(seed):
    """Three Gaussian clouds that touch."""
    rng = np.random.default_rng(seed)
    cloud = np.repeat(np.arange(3), [60, 50, 40])
    centres = 1.7 * np.linalg.qr(rng.standard_normal((6, 6)))[0][:3]
    return (centres[cloud] + 0.7 * rng.standard_normal((150, 6))) * [1, 2, 3, 1, 1, 0.5] + [0.5, 0, 0, 0, 0, 0]


# ---------------------------------------------------------------- MCR²


def rate(U, factor):
    """ln det(I + factor * U'U), by a determinant and by singular values."""
    value = np.linalg.slogdet(np.eye(U.shape[1]) + factor * U.T @ U)[1]
    agree("coding rate", np.log1p(factor * np.linalg.svd(U, compute_uv=False) ** 2).sum(), value, 1e-10)
    return value


def mcr2_case(name, about, latent, labels=None, clusters=None, **constants):
    arrays = {"latent": latent} | ({} if labels is None else {"labels": labels})
    options = ({"clusters": clusters} if clusters else {}) | ({"mcr2": constants} if constants else {})
    case = Case("mcr2", name, about, arrays, options)
    gamma1, gamma2, eps = (constants.get(key, usual) for key, usual in (("gamma1", 1), ("gamma2", 1), ("eps", 0.01)))
    if np.linalg.norm(f64(latent), axis=1).min() == 0.0:
        for part in ("total", "discriminative", "compressive"):
            case.undefine(f"mcr2.{part}", "a row of length zero has no direction")
        return
    U, (N, D), y, named = unit(latent), latent.shape, labels, "labels"
    whole = rate(U, gamma1 * D / (N * eps)) / 2
    case.expect("mcr2.discriminative", whole, 1e-9, "relative", "numpy",
                f"slogdet(eye(D) + {gamma1} * D / (N * {eps}) * U.T @ U)[1] / 2, U = unit(Z)")
    if labels is None and clusters > N:
        for part in ("total", "compressive"):
            case.undefine(f"mcr2.{part}", f"{clusters} clusters of {N} rows")
        return
    if labels is None:
        y = unique_clusters(f"mcr2/{name}", f64(latent), clusters, 10)
        named = f"KMeans({clusters}, n_init=10).fit(Z).labels_, the same from {STARTS} seeds"
    classes = [U[y == c] for c in np.unique(y)]
    parts = sum(len(c) / (2 * N) * rate(c, D / (len(c) * eps)) for c in classes)
    case.expect("mcr2.compressive", parts, 1e-9, "relative", "numpy",
                f"sum(n / (2 * N) * slogdet(eye(D) + D / (n * {eps}) * C.T @ C)[1]), C = the n rows of U of each "
                f"class, by {named}")
    case.expect("mcr2.total", parts - gamma2 * whole, 1e-9 * max(parts, gamma2 * whole), "absolute", "numpy",
                f"compressive - {gamma2} * discriminative")


def mcr2_cases():
    pixels, names = digits()
    mcr2_case("digits", "PCA codes of digits with the classes as words, f32.",
              principal_codes(pixels, 16).astype(np.float32), names)
    rng = np.random.default_rng(1301)
    labels = rng.integers(0, 4, 120)
    rows = rng.standard_normal((120, 10)) + 3 * np.eye(4, 10)[labels]
    mcr2_case("four-classes", "Four classes around four axes.", rows, labels)
    mcr2_case("papers-eps", "The same with the squared distance of the paper, 0.5.", rows, labels, eps=0.5)
    mcr2_case("gammas", "The same with other weights.", rows, labels, gamma1=0.5, gamma2=2.0, eps=0.1)
    rng = np.random.default_rng(1302)
    mcr2_case("wide", "20 rows of 50 columns, three classes.", rng.standard_normal((20, 50)), np.arange(20) % 3)
    rng = np.random.default_rng(1303)
    rows = (rng.standard_normal((60, 12)) + 0.5) * 10 ** rng.uniform(-3, 3, (60, 1))
    mcr2_case("float32", "f32 rows of lengths from 1e-3 to 1e3.", rows.astype(np.float32), np.repeat(["a", "b"], 30))
    rng = np.random.default_rng(1304)
    labels = rng.permutation(np.repeat(["many", "few", "only"], [30, 9, 1]))
    mcr2_case("one-row-class", "Classes of 30, 9 and 1 rows: below and above D.", rng.standard_normal((40, 16)), labels)
    rng = np.random.default_rng(1305)
    mcr2_case("offset", "A common offset of 1e4: one direction has nearly all, the others are small.",
              rng.standard_normal((80, 8)) + 1e4, np.arange(80) % 2)
    mcr2_case("three-directions", "Rows repeated along three axes: the smallest compressive rate.",
              np.repeat(np.eye(3, 6), 10, axis=0) * np.arange(1, 31)[:, None], np.repeat([0, 1, 2], 10))
    rng = np.random.default_rng(1306)
    mcr2_case("one-class", "One class takes as much room as all: 0.", rng.standard_normal((30, 5)), np.full(30, "all"))
    rng = np.random.default_rng(1307)
    mcr2_case("one-column", "One column: the directions are only +1 and -1.", rng.standard_normal((25, 1)),
              np.arange(25) % 2)
    rng = np.random.default_rng(1308)
    rows, _ = blobs(rng, [30, 20, 15, 5], 6)
    mcr2_case("k-means", "No labels: the classes are four clusters of k-means.", rows, clusters=4)
    rng = np.random.default_rng(1309)
    rows = corners(rng, [12, 10, 8], 5, 0.05) * rng.choice([1.0, 40.0], (30, 1))
    mcr2_case("k-means-lengths", "f32; k-means sees lengths, the rates do not: all short rows are one cluster.",
              rows.astype(np.float32), clusters=4)
    mcr2_case("more-clusters-than-rows", "No labels, and 8 clusters of 5 rows: only the room of all codes.",
              rng.standard_normal((5, 3)), clusters=8)
    rng = np.random.default_rng(1310)
    rows = rng.standard_normal((20, 4))
    rows[11] = 0.0
    mcr2_case("zero-row", "A row of zeros has no direction.", rows, np.arange(20) % 2)


# ---------------------------------------------------------------- alignment


def alignment_case(name, about, latent, view, alpha=2.0, t=2.0):
    case = Case("alignment", name, about, {"latent": latent} | ({} if view is None else {"view": view}),
                {"alpha": alpha, "t": t})
    if view is None or min(np.linalg.norm(f64(rows), axis=1).min() for rows in (latent, view)) == 0.0:
        why = "no second view" if view is None else "a row of length zero has no direction"
        for metric in ("alignment", "alignment.uniformity", "alignment.total"):
            case.undefine(metric, why)
        return
    x, y = unit(latent), unit(view)
    distances = np.sqrt(((x - y) ** 2).sum(axis=1))
    powers = distances ** alpha
    # Rounding of rows of length 1 moves a distance by less than 1e-14.
    tolerance = ((distances + 1e-14) ** alpha - powers).mean()
    case.expect("alignment", powers.mean(), tolerance, "absolute", "numpy",
                f"mean(norm(unit(Z) - unit(view), axis=1) ** {alpha})")
    if len(x) == 1:
        for metric in ("alignment.uniformity", "alignment.total"):
            case.undefine(metric, "one row has no pairs")
        return
    mismatched = cdist(x, y)[~np.eye(len(x), dtype=bool)] ** alpha
    call = f"mean(cdist(unit(Z), unit(view))[i, j] ** {alpha} over i != j)"
    if alpha == 2.0:
        case.expect("alignment", mismatched.mean(), 1e-9 * mismatched.mean(), "absolute", "scipy", call, part="chance")
    else:
        # One random partner for each row: five standard errors of such a mean.
        case.expect("alignment", mismatched.mean(), 5 * mismatched.std() / math.sqrt(len(x)), "absolute", "scipy",
                    call + "; 5 standard errors of a mean over N of them", part="chance")
    exponents = [-t * pdist(rows, "sqeuclidean") for rows in (x, y)]
    spread = np.mean([logsumexp(e) - np.log(len(e)) for e in exponents])
    is_f32 = np.float32 in (latent.dtype, view.dtype)
    tolerance = 1e-6 if is_f32 else 1e-9 * min(1.0, max(abs(spread), 1e-3))
    call = f"mean of logsumexp(-{t} * pdist(u, 'sqeuclidean')) - log(N * (N - 1) / 2), u = unit(Z) and unit(view)"
    case.expect("alignment.uniformity", spread, tolerance, "absolute", "scipy", call)
    case.expect("alignment.total", powers.mean() + spread, tolerance, "absolute", "scipy", "alignment + uniformity")


def alignment_cases():
    rng = np.random.default_rng(1401)
    rows = rng.standard_normal((100, 8))
    view = rows + 0.4 * rng.standard_normal(rows.shape)
    alignment_case("two-views", "A noisy copy of each row.", rows, view)
    alignment_case("alpha-1", "The same with alpha = 1 and t = 3: chance by one random partner for each row.",
                   rows, view, alpha=1.0, t=3.0)
    alignment_case("alpha-3", "The same with alpha = 3.", rows, view, alpha=3.0)
    alignment_case("identical", "Both views are the same: 0.", rows, rows.copy())
    alignment_case("stretched", "Both views are the same up to their lengths.",
                   rows, rows * 10 ** rng.uniform(-2, 2, (100, 1)))
    alignment_case("opposite", "The second view is the first mirrored: 4.", rows, -rows)
    alignment_case("unrelated", "The rows of the second view in another order: at chance.", rows, view[::-1].copy())
    rng = np.random.default_rng(1402)
    rows = (rng.standard_normal((120, 16)) + 1) * 10 ** rng.uniform(-3, 3, (120, 1))
    view = rows * (1 + 0.1 * rng.standard_normal(rows.shape))
    alignment_case("float32", "f32 rows around a common mean, lengths from 1e-3 to 1e3.",
                   rows.astype(np.float32), view.astype(np.float32))
    alignment_case("one-view-float32", "The first view in f64, the second in f32.", rows, view.astype(np.float32))
    rng = np.random.default_rng(1403)
    rows = rng.standard_normal((60, 6)) + 1e4
    alignment_case("offset", "A common offset of 1e4: all directions nearly equal, alignment and chance near 0.",
                   rows, rows + 0.1 * rng.standard_normal(rows.shape))
    rng = np.random.default_rng(1404)
    alignment_case("wide", "20 rows of 50 columns.", *rng.standard_normal((2, 20, 50)))
    alignment_case("collapsed", "One direction for all: alignment 0, uniformity 0.", np.full((10, 3), 2.0),
                   np.full((10, 3), 5.0))
    rng = np.random.default_rng(1405)
    alignment_case("two-rows", "Two rows: each is the other's only mismatch.", *rng.standard_normal((2, 2, 4)))
    alignment_case("one-row", "One row has no other.", *rng.standard_normal((2, 1, 4)))
    rows, view = rng.standard_normal((2, 12, 4))
    alignment_case("no-view", "No second view.", rows, None)
    view[7] = 0.0
    alignment_case("zero-row", "A row of zeros in the second view only.", rows, view)
