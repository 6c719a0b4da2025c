#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Writes the golden cases: small inputs with the answers of named libraries.

    python golden/generate.py            writes golden/cases/
    python golden/generate.py --check    recomputes everything and compares with what is there

Each case is cases/<family>/<case>/{input.npz,expected.json}; README.md beside this file has the format, and clid.py and
performance.py have the families of scores that need them.
Every number is the answer of a library, or of a formula written out in NumPy; where there are two, both must
agree before anything is written. All arithmetic is f64, also for f32 inputs. Rows at the same distance are
ordered by row number, and no other gap is so small that rounding could close it (`no_near_ties`).
"""
import argparse
import itertools
import json
import math
import sys
import warnings

# First, because it says how many threads NumPy may start.
from case import (CASES, CASES_DIR, WORDS, Case, agree, blobs, digits, f64, neighbor_order, no_near_ties,
                  principal_codes, unit)

import numpy as np
import scipy.linalg
import skdim
from ranx import Qrels, Run, evaluate
from scipy.spatial.distance import cdist, pdist
from scipy.special import logsumexp
from scipy.stats import hypergeom, linregress, nhypergeom, sem, skew
from sklearn.cluster import KMeans
from sklearn.datasets import make_blobs, make_swiss_roll
from sklearn.decomposition import PCA
from sklearn.manifold import trustworthiness
from sklearn.metrics import (adjusted_mutual_info_score, ndcg_score, normalized_mutual_info_score, silhouette_score,
                             top_k_accuracy_score)
from sklearn.neighbors import KNeighborsClassifier
from zadu.measures import trustworthiness_continuity

from clid import alignment_cases, clid_cases, mcr2_cases
from collapse import collapse_cases
from dimension import curves_cases, dimension_cases
from performance import performance_cases
from perturbation import perturbation_cases
from probe import probe_cases
from robustness import robustness_cases
from similarity import similarity_cases
from two_sets import drift_cases, mixing_cases


# ---------------------------------------------------------------- smoothness


def smoothness_case(name, about, arrays):
    case = Case("smoothness", name, about, arrays)
    for prefix, codes in (("smoothness", f64), ("smoothness.unit", unit)):
        if "next_input" in arrays:
            state_steps = f64(arrays["next_input"]) - f64(arrays["input"])
            code_steps = codes(arrays["next_latent"]) - codes(arrays["latent"])
        else:
            same = arrays["episodes"][1:] == arrays["episodes"][:-1]
            state_steps = np.diff(f64(arrays["input"]), axis=0)[same]
            code_steps = np.diff(codes(arrays["latent"]), axis=0)[same]
        moved = np.sqrt((state_steps ** 2).sum(axis=1))
        answer = np.sqrt((code_steps ** 2).sum(axis=1))
        expect_regression(case, prefix, moved, answer)
        expect_ratios(case, prefix, moved, answer)


def expect_regression(case, prefix, moved, answer):
    if np.ptp(moved) == 0.0:
        for part in ("slope", "intercept", "r", "r2", "p", "stderr"):
            case.undefine(f"{prefix}.{part}", "every pair moves the same distance in the input: no line is determined")
        return
    line = linregress(moved, answer)
    call = "linregress(input_distances, latent_distances)"
    case.expect(f"{prefix}.slope", line.slope, 1e-9 * max(abs(line.slope), 1e-3), "absolute", "scipy", call)
    case.expect(f"{prefix}.intercept", line.intercept, 1e-9 * max(answer.max(), 1e-3), "absolute", "scipy", call)
    if np.ptp(answer) == 0.0:
        for part in ("r", "r2", "p"):
            case.undefine(f"{prefix}.{part}", "the latent distance is the same for every pair: correlation is 0/0")
        return
    case.expect(f"{prefix}.r", line.rvalue, 1e-10, "absolute", "scipy", call)
    case.expect(f"{prefix}.r2", line.rvalue ** 2, 1e-10, "absolute", "scipy", call + ".rvalue ** 2")
    case.expect(f"{prefix}.p", line.pvalue, 1e-7, "relative", "scipy", call)
    case.expect(f"{prefix}.stderr", line.stderr, 1e-8, "relative", "scipy", call)


def expect_ratios(case, prefix, moved, answer):
    ratios = (answer / np.where(moved > 0, moved, 1))[moved > 1e-6]
    values = {
        "ratio_mean": (np.mean(ratios), "mean(ratios)"),
        "ratio_std": (np.std(ratios), "std(ratios, ddof=0)"),
        "ratio_median": (np.median(ratios), "median(ratios)"),
        "lipschitz_p90": (np.quantile(ratios, 0.90), "quantile(ratios, 0.90, method='linear')"),
        "lipschitz_p99": (np.quantile(ratios, 0.99), "quantile(ratios, 0.99, method='linear')"),
        "lipschitz_max": (np.max(ratios), "max(ratios)"),
    }
    tolerance = 1e-10 * max(ratios.max(), 1e-3)
    for part, (value, call) in values.items():
        case.expect(f"{prefix}.{part}", value, tolerance, "absolute", "numpy", call)


def walk(rng, rows, width, pull=0.15):
    """A mean-reverting random walk with steps of very different lengths."""
    steps = rng.standard_normal((rows, width)) * rng.gamma(2.0, 0.5, (rows, 1))
    states = steps.copy()
    for row in range(1, rows):
        states[row] = (1 - pull) * states[row - 1] + steps[row]
    return states


def smoothness_cases():
    rng = np.random.default_rng(101)
    states = walk(rng, 200, 12)
    codes = np.tanh(states @ rng.standard_normal((12, 5)) / 4)
    episodes = np.repeat(np.arange(8), 25)
    smoothness_case("episodes", "A walk in 8 episodes; the 7 steps between episodes are not pairs.",
                    {"input": states, "latent": codes, "episodes": episodes})
    rng = np.random.default_rng(102)
    states = walk(rng, 150, 6).astype(np.float32)
    after = (states + 0.3 * rng.standard_normal(states.shape)).astype(np.float32)
    weights = rng.standard_normal((6, 4)).astype(np.float32)
    smoothness_case("given-pairs", "f32 rows with their successors given apart; codes are a linear map plus 3.",
                    {"input": states, "latent": states @ weights + 3, "next_input": after,
                     "next_latent": after @ weights + 3})
    rng = np.random.default_rng(103)
    states = walk(rng, 120, 8)
    codes = np.sin(states @ rng.standard_normal((8, 3)) / 3)
    smoothness_case("offset", "A common offset of 1e4 in both spaces must not cost digits.",
                    {"input": states + 1e4, "latent": codes + 1e4, "episodes": np.repeat(["a", "b", "c"], 40)})
    rng = np.random.default_rng(104)
    states = walk(rng, 60, 5)
    codes = states @ rng.standard_normal((5, 3))
    states[10:20] = states[10]
    smoothness_case("standing-still", "9 pairs do not move in the input: in the regression, not among the ratios.",
                    {"input": states, "latent": codes, "episodes": np.zeros(60, dtype=np.int64)})
    rng = np.random.default_rng(105)
    states = walk(rng, 40, 1)
    smoothness_case("one-dimension", "One input and one latent column.",
                    {"input": states, "latent": np.sign(states) + 0.5 * states, "episodes": np.repeat([0, 1], 20)})
    rng = np.random.default_rng(106)
    states = walk(rng, 30, 4)
    smoothness_case("collapsed", "A constant code: slope 0, no correlation.",
                    {"input": states, "latent": np.full((30, 3), 0.5), "episodes": np.zeros(30, dtype=np.int64)})
    rng = np.random.default_rng(107)
    circle = np.eye(20)[np.arange(20)]
    smoothness_case("equal-steps", "All input distances are equal: no regression, ratios exist.",
                    {"input": circle, "latent": rng.standard_normal((20, 3)), "episodes": np.zeros(20, dtype=np.int64)})
    pixels, _ = digits()
    smoothness_case("digits", "Digits in their order as f32 pixels against PCA codes, in blocks of 30 rows.",
                    {"input": pixels.astype(np.float32), "latent": principal_codes(pixels, 8).astype(np.float32),
                     "episodes": np.repeat(np.arange(10), 30)})


# ---------------------------------------------------------------- trustworthiness and continuity


def rank_score(base, target, k):
    """1 - 2/G * the sum over the k nearest of `target` of how far they lie beyond rank k in `base`."""
    n = len(base)
    ranks = np.empty((n, n), dtype=np.int64)
    np.put_along_axis(ranks, neighbor_order(base), np.arange(1, n)[None, :], axis=1)
    excess = np.take_along_axis(ranks, neighbor_order(target)[:, :k], axis=1) - k
    worst = n * k * (2 * n - 3 * k - 1) if 2 * k < n else n * (n - k) * (n - k - 1)
    return 1.0 - 2.0 * float(excess[excess > 0].sum()) / worst


def neighborhood_case(name, about, states, latent, ks, ties=False, distance=None, margin=1e-12):
    options = {"k": ks} | ({"distance": distance} if distance else {})
    case = Case("neighborhood", name, about, {"input": states, "latent": latent}, options)
    X, Z = f64(states), unit(latent) if distance == "cosine" else f64(latent)
    shown = "unit(Z)" if distance == "cosine" else "Z"
    no_near_ties(f"{name} input", X, margin, exact_ties_allowed=ties)
    no_near_ties(f"{name} latent", Z, margin, exact_ties_allowed=ties)
    for k in ks:
        spaces = (("trustworthiness", X, Z, f"X, {shown}"), ("continuity", Z, X, f"{shown}, X"))
        for metric, base, target, order in spaces:
            metric_id = f"{metric}@{k}"
            if k >= len(X) - 1:
                case.undefine(metric_id, f"k = {k} leaves no row outside the neighbourhood of {len(X)} rows")
                continue
            value = rank_score(base, target, k)
            call = f"rank_score({order}, k={k})"
            case.expect(metric_id, value, 1e-12, "absolute", "numpy", call)
            if 2 * k < len(X):
                found = trustworthiness_continuity.measure(X, Z, k=k)[metric]
                agree(f"{name} zadu {metric_id}", found, value, 1e-12)
                case.expect(metric_id, found, 1e-12, "absolute", "zadu",
                            f"trustworthiness_continuity.measure(X, {shown}, k={k})['{metric}']")
                if not ties:
                    found = trustworthiness(cdist(base, base), target, n_neighbors=k, metric="precomputed")
                    agree(f"{name} scikit-learn {metric_id}", found, value, 1e-12)
                    case.expect(metric_id, found, 1e-12, "absolute", "scikit-learn",
                                f"trustworthiness(cdist(A, A), B, n_neighbors={k}, metric='precomputed'), A, B = {order}")


def neighborhood_cases():
    rng = np.random.default_rng(201)
    states = rng.standard_normal((120, 10))
    codes = states @ rng.standard_normal((10, 3)) + 0.1 * rng.standard_normal((120, 3))
    neighborhood_case("gaussian", "A noisy linear code of 3 dimensions.", states, codes, [5, 10, 15])
    rng = np.random.default_rng(202)
    states = rng.standard_normal((150, 20)).astype(np.float32)
    codes = np.tanh(states[:, :6] @ rng.standard_normal((6, 6))).astype(np.float32)
    neighborhood_case("float32", "f32 rows in both spaces.", states, codes, [5, 10, 15])
    rng = np.random.default_rng(203)
    neighborhood_case("noise", "A code that ignores its input: both scores near one half.",
                      rng.standard_normal((200, 8)), rng.standard_normal((200, 4)), [5, 10, 15, 99])
    rng = np.random.default_rng(204)
    states = rng.standard_normal((100, 8))
    codes = states[:, :4] + 0.2 * rng.standard_normal((100, 4))
    neighborhood_case("offset", "A common offset of 1e4 in both spaces must not reorder neighbours.",
                      states + 1e4, codes + 1e4, [5, 10, 15])
    rng = np.random.default_rng(205)
    states = rng.standard_normal((80, 6))[rng.permutation(np.arange(120) % 80)]
    codes = states[:, :2].copy()
    codes[::7] = codes[0]
    neighborhood_case("duplicates", "Repeated rows in both spaces: distance 0 and equal distances go by row number.",
                      states, codes, [5, 10, 15], ties=True)
    rng = np.random.default_rng(206)
    grid = np.array([(x, y) for x in range(10) for y in range(10)], dtype=np.float64)[rng.permutation(100)]
    neighborhood_case("grid", "Whole-number rows on a grid: most distances are tied.",
                      grid, grid[:, :1] + np.floor(grid[:, 1:] / 4), [5, 10, 15], ties=True)
    rng = np.random.default_rng(207)
    base = rng.standard_normal((50, 5))
    states = np.concatenate([base, base + 1e-6 * rng.standard_normal((50, 5))])
    codes = np.concatenate([base[:, :3], base[:, :3] + 1e-6 * rng.standard_normal((50, 3))])
    neighborhood_case("near-ties", "Rows in pairs 1e-6 apart: distances that f32 cannot tell from each other.",
                      states, codes, [1, 5, 10])
    rng = np.random.default_rng(208)
    states = rng.standard_normal((60, 3))
    neighborhood_case("one-dimension", "A code of one column.", states, states[:, :1] ** 3, [5, 10, 15])
    rng = np.random.default_rng(209)
    states = rng.standard_normal((20, 50))
    codes = states @ rng.standard_normal((50, 30))
    neighborhood_case("wide-and-large-k", "Fewer rows than columns; k up to and beyond half the rows.",
                      states, codes, [5, 9, 10, 12, 18, 19, 20])
    rng = np.random.default_rng(210)
    neighborhood_case("odd-rows-large-k", "21 rows: the normaliser changes between k = 10 and k = 11.",
                      rng.standard_normal((21, 4)), rng.standard_normal((21, 2)), [10, 11, 15])
    rng = np.random.default_rng(211)
    neighborhood_case("collapsed", "A constant code: every row's neighbours are the first rows.",
                      rng.standard_normal((50, 4)), np.full((50, 3), 0.25), [5, 10], ties=True)
    pixels, _ = digits()
    neighborhood_case("digits", "Digits pixels (whole numbers, with ties) against PCA codes.",
                      pixels.astype(np.float32), principal_codes(pixels, 8), [5, 10, 15], ties=True)
    rng = np.random.default_rng(212)
    states = rng.standard_normal((90, 6))
    codes = (states @ rng.standard_normal((6, 4))) * rng.gamma(1.0, 3.0, (90, 1))
    neighborhood_case("cosine", "Codes of very different lengths, compared by direction; inputs as they are.",
                      states, codes, [5, 10, 15], distance="cosine")
    rng = np.random.default_rng(213)
    states = rng.standard_normal((40, 5)).astype(np.float32)
    codes = (states[:, :4] * rng.gamma(1.0, 3.0, (40, 1))).astype(np.float32)
    neighborhood_case("cosine-float32", "As `cosine`, in f32; no gap is within f32 rounding of the unit codes.",
                      states, codes, [5, 10, 15], distance="cosine", margin=1e-6)
    states, _ = make_blobs(n_samples=100, n_features=10, centers=3, random_state=42)
    neighborhood_case("scikit-learn-manual", "The example of scikit-learn's manual, which prints 0.92 for k = 5.",
                      states, PCA(n_components=2).fit_transform(states), [5, 10])


# ---------------------------------------------------------------- spectrum


def spectrum_case(name, about, latent):
    case = Case("participation_ratio", name, about, {"latent": latent})
    Z = f64(latent)
    spectrum = np.linalg.svd(Z - Z.mean(axis=0), compute_uv=False)[:min(Z.shape[1], len(Z) - 1)] ** 2 / (len(Z) - 1)
    case.expect("spectrum", spectrum, 1e-11 * max(spectrum[0], 0.1), "absolute", "numpy",
                "svd(Z - Z.mean(0))[:min(D, N - 1)] ** 2 / (N - 1)")
    if spectrum[0] == 0.0:
        case.undefine("participation_ratio", "no variance: 0/0")
        case.undefine("dimension_usage", "no variance: 0/0")
        return
    ratio = spectrum.sum() ** 2 / (spectrum ** 2).sum()
    covariance = np.atleast_2d(np.cov(Z, rowvar=False))
    agree(f"{name} participation ratio", np.trace(covariance) ** 2 / (covariance ** 2).sum(), ratio, 1e-10)
    case.expect("participation_ratio", ratio, 1e-10, "relative", "numpy", "sum(spectrum) ** 2 / sum(spectrum ** 2)")
    case.expect("dimension_usage", ratio / Z.shape[1], 1e-10, "relative", "numpy", "participation_ratio / D")


def spectrum_cases():
    rng = np.random.default_rng(301)
    scales = np.arange(1, 25) ** -0.5
    spectrum_case("power-law", "24 rotated dimensions with variances falling as 1/j.",
                  (rng.standard_normal((300, 24)) * scales) @ np.linalg.qr(rng.standard_normal((24, 24)))[0])
    rng = np.random.default_rng(302)
    spectrum_case("float32", "f32, 16 dimensions of unequal variance and mean.",
                  (rng.standard_normal((200, 16)) * np.linspace(0.1, 2, 16) + np.arange(16)).astype(np.float32))
    rng = np.random.default_rng(303)
    spectrum_case("offset", "A common offset of 1e4: an uncentred Gram matrix loses the answer.",
                  rng.standard_normal((150, 8)) * np.linspace(0.01, 1, 8) + 1e4)
    rng = np.random.default_rng(304)
    spectrum_case("wide", "20 rows of 50 columns: at most 19 directions.", rng.standard_normal((20, 50)))
    rng = np.random.default_rng(305)
    spectrum_case("one-dimension", "One column: exactly 1.", rng.standard_normal((30, 1)))
    rng = np.random.default_rng(306)
    spectrum_case("rank-two", "10 columns that span only 2 directions; the rest of the spectrum is 0.",
                  rng.standard_normal((60, 2)) @ rng.standard_normal((2, 10)))
    spectrum_case("constant", "Equal rows have no variance.", np.full((20, 4), 3.0))
    spectrum_case("digits", "PCA codes of digits.", principal_codes(digits()[0], 16).astype(np.float32))


# ---------------------------------------------------------------- RankMe and its companions

ALPHA_CALL = "polyfit(log(j), log(svd(Z - Z.mean(0)) ** 2), 1, w=sqrt(1 / j)), j = 11 ... min(100, N - 1, D)"


def rankme_case(name, about, latent):
    """All scores of the panel. Tolerances grow with what rounding of the largest value does to the smallest in use."""
    case = Case("rankme", name, about, {"latent": latent})
    Z = f64(latent)
    raw, centred = singular_values(name, Z), singular_values(name, Z - Z.mean(axis=0))
    count = min(len(Z) - 1, Z.shape[1])
    rounding = max(Z.shape) * np.finfo(np.float64).eps
    has_variance = centred[0] > rounding * raw[0]

    def tolerance(smallest):
        return max(1e-10, 1e-14 * raw[0] / smallest)

    if raw[0] > 0.0:
        p = raw / raw.sum() + 1e-7
        case.expect("rankme(variant=paper)", np.exp(-(p * np.log(p)).sum()), 1e-10, "relative", "numpy",
                    "exp(-sum(p * log(p))), p = s / sum(s) + 1e-7, s = svd(Z)")
    else:
        case.undefine("rankme(variant=paper)", "all codes are zero")
    if has_variance:
        p = centred ** 2 / (centred ** 2).sum()
        case.expect("rankme(variant=spec)", np.exp(-(p * np.log(p + 1e-12)).sum()), tolerance(centred[0]), "relative",
                    "numpy", "exp(-sum(p * log(p + 1e-12))), p = s ** 2 / sum(s ** 2), s = svd(Z - Z.mean(0))")
        ratios = centred / centred[0]
        if np.abs(ratios - 0.01).min() < 1e-6:
            sys.exit(f"rankme/{name}: a singular value is too near the threshold; pick another seed")
        case.expect("numerical_rank", (ratios > 0.01).sum(), 1e-12, "absolute", "numpy",
                    "sum(s / s[0] > 0.01), s = svd(Z - Z.mean(0))")
        case.expect("stable_rank", (ratios ** 2).sum(), tolerance(centred[0]), "relative", "numpy",
                    "sum(s ** 2) / s[0] ** 2, s = svd(Z - Z.mean(0))")
    else:
        for metric in ("rankme(variant=spec)", "numerical_rank", "stable_rank"):
            case.undefine(metric, "no variance: 0/0")
    expect_alpha(case, centred, min(100, count), rounding, has_variance, tolerance)
    if not has_variance:
        case.undefine("condition_number", "no variance: 0/0")
    elif centred[count - 1] <= rounding * centred[0]:
        case.undefine("condition_number", f"the codes fill fewer than {count} dimensions")
    else:
        case.expect("condition_number", centred[0] / centred[count - 1], tolerance(centred[count - 1]), "relative",
                    "numpy", "s[0] / s[min(N - 1, D) - 1], s = svd(Z - Z.mean(0))")
    if len(Z) < 2:
        case.undefine("std_collapse", "one row has no spread")
    elif np.linalg.norm(Z, axis=1).min() == 0.0:
        case.undefine("std_collapse", "a row of length zero has no direction")
    else:
        case.expect("std_collapse", unit(Z).std(axis=0, ddof=1).mean(), 1e-12, "absolute", "numpy",
                    "(Z / norm(Z, axis=1, keepdims=True)).std(axis=0, ddof=1).mean()")


def expect_alpha(case, centred, last, rounding, has_variance, tolerance):
    if not has_variance or last < 20 or centred[last - 1] <= rounding * centred[0]:
        why = ("no variance" if not has_variance else
               f"{max(last - 10, 0)} eigenvalues in the range of the fit, 10 are needed" if last < 20 else
               "eigenvalues in the range of the fit are 0")
        case.undefine("alpha_req", why)
        case.undefine("alpha_req.r2", why)
        return
    j = np.arange(11.0, last + 1)
    x, y, w = np.log(j), 2 * np.log(centred[10:last] / centred[0]), 1 / j
    slope, intercept = np.polyfit(x, y, 1, w=np.sqrt(w))
    residual, spread = y - slope * x - intercept, y - np.average(y, weights=w)
    agree(f"rankme/{case.name} alpha", slope, np.cov(x, y, aweights=w)[0, 1] / np.cov(x, aweights=w), 1e-9)
    case.expect("alpha_req", -slope, 10 * tolerance(centred[last - 1]), "absolute", "numpy", "-" + ALPHA_CALL + "[0]")
    if np.ptp(y) < 1e-9:
        return  # equal eigenvalues: their spread is rounding, and R2 a quotient of roundings
    case.expect("alpha_req.r2", 1 - (w * residual ** 2).sum() / (w * spread ** 2).sum(),
                10 * tolerance(centred[last - 1]), "absolute", "numpy",
                "1 - sum(residual ** 2 / j) / sum((y - average(y, weights=1 / j)) ** 2 / j) of " + ALPHA_CALL)


def singular_values(name, rows):
    """By two algorithms of LAPACK."""
    values = np.linalg.svd(rows, compute_uv=False)
    other = scipy.linalg.svd(rows, compute_uv=False, lapack_driver="gesvd")
    agree(f"rankme/{name} singular values", np.abs(values - other).max() / max(values[0], 1e-300), 0.0, 1e-13)
    return values


def signs(rows, columns):
    """Orthogonal columns of +1 and -1 with mean 0 (Sylvester's matrix without its first column)."""
    return scipy.linalg.hadamard(rows, dtype=np.float64)[:, 1:columns + 1]


def rankme_cases():
    rng = np.random.RandomState(42)
    U, V = rng.randn(100, 20), rng.randn(20, 50)
    rankme_case("document-002", "The 100 x 50 matrix of document 002's validation, f32, which prints 1.907 and 9. "
                "Directions 21 to 50 are the rounding of f32.",
                ((U * ([10, 5, 2, 1] + [0.1] * 16)) @ V).astype(np.float32))
    rankme_case("power-law", "Variances exactly as 1/j over 100 directions: alpha 1, R2 1, condition number 10.",
                signs(128, 100) * np.arange(1, 101) ** -0.5)
    rankme_case("flat", "24 directions of the same variance: rank 24 by every count.",
                signs(64, 24) @ scipy.linalg.block_diag(*[[[0.6, 0.8], [-0.8, 0.6]]] * 12))
    rng = np.random.default_rng(1101)
    rankme_case("beyond-100", "f32, 110 directions with variances as j^-1.5: the fit ends at the 100th.",
                (rng.standard_normal((160, 110)) * np.arange(1, 111) ** -0.75).astype(np.float32))
    rng = np.random.default_rng(1102)
    rankme_case("low-rank-plus-noise", "Five directions and a noise floor of 1e-3.",
                rng.standard_normal((120, 5)) @ rng.standard_normal((5, 30)) + 1e-3 * rng.standard_normal((120, 30)))
    rng = np.random.default_rng(1103)
    rankme_case("wide", "60 rows of 80 columns: 59 directions after centring, 60 before.",
                rng.standard_normal((60, 80)))
    rng = np.random.default_rng(1104)
    rows = rng.standard_normal((21, 40))
    rankme_case("twenty-eigenvalues", "21 rows: 20 eigenvalues, just enough for a fit.", rows)
    rankme_case("nineteen-eigenvalues", "20 rows: 19 eigenvalues, too few for a fit.", rows[:20])
    rng = np.random.default_rng(1105)
    rows = rng.standard_normal((150, 24)) * np.linspace(0.1, 1, 24)
    rankme_case("no-offset", "24 directions of unequal variance around 0.", rows)
    rankme_case("offset", "The same around 100: the mean is the only direction that the paper's variant sees.",
                rows + 100)
    rankme_case("large-offset", "Around 1e4, in f32: what is left of the rows after rounding.",
                (rows + 1e4).astype(np.float32))
    rng = np.random.default_rng(1106)
    rankme_case("float32", "f32, 32 dimensions of unequal variance and mean.",
                (rng.standard_normal((200, 32)) * np.linspace(0.1, 2, 32) + np.arange(32) / 16).astype(np.float32))
    rng = np.random.default_rng(1107)
    rankme_case("rank-deficient", "25 columns that span 15 directions: the others are 0 but for rounding.",
                rng.standard_normal((80, 15)) @ rng.standard_normal((15, 25)))
    rng = np.random.default_rng(1108)
    rankme_case("steep", "Singular values from 1 to 1e-9: the smallest are lost in the eigenvalues of a covariance.",
                (signs(64, 25) * np.logspace(0, -9, 25)) @ np.linalg.qr(rng.standard_normal((25, 25)))[0])
    rng = np.random.default_rng(1109)
    rankme_case("one-dimension", "One column around 1: rank 1.", rng.standard_normal((30, 1)) + 1)
    rankme_case("one-direction", "Codes on a line through 0, 40 columns: 1 but for the 1e-7 of the paper.",
                np.outer(np.arange(1.0, 51), np.ones(40)))
    rng = np.random.default_rng(1110)
    rows = rng.standard_normal((50, 6))
    rows[17] = 0.0
    rankme_case("zero-row", "One row of zeros: it has no direction, so there is no std collapse.", rows)
    rankme_case("constant", "Equal rows: no variance, but the paper's variant and std collapse exist.",
                np.full((20, 4), 3.0))
    rankme_case("zeros", "Rows of zeros: nothing exists.", np.zeros((20, 4)))
    rankme_case("digits", "PCA codes of digits, f32.", principal_codes(digits()[0], 32).astype(np.float32))


# ---------------------------------------------------------------- TwoNN


def two_nn_case(name, about, latent):
    case = Case("two_nn", name, about, {"latent": latent})
    distances = np.sort(cdist(f64(latent), f64(latent)), axis=1)
    nearest = distances[:, 1:3]
    kept = nearest[nearest[:, 0] > 0]
    ratios = np.log(kept[:, 1] / kept[:, 0])
    if len(kept) < 3 or ratios.sum() == 0.0:
        why = "fewer than 3 rows have a nearest neighbour apart from copies" if len(kept) < 3 else "every ratio is 1"
        case.undefine("two_nn", why)
        case.undefine("two_nn(fit=mle)", why)
        return
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the library announces dropped duplicates; the case is about them
        fit = skdim.id.TwoNN(discard_fraction=0.1, dist=True).fit(nearest).dimension_
        if latent.shape[1] > 1 and np.abs(latent).max() < 1e3:
            agree(f"{name} TwoNN", skdim.id.TwoNN(discard_fraction=0.1).fit(f64(latent)).dimension_, fit, 1e-6)
    case.expect("two_nn", fit, 1e-10, "relative", "scikit-dimension",
                "TwoNN(discard_fraction=0.1, dist=True).fit(r1_r2).dimension_")
    case.expect("two_nn(fit=mle)", (len(kept) - 1) / ratios.sum(), 1e-10, "relative", "numpy",
                "(N - 1) / sum(log(r2 / r1)), N = rows with r1 > 0")


def two_nn_cases():
    roll = make_swiss_roll(400, noise=0.0, random_state=401)[0]
    two_nn_case("swiss-roll", "A rolled-up sheet in 3 dimensions: true dimension 2.", roll)
    rng = np.random.default_rng(402)
    flat = rng.uniform(size=(400, 5)) @ np.linalg.qr(rng.standard_normal((20, 20)))[0][:5]
    two_nn_case("cube-5-in-20", "A 5-dimensional cube rotated into 20 dimensions, f32.", flat.astype(np.float32))
    rng = np.random.default_rng(403)
    two_nn_case("sphere-10", "A sphere of dimension 10 in 30 dimensions.",
                unit(rng.standard_normal((400, 11))) @ np.linalg.qr(rng.standard_normal((30, 30)))[0][:11])
    rng = np.random.default_rng(404)
    two_nn_case("offset", "A common offset of 1e4: distances by norms and products lose r1.",
                rng.standard_normal((200, 6)) + 1e4)
    rng = np.random.default_rng(405)
    rows = rng.standard_normal((160, 4))
    two_nn_case("duplicates", "A fifth of the rows is repeated: rows with r1 = 0 are left out, the others count.",
                rows[rng.permutation(np.arange(200) % 160)])
    rng = np.random.default_rng(406)
    rows = rng.standard_normal((100, 3))
    two_nn_case("near-duplicates", "Pairs 1e-7 apart: the ratios are real and huge, and 0/0 in f32.",
                np.concatenate([rows, rows[:50] + 1e-7 * rng.standard_normal((50, 3))]))
    rng = np.random.default_rng(407)
    two_nn_case("one-dimension", "One column.", rng.standard_normal((100, 1)))
    rng = np.random.default_rng(408)
    two_nn_case("wide", "20 rows of 50 columns.", rng.standard_normal((20, 50)))
    two_nn_case("all-duplicates", "Every row occurs twice: no ratio exists.", np.repeat(np.eye(10, 4) + 1, 2, axis=0))
    two_nn_case("grid", "On a grid the two nearest are equally far: the slope is infinite.",
                np.array([(x, y) for x in range(10) for y in range(10)], dtype=np.float64))
    two_nn_case("digits", "PCA codes of digits, f32.", principal_codes(digits()[0], 16).astype(np.float32))
    two_nn_case("document-002", "The blobs of document 002's validation, which prints 8.437.",
                make_blobs(200, centers=3, n_features=10, cluster_std=1.0, random_state=42)[0])


# ---------------------------------------------------------------- uniformity


def uniformity_case(name, about, latent, t=2.0):
    case = Case("uniformity", name, about, {"latent": latent}, {"t": t})
    exponents = -t * pdist(unit(latent), "sqeuclidean")
    value = logsumexp(exponents) - np.log(len(exponents))
    tolerance = 1e-6 if latent.dtype == np.float32 else 1e-9 * min(1.0, max(abs(value), 1e-3))
    case.expect("uniformity", value, tolerance, "absolute", "scipy",
                f"logsumexp(-{t} * pdist(unit(Z), 'sqeuclidean')) - log(N * (N - 1) / 2)")


def uniformity_cases():
    rng = np.random.default_rng(501)
    uniformity_case("gaussian", "Directions spread evenly in 8 dimensions.", rng.standard_normal((200, 8)))
    rng = np.random.default_rng(502)
    uniformity_case("float32", "f32 directions around a common mean, lengths from 1e-3 to 1e3.",
                    ((rng.standard_normal((150, 16)) + 1) * 10 ** rng.uniform(-3, 3, (150, 1))).astype(np.float32))
    rng = np.random.default_rng(503)
    uniformity_case("offset", "A common offset of 1e4: all directions nearly equal, the value is close to 0.",
                    rng.standard_normal((100, 6)) + 1e4)
    rng = np.random.default_rng(504)
    uniformity_case("duplicates", "Two directions, one row of each length.",
                    np.repeat([[1.0, 0.0], [0.0, 2.0]], 15, axis=0) * np.arange(1, 31)[:, None])
    uniformity_case("constant", "One direction only: exactly 0.", np.full((20, 3), 2.0))
    rng = np.random.default_rng(505)
    uniformity_case("one-dimension", "One column: the directions are only +1 and -1.", rng.standard_normal((30, 1)))
    rng = np.random.default_rng(506)
    uniformity_case("wide", "20 rows of 50 columns, t = 3.", rng.standard_normal((20, 50)), t=3.0)
    rng = np.random.default_rng(507)
    uniformity_case("largest-t", "t = 20, the largest allowed: every term of the mean is tiny.",
                    rng.standard_normal((40, 64)), t=20.0)
    uniformity_case("digits", "PCA codes of digits, f32.", principal_codes(digits()[0], 16).astype(np.float32))


# ---------------------------------------------------------------- silhouette


def silhouette_case(name, about, latent, labels):
    case = Case("silhouette", name, about, {"latent": latent, "labels": labels})
    classes = len(np.unique(labels))
    if classes < 2 or classes == len(labels):
        case.undefine("silhouette", f"{classes} classes over {len(labels)} rows: needs 2 to N - 1")
        return
    distances = cdist(f64(latent), f64(latent))
    value = silhouette_score(distances, labels, metric="precomputed")
    tolerance = 1e-6 if latent.dtype == np.float32 else 1e-10
    if np.abs(latent).max() < 1e3:
        agree(f"{name} silhouette", silhouette_score(f64(latent), labels), value, 1e-7)
    case.expect("silhouette", value, tolerance, "absolute", "scikit-learn",
                "silhouette_score(cdist(Z, Z), labels, metric='precomputed')")


def silhouette_cases():
    rng = np.random.default_rng(601)
    rows, blob = blobs(rng, [60, 30, 20, 40], 6, distance=2.0, spread=0.25)
    names = np.array(["cat", "dog", "emu", "fox"])[blob]
    silhouette_case("blobs", "Four blobs of unequal size, named.", rows, names)
    rng = np.random.default_rng(602)
    silhouette_case("unrelated", "f32 rows whose labels are drawn by lot: around 0, below.",
                    rng.standard_normal((120, 10)).astype(np.float32), rng.integers(0, 4, 120))
    rng = np.random.default_rng(603)
    labels = np.repeat([0, 1, 2], [30, 29, 1])
    silhouette_case("singleton", "A class with one member scores 0 for it.",
                    rng.standard_normal((60, 5)) + labels[:, None], labels)
    rng = np.random.default_rng(604)
    labels = np.repeat([0, 1], 40)
    silhouette_case("offset", "A common offset of 1e4.", rng.standard_normal((80, 4)) + labels[:, None] + 1e4, labels)
    rng = np.random.default_rng(605)
    rows = np.repeat([[0.0, 0.0], [0.0, 0.0], [1.0, 2.0]], 10, axis=0)
    silhouette_case("duplicates", "Two classes on one and the same point (0 each), a third elsewhere.",
                    rows, np.repeat(["a", "b", "c"], 10))
    rng = np.random.default_rng(606)
    silhouette_case("one-dimension", "One column.", rng.standard_normal((40, 1)), np.arange(40) % 2)
    rng = np.random.default_rng(607)
    silhouette_case("wide", "20 rows of 50 columns.", rng.standard_normal((20, 50)), np.arange(20) % 3)
    silhouette_case("one-class", "One class has no other to compare with.", np.eye(20, 3), np.zeros(20, dtype=np.int64))
    silhouette_case("all-singletons", "As many classes as rows.", np.arange(60.0).reshape(20, 3), np.arange(20))
    pixels, names = digits()
    silhouette_case("digits", "PCA codes of digits with the classes as words, f32.",
                    principal_codes(pixels, 16).astype(np.float32), names)


# ---------------------------------------------------------------- agreement of two labelings


def labelings_case(name, about, a, b):
    case = Case("nmi", name, about, {"a": a, "b": b})
    if min(len(np.unique(a)), len(np.unique(b))) < 2:
        for metric in ("nmi", "ami"):
            case.undefine(metric, "a labeling with one class carries no information")
        return
    case.expect("nmi", normalized_mutual_info_score(a, b), 1e-11, "absolute", "scikit-learn",
                "normalized_mutual_info_score(a, b)")
    case.expect("ami", adjusted_mutual_info_score(a, b), 1e-10, "absolute", "scikit-learn",
                "adjusted_mutual_info_score(a, b)")


def labelings_cases():
    rng = np.random.default_rng(701)
    a = rng.integers(0, 5, 300)
    noisy = np.where(rng.random(300) < 0.3, rng.integers(0, 5, 300), a)
    labelings_case("noisy-copy", "30 % of the labels redrawn; one side as words.", WORDS[a], noisy)
    labelings_case("relabelled", "The same partition under other names: both 1.", a, WORDS[9 - a])
    rng = np.random.default_rng(702)
    labelings_case("unrelated", "Unrelated labels: NMI above 0, AMI around 0.",
                   rng.integers(0, 10, 200), rng.integers(0, 7, 200))
    rng = np.random.default_rng(703)
    a = np.sort(rng.integers(0, 4, 60))
    labelings_case("many-small-classes", "30 classes of two rows against 4: NMI flatters, AMI does not.",
                   a, np.arange(60) // 2)
    labelings_case("refinement", "Every class split into singletons and a rest.",
                   np.repeat([0, 1, 2], 10), np.array([max(0, i % 10 - 6) + 10 * (i // 10) for i in range(30)]))
    rng = np.random.default_rng(704)
    labelings_case("numbers-out-of-order", "Negative and large class numbers, classes of very unequal size.",
                   rng.choice([-7, 1000, 3], 400, p=[0.9, 0.08, 0.02]), rng.choice([5, -1], 400, p=[0.97, 0.03]))
    labelings_case("one-class", "All rows in one class.", np.zeros(20, dtype=np.int64), np.arange(20) % 4)


# ---------------------------------------------------------------- k-means


def kmeans_case(name, about, latent, labels, clusters):
    case = Case("kmeans", name, about, {"latent": latent, "labels": labels}, {"clusters": clusters})
    Z = f64(latent)
    fits = [KMeans(clusters, n_init=10, random_state=seed).fit(Z) for seed in range(20)]
    found = fits[0].labels_
    for fit in fits:  # the case only makes sense if the optimum does not depend on the seed
        agree(f"{name} partition", normalized_mutual_info_score(found, fit.labels_), 1.0, 1e-9)
    total = ((Z - Z.mean(axis=0)) ** 2).sum()
    inertia = sum(((Z[found == c] - Z[found == c].mean(axis=0)) ** 2).sum() for c in range(clusters))
    agree(f"{name} inertia share", fits[0].inertia_ / total, inertia / total, 1e-9)
    counts = np.bincount(found, minlength=clusters)
    call = f"KMeans({clusters}, n_init=10, random_state=0).fit(Z)"
    case.expect("nmi", normalized_mutual_info_score(labels, found), 1e-11, "absolute", "scikit-learn",
                f"normalized_mutual_info_score(labels, {call}.labels_)")
    case.expect("ami", adjusted_mutual_info_score(labels, found), 1e-10, "absolute", "scikit-learn",
                f"adjusted_mutual_info_score(labels, {call}.labels_)")
    case.expect("inertia", inertia, 1e-9 * total, "absolute", "scikit-learn", f"{call}.inertia_, summed again in f64")
    case.expect("inertia.share", inertia / total, 1e-9, "absolute", "numpy", "inertia / sum((Z - Z.mean(0)) ** 2)")
    case.expect("cluster_balance", counts.std() / counts.mean(), 1e-12, "absolute", "numpy",
                "std(counts, ddof=0) / mean(counts)")


def kmeans_cases():
    rng = np.random.default_rng(801)
    rows, blob = blobs(rng, [60, 60, 60, 60, 60], 8)
    labels = np.where(rng.random(300) < 0.1, rng.integers(0, 5, 300), blob)
    kmeans_case("blobs", "Five equal blobs, a tenth of the labels wrong.", rows, WORDS[labels], 5)
    rng = np.random.default_rng(802)
    rows, blob = blobs(rng, [100, 40, 20, 10, 5], 4)
    kmeans_case("unequal", "Blobs of 100 to 5 rows, f32; two of them share a label.",
                rows.astype(np.float32), np.minimum(blob, 3), 5)
    rng = np.random.default_rng(803)
    rows, blob = blobs(rng, [30, 30, 30], 5)
    kmeans_case("offset", "A common offset of 1e4.", rows + 1e4, np.where(np.arange(90) % 9 == 0, 0, blob), 3)
    rng = np.random.default_rng(804)
    rows, blob = blobs(rng, [30, 20, 10, 10], 3, spread=0.0)
    kmeans_case("duplicates", "Four distinct points, repeated: inertia 0.", rows, blob % 2, 4)
    rng = np.random.default_rng(805)
    rows, blob = blobs(rng, [20, 20], 1)
    kmeans_case("one-dimension", "One column, two blobs.", rows, np.where(np.arange(40) < 4, 1 - blob, blob), 2)
    rng = np.random.default_rng(806)
    rows, blob = blobs(rng, [8, 7, 5], 50)
    kmeans_case("wide", "20 rows of 50 columns.", rows, np.array(["x", "y"])[(blob == 0) * 1], 3)
    pixels, names = digits()
    chosen = np.isin(names, ["zero", "one"])
    kmeans_case("digits", "PCA codes of the zeros and ones among the digits, two clusters.",
                principal_codes(pixels[chosen], 8), names[chosen], 2)


# ---------------------------------------------------------------- kNN accuracy


def knn_case(name, about, latent, labels, train, k=5):
    case = Case("knn_accuracy", name, about, {"latent": latent, "labels": labels, "train": train}, {"knn_k": k})
    Z = f64(latent)
    classes, codes = np.unique(labels, return_inverse=True)
    to_train = ((Z[~train][:, None, :] - Z[train][None, :, :]) ** 2).sum(axis=2)
    ordered = np.sort(to_train, axis=1)
    if ((ordered[:, k] - ordered[:, k - 1]) / ordered[:, k]).min() < 1e-9:
        sys.exit(f"{name}: the k-th and the next neighbour are tied; pick another seed")
    nearest = codes[train][np.argsort(to_train, axis=1, kind="stable")[:, :k]]
    votes = (nearest[:, :, None] == np.arange(len(classes))).sum(axis=1)
    value = np.mean(votes.argmax(axis=1) == codes[~train])  # argmax takes the smallest label of a tied vote
    fitted = KNeighborsClassifier(k, algorithm="brute").fit(Z[train], labels[train])
    agree(f"{name} accuracy", fitted.score(Z[~train], labels[~train]), value, 1e-15)
    case.expect(f"knn_accuracy@{k}", value, 1e-12, "absolute", "scikit-learn",
                f"KNeighborsClassifier({k}, algorithm='brute').fit(Z[train], labels[train])"
                ".score(Z[~train], labels[~train])")


def split(rng, rows, share=0.7):
    mask = np.zeros(rows, dtype=bool)
    mask[rng.permutation(rows)[:int(round(share * rows))]] = True
    return mask


def knn_cases():
    rng = np.random.default_rng(901)
    labels = rng.integers(0, 4, 200)
    rows = rng.standard_normal((200, 6)) + 1.2 * np.eye(4, 6)[labels]
    knn_case("overlapping", "Four overlapping classes, named.", rows, WORDS[labels], split(rng, 200))
    knn_case("even-k", "k = 4: half of the votes can be tied, the smallest label wins.", rows, labels,
             split(rng, 200), k=4)
    rng = np.random.default_rng(902)
    labels = rng.integers(0, 3, 150)
    knn_case("float32", "f32 rows, three classes.",
             (rng.standard_normal((150, 8)) + np.eye(3, 8)[labels]).astype(np.float32), labels, split(rng, 150))
    rng = np.random.default_rng(903)
    labels = rng.integers(0, 2, 100)
    knn_case("offset", "A common offset of 1e4.", rng.standard_normal((100, 5)) + labels[:, None] + 1e4, labels,
             split(rng, 100))
    rng = np.random.default_rng(904)
    labels = rng.integers(0, 3, 60)
    knn_case("one-dimension", "One column.", rng.standard_normal((60, 1)) + labels[:, None], labels, split(rng, 60))
    rng = np.random.default_rng(905)
    knn_case("wide", "20 rows of 50 columns.", rng.standard_normal((20, 50)), np.arange(20) % 2, split(rng, 20))
    rng = np.random.default_rng(906)
    labels = rng.choice([10, 9, 100], 120)
    knn_case("numeric-order", "Class numbers 9, 10, 100: a tied vote goes by number, not by spelling.",
             rng.standard_normal((120, 3)) + (labels[:, None] == 9), labels, split(rng, 120), k=2)
    rng = np.random.default_rng(907)
    pixels, names = digits()
    knn_case("digits", "PCA codes of digits with the classes as words, f32.",
             principal_codes(pixels, 16).astype(np.float32), names, split(rng, 300))


# ---------------------------------------------------------------- retrieval


class Ranking:
    """What the queries of one direction find under one set of labels: `relevant[q, i]` says whether the i-th target
    of query q has its label. In a self-direction the query itself is gone from its targets."""

    def __init__(self, order, similarity, query_labels, target_labels):
        self.order, self.similarity, self.labels, self.target_labels = order, similarity, query_labels, target_labels
        self.relevant = target_labels[order] == query_labels[:, None]
        self.N = order.shape[1]
        self.counts = self.relevant.sum(axis=1)
        self.valid = self.counts > 0

    def only(self, chosen):
        return Ranking(self.order[chosen], self.similarity[chosen], self.labels[chosen], self.target_labels)


def direction_order(name, queries, targets, is_self, dot, ties):
    """The targets of each query, most similar first, ties by row number, and their similarities in that order."""
    def directions(rows):
        lengths = np.linalg.norm(f64(rows), axis=1, keepdims=True)
        return f64(rows) if dot else f64(rows) / np.where(lengths > 0, lengths, 1.0)

    # Sums of products, not a matrix product: equal rows must have equal similarities to the last digit.
    similarity = (directions(queries)[:, None, :] * directions(targets)[None, :, :]).sum(axis=2)
    order = np.argsort(-similarity, axis=1, kind="stable")
    if is_self:
        order = np.array([row[row != q] for q, row in enumerate(order)])
    similarity = np.take_along_axis(similarity, order, axis=1)
    gaps = -np.diff(similarity, axis=1) / np.abs(similarity).max()
    gaps = gaps[gaps > 0] if ties else gaps
    if gaps.size and gaps.min() < 1e-12:
        sys.exit(f"{name}: two similarities are {gaps.min():.1e} apart; pick another seed")
    return order, similarity


def discounts(places):
    return (1 / np.log2(np.arange(2, places + 2))).sum()


# Each takes the relevance of one query's targets in order, and K (at most N).
PER_QUERY = {
    "precision": lambda rel, K: rel[:K].sum() / K,
    "recall": lambda rel, K: rel[:K].sum() / rel.sum(),
    "normalized": lambda rel, K: rel[:K].sum() / min(K, rel.sum()),
    "hit": lambda rel, K: float(rel[:K].any()),
    "ndcg": lambda rel, K: (rel[:K] / np.log2(np.arange(2, K + 2))).sum() / discounts(min(K, rel.sum())),
    "r_precision": lambda rel, K: rel[:rel.sum()].mean(),
    "map_at_r": lambda rel, K: (rel * np.cumsum(rel) / np.arange(1, len(rel) + 1))[:rel.sum()].sum() / rel.sum(),
    "mrr": lambda rel, K: 1 / (rel.argmax() + 1),
}

# What an order drawn by lot gets on average, of N targets with R relevant ones.
CHANCE = {
    "precision": lambda N, R, K: R / N,
    "recall": lambda N, R, K: K / N,
    "normalized": lambda N, R, K: K * R / (N * min(K, R)),
    "hit": lambda N, R, K: 1 - hypergeom.pmf(0, N, R, K),
    "ndcg": lambda N, R, K: R / N * discounts(K) / discounts(min(K, R)),
    "r_precision": lambda N, R, K: R / N,
    "map_at_r": lambda N, R, K: sum((1 + (i - 1) * (R - 1) / max(N - 1, 1)) / i for i in range(1, R + 1)) / N,
    "mrr": lambda N, R, K: (nhypergeom.pmf(np.arange(N - R + 1), N, N - R, 1) / np.arange(1, N - R + 2)).sum(),
}
CHANCE_CALLS = {
    "precision": ("numpy", "mean(R / N)"),
    "recall": ("numpy", "K / N"),
    "normalized": ("numpy", "mean(K * R / (N * min(K, R)))"),
    "hit": ("scipy", "mean(1 - hypergeom.pmf(0, N, R, K))"),
    "ndcg": ("numpy", "mean(R / N * sum(1 / log2(2..K + 1)) / sum(1 / log2(2..min(K, R) + 1)))"),
    "r_precision": ("numpy", "mean(R / N)"),
    "map_at_r": ("numpy", "mean(sum((1 + (i - 1) * (R - 1) / (N - 1)) / i for i in 1..R) / N)"),
    "mrr": ("scipy", "mean(sum(nhypergeom.pmf(x, N, N - R, 1) / (x + 1) for x in 0..N - R))"),
}


def prove_chance_levels():
    """Every chance level against the mean over all orders of few targets; mrr also as binomials."""
    for N in range(1, 8):
        for R, K in itertools.product(range(1, N + 1), range(1, N + 1)):
            orders = [np.isin(np.arange(N), places) for places in itertools.combinations(range(N), R)]
            for measure, chance in CHANCE.items():
                mean = np.mean([PER_QUERY[measure](rel, K) for rel in orders])
                agree(f"chance of {measure} for N {N}, R {R}, K {K}", chance(N, R, K), mean, 1e-12)
    for N, R in ((40, 3), (90, 60)):
        ways = sum(math.comb(N - r, R - 1) / math.comb(N, R) / r for r in range(1, N - R + 2))
        agree(f"chance of mrr for N {N}, R {R}", CHANCE["mrr"](N, R, 1), ways, 1e-12)


def chances_of(measure, ranking, K):
    by_count = {R: CHANCE[measure](ranking.N, R, K) for R in np.unique(ranking.counts).tolist()}
    return np.array([by_count[R] for R in ranking.counts])


def by_ranx(ranking, metrics, ties):
    """Per-query answers of ranx. Where similarities are tied it gets the places instead: its own sort is unstable."""
    scores = np.arange(ranking.N, 0, -1) + np.zeros_like(ranking.similarity) if ties else ranking.similarity
    pick = [f"q{q:04}" for q in range(len(ranking.order))]
    found = {name: {f"t{t:04}": float(s) for t, s in zip(ids, row)}
             for name, ids, row in zip(pick, ranking.order, scores)}
    wanted = {name: {f"t{t:04}": 1 for t in ids[rel]} for name, ids, rel in zip(pick, ranking.order, ranking.relevant)}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # numba's, of unsigned numbers
        answer = evaluate(Qrels(wanted), Run(found), metrics + ["mrr"], return_mean=False, threads=1)
    return answer


def query_values(name, ranking, K, ties):
    """Every measure for every query that counts, by the formulas and by ranx, which must agree."""
    values = {measure: np.array([formula(rel, K) for rel in ranking.relevant])
              for measure, formula in PER_QUERY.items()}
    theirs = by_ranx(ranking, [f"precision@{K}", f"recall@{K}", f"hit_rate@{K}", f"ndcg@{K}", "r-precision"], ties)
    names = {"precision": f"precision@{K}", "recall": f"recall@{K}", "hit": f"hit_rate@{K}", "ndcg": f"ndcg@{K}",
             "r_precision": "r-precision", "mrr": "mrr"}
    for measure, metric in names.items():
        for q, (own, reference) in enumerate(zip(values[measure], theirs[metric], strict=True)):
            agree(f"{name} {metric} of query {q}", own, reference, 1e-12)
    for R in np.unique(ranking.counts):  # MAP@R is ranx's average precision cut at each query's own R
        chosen = ranking.counts == R
        theirs = by_ranx(ranking.only(chosen), [f"map@{R}"], ties)[f"map@{R}"]
        for own, reference in zip(values["map_at_r"][chosen], theirs, strict=True):
            agree(f"{name} map@{R}", own, reference, 1e-12)
    if ranking.N > 1:
        places = np.broadcast_to(-np.arange(ranking.N), ranking.relevant.shape)
        agree(f"{name} ndcg_score@{K}", values["ndcg"].mean(), ndcg_score(ranking.relevant, places, k=K), 1e-12)
    return values


def stratified_error(values, labels):
    """Standard error of the mean of label means, labels fixed; a label with one query takes the pooled variance.
    Where all have one query, it is that of the plain mean."""
    groups = [values[labels == label] for label in np.unique(labels)]
    freedom = sum(len(g) - 1 for g in groups)
    if freedom == 0:
        return sem(values)
    pooled = sum(((g - g.mean()) ** 2).sum() for g in groups) / freedom
    return math.sqrt(sum((g.var(ddof=1) if len(g) > 1 else pooled) / len(g) for g in groups)) / len(groups)


def expect_labels(case, name, direction, ranking, asked, suffix, is_paired, ties, cells):
    """The label-based scores of one direction at one K."""
    K, kept = min(asked, ranking.N), ranking.only(ranking.valid)
    at, labels = f"{suffix}@{asked}", kept.labels
    plain = np.mean
    macro = lambda v: np.mean([v[labels == c].mean() for c in np.unique(labels)])
    weights = {c: kept.counts[labels == c][0] for c in np.unique(labels)}
    weighted = lambda v: sum(v[labels == c].mean() * w for c, w in weights.items()) / sum(weights.values())
    scores = [("label_precision", "", "precision", plain, "ranx", f"evaluate(qrels, run, 'precision@{K}')"),
              ("label_precision", ".macro", "precision", macro, "numpy", "mean over labels of mean(hits / K)"),
              ("label_precision", ".normalized", "normalized", plain, "numpy", "mean(hits / min(K, R))"),
              ("label_precision", ".normalized_macro", "normalized", macro, "numpy",
               "mean over labels of mean(hits / min(K, R))"),
              ("label_recall", "", "recall", plain, "ranx", f"evaluate(qrels, run, 'recall@{K}')"),
              ("label_recall", ".macro", "recall", macro, "numpy", "mean over labels of mean(hits / R)"),
              ("label_hit", "", "hit", plain, "ranx", f"evaluate(qrels, run, 'hit_rate@{K}')"),
              ("label_ndcg", "", "ndcg", plain, "scikit-learn", f"ndcg_score(relevant, -places, k={K})")]
    if not is_paired:
        scores.append(("label_precision", ".weighted", "precision", weighted, "numpy",
                       "average(label means of hits / K, weights=R)"))
    if not kept.valid.any():
        for metric, part, *_ in scores + [("label_precision", ".ceiling"), ("label_precision", ".lift")]:
            case.undefine(f"{metric}.{direction}{part}{at}", "no query has a relevant target")
        return
    values = query_values(f"{name} {direction}", kept, K, ties)
    chances = {m: chances_of(m, kept, K) for m in CHANCE}
    for metric, part, measure, mean, library, call in scores:
        identity = f"{metric}.{direction}{part}{at}"
        case.expect(identity, mean(values[measure]), 1e-12, "absolute", library, call)
        library, call = CHANCE_CALLS[measure]
        case.expect(identity, mean(chances[measure]), 1e-10, "absolute", library, call, part="chance")
    ceiling = np.minimum(kept.counts, K) / K
    lift = values["precision"].mean() / chances["precision"].mean()
    case.expect(f"label_precision.{direction}.ceiling{at}", ceiling.mean(), 1e-12, "absolute", "numpy",
                "mean(min(K, R) / K)")
    case.expect(f"label_precision.{direction}.lift{at}", lift, 1e-12, "relative", "numpy", "precision / chance")
    case.expect(f"label_precision.{direction}.lift{at}", 1.0, 1e-12, "absolute", "numpy", "1", part="chance")
    identity = f"label_precision.{direction}{at}"
    case.expect(identity, len(labels), 0, "absolute", "numpy", "sum(R > 0)", part="n")
    if asked > ranking.N:
        case.expect(identity, K, 0, "absolute", "numpy", "min(K, N)", part="effective_k")
    if len(labels) > 1:
        case.expect(identity, sem(values["precision"]), 1e-12, "absolute", "scipy", "sem(hits / K)",
                    part="standard_error")
        case.expect(f"label_precision.{direction}.macro{at}", stratified_error(values["precision"], labels), 1e-12,
                    "absolute", "numpy", "sqrt(sum(var(hits / K of label, ddof=1) / queries of label)) / labels",
                    part="standard_error")
    if cells:
        expect_cells(case, direction, ranking, kept, values, K, at)


def expect_cells(case, direction, ranking, kept, values, K, at):
    """The breakdown by label for two labels, and which labels the queries of one label retrieve."""
    identity = f"label_precision.{direction}{at}"
    for label in np.unique(kept.labels)[[0, -1]]:
        own = kept.labels == label
        R = kept.counts[own][0]
        columns = {"queries": own.sum(), "relevant": R, "hits": kept.relevant[own, :K].sum(), "chance": R / kept.N,
                   "ceiling": min(K, R) / K}
        columns |= {m: values[m][own].mean() for m in ("precision", "recall", "normalized", "hit", "ndcg")}
        for column, value in columns.items():
            case.expect(identity, value, 1e-12, "absolute", "numpy", f"{column} of the queries with this label",
                        part="cell", row=[str(label)], column=column)
    for label in np.unique(ranking.labels[~ranking.valid]):
        for column in ("precision", "recall", "normalized", "hit", "ndcg"):
            case.undefine(identity, "no target has this label", part="cell", row=[str(label)], column=column)
    first = kept.labels[0]
    retrieved = kept.target_labels[kept.order[kept.labels == first, :K]].ravel()
    for label, count in zip(*np.unique(retrieved, return_counts=True)):
        for column, value in (("count", count), ("share", count / len(retrieved))):
            case.expect(f"label_precision.{direction}.confusion{at}", value, 1e-12, "absolute", "numpy",
                        "unique(labels of the targets retrieved for this label, return_counts=True)",
                        part="cell", row=[str(first), str(label)], column=column)


def expect_whole_ranking(case, name, direction, ranking, suffix, ties):
    """The label-based scores without a K."""
    kept = ranking.only(ranking.valid)
    calls = {"r_precision": "evaluate(qrels, run, 'r-precision')", "mrr": "evaluate(qrels, run, 'mrr')",
             "map_at_r": "mean of evaluate(qrels, run, 'map@R') of each query with its own R"}
    values = query_values(f"{name} {direction}", kept, kept.N, ties) if kept.valid.any() else {}
    for measure, call in calls.items():
        identity = f"{measure}.{direction}{suffix}"
        if not values:
            case.undefine(identity, "no query has a relevant target")
            continue
        case.expect(identity, values[measure].mean(), 1e-12, "absolute", "ranx", call)
        library, call = CHANCE_CALLS[measure]
        case.expect(identity, chances_of(measure, kept, 1).mean(), 1e-10, "absolute", library, call, part="chance")


def expect_unlabelled(case, direction, order, targets, asked, is_paired):
    """Hubness and, for two views of the same rows, whether the partner is found."""
    Q, N = order.shape
    K = min(asked, N)
    counts = np.bincount(order[:, :K].ravel(), minlength=targets)
    if np.ptp(counts) == 0:
        case.undefine(f"hubness.{direction}@{asked}", "every target is retrieved equally often")
    else:
        case.expect(f"hubness.{direction}@{asked}", skew(counts.astype(float)), 1e-11, "absolute", "scipy",
                    "skew(bincount(retrieved targets))")
    case.expect(f"hubness.{direction}.never@{asked}", np.mean(counts == 0), 1e-12, "absolute", "numpy",
                "mean(bincount(retrieved targets) == 0)")
    if is_paired:
        scores = np.empty((Q, N))
        np.put_along_axis(scores, order, -np.arange(N)[None, :] + np.zeros((Q, 1)), axis=1)
        found = np.mean((order[:, :K] == np.arange(Q)[:, None]).any(axis=1))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # scikit-learn's, that K = N finds everything
            agree("pair recall", top_k_accuracy_score(np.arange(Q), scores, k=K), found, 1e-12)
        case.expect(f"pair_recall.{direction}@{asked}", found, 1e-12, "absolute", "scikit-learn",
                    f"top_k_accuracy_score(arange(N), -places, k={K})")
        case.expect(f"pair_recall.{direction}@{asked}", K / N, 1e-12, "absolute", "numpy", "K / N", part="chance")


def retrieval_case(name, about, arrays, directions, ks, dot=False, ties=False):
    """`arrays` holds the spaces; `labels`, or `labels_SET` for several sets; `SPACE_labels` for a space of its own."""
    options = {"k": ks, "directions": directions} | ({"similarity": "dot"} if dot else {})
    case = Case("retrieval", name, about, arrays, options)
    sets = [key for key in arrays if key == "labels" or key.startswith("labels_")]
    for direction in directions:
        query, target = direction.split("2")
        is_self = query == target
        is_paired = not is_self and not {f"{query}_labels", f"{target}_labels"} & set(arrays)
        order, similarity = direction_order(name, arrays[query], arrays[target], is_self, dot, ties)
        for chosen in sets:
            suffix = "" if chosen == "labels" else f"(labels={chosen.removeprefix('labels_')})"
            query_labels, target_labels = (arrays.get(f"{space}_labels", arrays[chosen]) for space in (query, target))
            ranking = Ranking(order, similarity, query_labels, target_labels)
            for asked in ks:
                expect_labels(case, name, direction, ranking, asked, suffix, is_paired or is_self, ties,
                              cells=asked == ks[-1] and direction == directions[0])
            expect_whole_ranking(case, name, direction, ranking, suffix, ties)
        for asked in ks:
            expect_unlabelled(case, direction, order, len(arrays[target]), asked, is_paired)
        if not is_self:
            lengths = {s: np.linalg.norm(f64(arrays[s]), axis=1, keepdims=True) for s in (query, target)}
            means = [(f64(arrays[s]) / np.where(lengths[s] > 0, lengths[s], 1)).mean(axis=0) for s in (query, target)]
            case.expect(f"modality_gap.{direction}", np.linalg.norm(means[0] - means[1]), 1e-9, "absolute", "numpy",
                        "norm(unit(A).mean(0) - unit(B).mean(0))")


def views(rng, labels, width, noise=1.0, pull=0.7):
    """Two noisy views of rows that lie around a centre per label."""
    classes, codes = np.unique(labels, return_inverse=True)
    rows = pull * rng.standard_normal((len(classes), width))[codes] + rng.standard_normal((len(labels), width))
    return tuple(rows + noise * rng.standard_normal(rows.shape) for _ in range(2))


def retrieval_cases():
    prove_chance_levels()
    both = ["text2sensor", "sensor2text"]
    rng = np.random.default_rng(1001)
    labels = np.array(["cook", "eat", "rest", "work"])[rng.integers(0, 4, 60)]
    text, sensor = views(rng, labels, 8)
    retrieval_case("two-views", "Two noisy views of 60 rows with four named labels.",
                   {"text": text, "sensor": sensor, "labels": labels}, both, [1, 5, 10])
    rng = np.random.default_rng(1002)
    labels = rng.permutation(np.repeat([10, 9, 100, -1], [40, 20, 7, 3]))
    text, sensor = views(rng, labels, 16)
    retrieval_case("imbalanced-float32", "f32; labels of 40, 20, 7 and 3 rows, so that K exceeds some: a low ceiling.",
                   {"text": text.astype(np.float32), "sensor": sensor.astype(np.float32), "labels": labels},
                   ["text2sensor"], [5, 25])
    rng = np.random.default_rng(1003)
    labels = rng.permutation(np.repeat(["a", "b", "c"], [20, 15, 5]))
    text, sensor = views(rng, labels, 6)
    sensor[30] = sensor[3]  # a copy of the query in another row is a target
    retrieval_case("self", "Each space searches itself: the query's own row is no target, a copy of it is.",
                   {"text": text, "sensor": sensor, "labels": labels}, ["sensor2sensor", "text2text"], [1, 10],
                   ties=True)
    rng = np.random.default_rng(1004)
    labels = rng.permutation(np.repeat(["a", "b", "c", "only", "single"], [12, 9, 2, 1, 1]))
    text, sensor = views(rng, labels, 5)
    retrieval_case("lone-labels", "Labels with one row have no target within a space, and one across spaces.",
                   {"text": text, "sensor": sensor, "labels": labels}, ["sensor2sensor", "text2sensor"], [1, 6])
    rng = np.random.default_rng(1005)
    labels = np.array(["cook", "eat", "rest", "walk", "work"])[rng.choice(5, 50, p=[0.4, 0.3, 0.15, 0.1, 0.05])]
    text, sensor = views(rng, labels, 8)
    prototype_labels = np.array(["work", "cook", "cook", "swim", "eat", "cook", "rest", "rest", "swim"])
    prototypes = np.array([text[labels == c].mean(axis=0) if c in labels else rng.standard_normal(8)
                           for c in prototype_labels]) + 0.5 * rng.standard_normal((9, 8))
    retrieval_case("prototypes", "One to three prototypes per label; no target swims, and walking has no prototype.",
                   {"text": text, "sensor": sensor, "labels": labels, "prototype": prototypes,
                    "prototype_labels": prototype_labels}, ["prototype2sensor", "prototype2text"], [3, 20])
    rng = np.random.default_rng(1006)
    labels = np.array(["x", "y", "z"])[rng.integers(0, 3, 20)]
    text, sensor = views(rng, labels, 4)
    gallery, _ = views(rng, np.arange(35) % 4, 4)
    retrieval_case("galleries", "20 queries, 35 targets with other labels: no pairs, and a label that nobody asks for.",
                   {"text": text, "text_labels": labels, "sensor": gallery,
                    "labels": np.array(["x", "y", "z", "w"])[np.arange(35) % 4]}, both, [4, 15])
    rng = np.random.default_rng(1007)
    labels = np.array(["one", "two", "three"])[rng.integers(0, 3, 48)]
    text, sensor = views(rng, labels, 5)
    sensor = sensor[np.sort(rng.integers(0, 12, 48))]
    retrieval_case("ties", "48 targets that are copies of 12, with other labels: ties go by row number.",
                   {"text": text, "sensor": sensor, "labels": labels}, both, [1, 3, 10], ties=True)
    rng = np.random.default_rng(1008)
    rows = rng.integers(-2, 3, (2, 40, 3)).astype(np.float32)
    retrieval_case("whole-numbers", "Inner products of small whole numbers: most are tied, exactly, with 0 and -0.",
                   {"text": rows[0], "sensor": rows[1], "labels": rng.integers(0, 3, 40)},
                   ["text2sensor", "sensor2sensor"], [2, 8], dot=True, ties=True)
    rng = np.random.default_rng(1009)
    labels = np.repeat(["p", "q", "r"], [6, 4, 2])
    text, sensor = views(rng, labels, 3)
    retrieval_case("large-k", "12 rows; K of 11, 12 and 50: shortened to the number of targets.",
                   {"text": text, "sensor": sensor, "labels": labels}, ["text2sensor", "sensor2sensor"], [11, 12, 50])
    rng = np.random.default_rng(1010)
    fine = rng.integers(0, 6, 45)
    text, sensor = views(rng, fine, 7)
    retrieval_case("two-label-sets", "Six fine labels that make up two coarse ones, in one run.",
                   {"text": text, "sensor": sensor, "labels_l1": WORDS[fine],
                    "labels_l2": np.array(["low", "high"])[fine // 3]}, ["sensor2text"], [3, 10])
    rng = np.random.default_rng(1011)
    labels = rng.integers(0, 4, 40)
    text, sensor = (rows * 10 ** rng.uniform(-1, 1, (40, 1)) for rows in views(rng, labels, 6))
    retrieval_case("inner-product", "Rows of very different lengths, f32, not normalised: long rows are hubs.",
                   {"text": text.astype(np.float32), "sensor": sensor.astype(np.float32), "labels": labels},
                   ["text2sensor", "text2text"], [1, 10], dot=True)
    rng = np.random.default_rng(1012)
    labels = rng.permutation(np.repeat(["a", "b"], 12))
    text, sensor = views(rng, labels, 4)
    text[5], sensor[[2, 9]] = 0.0, 0.0
    retrieval_case("zero-rows", "A query and two targets of length zero: cosine 0 with everything, tied.",
                   {"text": text, "sensor": sensor, "labels": labels}, ["text2sensor", "sensor2sensor"], [3, 12],
                   ties=True)
    rng = np.random.default_rng(1013)
    labels = rng.integers(0, 3, 50)
    text, sensor = (rows + 1e3 for rows in views(rng, labels, 6))
    retrieval_case("offset", "A common offset of 1e3: all cosines are 1 within 1e-5, and f32 cannot order them.",
                   {"text": text, "sensor": sensor, "labels": labels}, ["text2sensor"], [5, 10])
    rng = np.random.default_rng(1014)
    retrieval_case("all-lone", "Every row has a label of its own: nothing to find within the space.",
                   {"sensor": rng.standard_normal((8, 3)), "labels": np.arange(8)}, ["sensor2sensor"], [2])
    rng = np.random.default_rng(1015)
    pixels, names = digits(200)
    codes = principal_codes(pixels, 12)
    noisy = np.round(codes + 8 * rng.standard_normal(codes.shape), 6)
    retrieval_case("digits", "PCA codes of digits against a noisy copy, f32, and the same with parity as label.",
                   {"text": noisy.astype(np.float32), "sensor": codes.astype(np.float32), "labels_digit": names,
                    "labels_parity": np.where(np.isin(names, WORDS[::2]), "even", "odd")}, ["text2sensor"], [10, 50])


# ---------------------------------------------------------------- writing and checking


def check(case, files):
    """The problems of one stored case against a fresh computation: inputs to the byte, values within tolerance."""
    folder = CASES_DIR / case.family / case.name
    if not (folder / "expected.json").exists():
        return [f"{folder}: missing"]
    problems = []
    if "input.npz" in files and (folder / "input.npz").read_bytes() != files["input.npz"]:
        problems.append(f"{folder}/input.npz: differs")
    stored, fresh = json.loads((folder / "expected.json").read_text()), json.loads(files["expected.json"])
    pairs = list(zip(stored.pop("expected"), fresh.pop("expected"), strict=True))
    for old, new in pairs:
        scale = np.abs(old["value"]) if old["kind"] == "relative" else 1.0
        if np.any(np.abs(np.subtract(old.pop("value"), new.pop("value"))) > new["tolerance"] * scale):
            problems.append(f"{folder}: {old['metric']} differs")
    if stored != fresh or any(old != new for old, new in pairs):
        problems.append(f"{folder}/expected.json: differs in more than values")
    return problems


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true", help="compare with the stored cases instead of writing them")
    only_check = parser.parse_args().check
    for build in (smoothness_cases, robustness_cases, neighborhood_cases, spectrum_cases, rankme_cases, two_nn_cases,
                  uniformity_cases, silhouette_cases, labelings_cases, kmeans_cases, knn_cases, retrieval_cases,
                  clid_cases, mcr2_cases, alignment_cases, performance_cases, perturbation_cases, similarity_cases,
                  collapse_cases, probe_cases, dimension_cases, curves_cases, drift_cases, mixing_cases):
        build()
    problems, size = [], 0
    for case in CASES:
        files = case.files()
        size += sum(map(len, files.values()))
        if only_check:
            problems += check(case, files)
            continue
        folder = CASES_DIR / case.family / case.name
        folder.mkdir(parents=True, exist_ok=True)
        for name, content in files.items():
            (folder / name).write_bytes(content)
    values = sum(len(case.expected) for case in CASES)
    undefined = sum(len(case.undefined) for case in CASES)
    print(f"{len(CASES)} cases, {values} expected values, {undefined} undefined, {size / 1e3:.0f} kB")
    if problems:
        sys.exit("\n".join(problems))


if __name__ == "__main__":
    main()
