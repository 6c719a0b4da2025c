# SPDX-License-Identifier: MIT
"""Golden cases of the similarity of models: Gram matrices, lists and distances of all rows, by SciPy, scikit-learn and NumPy.

HSIC is written in two forms, and Procrustes in three, that must agree. Canonical correlations are cosines of principal angles.
"""
import numpy as np
from case import Case, agree, digits, f64, neighbor_order, no_near_ties, principal_codes, unit
from scipy.linalg import orthogonal_procrustes, subspace_angles
from scipy.spatial import procrustes
from scipy.spatial.distance import pdist, squareform
from scipy.stats import spearmanr
from sklearn.neighbors import NearestNeighbors


def centered(rows):
    return f64(rows) - f64(rows).mean(axis=0)


def hsic1(k, l):
    """The unbiased estimate of Song et al. 2012, equation 5."""
    m = len(k)
    k, l = k - np.diag(np.diag(k)), l - np.diag(np.diag(l))
    sums = k.sum() * l.sum() / ((m - 1) * (m - 2))
    return ((k * l).sum() + sums - 2 / (m - 2) * (k @ l).sum()) / (m * (m - 3))


def u_centered(k):
    """The same as an inner product: of matrices with empty diagonals whose rows add up to zero (Székely and Rizzo 2014)."""
    m = len(k)
    k = k - np.diag(np.diag(k))
    rows = k.sum(axis=0, keepdims=True) / (m - 2)
    k = k - rows - rows.T + k.sum() / ((m - 1) * (m - 2))
    return k - np.diag(np.diag(k))


def debiased_cka(k, l):
    value = hsic1(k, l) / np.sqrt(hsic1(k, k) * hsic1(l, l))
    a, b = u_centered(k), u_centered(l)
    agree("debiased CKA", value, (a * b).sum() / np.sqrt((a * a).sum() * (b * b).sum()), 1e-10)
    return value


def neighbors(rows, k):
    """By cosine: unit rows, self excluded; scikit-learn and a sort of all rows agree."""
    found = NearestNeighbors(n_neighbors=k, algorithm="brute").fit(unit(rows)).kneighbors(return_distance=False)
    order = neighbor_order(unit(rows))[:, :k]
    if not all(set(a) == set(b) for a, b in zip(found, order, strict=True)):
        raise SystemExit("similarity: scikit-learn finds other neighbors")
    return order


def basis(rows, share):
    """An orthonormal basis of the principal components that hold this share of the variance; all of them for None."""
    u, s, _ = np.linalg.svd(rows, full_matrices=False)
    kept = int((s > s[0] * 1e-6).sum())
    if share is not None:
        kept = int(np.searchsorted(np.cumsum(s ** 2) / (s ** 2).sum(), share) + 1)
    return u[:, :kept]


def correlations(a, b):
    """Cosines of the principal angles of two subspaces, from SciPy and from the singular values."""
    values = np.linalg.svd(a.T @ b, compute_uv=False)
    angles = np.sort(np.cos(subspace_angles(a, b)))[::-1]
    agree("canonical correlations", np.abs(values - angles).max() + 1.0, 1.0, 1e-7)
    return np.minimum(values, 1.0)


def pwcca(x, y):
    """Morcos et al. 2018: correlations weighted by how much of the columns of x each canonical variable accounts for."""
    u, v = basis(x, None), basis(y, None)
    p, rho, _ = np.linalg.svd(u.T @ v, full_matrices=False)
    weights = np.abs((u @ p).T @ x).sum(axis=1)
    return (np.minimum(rho, 1.0) * weights / weights.sum()).sum()


