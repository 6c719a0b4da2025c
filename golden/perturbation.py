# SPDX-License-Identifier: MIT
"""Golden cases of perturbation: predictions with and without masks, scores by scikit-learn, SciPy and NumPy."""
import numpy as np
from case import Case
from scipy.integrate import trapezoid
from scipy.optimize import brentq
from scipy.stats import binomtest, chi2, norm, sem
from sklearn.metrics import accuracy_score, confusion_matrix, precision_recall_fscore_support

EXACT = 1000  # up to so many samples that change, McNemar's test is exact


class Head:
    def __init__(self, name, classes, labels, baseline):
        self.name, self.classes = name, [str(c) for c in classes]
        self.labels, self.baseline = np.asarray(labels), np.asarray(baseline)


class Masked:
    """A perturbed set: predictions for each head, and the shares that were masked, where they are known."""

    def __init__(self, family, percent, predictions, masked_lit=None, masked_all=None):
        self.name, self.family, self.percent = f"{family}{percent}", family, percent
        self.predictions = [np.asarray(p) for p in predictions]
        self.masked_lit, self.masked_all = masked_lit, masked_all

    def options(self):
        return {"name": self.name, "family": self.family, "percent": self.percent,
                "predictions": [written(p) for p in self.predictions],
                "masked_lit": self.masked_lit, "masked_all": self.masked_all}


def written(codes):
    return " ".join(map(str, codes))


def mcnemar(before, after):
    lost, gained = int((before & ~after).sum()), int((~before & after).sum())
    if lost + gained <= EXACT:
        return binomtest(lost, lost + gained).pvalue if lost + gained else 1.0, "binomtest(lost, lost + gained).pvalue"
    statistic = (abs(lost - gained) - 1) ** 2 / (lost + gained)
    return chi2.sf(statistic, 1), "chi2.sf((abs(lost - gained) - 1)**2 / (lost + gained), 1)"


def paired_interval(before, after):
    """Tango 1998: the differences that a score test at 5 % does not reject. The likeliest shares of a difference d, q gained and q + d lost,
    are found where the derivative of the likelihood changes its sign."""
    lost, gained, n = int((before & ~after).sum()), int((~before & after).sum()), len(before)
    found = (lost - gained) / n

    def score(d):
        if d == found:
            return 0.0
        # u is the smaller of the two shares, which leaves `room` for both of them.
        room = (1 - abs(d)) / 2
        more, less = (lost, gained) if d >= 0 else (gained, lost)

        def slope(u):
            return less / u + more / (u + abs(d)) - (n - lost - gained) / (room - u)

        ends = 1e-14 * room, (1 - 1e-14) * room
        u = 0.0 if slope(ends[0]) <= 0 else room if slope(ends[1]) >= 0 else brentq(slope, *ends, xtol=1e-17, rtol=1e-15)
        squared = (2 * u + abs(d) - d * d) / n
        return (found - d) / np.sqrt(max(squared, np.finfo(float).tiny))

    def end(far, quantile):
        edge = far * (1 - 1e-12)
        if found == far or abs(score(edge)) < abs(quantile):
            return far
        return brentq(lambda d: score(d) - quantile, edge, found, xtol=1e-15)

    z = norm.ppf(0.975)
    return end(-1.0, z), end(1.0, -z)


def perturbation_case(name, about, heads, sets, by_class=True):
    options = {"perturbation": {
        "heads": [{"name": h.name, "classes": h.classes, "labels": written(h.labels), "baseline": written(h.baseline)}
                  for h in heads],
        "sets": [s.options() for s in sets]}}
    case = Case("perturbation", name, about, {}, options)
    for i, head in enumerate(heads if by_class else []):
        expect_classes(case, head, "baseline", head.baseline)
        for masked in sets:
            expect_classes(case, head, masked.name, masked.predictions[i])
    judged = {h.name: (h.labels == h.baseline, [h.labels == s.predictions[i] for s in sets]) for i, h in enumerate(heads)}
    labels = {h.name: h.labels[None, :] for h in heads}
    if len(heads) > 1:
        judged["combined"] = (np.all([before for before, _ in judged.values()], axis=0),
                              [np.all(after, axis=0) for after in zip(*(after for _, after in judged.values()))])
        labels["combined"] = np.stack([h.labels for h in heads])
    for head, (before, after) in judged.items():
        chance = np.unique(labels[head], axis=1, return_counts=True)[1].max() / len(before)
        for at, right in [("baseline", before), *((s.name, a) for s, a in zip(sets, after))]:
            accuracy = accuracy_score(np.ones(len(right)), right)
            case.expect(f"accuracy.{head}@{at}", accuracy, 1e-12, "absolute", "scikit-learn",
                        "accuracy_score(labels, predictions), all heads right for combined")
            case.expect(f"accuracy.{head}@{at}", np.sqrt(accuracy * (1 - accuracy) / len(right)), 1e-12, "absolute", "numpy",
                        "sqrt(a * (1 - a) / n)", part="standard_error")
            case.expect(f"accuracy.{head}@{at}", chance, 1e-12, "absolute", "numpy",
                        "unique(labels, return_counts=True)[1].max() / n", part="chance")
        for masked, right in zip(sets, after):
            expect_impact(case, head, masked, before, right)
            for own in heads if by_class else []:
                for code, label in enumerate(own.classes):
                    expect_class_impact(case, head, masked, before, right, own.labels == code, [own.name, label])
        for family in dict.fromkeys(s.family for s in sets):
            members = sorted((s.percent, j) for j, s in enumerate(sets) if s.family == family)
            expect_family(case, head, family, before, [(percent, after[j]) for percent, j in members])


