# SPDX-License-Identifier: MIT
"""Golden cases of scores against the performance of models: the cases hold scores of models instead of codes."""
import math

from case import Case, agree

import numpy as np
from scipy.stats import false_discovery_control, kendalltau, norm, permutation_test, rankdata, spearmanr
from scipy.stats import t as student

LEVEL = 0.95
FITTED = ("weighted_clid", "weighted_clid.left_out")


# ---------------------------------------------------------------- weights


class Fit:
    """Least squares of performance on the standardised CL and ID. A part that all models share is left out."""

    def __init__(self, parts, performance):
        self.mean, deviation = parts.mean(axis=0), parts.std(axis=0)
        self.used = np.ptp(parts, axis=0) > 0
        self.deviation = np.where(self.used, deviation, 1.0)
        self.free = len(parts) - 1 - self.used.sum()
        design = self.design(parts)
        found, _, rank, _ = np.linalg.lstsq(design, performance, rcond=1e-9)
        self.is_determined = rank == design.shape[1] and self.used.any()
        if not self.is_determined:
            return
        self.inverse = np.linalg.inv(design.T @ design)
        for one, other in zip(self.inverse @ design.T @ performance, found):
            agree("normal equations", one, other, 1e-9)
        self.variance = ((performance - design @ found) ** 2).sum() / self.free if self.free else None
        self.terms = dict(zip(["intercept"] + [t for t, used in zip(("cl", "id"), self.used) if used], found))

    def design(self, parts):
        z = (np.atleast_2d(parts) - self.mean) / self.deviation
        return np.column_stack([np.ones(len(z)), z[:, self.used]])

    def predict(self, parts):
        """The intercept and the rest, and the standard errors of the rest and of a new observation."""
        row = self.design(parts)[0]
        weights = np.array(list(self.terms.values()))
        rest = row.copy()
        rest[0] = 0.0
        errors = [None if self.variance is None else math.sqrt(self.variance * spread)
                  for spread in (rest @ self.inverse @ rest, 1 + row @ self.inverse @ row)]
        return weights[0], rest @ weights, errors


def expect_weights(case, scores, performance):
    """Returns the values of both scores by model, for their own correlation with the performance."""
    def parts_of(model):
        values = [scores[model].get(metric) for metric in ("clid.cl", "clid.id")]
        return None if None in values else np.array(values)

    pool = [model for model in scores if parts_of(model) is not None and model in performance]
    fit_of = lambda models: Fit(np.array([parts_of(m) for m in models]), np.array([performance[m] for m in models]))
    fit = fit_of(pool) if len(pool) >= 4 and len({performance[m] for m in pool}) > 1 else None
    why = (f"{len(pool)} models have CL, ID and performance" if len(pool) < 4 else "all models do equally well"
           if fit is None else "CL and ID are constant or a line in each other")
    found = {metric: {} for metric in FITTED}
    lstsq = "lstsq(column_stack([ones, z(CL), z(ID)]), performance), z with std(ddof=0)"
    for model in scores:
        where = {"model": model}
        if parts_of(model) is None or fit is None or not fit.is_determined:
            for metric in FITTED:
                case.undefine(metric, "no CL or no ID" if parts_of(model) is None else why, **where)
            continue
        _, value, (error, _) = fit.predict(parts_of(model))
        expect_fitted(case, "weighted_clid", value, error, f"{lstsq}[0][1:] @ z", where)
        found["weighted_clid"][model] = value
        others = fit_of([m for m in pool if m != model]) if model in performance else fit
        if not others.is_determined:
            case.undefine("weighted_clid.left_out", "the other models do not determine the weights", **where)
            continue
        intercept, value, (_, error) = others.predict(parts_of(model))
        expect_fitted(case, "weighted_clid.left_out", intercept + value, error, f"[1, z] @ {lstsq}[0], over all others",
                      where)
        found["weighted_clid.left_out"][model] = intercept + value
    if fit is not None and fit.is_determined:
        expect_terms(case, fit, lstsq)
    return found


def expect_fitted(case, metric, value, error, call, where):
    case.expect(metric, value, 1e-9 * max(abs(value), 1e-2), "absolute", "numpy", call, **where)
    if error is not None:
        spread = "z @ inv(Z.T @ Z) @ z" if metric == "weighted_clid" else "1 + x @ inv(X.T @ X) @ x"
        case.expect(metric, error, 1e-8, "relative", "numpy", f"sqrt(s2 * ({spread}))", part="standard_error", **where)


