# SPDX-License-Identifier: MIT
"""Golden cases of probes: nested cross-validation written out with scikit-learn's Ridge and LogisticRegression.

Episodes are the folds: there are as many as folds, so each is one. Each is predicted from the others, whose penalty has the least error
summed over all their rows, each of these folds being predicted from the rest. Columns are standardized by the rows that train.
"""
import itertools
import warnings

import numpy as np
from case import Case, agree, digits, f64, no_near_ties, principal_codes
from scipy.linalg import lstsq
from scipy.stats import entropy
from sklearn.linear_model import LogisticRegression, Ridge, RidgeCV
from sklearn.metrics import accuracy_score, log_loss, mean_absolute_error, r2_score
from sklearn.model_selection import PredefinedSplit
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

RIDGE = [10.0 ** power for power in range(-4, 9)]
LOGISTIC = [10.0 ** power for power in range(-3, 6)]
EPS = np.finfo(np.float64).eps
BINS = 15


def ridge(penalty, rows, targets):
    """Standardized columns and scikit-learn's Ridge; the augmented least-squares problem must agree."""
    model = make_pipeline(StandardScaler(), Ridge(alpha=penalty, solver="cholesky" if len(rows) > rows.shape[1] else "svd"))
    model.fit(rows, targets)
    scaler = model[0]
    scaled = scaler.transform(rows)
    augmented = np.vstack([scaled, np.sqrt(penalty) * np.eye(rows.shape[1])])
    right = np.concatenate([targets - targets.mean(), np.zeros(rows.shape[1])])
    weights = lstsq(augmented, right)[0]
    if penalty > 1e-2:
        agree("ridge", np.abs(scaled @ weights - scaled @ model[1].coef_).max(), 0.0, 1e-6 * np.abs(right).max())
    return model


def logistic(penalty, rows, labels):
    model = make_pipeline(StandardScaler(), LogisticRegression(C=1 / penalty, solver="lbfgs", tol=1e-12, max_iter=20000))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return model.fit(rows, labels)


def nested(folds, penalties, fit, loss):
    """The prediction of each fold by a model of the others: pairs of its rows and the model."""
    found = []
    losses = {}
    numbers = np.unique(folds)
    for pair in itertools.combinations(numbers, 2):
        trains = ~np.isin(folds, pair)
        for penalty in penalties:
            model = fit(penalty, trains)
            for fold in pair:
                other = pair[1] if fold == pair[0] else pair[0]
                losses[fold, other, penalty] = loss(model, folds == fold)
    for fold in numbers:
        total = {penalty: sum(losses[inner, fold, penalty] for inner in numbers if inner != fold) for penalty in penalties}
        best, second = sorted(total.values())[:2] if len(penalties) > 1 else (0, 1)
        if second - best < 1e-6 * abs(best):
            raise SystemExit("probe: two penalties are as good; pick another seed")
        penalty = min(penalties, key=total.get)
        found.append((folds == fold, fit(penalty, folds != fold)))
    return found


def same_as_ridge_cv(rows, targets, folds):
    """RidgeCV with the folds as given splits takes the same penalties where columns are standardized before."""
    scaled = StandardScaler().fit_transform(rows)
    model = RidgeCV(alphas=RIDGE, cv=PredefinedSplit(folds), scoring="neg_mean_squared_error").fit(scaled, targets)
    return model.alpha_


def expect_targets(case, rows, targets, folds):
    count = targets.shape[1]
    predicted = np.empty_like(targets)
    for column in range(count):
        own = targets[:, column]
        fit = lambda penalty, trains: ridge(penalty, rows[trains], own[trains])
        loss = lambda model, tested: ((model.predict(rows[tested]) - own[tested]) ** 2).sum()
        for tested, model in nested(folds, RIDGE, fit, loss):
            predicted[tested, column] = model.predict(rows[tested])
    constant = np.ptp(targets, axis=0) == 0
    for column in range(count):
        own = targets[:, column]
        name = f"probe.linear.r2(target={column})"
        if constant[column]:
            case.undefine(name, "the target is the same for all rows")
        else:
            case.expect(name, r2_score(own, predicted[:, column]), 1e-6, "absolute", "scikit-learn",
                        "r2_score of out-of-fold predictions of make_pipeline(StandardScaler(), Ridge(alpha))")
        case.expect(f"probe.linear.mae(target={column})", mean_absolute_error(own, predicted[:, column]),
                    1e-6 * max(np.abs(own).max(), 1e-3), "absolute", "scikit-learn", "mean_absolute_error of the same")
    if constant.any():
        case.undefine("probe.linear.r2", "one of the targets is the same for all rows")
        case.undefine("probe.linear.r2(average=variance)", "one of the targets is the same for all rows")
        return
    case.expect("probe.linear.r2", r2_score(targets, predicted), 1e-6, "absolute", "scikit-learn",
                "r2_score(multioutput='uniform_average')")
    case.expect("probe.linear.r2(average=variance)", r2_score(targets, predicted, multioutput="variance_weighted"), 1e-6,
                "absolute", "scikit-learn", "r2_score(multioutput='variance_weighted')")