def expect_classes(case, head, at, said):
    everything = np.arange(len(head.classes))
    columns = dict(zip(("precision", "recall", "f1", "support"), precision_recall_fscore_support(
        head.labels, said, labels=everything, zero_division=np.nan)))
    for column, values in columns.items():
        for label, value in zip(head.classes, values):
            where = {"part": "cell", "row": [label], "column": column}
            if np.isnan(value):
                case.undefine(f"accuracy.{head.name}@{at}", f"no {column}: the denominator is 0", **where)
            else:
                case.expect(f"accuracy.{head.name}@{at}", value, 1e-12, "absolute", "scikit-learn",
                            "precision_recall_fscore_support(labels, predictions, zero_division=nan)", **where)
    table = confusion_matrix(head.labels, said, labels=everything)
    for i, j in zip(*np.nonzero(table)):
        case.expect(f"accuracy.{head.name}.confusion@{at}", table[i, j], 1e-12, "absolute", "scikit-learn",
                    "confusion_matrix(labels, predictions)", part="cell",
                    row=[head.classes[i], head.classes[j]], column="count")


def expect_impact(case, head, masked, before, right):
    drop = before.mean() - right.mean()
    spread = (before.astype(float) - right).std() / np.sqrt(len(before))
    nominal, name = masked.percent / 100, masked.name

    def expect(which, value, tolerance, library, call, **where):
        case.expect(f"pis.{head}{which}@{name}", value, tolerance, "absolute", library, call, **where)

    expect("", drop / nominal, 1e-12 / nominal, "numpy", "(mean(before) - mean(after)) / (percent / 100)")
    expect("", spread / nominal, 1e-12 / nominal, "numpy", "std(before - after) / sqrt(n) / (percent / 100)",
           part="standard_error")
    expect(".drop", drop, 1e-12, "numpy", "mean(before) - mean(after)")
    for part, share in (("(f=lit)", masked.masked_lit), ("(f=all)", masked.masked_all)):
        if share:
            expect(part, drop / share, 1e-12 / share, "numpy", "(mean(before) - mean(after)) / share that was masked")
        else:
            why = "no pixel was masked" if share == 0 else "the share is not known"
            case.undefine(f"pis.{head}{part}@{name}", why)
    if before.any():
        relative = drop / before.mean()
        expect(".relative", relative, 1e-12, "numpy", "(mean(before) - mean(after)) / mean(before)")
        expect(".relative", np.std(before * (1 - relative) - right) / np.sqrt(len(before)) / before.mean(), 1e-12, "numpy",
               "std((before - after) - relative * before) / sqrt(n) / mean(before)", part="standard_error")
    else:
        case.undefine(f"pis.{head}.relative@{name}", "nothing is right without perturbation")
    p, call = mcnemar(before, right)
    case.expect(f"pis.{head}.p@{name}", p, 1e-9, "relative", "scipy", call)
    row = {"part": "cell", "row": [head, masked.family, name]}
    ends = np.array(paired_interval(before, right)) / nominal
    cells = {"accuracy": right.mean(), "baseline": before.mean(), "lost": (before & ~right).sum(),
             "gained": (~before & right).sum(), "pis": drop / nominal}
    for column, value in cells.items():
        case.expect("pis", value, 1e-12 / nominal, "absolute", "numpy", f"{column} of before and after", **row, column=column)
    for column, value in zip(("pis_low", "pis_high"), ends):
        case.expect("pis", value, 1e-9 / nominal, "absolute", "scipy",
                    "Tango: brentq of the score test of a difference, norm.ppf(0.975)", **row, column=column)