def similarity_case(name, about, first, second, k=(10,), rdm=True, cca=True):
    case = Case("similarity", name, about, {"latent_a": first, "latent_b": second}, {"similarity_k": list(k)})

    def expect(metric, value, tolerance, library, call, **where):
        case.expect(metric, value, tolerance, "absolute", library, call, model="a ~ b", **where)

    x, y = centered(first), centered(second)
    n = len(x)
    gram = [rows @ rows.T for rows in (x, y)]
    expect("cka(kernel=linear)", debiased_cka(*gram), 1e-10, "numpy", "hsic1(K, L) / sqrt(hsic1(K, K) * hsic1(L, L))")
    norms = np.linalg.norm(x.T @ x) * np.linalg.norm(y.T @ y)
    biased = np.linalg.norm(x.T @ y) ** 2 / norms
    agree("linear CKA", biased, (gram[0] * gram[1]).sum() / np.sqrt((gram[0] ** 2).sum() * (gram[1] ** 2).sum()), 1e-10)
    expect("cka.biased(kernel=linear)", biased, 1e-10, "numpy", "norm(X.T @ Y) ** 2 / norm(X.T @ X) / norm(Y.T @ Y)")
    expect("cka.biased(kernel=linear)", np.trace(gram[0]) * np.trace(gram[1]) / (n - 1) / norms, 1e-10, "numpy",
           "trace(K) * trace(L) / (N - 1) / norm(X.T @ X) / norm(Y.T @ Y)", part="chance")
    distances = [pdist(f64(rows)) for rows in (first, second)]
    kernels = [squareform(np.exp(-0.5 * (d / np.median(d)) ** 2)) for d in distances]
    expect("cka(kernel=rbf)", debiased_cka(*kernels), 1e-10, "scipy", "debiased CKA of exp(-pdist(Z) ** 2 / 2 median ** 2)")
    expect("rsa", spearmanr(*distances).statistic, 1e-9, "scipy", "spearmanr(pdist(Z_a), pdist(Z_b))")
    if rdm:
        dissimilarities = [pdist(f64(rows), "correlation") for rows in (first, second)]
        expect("rsa(rdm=correlation)", spearmanr(*dissimilarities).statistic, 1e-9, "scipy",
               "spearmanr(pdist(Z_a, 'correlation'), pdist(Z_b, 'correlation'))")
    for count in k:
        for rows in (first, second):
            no_near_ties(f"similarity/{name}", unit(rows), 1e-9, False)
        a, b = neighbors(first, count), neighbors(second, count)
        shared = np.mean([len(set(i) & set(j)) / count for i, j in zip(a, b, strict=True)])
        expect(f"mutual_knn@{count}", shared, 1e-12, "scikit-learn", "mean of len(set(a) & set(b)) / k of kneighbors(unit(Z), k)")
        expect(f"mutual_knn@{count}", count / (n - 1), 1e-12, "numpy", "k / (N - 1)", part="chance")
        back = [[any(row in there[other] for other in here[row]) for row in range(n)] for here, there in ((b, a), (a, b))]
        expect(f"cycle_knn@{count}", np.mean(back[0]), 1e-12, "scikit-learn", "mean of any(i in a[j] for j in b[i])")
        expect(f"cycle_knn.reverse@{count}", np.mean(back[1]), 1e-12, "scikit-learn", "mean of any(i in b[j] for j in a[i])")
    nuclear = np.linalg.svd(x.T @ y, compute_uv=False).sum() / np.linalg.norm(x) / np.linalg.norm(y)
    width = max(x.shape[1], y.shape[1])
    padded = [np.pad(rows, ((0, 0), (0, width - rows.shape[1]))) for rows in (x, y)]
    agree("Procrustes", nuclear, np.sqrt(1 - procrustes(*padded)[2]), 1e-9)
    turn, scale = orthogonal_procrustes(padded[0] / np.linalg.norm(x), padded[1] / np.linalg.norm(y))
    agree("Procrustes", nuclear, scale, 1e-9)
    expect("procrustes", nuclear, 1e-10, "scipy", "orthogonal_procrustes(X / norm(X), Y / norm(Y))[1]")
    left = np.linalg.norm(padded[0] / np.linalg.norm(x) @ turn - padded[1] / np.linalg.norm(y))
    expect("procrustes.distance", left, 1e-7, "scipy", "norm(X @ R / norm(X) - Y / norm(Y)), R = orthogonal_procrustes(X, Y)[0]")
    standard = [rows / np.where(rows.std(axis=0) > 0, rows.std(axis=0), 1.0) for rows in (x, y)]
    tens = [basis(rows, None)[:, :10] for rows in standard]
    expect("svcca(dims=10)", correlations(*tens).mean(), 1e-8, "scipy",
           "mean(cos(subspace_angles(A, B))) of 10 components of standardized columns")
    if not cca:
        for metric in ("svcca", "pwcca", "pwcca(weights=first)", "pwcca(weights=second)"):
            case.undefine(metric, "as many dimensions as rows correlate perfectly", model="a ~ b")
        return case
    values = correlations(basis(x, 0.99), basis(y, 0.99))
    expect("svcca", values.mean(), 1e-8, "scipy", "mean(cos(subspace_angles(A, B))) of components with 99 % of the variance")
    both = pwcca(x, y), pwcca(y, x)
    expect("pwcca", np.mean(both), 1e-8, "numpy", "mean of both weighted canonical correlations")
    expect("pwcca(weights=first)", both[0], 1e-8, "numpy", "sum(rho * w) / sum(w), w = abs((U P).T @ X).sum(axis=1)")
    expect("pwcca(weights=second)", both[1], 1e-8, "numpy", "the same with Y")
    return case


def expect_calibrated(case, value, ids):
    """What calibration gives whatever rows are shuffled how: 1 for the same model, 0 for a value that shuffled rows reach often."""
    for metric in ids:
        case.expect(metric, value, 1e-6, "absolute", "numpy", "clip((s - tau) / (1 - tau), 0, 1)", model="a ~ b")