def calibration(right, confidence, of_mass):
    n = len(right)
    if of_mass:
        order = np.argsort(confidence, kind="stable")
        bins = np.empty(n, dtype=int)
        bins[order] = np.arange(n) * BINS // n
    else:
        bins = np.clip(np.ceil(confidence * BINS).astype(int), 1, BINS) - 1
    held = [bins == b for b in range(BINS) if (bins == b).any()]
    return sum(own.mean() * abs(right[own].mean() - confidence[own].mean()) for own in held)


def expect_labels(case, rows, labels, folds, k, is_control):
    classes = np.unique(labels)
    fit = lambda penalty, trains: logistic(penalty, rows[trains], labels[trains])

    def probabilities(model, tested):
        full = np.zeros((tested.sum(), len(classes)))
        full[:, np.searchsorted(classes, model.classes_)] = model.predict_proba(rows[tested])
        return full

    own = np.searchsorted(classes, labels)

    def loss(model, tested):
        p = probabilities(model, tested)[np.arange(tested.sum()), own[tested]]
        return -np.log(np.maximum(p, EPS)).sum()

    p = np.empty((len(rows), len(classes)))
    for tested, model in nested(folds, LOGISTIC, fit, loss):
        p[tested] = probabilities(model, tested)
    elected, confidence = p.argmax(axis=1), p.max(axis=1)
    right = (elected == own).astype(float)
    call = "out-of-fold predictions of make_pipeline(StandardScaler(), LogisticRegression(C, tol=1e-12))"
    accuracy = accuracy_score(own, elected)
    case.expect("probe.linear.accuracy", accuracy, 1e-12, "absolute", "scikit-learn", "accuracy_score of " + call)
    shares = np.bincount(own) / len(own)
    case.expect("probe.linear.accuracy", shares.max(), 1e-12, "absolute", "numpy", "share of the largest class", part="chance")
    mean = -np.log(np.maximum(p[np.arange(len(p)), own], EPS)).mean()
    agree("log_loss", mean, log_loss(own, np.clip(p, EPS, 1), labels=range(len(classes))), 1e-6)
    case.expect("probe.linear.log_loss", mean, 1e-5, "relative", "scikit-learn", "log_loss of the same")
    case.expect("probe.linear.log_loss", entropy(shares), 1e-9, "absolute", "scipy", "entropy of the shares", part="chance")
    case.expect("probe.linear.ece", calibration(right, confidence, False), 1e-5, "absolute", "numpy",
                "sum of |accuracy - confidence| n_b / N over 15 bins of equal width")
    case.expect("probe.linear.ece(bins=mass)", calibration(right, confidence, True), 1e-5, "absolute", "numpy",
                "the same over 15 bins of as many rows")
    votes = np.empty(len(own), dtype=int)
    for fold in np.unique(folds):
        model = KNeighborsClassifier(n_neighbors=k, algorithm="brute").fit(rows[folds != fold], own[folds != fold])
        votes[folds == fold] = model.predict(rows[folds == fold])
    case.expect(f"probe.knn.accuracy@{k}", accuracy_score(own, votes), 1e-12, "absolute", "scikit-learn",
                "accuracy_score of out-of-fold predictions of KNeighborsClassifier")
    if is_control:
        why = "episodes have the same labels in the same order, so shuffling episodes changes nothing"
        case.expect("probe.linear.control", accuracy, 1e-12, "absolute", "scikit-learn", why)
        case.expect("probe.linear.selectivity", 0.0, 1e-12, "absolute", "scikit-learn", why)
        case.expect(f"probe.knn.selectivity@{k}", 0.0, 1e-12, "absolute", "scikit-learn", why)


