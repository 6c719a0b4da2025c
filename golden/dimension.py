# SPDX-License-Identifier: MIT
"""Cases of intrinsic dimensions from more than two neighbors, and of neighborhoods of every size."""
import warnings

from case import Case, agree, digits, f64, neighbor_order, no_near_ties, principal_codes, unit

import numpy as np
import skdim
from scipy.optimize import brentq
from scipy.spatial.distance import cdist
from sklearn.datasets import make_swiss_roll
from zadu.measures import mean_relative_rank_error


def sorted_distances(latent):
    """The distances of each row to all others, nearest first."""
    distances = cdist(f64(latent), f64(latent))
    np.fill_diagonal(distances, -1.0)
    return np.sort(distances, axis=1)[:, 1:]


def likelihood_case(name, about, latent, ks):
    case = Case("mle_id", name, about, {"latent": latent}, {"k": ks})
    for k in ks:
        plain, unbiased = f"mle_id@{k}", f"mle_id(normalizer=k-2)@{k}"
        if k >= len(latent):
            for metric in (plain, unbiased):
                case.undefine(metric, f"{len(latent)} rows have fewer than {k} neighbors")
            continue
        near = sorted_distances(latent)[:, :k]
        near = near[near[:, 0] > 0]
        if len(near) < 3 or np.ptp(near, axis=1).max() == 0.0:
            why = "fewer than 3 rows without copies" if len(near) < 3 else "all neighbors are equally far"
            for metric in (plain, unbiased):
                case.undefine(metric, why)
            continue
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            for metric, is_unbiased in ((plain, False), (unbiased, True)):
                if is_unbiased and k == 2:
                    case.undefine(metric, "k - 2 is 0")
                    continue
                rows = np.zeros((len(near), 2))  # not read: the distances are given
                found = skdim.id.MLE(unbiased=is_unbiased).fit(
                    rows, precomputed_knn_arrays=(near, np.zeros_like(near, dtype=int)), comb="mle").dimension_
                normalizer = k - 2 if is_unbiased else k - 1
                own = 1.0 / np.mean(np.log(near[:, -1:] / near[:, :-1]).sum(axis=1) / normalizer)
                agree(f"{name} {metric}", own, found, 1e-12)
                case.expect(metric, found, 1e-10, "relative", "scikit-dimension",
                            f"MLE(unbiased={is_unbiased}).fit(Z, n_neighbors={k}, comb='mle').dimension_, rows with T_1 > 0")


def derivative(d, logs, k):
    """Of the logarithm of the likelihood of Gride, with N - 1 for N as in DADApy."""
    between, before = k // 2 - 1, k - 1
    shares = np.where(logs > 0, logs / -np.expm1(-d * np.where(logs > 0, logs, 1.0)), 1.0 / d)
    return (len(logs) - 1) / d + between * shares.sum() - before * logs.sum()