def is_usual(first, second, measure):
    """Whether shuffled rows reach the value in more than a tenth of 500 orders: then it is below every threshold of 5 %."""
    rng = np.random.default_rng(1800)
    value = measure(first, second)
    return np.mean([measure(first, second[rng.permutation(len(second))]) >= value for _ in range(500)]) > 0.1


def cycle_of(first, second):
    a, b = neighbors(first, 10), neighbors(second, 10)
    return np.mean([any(row in a[other] for other in b[row]) for row in range(len(a))])


def rsa_of(first, second):
    return spearmanr(pdist(first, "correlation"), pdist(second, "correlation")).statistic


def similarity_cases():
    rng = np.random.default_rng(1801)
    rows = rng.standard_normal((90, 6))
    similarity_case("related", "A linear map of the same rows with noise; 6 and 9 columns.",
                    rows, rows @ rng.standard_normal((6, 9)) + rng.standard_normal((90, 9)), k=(3, 10))
    rng = np.random.default_rng(1802)
    first, second = rng.standard_normal((60, 12)), rng.standard_normal((60, 15))
    case = similarity_case("unrelated", "Independent Gaussian rows: debiased measures are about 0, the others are not.",
                           first, second)
    if not (is_usual(first, second, cycle_of) and is_usual(first, second, rsa_of)):
        raise SystemExit("similarity/unrelated: unusual values; pick another seed")
    expect_calibrated(case, 0.0, ["cycle_knn.calibrated@10", "rsa.calibrated(rdm=correlation)"])
    rng = np.random.default_rng(1803)
    rows = rng.standard_normal((70, 5)) * [4, 2, 1, 1, 0.5]
    case = similarity_case("turned", "A turned and scaled copy: 1 for everything but cycles and the correlation of coordinates.",
                           rows, 3 * rows @ np.linalg.qr(rng.standard_normal((5, 5)))[0], k=(5,))
    expect_calibrated(case, 1.0, ["cka.calibrated(kernel=linear)", "cka.calibrated(kernel=rbf)", "mutual_knn.calibrated@5",
                                  "rsa.calibrated", "svcca.calibrated", "svcca.calibrated(dims=10)", "pwcca.calibrated",
                                  "procrustes.calibrated"])
    rng = np.random.default_rng(1804)
    rows = rng.standard_normal((80, 4))
    similarity_case("offset", "A common offset of 1e4 in one space and 1e-3 of the size in the other; f32 in one.",
                    (rows + 1e4), (1e-3 * np.tanh(rows @ rng.standard_normal((4, 7)))).astype(np.float32))
    pixels, _ = digits(150)
    rng = np.random.default_rng(1808)
    inked = np.round(pixels + pixels.std(axis=0) * rng.standard_normal(pixels.shape), 6)
    similarity_case("digits", "Principal components of digits and their pixels with noise, of which some are constant.",
                    principal_codes(pixels, 12), inked, k=(10,))
    rng = np.random.default_rng(1805)
    rows = rng.standard_normal((25, 30))
    similarity_case("wide", "More columns than rows: canonical correlations say nothing.",
                    rows, np.tanh(rows[:, :28]) + 0.3 * rng.standard_normal((25, 28)), k=(4,), cca=False)
    rng = np.random.default_rng(1806)
    rows = rng.standard_normal((40, 1))
    similarity_case("rank-deficient", "Copies of columns in one space: its rank is 2 of 5.",
                    np.column_stack([rows, 2 * rows, rng.standard_normal((40, 1)), -rows, rows]),
                    np.column_stack([rows + 0.5 * rng.standard_normal((40, 1)), rng.standard_normal((40, 2))]), k=(6,))
    case = Case("similarity", "constant", "One model gives the same embedding for everything.",
                {"latent_a": np.full((12, 3), 0.1), "latent_b": np.random.default_rng(1807).standard_normal((12, 3))},
                {"similarity_k": [3]})
    for metric in ("cka(kernel=linear)", "cka.biased(kernel=linear)", "cka(kernel=rbf)", "rsa", "rsa(rdm=correlation)", "svcca",
                   "svcca(dims=10)", "pwcca", "pwcca(weights=first)", "pwcca(weights=second)", "procrustes", "procrustes.distance"):
        case.undefine(metric, "no variance", model="a ~ b")
    # Rows that are hand-made so that lists are known: two clusters of three on lines through the origin.
    angles = np.radians([0, 1, 3, 90, 91, 93])
    first = np.column_stack([np.cos(angles), np.sin(angles)])
    similarity_case("two-clusters", "Two times three directions, and the same with the clusters mixed.",
                    first, first[[0, 3, 1, 4, 2, 5]] * 2.0, k=(2,), rdm=False)