def expect_terms(case, fit, lstsq):
    for term in ("cl", "id", "intercept"):
        cell = {"part": "cell", "row": [term]}
        if term not in fit.terms:
            case.expect("weighted_clid", 0.0, 1e-12, "absolute", "numpy", "0", column="weight", **cell)
            for column in ("standard_error", "low", "high"):
                case.undefine("weighted_clid", "all models share this part", column=column, **cell)
            continue
        value = fit.terms[term]
        case.expect("weighted_clid", value, 1e-9 * max(abs(value), 1e-2), "absolute", "numpy", f"{lstsq}[0]",
                    column="weight", **cell)
        place = list(fit.terms).index(term)
        error = math.sqrt(fit.variance * fit.inverse[place, place])
        case.expect("weighted_clid", error, 1e-8, "relative", "numpy", "sqrt(diag(inv(X.T @ X)) * s2)",
                    column="standard_error", **cell)
        reach = student.ppf(0.5 + LEVEL / 2, fit.free) * error
        for column, end in (("low", value - reach), ("high", value + reach)):
            case.expect("weighted_clid", end, 1e-7 * max(abs(value), reach), "absolute", "scipy",
                        f"weight -+ t.ppf(0.975, {fit.free}) * standard_error", column=column, **cell)


# ---------------------------------------------------------------- correlations


def spearman_p(x, y):
    """Up to 9 models over all orders; beyond, by Student's t, which gives 0 where counting orders could not."""
    if len(x) <= 9:
        x, y = rankdata(x) - np.mean(rankdata(x)), rankdata(y)
        found = permutation_test((x,), lambda x, axis: (x * y).sum(axis=axis), permutation_type="pairings",
                                 n_resamples=np.inf, vectorized=True)
        return found.pvalue, "permutation_test((x,), spearman, permutation_type='pairings', n_resamples=inf).pvalue"
    return max(spearmanr(x, y).pvalue, 2 / math.factorial(len(x))), "max(spearmanr(x, y).pvalue, 2 / n!)"


def fisher_interval(value, nearly_one, variance):
    """At 1 or -1 the open end is that of two neighbours swapped."""
    reach = norm.ppf(0.5 + LEVEL / 2)
    centre = math.copysign(nearly_one, value) if abs(value) > 1 - 1e-12 else value
    low, high = (np.tanh(np.arctanh(centre) + side * reach * math.sqrt(variance(centre))) for side in (-1, 1))
    return -1.0 if value < -1 + 1e-12 else low, 1.0 if value > 1 - 1e-12 else high


def expect_correlations(case, scores, performance, fitted):
    """One line per score that four models have."""
    columns = {metric: {m: own[metric] for m, own in scores.items() if own.get(metric) is not None}
               for metric in dict.fromkeys(metric for own in scores.values() for metric in own)} | fitted
    ps = {}
    for metric, values in columns.items():
        models = [m for m in values if m in performance]
        if len(models) < 4:
            continue
        x, y = np.array([values[m] for m in models]), np.array([performance[m] for m in models])
        cell = {"part": "cell", "row": [metric]}
        case.expect("performance", len(models), 0, "absolute", "numpy", "models with both", column="models", **cell)
        if np.ptp(x) == 0 or np.ptp(y) == 0:
            for column in ("spearman", "spearman_low", "spearman_high", "spearman_p", "spearman_q", "kendall",
                           "kendall_low", "kendall_high", "kendall_p"):
                case.undefine("performance", "the score or the performance is constant", column=column, **cell)
            continue
        expect_line(case, metric, x, y, cell, ps)
    for metric, q in zip(ps, false_discovery_control(list(ps.values()), method="bh")) if ps else ():
        case.expect("performance", q, 1e-9, "relative", "scipy", "false_discovery_control(spearman_p, method='bh')",
                    part="cell", row=[metric], column="spearman_q")


def expect_line(case, metric, x, y, cell, ps):
    n = len(x)
    rho, tau = spearmanr(x, y).statistic, kendalltau(x, y)
    case.expect("performance", rho, 1e-12, "absolute", "scipy", "spearmanr(x, y).statistic", column="spearman", **cell)
    case.expect("performance", tau.statistic, 1e-12, "absolute", "scipy", "kendalltau(x, y).statistic",
                column="kendall", **cell)
    if metric in FITTED:
        for column in ("spearman_low", "spearman_high", "spearman_p", "spearman_q", "kendall_low", "kendall_high",
                       "kendall_p"):
            case.undefine("performance", "the score was fitted to the performance", column=column, **cell)
        return
    ps[metric], call = spearman_p(x, y)
    case.expect("performance", ps[metric], 1e-9, "relative", "scipy", call, column="spearman_p", **cell)
    case.expect("performance", tau.pvalue, 1e-9, "relative", "scipy", "kendalltau(x, y).pvalue", column="kendall_p",
                **cell)
    ends = {"spearman": fisher_interval(rho, 1 - 12 / (n ** 3 - n), lambda r: (1 + r * r / 2) / (n - 3))}
    formulas = {"spearman": "(1 + rho ** 2 / 2) / (n - 3)", "kendall": "0.437 / (n - 4)"}
    if n > 4:
        ends["kendall"] = fisher_interval(tau.statistic, 1 - 4 / (n * n - n), lambda _: 0.437 / (n - 4))
    else:
        for column in ("kendall_low", "kendall_high"):
            case.undefine("performance", "needs five models", column=column, **cell)
    for name, (low, high) in ends.items():
        call = f"tanh(arctanh({name}) -+ norm.ppf(0.975) * sqrt({formulas[name]}))"
        for column, end in ((f"{name}_low", low), (f"{name}_high", high)):
            case.expect("performance", end, 1e-8, "absolute", "scipy", call, column=column, **cell)


