# SPDX-License-Identifier: MIT
"""Golden cases of two sets of rows and of batches: MMD, energy distance, Fréchet distance, k-NN two-sample test, LISI and kBET, by NumPy,
SciPy and scikit-learn.

The Fréchet distance is computed by `scipy.linalg.sqrtm` as pytorch-fid does, and by eigenvalues as torchmetrics does; LISI as harmonypy does,
with its weights found to 1e-12 instead of 1e-5, which is compared with the published tolerance. p-values are known where no random assignment
of the rows comes near that of the data: 1 / (1 + 999).
"""
import numpy as np
from case import Case, agree, digits, f64, neighbor_order, no_near_ties, principal_codes, squared_distances
from scipy.linalg import sqrtm
from scipy.spatial.distance import cdist, pdist
from scipy.stats import chi2, chisquare
from sklearn.neighbors import NearestNeighbors

APART = 1 / 1000


def u_statistic(kernel, m):
    """The unbiased squared MMD of a kernel matrix of both sets, the first m rows being new."""
    x, y, cross = kernel[:m, :m], kernel[m:, m:], kernel[:m, m:]
    n = len(y)
    within = (x.sum() - np.trace(x)) / (m * (m - 1)) + (y.sum() - np.trace(y)) / (n * (n - 1))
    return within - 2 * cross.mean()


def frechet(new, old):
    shift = new.mean(axis=0) - old.mean(axis=0)
    sigma, tau = (np.atleast_2d(np.cov(rows, rowvar=False)) for rows in (new, old))
    traces = np.trace(sigma) + np.trace(tau)
    by_roots = np.sqrt(np.linalg.eigvals(sigma @ tau).astype(complex)).real.sum()
    value = shift @ shift + traces - 2 * by_roots
    if min(len(new), len(old)) > new.shape[1]:
        by_matrix = shift @ shift + traces - 2 * np.trace(np.real(sqrtm(sigma @ tau)))
        agree("Fréchet distance", value / traces, by_matrix / traces, 1e-7)
    return value, shift @ shift


def votes(rows, m, k):
    order = neighbor_order(rows)[:, :k]
    is_new = np.arange(len(rows)) < m
    own = (is_new[order] == is_new[:, None]).sum(axis=1)
    mine, theirs = np.where(is_new, m, len(rows) - m), np.where(is_new, len(rows) - m, m)
    for_own, for_other = own / (mine - 1), (k - own) / theirs
    share = for_own / (for_own + for_other)
    return own.mean() / k, (share[is_new].mean() + share[~is_new].mean()) / 2