def probe_case(name, about, latent, folds, labels=None, targets=None, k=1, is_control=False):
    """Labels count the classes in the order in which they appear, which decides tied votes."""
    arrays = {"latent": latent, "episodes": folds.astype(np.int64)}
    if labels is not None:
        first = {label: place for place, label in reversed(list(enumerate(labels)))}
        order = sorted(first, key=first.get)
        labels = np.array([order.index(label) for label in labels], dtype=np.int64)
        arrays["labels"] = labels
    if targets is not None:
        arrays["targets"] = targets
    case = Case("probe", name, about, arrays, {"probe_k": k})
    rows = f64(latent)
    if targets is not None:
        expect_targets(case, rows, f64(targets), folds)
    if labels is not None and len(np.unique(labels)) > 1:
        no_near_ties(name, latent, 1e-9, exact_ties_allowed=False)
        expect_labels(case, rows, labels, folds, k, is_control)
    elif labels is not None:
        for part in ("accuracy", "selectivity", "control", "log_loss", "ece"):
            case.undefine(f"probe.linear.{part}", "all rows have one label")


def probe_cases():
    rng = np.random.default_rng(701)
    images, classes = digits()
    chosen = rng.permutation(len(images))[:250]
    codes = principal_codes(images[chosen], 12) + 0.001 * rng.standard_normal((250, 12))
    values = codes[:, :3] @ rng.standard_normal((3, 2)) + 3 * rng.standard_normal((250, 2)) + 100
    probe_case("digits", "Principal codes of digits, their classes, and two noisy linear targets; folds of 50 rows.", codes,
               rng.permutation(250) % 5, classes[chosen], values, k=3)
    rng = np.random.default_rng(702)
    codes = rng.standard_normal((60, 90))
    labels = (codes[:, :5].sum(axis=1) + rng.standard_normal(60) > 0).astype(int)
    targets = (codes[:, :4] @ np.ones(4) + rng.standard_normal(60))[:, None]
    probe_case("wide", "More columns than rows, two classes, one target.", codes, np.arange(60) % 5, labels, targets)
    rng = np.random.default_rng(703)
    labels = rng.choice(3, 200, p=[0.7, 0.2, 0.1])
    labels[:3] = [0, 1, 2]
    codes = (rng.standard_normal((200, 6)) * [1, 100, 0.01, 1, 1, 0] + labels[:, None] * [1, 0, 0.01, 0, 0, 0] + 1e4)
    folds = np.repeat(np.arange(5), [60, 50, 40, 30, 20])
    targets = np.stack([codes[:, 0] * 2 + rng.standard_normal(200), np.full(200, 7.0)], axis=1)
    probe_case("offset", "Columns of very different scales, one constant, all around 1e4; unequal folds and classes; one target is "
               "constant.", codes, folds, labels, targets)
    rng = np.random.default_rng(704)
    pattern = rng.permutation(np.arange(40) % 4)
    labels = np.tile(pattern, 5)
    codes = (np.eye(4)[labels] @ rng.standard_normal((4, 5)) + 0.8 * rng.standard_normal((200, 5))).astype(np.float32)
    probe_case("alike-episodes", "f32; every episode has the same labels in the same order, so that shuffled episodes have the labels "
               "of the data.", codes, np.repeat(np.arange(5), 40), labels, k=5, is_control=True)
    rng = np.random.default_rng(705)
    labels = np.repeat([0, 1, 2], [40, 40, 10])
    codes = rng.standard_normal((90, 4)) + labels[:, None]
    folds = np.concatenate([np.arange(40) % 4, np.arange(40) % 4, np.full(10, 4)])
    probe_case("class-of-one-fold", "A class that only one fold has, so that no probe of the others knows it.", codes, folds, labels)
    rng = np.random.default_rng(706)
    probe_case("one-class", "One class: nothing can be told apart.", rng.standard_normal((50, 3)), np.arange(50) % 5,
               np.zeros(50, dtype=int))