def gride_case(name, about, latent, ks):
    case = Case("gride", name, about, {"latent": latent}, {"k": ks})
    near = sorted_distances(latent)
    for k in ks:
        inner, outer = near[:, k // 2 - 1], near[:, k - 1]
        logs = np.log(outer[inner > 0] / inner[inner > 0])
        if len(logs) < 3 or logs.sum() == 0.0:
            case.undefine(f"gride@{k}", "fewer than 3 ratios" if len(logs) < 3 else "every ratio is 1")
            continue
        value = brentq(derivative, 1e-6, 1e6, args=(logs, k), xtol=1e-300, rtol=1e-15)
        case.expect(f"gride@{k}", value, 1e-10, "relative", "scipy",
                    f"brentq(derivative of the log likelihood of Gride, N - 1 for N), n1 = {k // 2}, n2 = {k}")


def dimension_cases():
    roll = make_swiss_roll(400, noise=0.0, random_state=1001)[0]
    rng = np.random.default_rng(1002)
    sphere = unit(rng.standard_normal((300, 11))) @ np.linalg.qr(rng.standard_normal((20, 20)))[0][:11]
    rng = np.random.default_rng(1003)
    rows = rng.standard_normal((160, 4))
    repeated = rows[rng.permutation(np.arange(200) % 160)]
    rng = np.random.default_rng(1004)
    far = rng.standard_normal((200, 6)) + 1e4
    pairs = np.concatenate([rows[:60], rows[:60] + 1e-7 * rng.standard_normal((60, 4))])
    grid = np.array([(x, y) for x in range(10) for y in range(10)], dtype=np.float64)
    codes = principal_codes(digits()[0], 16).astype(np.float32)
    simplex = np.eye(30)
    for name, about, latent, ks in (
        ("swiss-roll", "A rolled-up sheet in 3 dimensions: true dimension 2.", roll, [2, 3, 10, 20]),
        ("sphere-10", "A sphere of dimension 10 in 20 dimensions; at k = 3 the normalizers differ by a factor of 2.",
         sphere, [3, 20, 100]),
        ("duplicates", "A fifth of the rows is repeated: rows with a copy are left out.", repeated, [5, 20]),
        ("offset", "A common offset of 1e4 must cost no digits.", far, [5, 20]),
        ("near-duplicates", "Pairs 1e-7 apart: huge ratios.", pairs, [2, 5, 20]),
        ("digits", "PCA codes of digits, f32.", codes, [5, 20]),
        ("simplex", "All rows are equally far from each other: no dimension is large enough.", simplex, [2, 5]),
        ("few", "As many neighbors as rows: none.", rows[:12], [5, 11, 12]),
    ):
        likelihood_case(name, about, latent, ks)
    for name, about, latent, ks in (
        ("swiss-roll", "A rolled-up sheet in 3 dimensions: true dimension 2.", roll, [2, 4, 8, 16, 32]),
        ("sphere-10", "A sphere of dimension 10 in 20 dimensions.", sphere, [2, 8, 32]),
        ("duplicates", "A fifth of the rows is repeated: a copy takes the ratio at K = 2, and no other.", repeated,
         [2, 4, 16]),
        ("offset", "A common offset of 1e4 must cost no digits.", far, [2, 8, 16]),
        ("near-duplicates", "Pairs 1e-7 apart: huge ratios at K = 2 alone.", pairs, [2, 4, 8]),
        ("digits", "PCA codes of digits, f32.", codes, [2, 16, 32]),
        ("grid", "On a grid many distances are equal: at K = 2 all are.", grid, [2, 4, 8]),
        ("simplex", "All rows are equally far from each other.", simplex, [2]),
    ):
        gride_case(name, about, latent, ks)
    local_cases()
    danco_cases()


def local_case(name, about, latent, k):
    case = Case("local_pca_id", name, about, {"latent": latent}, {"local_k": k})
    rows = neighbor_order(latent)[:, :k]
    latent = f64(latent)
    for version, theirs in (("", "FO"), ("(version=fan)", "Fan"), ("(version=participation)", "participation_ratio")):
        found = skdim.id.lPCA(ver=theirs).fit_pw(latent, precomputed_knn=rows, n_neighbors=k).dimension_pw_
        case.expect(f"local_pca_id{version}", np.mean(found), 1e-9, "relative", "scikit-dimension",
                    f"mean(lPCA(ver='{theirs}').fit_pw(Z, n_neighbors={k}).dimension_pw_)")


def local_cases():
    roll = make_swiss_roll(200, noise=0.05, random_state=1201)[0]
    local_case("swiss-roll", "A rolled-up sheet with little noise.", roll, 20)
    rng = np.random.default_rng(1202)
    flat = rng.uniform(size=(200, 5)) @ np.linalg.qr(rng.standard_normal((30, 30)))[0][:5]
    local_case("cube-5-in-30", "A cube in more columns than a neighborhood has rows, with noise.",
               flat + 0.02 * rng.standard_normal(flat.shape) + 1e3, 25)
    local_case("digits", "PCA codes of digits, f32.", principal_codes(digits(200)[0], 16).astype(np.float32), 30)


def derivative_of_first(d, logs, k):
    """Of the logarithm of the likelihood of MiND_ML; the logarithms are those of the inverse of rho."""
    rest = -np.expm1(-d * logs)
    return len(logs) / d - logs.sum() + (k - 1) * (logs * np.exp(-d * logs) / rest).sum()


def danco_case(name, about, latent, k=10):
    case = Case("danco", name, about, {"latent": latent}, {"danco_k": k})
    parts = ("danco.distances", "danco.nu", "danco.tau")
    rows = np.unique(f64(latent), axis=0)
    width = rows.shape[1]
    near = sorted_distances(rows) if len(rows) > k + 1 else None
    if near is None or np.ptp(near[:, :k + 1], axis=1).max() == 0.0:
        why = f"fewer than {k + 2} rows that differ" if near is None else "neighbors 1 and K + 1 are equally far everywhere"
        for metric in ("danco", "danco(version=fractional)", *parts):
            case.undefine(metric, why)
        return
    logs = np.log(near[:, k] / near[:, 0])
    own = min(brentq(derivative_of_first, 1e-6, 1e6, args=(logs, k), xtol=1e-300, rtol=1e-15), width)
    theirs = skdim.id.DANCo(k=k)
    theirs._k = k
    found = theirs._dancoDimEstNoCalibration(rows, width)
    # DANCo(ver='MIND_MLk') itself stops where its minimizer takes no step, often at the whole number that it begins with.
    ratios = np.exp(-logs)
    if own < width:
        theirs_too = brentq(lambda d: theirs._nlld_gr(d, ratios, len(ratios)), 0.5 * own, 2.0 * own, xtol=1e-300, rtol=1e-15)
        agree(f"{name} {parts[0]}", own, theirs_too, 1e-10)
    case.expect(parts[0], own, 1e-10, "relative", "scikit-dimension",
                f"min(brentq(DANCo(k={k})._nlld_gr), D): the zero of the gradient that DANCo minimizes by")
    call = f"DANCo(k={k})._dancoDimEstNoCalibration(Z, D), rows that differ"
    case.expect(parts[1], found["mu_nu"], 1e-9, "absolute", "scikit-dimension", f"{call}['mu_nu']")
    case.expect(parts[2], found["mu_tau"], 1e-9, "relative", "scikit-dimension", f"{call}['mu_tau']")
    if k == 10:
        for metric, fractal in (("danco", False), ("danco(version=fractional)", True)):
            whole = skdim.id.DANCo(k=k, ver="DANCoFit", fractal=fractal).fit(rows).dimension_
            case.expect(metric, whole, 1.0, "absolute", "scikit-dimension",
                        f"DANCo(ver='DANCoFit', fractal={fractal}).fit(Z).dimension_: the means of 100 other balls")


def danco_cases():
    for d in (2, 5, 9, 12):
        rng = np.random.default_rng(1300 + d)
        sphere = unit(rng.standard_normal((300, d + 1))) @ np.linalg.qr(rng.standard_normal((20, 20)))[0][:d + 1]
        danco_case(f"sphere-{d}", f"A sphere of dimension {d} in 20 dimensions.", sphere)
    rng = np.random.default_rng(1320)
    inside = unit(rng.standard_normal((250, 6))) * rng.uniform(size=(250, 1)) ** (1 / 6)
    danco_case("ball-6", "A ball of dimension 6 far from the origin.", inside + 1e3)
    danco_case("ball-6-of-5", "The same from 5 neighbors.", inside + 1e3, k=5)
    rng = np.random.default_rng(1321)
    rows = rng.standard_normal((160, 4))
    danco_case("duplicates", "A fifth of the rows is repeated: copies are dropped.", rows[rng.permutation(np.arange(200) % 160)])
    danco_case("digits", "PCA codes of digits, f32.", principal_codes(digits()[0], 16).astype(np.float32))
    danco_case("simplex", "All rows are equally far from each other.", np.eye(30))
    danco_case("few", "As many neighbors as rows: none.", rows[:11])


# ---------------------------------------------------------------- neighborhoods of every size


def curves_case(name, about, states, latent, ks, ties=False, distance=None, margin=1e-12):
    options = {"k": ks} | ({"distance": distance} if distance else {})
    case = Case("neighborhood_curves", name, about, {"input": states, "latent": latent}, options)
    X, Z = f64(states), unit(latent) if distance == "cosine" else f64(latent)
    no_near_ties(f"{name} input", X, margin, exact_ties_allowed=ties)
    no_near_ties(f"{name} latent", Z, margin, exact_ties_allowed=ties)
    n, orders = len(X), [neighbor_order(X), neighbor_order(Z)]
    places = []
    for order in orders:
        place = np.zeros((n, n), dtype=np.int64)
        np.put_along_axis(place, order, np.arange(1, n)[None, :], axis=1)
        places.append(place)
    off = ~np.eye(n, dtype=bool)
    matrix = np.zeros((n - 1, n - 1))
    np.add.at(matrix, (places[0][off] - 1, places[1][off] - 1), 1.0)
    every = np.arange(1, n - 1)
    shared = np.array([matrix[:k, :k].sum() / (k * n) for k in every])
    above = ((n - 1) * shared - every) / (n - 1 - every)
    case.expect("r_nx.auc", (above / every).sum() / (1.0 / every).sum(), 1e-12, "absolute", "numpy",
                "sum(R_NX / K) / sum(1 / K), K = 1 ... N - 2, from the co-ranking matrix")
    if n <= 22:
        case.expect("r_nx", above, 1e-12, "absolute", "numpy", "R_NX(K) for K = 1 ... N - 2, from the co-ranking matrix")
    for k in ks:
        if k >= n - 1:
            for metric in ("q_nx", "r_nx", "mrre.false", "mrre.missing"):
                case.undefine(f"{metric}@{k}", f"k = {k} leaves no row outside the neighborhood of {n} rows")
            continue
        case.expect(f"q_nx@{k}", shared[k - 1], 1e-13, "absolute", "numpy", f"Q[:{k}, :{k}].sum() / ({k} * N)")
        case.expect(f"q_nx@{k}", k / (n - 1), 1e-13, "absolute", "numpy", f"{k} / (N - 1)", part="chance")
        case.expect(f"r_nx@{k}", above[k - 1], 1e-12, "absolute", "numpy", f"((N - 1) * q_nx - {k}) / (N - 1 - {k})")
        ranks = np.arange(1, n, dtype=float)
        errors = np.abs(ranks[:, None] - ranks[None, :])
        worst = (np.abs(n - 2 * ranks) / ranks)[:k].sum()
        missing = (matrix * errors / ranks[:, None])[:k].sum() / n / worst
        false = (matrix * errors / ranks[None, :])[:, :k].sum() / n / worst
        by_chance = (errors / ranks[:, None]).mean(axis=1)[:k].sum() / worst
        found = mean_relative_rank_error.measure(X, Z, k=k)
        other_worst = (np.abs(n - 2 * ranks + 1) / ranks)[:k].sum()
        for metric, value in (("false", false), ("missing", missing)):
            case.expect(f"mrre.{metric}@{k}", value, 1e-12, "absolute", "numpy",
                        f"sum(Q * |k - l| / l, K = {k}) / (N * C), from the co-ranking matrix; l: the rank that is at most {k}")
            case.expect(f"mrre.{metric}@{k}", by_chance, 1e-12, "absolute", "numpy",
                        "the mean over all ranks of a neighbor", part="chance")
            if not ties:
                theirs = (1.0 - found[f"mrre_{metric}"]) * other_worst / worst
                agree(f"{name} zadu mrre.{metric}@{k}", theirs, value, 1e-12)
                case.expect(f"mrre.{metric}@{k}", theirs, 1e-12, "absolute", "zadu",
                            f"(1 - mean_relative_rank_error.measure(X, Z, k={k})['mrre_{metric}']) * C' / C, "
                            "C' = sum(|N - 2k + 1| / k), C = sum(|N - 2k| / k)")


def curves_cases():
    rng = np.random.default_rng(1101)
    states = rng.standard_normal((120, 10))
    codes = states @ rng.standard_normal((10, 3)) + 0.1 * rng.standard_normal((120, 3))
    curves_case("gaussian", "A noisy linear code of 3 dimensions.", states, codes, [5, 10, 60])
    curves_case("same", "A code that is its input: nothing is lost.", states, states, [5, 10])
    rng = np.random.default_rng(1102)
    curves_case("noise", "A code that ignores its input: chance.", rng.standard_normal((150, 8)),
                rng.standard_normal((150, 4)), [5, 15])
    rng = np.random.default_rng(1103)
    states = rng.standard_normal((80, 6))[rng.permutation(np.arange(120) % 80)]
    codes = states[:, :2].copy()
    codes[::7] = codes[0]
    curves_case("duplicates", "Repeated rows in both spaces: equal distances go by row number.", states, codes, [5, 10],
                ties=True)
    rng = np.random.default_rng(1104)
    curves_case("few", "21 rows: sizes from 1 to 19.", rng.standard_normal((21, 4)), rng.standard_normal((21, 2)),
                [1, 10, 19, 20])
    rng = np.random.default_rng(1105)
    curves_case("collapsed", "A constant code: the neighbors of every row are the first rows.",
                rng.standard_normal((22, 4)), np.full((22, 3), 0.25), [5, 10], ties=True)
    rng = np.random.default_rng(1106)
    states = rng.standard_normal((90, 6))
    codes = (states @ rng.standard_normal((6, 4))) * rng.gamma(1.0, 3.0, (90, 1))
    curves_case("cosine", "Codes of very different lengths, compared by direction; inputs as they are.", states, codes,
                [5, 10], distance="cosine")