def drift_case(name, about, new, old, k=(5,), is_apart=False, tolerance=1e-9, ties=False):
    case = Case("drift", name, about, {"latent": new, "reference": old}, {"k": list(k)})
    rows, m = np.vstack([f64(new), f64(old)]), len(new)
    n, d = len(old), rows.shape[1]
    distances = cdist(rows, rows)
    sigma = np.median(pdist(rows))

    def expect(metric, value, tolerance, kind, library, call, **where):
        case.expect(metric, value, tolerance, kind, library, call, **where)

    of = {
        "rbf": np.exp(-distances ** 2 / (2 * sigma ** 2)),
        "multi": np.mean([np.exp(-distances ** 2 / (2 * (w * sigma) ** 2)) for w in (0.25, 0.5, 1, 2, 4)], axis=0),
    }
    for kernel, matrix in of.items():
        expect(f"mmd(kernel={kernel})", u_statistic(matrix, m), 1e-10, "absolute", "scipy",
               "U-statistic of exp(-cdist(Z, Z) ** 2 / (2 * median(pdist(Z)) ** 2))")
    matrix = (rows @ rows.T / d + 1) ** 3
    expect("mmd(kernel=polynomial)", u_statistic(matrix, m), 1e-10 * np.abs(matrix).max(), "absolute", "numpy",
           "U-statistic of (Z @ Z.T / D + 1) ** 3")
    energy = 2 * distances[:m, m:].mean() - pdist(f64(new)).mean() - pdist(f64(old)).mean()
    agree("energy distance", energy, u_statistic(-distances, m), 1e-9)
    expect("energy_distance", energy, 1e-10 * distances.max(), "absolute", "scipy",
           "2 * cdist(X, Y).mean() - pdist(X).mean() - pdist(Y).mean()")
    value, of_means = frechet(f64(new), f64(old))
    scale = np.trace(np.atleast_2d(np.cov(rows, rowvar=False)))
    expect("frechet_distance", value, tolerance * scale, "absolute", "numpy",
           "sum((mu - nu) ** 2) + trace(S) + trace(T) - 2 * sqrt(eigvals(S @ T)).real.sum()")
    expect("frechet_distance.means", of_means, 1e-10 * scale, "absolute", "numpy", "sum((mu - nu) ** 2)")
    no_near_ties(f"drift/{name}", rows, 1e-12, ties)
    for each in k:
        own, balanced = votes(rows, m, each)
        if not ties:
            nearest = NearestNeighbors(n_neighbors=each).fit(rows).kneighbors(return_distance=False)
            agree("k-NN", own, ((nearest < m) == (np.arange(m + n) < m)[:, None]).mean(), 1e-12)
        expect(f"knn_two_sample@{each}", own, 1e-12, "absolute", "scikit-learn",
               "((NearestNeighbors(n_neighbors=k).fit(Z).kneighbors()[1] < m) == (arange(N) < m)[:, None]).mean()")
        expect(f"knn_two_sample@{each}", (m * (m - 1) + n * (n - 1)) / ((m + n) * (m + n - 1)), 1e-12, "absolute", "numpy",
               "(m * (m - 1) + n * (n - 1)) / (N * (N - 1))", part="chance")
        expect(f"knn_two_sample.balanced@{each}", balanced, 1e-12, "absolute", "numpy",
               "mean over both sets of mean(a / (m - 1) / (a / (m - 1) + (k - a) / n))")
        if is_apart:
            expect(f"knn_two_sample.p@{each}", APART, 1e-12, "relative", "numpy", "(1 + 0) / (1 + 999)")
    if is_apart:
        for metric in ("mmd.p(kernel=rbf)", "mmd.p(kernel=multi)", "mmd.p(kernel=polynomial)", "energy_distance.p", "frechet_distance.p"):
            expect(metric, APART, 1e-12, "relative", "numpy", "(1 + 0) / (1 + 999)")


def drift_cases():
    rng = np.random.default_rng(2300)
    old = rng.standard_normal((80, 5))
    drift_case("apart", "Sets of 40 and 80 rows that do not overlap: no random assignment is as far apart.",
               rng.standard_normal((40, 5)) * [1, 2, 1, 1, 0.5] + 4, old, k=(1, 5), is_apart=True)
    rng = np.random.default_rng(2301)
    drift_case("same", "One distribution, f32, with a common offset of 100 and sets of unlike size.",
               (rng.standard_normal((25, 4)) + 100).astype(np.float32), (rng.standard_normal((120, 4)) + 100).astype(np.float32),
               k=(3,), tolerance=1e-7)
    rng = np.random.default_rng(2302)
    drift_case("wide", "More columns than rows: covariances are singular.", rng.standard_normal((20, 30)) * 1.3,
               rng.standard_normal((25, 30)), k=(4,), tolerance=1e-6)
    rng = np.random.default_rng(2303)
    drift_case("grid", "Small whole numbers: many rows are copies, and most distances are ties.",
               rng.integers(0, 3, (30, 3)).astype(float), rng.integers(0, 4, (35, 3)).astype(float), k=(5,), ties=True)
    codes, names = digits(240)
    codes = principal_codes(codes, 8)
    is_new = np.isin(names, ["eight", "nine"])
    drift_case("digits", "Principal components of digits: eights and nines against all others.", codes[is_new], codes[~is_new], k=(5,))
    case = Case("drift", "constant", "The same embedding for everything.",
                {"latent": np.full((9, 3), 0.5), "reference": np.full((8, 3), 0.5)}, {"k": [5]})
    for metric in ("mmd(kernel=rbf)", "mmd.p(kernel=rbf)", "mmd(kernel=multi)", "mmd.p(kernel=multi)"):
        case.undefine(metric, "the kernel has no width")
    for metric in ("mmd(kernel=polynomial)", "energy_distance", "frechet_distance", "frechet_distance.means"):
        case.expect(metric, 0.0, 1e-12, "absolute", "numpy", "all rows are the same")
    for metric in ("mmd.p(kernel=polynomial)", "energy_distance.p", "frechet_distance.p"):
        case.expect(metric, 1.0, 1e-12, "absolute", "numpy", "all assignments are alike: (1 + 999) / (1 + 999)")
    case = Case("drift", "three-rows", "Three new rows say nothing.",
                {"latent": np.arange(6.0).reshape(3, 2), "reference": np.arange(20.0).reshape(10, 2) ** 1.5}, {"k": [1]})
    for metric in ("mmd(kernel=rbf)", "mmd.p(kernel=rbf)", "mmd(kernel=polynomial)", "energy_distance", "energy_distance.p",
                   "frechet_distance", "frechet_distance.means", "knn_two_sample@1", "knn_two_sample.balanced@1"):
        case.undefine(metric, "three rows")