# ---------------------------------------------------------------- cases


def performance_case(name, about, columns, performance):
    """`columns` has the scores of all models by metric, None where a model has none; so has `performance`."""
    models = [f"model-{chr(ord('a') + i)}" for i in range(len(performance))]
    rounded = lambda values: [None if v is None else round(float(v), 6) for v in values]
    scores = {model: {} for model in models}
    for metric, values in columns.items():
        for model, value in zip(models, rounded(values), strict=True):
            scores[model][metric] = value
    known = {model: value for model, value in zip(models, rounded(performance)) if value is not None}
    case = Case("performance", name, about, {}, {"scores": scores, "performance": known})
    fitted = expect_weights(case, scores, known)
    expect_correlations(case, scores, known, fitted)


def without(values, *places):
    return [None if i in places else v for i, v in enumerate(values)]


def performance_cases():
    rng = np.random.default_rng(1501)
    cl, dims = rng.uniform(0.6, 0.95, 8), rng.uniform(5, 30, 8)
    accuracy = 0.5 + 0.3 * cl - 0.004 * dims + 0.01 * rng.standard_normal(8)
    performance_case("eight-models", "Eight models; scores that are tied, constant, missing, and perfect both ways.",
                     {"clid.cl": cl, "clid.id": dims, "rankme(variant=paper)": np.exp(accuracy) * 40,
                      "inertia.share": 1 / accuracy, "silhouette": np.round(accuracy * 15) / 15,
                      "nmi": np.full(8, 0.25), "two_nn": without(dims * 1.1, 2), "uniformity": rng.standard_normal(8),
                      "stable_rank": without(cl, 0, 1, 2, 3, 4)}, accuracy)
    rng = np.random.default_rng(1502)
    cl, dims = rng.uniform(0.3, 0.9, 14), rng.uniform(2, 60, 14)
    accuracy = np.round(60 + 20 * cl + 0.1 * dims + 3 * rng.standard_normal(14))
    performance_case("fourteen-models", "Fourteen models, accuracies in whole per cent with ties; p by formulas.",
                     {"clid.cl": cl, "clid.id": dims, "ami": np.round(rng.uniform(0, 1, 14), 1),
                      "rankme(variant=spec)": rng.uniform(1, 100, 14), "condition_number": accuracy ** 2,
                      "nmi": np.arange(14.0)}, accuracy)
    rng = np.random.default_rng(1503)
    performance_case("untied-twelve", "Twelve models without ties: Kendall's p-value is exact; one order is perfect.",
                     {"clid.cl": rng.uniform(0.5, 1, 12), "clid.id": rng.uniform(3, 9, 12), "nmi": np.arange(12.0),
                      "ami": np.r_[np.arange(11.0), 3.5]}, np.arange(12) ** 1.5)
    rng = np.random.default_rng(1504)
    performance_case("four-models", "The fewest: each left-out fit passes through its three models.",
                     {"clid.cl": rng.uniform(0.5, 1, 4), "clid.id": rng.uniform(5, 9, 4)}, [0.71, 0.64, 0.82, 0.69])
    rng = np.random.default_rng(1505)
    cl, dims = rng.uniform(0.6, 0.95, 7), rng.uniform(5, 30, 7)
    performance_case("unknown-performance", "Two models without performance, and one without ID.",
                     {"clid.cl": cl, "clid.id": without(dims, 5)}, without(cl * 80 + rng.standard_normal(7), 1, 4))
    rng = np.random.default_rng(1506)
    performance_case("equal-cl", "All models have CL 1, as with clusters far apart: only ID has a weight.",
                     {"clid.cl": np.ones(6), "clid.id": rng.uniform(5, 30, 6)}, rng.uniform(0.4, 0.9, 6))
    rng = np.random.default_rng(1507)
    performance_case("all-but-one-equal-cl", "One model alone has another CL: without it, only ID has a weight.",
                     {"clid.cl": [1, 1, 1, 0.8, 1, 1], "clid.id": rng.uniform(5, 30, 6)}, rng.uniform(0.4, 0.9, 6))
    dims = np.array([3.0, 5.0, 8.0, 9.0, 14.0])
    performance_case("collinear", "CL is a straight line in ID: no weights, but correlations.",
                     {"clid.cl": 0.5 + dims / 32, "clid.id": dims}, [0.5, 0.4, 0.7, 0.6, 0.9])
    performance_case("equal-performance", "All models do equally well: nothing to fit, nothing to correlate.",
                     {"clid.cl": [0.7, 0.8, 0.9, 0.6, 0.5], "clid.id": dims}, [0.5] * 5)
    performance_case("three-models", "Three models: no weights, no correlations.",
                     {"clid.cl": [0.7, 0.8, 0.9], "clid.id": dims[:3]}, [0.5, 0.6, 0.4])
