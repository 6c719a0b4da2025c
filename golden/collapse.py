# SPDX-License-Identifier: MIT
"""Golden cases of collapse: NESum, IsoScore, shares of the variance, SelfCluster, coherence, Epps–Pulley and LiDAR, by NumPy.

IsoScore is computed step by step as its authors do and by the participation ratio; both agree. Random projections cannot be those of
another program: for one column there is one projection up to its sign, and for several the expected value is a mean over 20,000 others,
with a tolerance of five standard errors of a mean of 256.
"""
import numpy as np
from case import Case, agree, digits, f64, principal_codes, unit
from scipy.linalg import eigh


def isoscore(rows):
    """Algorithm 1 of Rudman et al. 2022."""
    d = rows.shape[1]
    centered = f64(rows) - f64(rows).mean(axis=0)
    axes = np.linalg.svd(centered, full_matrices=True)[2]
    variances = np.diag(np.cov((centered @ axes.T).T))
    scaled = np.sqrt(d) * variances / np.linalg.norm(variances)
    defect = np.linalg.norm(scaled - 1) / np.sqrt(2 * (d - np.sqrt(d)))
    phi = (d - defect ** 2 * (d - np.sqrt(d))) ** 2 / d ** 2
    ratio = variances.sum() ** 2 / (variances ** 2).sum()
    value = (d * phi - 1) / (d - 1)
    agree("IsoScore", value, (ratio - 1) / (d - 1), 1e-9)
    return value


def statistics(projected):
    """T of each column, as the code of LeJEPA sums it."""
    t = np.linspace(0, 3, 17)
    phi = np.exp(-t ** 2 / 2)
    weights = np.full(17, 2 * 3 / 16)
    weights[[0, -1]] = 3 / 16
    found = []
    for column in projected.T:
        at = np.outer(column, t)
        found.append(len(column) * (weights * phi) @ ((np.cos(at).mean(axis=0) - phi) ** 2 + np.sin(at).mean(axis=0) ** 2))
    return np.array(found), (weights * phi) @ (1 - phi ** 2)


def lidar(*views):
    """Formula 2 of Thilak et al. 2024 for q views of each sample."""
    views = np.stack([f64(view) for view in views], axis=1)
    means = views.mean(axis=1)
    n, d = means.shape
    q = views.shape[1]
    between = np.cov(means.T, ddof=1).reshape(d, d)
    apart = (views - means[:, None]).reshape(-1, d)
    within = apart.T @ apart / (n * (q - 1)) + 1e-4 * np.eye(d)
    # The generalized problem has the eigenvalues of the whitened matrix.
    values = np.maximum(eigh(between, within, eigvals_only=True), 0.0)
    values[values < values.max() * 1e-12] = 0.0
    p = values / values.sum() + 1e-8
    return np.exp(-(p * np.log(p)).sum())