# ---------------------------------------------------------------- batches


def weights(distances, perplexity, tolerance, tries):
    """The weights of `compute_simpson` of harmonypy, for all rows at once: distances to the neighbors of each."""
    beta, low, high = (np.full((len(distances), 1), value) for value in (1.0, -np.inf, np.inf))
    is_open = np.ones((len(distances), 1), dtype=bool)
    for _ in range(tries):
        p = np.exp(-distances * beta)
        total = p.sum(axis=1, keepdims=True)
        p = p / total
        gap = np.log(total) + beta * (distances * p).sum(axis=1, keepdims=True) - np.log(perplexity)
        is_open &= np.abs(gap) >= tolerance
        low, high = np.where(is_open & (gap > 0), beta, low), np.where(is_open & (gap <= 0), beta, high)
        up = np.where(np.isfinite(high), (beta + high) / 2, beta * 2)
        down = np.where(np.isfinite(low), (beta + low) / 2, beta / 2)
        beta = np.where(is_open, np.where(gap > 0, up, down), beta)
    return p


def lisi(rows, batches, perplexity=30.0):
    rows = f64(rows)
    count = min(3 * int(perplexity) - 1, len(rows) - 1)
    perplexity = min(perplexity, (count + 1) / 3)
    order = neighbor_order(rows)[:, :count]
    distances = np.take_along_axis(np.sqrt(squared_distances(rows)), order, axis=1)
    # Where all neighbors are equally far, they count the same whatever beta is.
    is_flat = np.ptp(distances, axis=1) < 1e-12
    distances[is_flat] = 0
    of_batch = batches[order][:, :, None] == np.unique(batches)
    found = []
    for tolerance, tries in ((1e-12, 120), (1e-5, 50)):
        p = np.where(is_flat[:, None], 1 / count, weights(np.where(is_flat[:, None], np.arange(count), distances), perplexity, tolerance, tries))
        found.append(1 / ((p[:, :, None] * of_batch).sum(axis=1) ** 2).sum(axis=1))
    agree("LISI", np.abs(found[0] / found[1] - 1).max(), 0, 1e-3)
    return found[0]


def accepted(rows, batches, k, alpha=0.05):
    order = neighbor_order(rows)[:, :k]
    names, counts = np.unique(batches, return_counts=True)
    expected = k * counts / counts.sum()
    p = np.array([chisquare([(batches[row] == b).sum() for b in names], expected).pvalue for row in order])
    statistic = np.array([(((batches[row][:, None] == names).sum(axis=0) - expected) ** 2 / expected).sum() for row in order])
    agree("chi squared", np.abs(chi2.sf(statistic, len(names) - 1) - p).max(), 0, 1e-12)
    if np.abs(p - alpha).min() < 1e-9:
        raise SystemExit("kBET: a neighborhood is just at the level; pick another seed")
    return (p >= alpha).mean()