def expect_class_impact(case, head, masked, before, right, is_class, row):
    before, right = before[is_class], right[is_class]
    where = {"part": "cell", "row": row}
    nominal, id = masked.percent / 100, f"pis.{head}@{masked.name}"
    if not len(before):
        for column in ("baseline", "accuracy", "drop", "pis", "pis_low", "pis_high", "p"):
            case.undefine(id, "a class without samples", **where, column=column)
        return
    ends = np.array(paired_interval(before, right)) / nominal
    cells = {"samples": len(before), "baseline": before.mean(), "accuracy": right.mean(),
             "pis": (before.mean() - right.mean()) / nominal}
    for column, value in cells.items():
        case.expect(id, value, 1e-12 / nominal, "absolute", "numpy", f"{column} of the samples of a class", **where,
                    column=column)
    case.expect(id, ends[0], 1e-9 / nominal, "absolute", "scipy", "Tango", **where, column="pis_low")
    case.expect(id, mcnemar(before, right)[0], 1e-9, "relative", "scipy", mcnemar(before, right)[1], **where, column="p")


def expect_family(case, head, family, before, members):
    percents = np.array([percent for percent, _ in members])
    rights = np.array([right for _, right in members]).astype(float)
    drops = before - rights
    summaries = {
        "mean": ((drops / (percents[:, None] / 100)).mean(axis=0), "numpy", "mean of (before - after) / (percent / 100)"),
        "aopc": (np.concatenate([np.zeros((1, len(before))), drops]).mean(axis=0), "numpy",
                 "mean of [0, before - after]"),
        "deletion": (trapezoid([before, *rights], [0, *percents], axis=0) / percents[-1], "scipy",
                     "trapezoid([before, *after], [0, *percents]) / percents[-1]"),
    }
    for part, (values, library, call) in summaries.items():
        scale = max(1.0, np.abs(values).max())
        case.expect(f"pis.{head}.{part}@{family}", values.mean(), 1e-12 * scale, "absolute", library,
                    f"mean over samples of {call}")
        if len(values) > 1:
            case.expect(f"pis.{head}.{part}@{family}", sem(values), 1e-12 * scale, "absolute", "scipy",
                        f"sem over samples of {call}", part="standard_error")


def wrong(rng, labels, classes, share):
    """Labels of which about this share is replaced by lot."""
    return np.where(rng.random(len(labels)) < share, rng.integers(0, classes, len(labels)), labels)


def perturbation_cases():
    rng = np.random.default_rng(1801)
    n = 90
    modulation, snr = rng.integers(0, 4, n), rng.integers(0, 3, n)
    heads = [Head("modulation", ["16QAM", "8PSK", "BPSK", "QPSK"], modulation, wrong(rng, modulation, 4, 0.3)),
             Head("snr", [0, 10, 20], snr, wrong(rng, snr, 3, 0.4))]

    def masked(family, percent, share, lit=None, every=None):
        return Masked(family, percent, [wrong(rng, head.baseline, len(head.classes), share) for head in heads], lit, every)

    perturbation_case("two-heads", "Two heads, three families of masks, shares that were masked.", heads,
                      [masked("top", 1, 0.2, 0.012, 0.0002), masked("top", 5, 0.5, 0.06, 0.001),
                       masked("bottom", 1, 0.9, 0.94, 0.018), masked("random", 2.5, 0.1, 0.025, 0.0005)])
    perturbation_case("any-order", "Strengths that are not in order and not even.", heads,
                      [masked("top", 20, 0.8), masked("top", 0.5, 0.1, 0.0), masked("top", 3, 0.3)], by_class=False)
    rng = np.random.default_rng(1802)
    labels = rng.choice([0, 1, 3], 60)
    baseline = np.where(labels == 3, 1, wrong(rng, labels, 2, 0.5))
    better = np.where(rng.random(60) < 0.5, labels, baseline)
    perturbation_case("one-head", "One head, so nothing combined; a class without samples, one that is never predicted; masks "
                      "that help.", [Head("kind", ["a", "b", "c", "d"], labels, baseline)],
                      [Masked("top", 1, [better]), Masked("top", 2, [labels]), Masked("bottom", 4, [baseline])])
    labels = rng.integers(0, 2, 40)
    perturbation_case("nothing-right", "Every prediction is wrong without perturbation: nothing can be lost.",
                      [Head("kind", ["a", "b"], labels, 1 - labels)], [Masked("top", 1, [wrong(rng, 1 - labels, 2, 0.3)])])
    perturbation_case("one-sample", "One sample that is lost.", [Head("kind", ["a", "b"], [1], [1])],
                      [Masked("top", 1, [[0]], 0.01, 0.01)])
    rng = np.random.default_rng(1803)
    labels = rng.integers(0, 3, 3000)
    baseline = wrong(rng, labels, 3, 0.4)
    perturbation_case("many", "Enough changes that McNemar's test is no longer exact.",
                      [Head("kind", ["a", "b", "c"], labels, baseline)],
                      [Masked("top", 5, [wrong(rng, labels, 3, 0.55)]), Masked("random", 5, [wrong(rng, labels, 3, 0.42)]),
                       Masked("random", 10, [rng.integers(0, 3, 3000)])])