def collapse_case(name, about, latent, view=None, *more):
    others = {} if view is None else {"view": view} | {f"view{i}": own for i, own in enumerate(more, 3)}
    case = Case("collapse", name, about, {"latent": latent} | others)

    def expect(metric, value, tolerance, call, **where):
        case.expect(metric, value, tolerance, "relative", "numpy", call, **where)

    rows = f64(latent)
    n, d = rows.shape
    values = np.linalg.svd(rows - rows.mean(axis=0), compute_uv=False) ** 2
    expect("nesum", values.sum() / values[0], 1e-9, "eigvalsh(cov(Z.T)).sum() / eigvalsh(cov(Z.T)).max()")
    expect("variance_share(pcs=1)", values[0] / values.sum(), 1e-9, "PCA(Z).explained_variance_ratio_[0]")
    expect("variance_share(pcs=10)", values[:10].sum() / values.sum(), 1e-9, "PCA(Z).explained_variance_ratio_[:10].sum()")
    held = np.cumsum(values) / values.sum()
    if np.abs(held - 0.99).min() < 1e-9:
        raise SystemExit(f"collapse/{name}: a share is too near 0.99; pick another seed")
    count = int((held < 0.99).sum()) + 1
    case.expect("variance_rank", count, 1e-12, "absolute", "numpy", "(cumsum(s ** 2) / sum(s ** 2) < 0.99).sum() + 1")
    case.expect("variance_rank.share", count / min(n - 1, d), 1e-12, "absolute", "numpy", "variance_rank / min(N - 1, D)")
    u, s, _ = np.linalg.svd(rows, full_matrices=False)
    u = u[:, s > s[0] * max(n, d) * np.finfo(float).eps]
    expect("coherence", (u ** 2).sum(axis=1).max() * n / u.shape[1], 1e-8, "N / r * (U ** 2).sum(axis=1).max()")
    if d == 1:
        case.undefine("isoscore", "one column")
        case.undefine("self_cluster", "one column")
    else:
        case.expect("isoscore", isoscore(rows), 1e-9, "absolute", "numpy", "algorithm 1 of Rudman et al. 2022")
        expected = n + n * (n - 1) / d
        squares = ((unit(rows) @ unit(rows).T) ** 2).sum()
        case.expect("self_cluster", (squares - expected) / (n * n - expected), 1e-10, "absolute", "numpy",
                    "(sum((unit(Z) @ unit(Z).T) ** 2) - N - N (N - 1) / D) / (N ** 2 - N - N (N - 1) / D)")
    rng = np.random.default_rng(1900)
    directions = rng.standard_normal((d, 20_000 if d > 1 else 1))
    directions /= np.linalg.norm(directions, axis=0)
    scaled = (rows - rows.mean(axis=0)) / np.sqrt(rows.var(axis=0).mean())
    for metric, data in (("epps_pulley", scaled), ("epps_pulley(scale=none)", rows)):
        found, chance = statistics(data @ directions)
        tolerance = 1e-9 if d == 1 else 5 * found.std() / 16 / found.mean()
        expect(metric, found.mean(), tolerance, "mean over projections of N * sum(w * abs(mean(exp(i t z)) - phi) ** 2)")
    expect("epps_pulley(scale=none)", chance, 1e-12, "sum(w * (1 - phi ** 2))", part="chance")
    if view is None:
        case.undefine("lidar", "no second view")
    else:
        expect("lidar", lidar(latent, view, *more), 1e-6, "exp(entropy(eigh(S_b, S_w + 1e-4 I)))")


def collapse_cases():
    rng = np.random.default_rng(1901)
    rows = rng.standard_normal((80, 12)) * 0.8 ** np.arange(12)
    collapse_case("gauss", "Twelve columns of falling variance, and a second view with noise.",
                  rows, rows + 0.3 * rng.standard_normal(rows.shape))
    rng = np.random.default_rng(1902)
    collapse_case("one-column", "One column, normal: one projection.", rng.standard_normal((50, 1)))
    rng = np.random.default_rng(1903)
    rows = rng.standard_normal((60, 3)) @ rng.standard_normal((3, 16))
    collapse_case("low-rank", "Three directions of sixteen, with an offset; the view is a small shift of each row.",
                  rows + 2.0, rows + 2.0 + 0.05 * rng.standard_normal(rows.shape))
    rng = np.random.default_rng(1905)
    samples = rng.standard_normal((70, 9)) * 0.7 ** np.arange(9)
    views = [samples + 0.2 * rng.standard_normal(samples.shape) * 0.9 ** np.arange(9) for _ in range(5)]
    collapse_case("five-views", "Five views of each sample, with noise that is not the same in all columns.", *views)
    rng = np.random.default_rng(1904)
    rows = rng.standard_normal((20, 30)).astype(np.float32)
    rows[3] *= 40
    collapse_case("outlier", "f32, more columns than rows, and one row that is far longer.", rows)
    codes, _ = digits(200)
    collapse_case("digits", "Principal components of digits, of unequal variance and not normal.", principal_codes(codes, 14) / 10)
    case = Case("collapse", "constant", "The same embedding for everything.", {"latent": np.full((9, 4), 0.5)})
    for metric in ("nesum", "isoscore", "variance_share(pcs=1)", "variance_share(pcs=10)", "variance_rank", "variance_rank.share",
                   "epps_pulley", "lidar"):
        case.undefine(metric, "no variance")
    case.expect("self_cluster", 1.0, 1e-12, "absolute", "numpy", "all cosines are 1")
    case.expect("coherence", 1.0, 1e-9, "absolute", "numpy", "all rows have the same leverage")