def mixing_case(name, about, latent, batches, labels=None, k=(20,), ties=False):
    arrays = {"latent": latent, "batches": batches} | ({} if labels is None else {"labels": labels})
    case = Case("mixing", name, about, arrays, {"k": list(k)})
    no_near_ties(f"mixing/{name}", latent, 1e-12, ties)
    count = len(np.unique(batches))
    values = lisi(latent, batches)
    call = "harmonypy's compute_lisi with tol = 1e-12"
    case.expect("ilisi", values.mean(), 1e-8, "relative", "numpy", f"{call}, mean")
    case.expect("ilisi.median", np.median(values), 1e-8, "relative", "numpy", f"{call}, median")
    case.expect("ilisi.scaled", (values.mean() - 1) / (count - 1), 1e-8, "absolute", "numpy", f"({call}, mean - 1) / (B - 1)")
    for each in k:
        if each < len(latent):
            case.expect(f"kbet@{each}", accepted(latent, batches, each), 1e-12, "absolute", "scipy",
                        "(chisquare(counts, k * shares).pvalue >= 0.05).mean()")
        else:
            case.undefine(f"kbet@{each}", "k is the number of rows")
    if labels is None:
        case.undefine("cilisi", "no labels")
        case.undefine("cilisi.classes", "no labels")
        return
    within = []
    for label in np.unique(labels):
        is_own = labels == label
        own = len(np.unique(batches[is_own]))
        if is_own.sum() >= 10 and own > 1:
            within.append((lisi(f64(latent)[is_own], batches[is_own]) - 1) / (own - 1))
    if not within:
        case.undefine("cilisi", "no class with two batches")
        case.undefine("cilisi.classes", "no class with two batches")
        return
    case.expect("cilisi", np.concatenate(within).mean(), 1e-8, "absolute", "numpy", f"({call} within classes - 1) / (B_c - 1), mean")
    case.expect("cilisi.classes", np.mean([own.mean() for own in within]), 1e-8, "absolute", "numpy",
                f"({call} within classes - 1) / (B_c - 1), mean of the means of classes")


def mixing_cases():
    rng = np.random.default_rng(2310)
    blob = rng.permutation(np.repeat(np.arange(3), [60, 50, 40]))
    rows = 3 * rng.standard_normal((3, 4))[blob] + rng.standard_normal((150, 4))
    mixing_case("mixed", "Three batches of unlike size at random, three classes.", rows,
                rng.choice(3, len(rows), p=[0.5, 0.3, 0.2]), blob, k=(20, 50))
    rng = np.random.default_rng(2311)
    batches = rng.integers(0, 2, 120)
    classes = np.where(rng.uniform(size=120) < 0.8, batches, 1 - batches)
    rows = rng.standard_normal((120, 6)) + 1.2 * batches[:, None] * (np.arange(6) < 2)
    mixing_case("shifted", "Two batches that are shifted, and that hold the classes in unlike shares.", rows, batches, classes)
    rng = np.random.default_rng(2312)
    mixing_case("few-rows", "Thirty rows: the perplexity is smaller, and no k of 50.", rng.standard_normal((30, 3)) * 1e-4,
                np.arange(30) % 3, np.arange(30) % 2, k=(10, 50))
    mixing_case("simplex", "All rows are equally far from each other: all neighbors count the same.", np.eye(14),
                np.array([0, 1] * 6 + [0, 0]), k=(13,), ties=True)
    rng = np.random.default_rng(2313)
    batches = np.repeat([0, 1], 20)
    mixing_case("confounded", "Every class is one batch: nothing can be said within classes.",
                rng.standard_normal((40, 4)) + 3 * batches[:, None], batches, batches, k=(15,))
    case = Case("mixing", "one-batch", "All rows are of one batch.",
                {"latent": np.arange(40.0).reshape(20, 2) ** 1.1, "batches": np.zeros(20, dtype=int), "labels": np.arange(20) % 2}, {"k": [5]})
    for metric in ("ilisi", "ilisi.scaled", "ilisi.median", "cilisi", "cilisi.classes", "kbet@5"):
        case.undefine(metric, "one batch")
