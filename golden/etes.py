# SPDX-License-Identifier: MIT
"""Golden cases of ETES, texts generated from signals: writes `etes.json`; `--check` recomputes it and compares.

    pip install numpy==2.4.6 scipy==1.17.1 scikit-learn==1.9.1 torch==2.15.0 sacrebleu==2.6.0 rouge-score==0.1.2 jiwer==4.0.0

`cases`  rows of `signal`, `generated` and, where there are any, `reference`, `fluency`, `groups`, `units`, `texts` and
         `reference_texts`, and the options that are not the usual ones;
         `expected`  scores, null where there is none; `parts`  standard errors and chance levels;
         `cells`     of the breakdowns, by what is broken down and the name of the line; `samples`  columns, null likewise
Every value holds within 1e-9. Cosines are those of torch; the AUC is scikit-learn's, correlations are SciPy's. The spread of
shuffled pairs is the doubly centred formula, compared with all orders of six pairs before anything is written. Ties are those
of rows that are equal: no two other cosines are nearer than 1e-9.
"""
import json
import sys
from importlib.metadata import version
from itertools import permutations
from pathlib import Path

import jiwer
import numpy as np
import torch
from rouge_score.rouge_scorer import RougeScorer
from sacrebleu import sentence_bleu
from scipy.stats import pearsonr, sem, spearmanr
from sklearn.metrics import roc_auc_score

FILE = Path(__file__).parent / "etes.json"
TOLERANCE = 1e-9
LIBRARIES = ("numpy", "scipy", "scikit-learn", "torch", "sacrebleu", "rouge-score", "jiwer")
SAME = 1e-12
K, WEIGHT, CUTS = [1, 5, 10], 0.1, [-0.8, -0.5, -0.2, 0.0]
BANDS = ["excellent", "good", "fair", "weak", "poor"]
SCORER = RougeScorer(["rouge1", "rouge2", "rougeL"], use_stemmer=False)

PAIRS = [
    # generated, reference
    ("He was born in 1921 in Ohio.", "He was born in Cleveland, Ohio, in 1921."),
    ("The film is a comedy about love.", "It is a charming and often funny comedy."),
    ("She won the award twice.", "She won the award twice."),
    ("A slow story without an end.", "The plot is slow, and the end comes too late."),
    ("He studied law at Harvard.", "After school he studied medicine at Yale."),
    ("The company was sold in 1999.", "Bush sold the company in 1999 for $14 million."),
    ("An actor of the silent era.", "He acted in forty silent films."),
    ("It is not a good film.", "It is a bad film, though not a dull one."),
    ("The president was his father.", "His father was president of the bank."),
    ("Music by the same composer.", "The same composer wrote the music for three of her films."),
    ("They married and had two children.", "They married in June and had two children."),
    ("One of the best of the year.", "By far one of the best films of the year."),
]


def cosines(a, b):
    """Of every row with every row; NaN where a row is zero."""
    a, b = torch.tensor(a, dtype=torch.float64), torch.tensor(b, dtype=torch.float64)
    found = torch.nn.functional.cosine_similarity(a[:, None, :], b[None, :, :], dim=-1, eps=0.0)
    return found.numpy()


def unit(rows):
    return rows / np.linalg.norm(rows, axis=1, keepdims=True)


def shuffled(energy):
    """Mean and standard deviation of the mean energy over all pairings."""
    n = len(energy)
    centred = energy - energy.mean(0) - energy.mean(1)[:, None] + energy.mean()
    return energy.mean(), np.sqrt((centred**2).sum() / (n - 1)) / n


def ranks(energy):
    """How many texts are nearer than the own one, and how many others are as near."""
    own = np.diag(energy)[:, None]
    nearer = (energy < own - SAME).sum(1)
    return nearer, (np.abs(energy - own) <= SAME).sum(1) - 1


def auc(energy):
    """The AUC and its standard error: what each sample does to it as matched pair, signal and text."""
    n = len(energy)
    others = ~np.eye(n, dtype=bool)
    own, rest = np.diag(energy), energy[others]
    value = roc_auc_score([1] * n + [0] * rest.size, -np.round(np.concatenate([own, rest]), 11))
    wins = np.zeros((n, n, n))  # of pair k over signal i and text j
    for k in range(n):
        wins[k] = np.where(np.abs(energy - own[k]) <= SAME, 0.5, energy > own[k])
    wins[:, ~others] = 0.0
    parts = wins.sum((1, 2)) / (n * (n - 1)) + wins.sum((0, 2)) / (n * (n - 1)) + wins.sum((0, 1)) / (n * (n - 1))
    assert abs(wins.sum() / (n * n * (n - 1)) - value) < 1e-12
    return value, np.sqrt(((parts - 3 * value) ** 2).sum() / (n * (n - 1)))


def against_others(prefix, energy, expected, parts):
    n = len(energy)
    mean, spread = shuffled(energy)
    nearer, as_near = ranks(energy)
    expected |= {f"{prefix}.shuffled": mean, f"{prefix}.shuffled.std": 0.0 if spread < SAME else spread}
    expected[f"{prefix}.z"] = None if spread < SAME else (np.diag(energy).mean() - mean) / spread
    expected[f"{prefix}.auc"], error = auc(energy)
    parts[f"{prefix}.auc"] = {"standard_error": error, "chance": 0.5}
    for k in K:
        used = min(k, n)
        expected[f"{prefix}.top@{k}"] = np.clip((used - nearer) / (as_near + 1), 0, 1).mean()
        parts[f"{prefix}.top@{k}"] = {"chance": used / n}
    reciprocal = [np.mean(1 / np.arange(g + 1, g + e + 2)) for g, e in zip(nearer, as_near)]
    expected |= {f"{prefix}.mrr": np.mean(reciprocal), f"{prefix}.rank": np.mean(nearer + 1 + as_near / 2)}
    parts[f"{prefix}.mrr"] = {"chance": np.mean(1 / np.arange(1, n + 1))}
    parts[f"{prefix}.rank"] = {"chance": (n + 1) / 2}
    return nearer + 1 + as_near / 2


def references(prefix, energy, reference, expected, parts):
    """`reference` is NaN where a reference has no direction."""
    known = ~np.isnan(reference)
    gap = (energy - reference)[known]
    expected |= {f"{prefix}.reference": reference[known].mean(), f"{prefix}.gap": gap.mean()}
    if len(gap) > 1:
        parts[f"{prefix}.gap"] = {"standard_error": sem(gap)}
    return gap


def no_near_ties(name, energy):
    steps = np.diff(np.sort(energy.ravel()))
    near = steps[(steps > SAME) & (steps < 1e-9)]
    if near.size:
        sys.exit(f"{name}: two energies differ by {near.min()}; pick another seed")


def measure(name, case, weight):
    """Scores of the samples of a case whose vectors have a direction, and numbers of each sample."""
    signal, generated, reference = (np.array(case[key]) if key in case else None
                                    for key in ("signal", "generated", "reference"))
    kept = np.flatnonzero(signal.any(1) & generated.any(1))
    signal, generated = signal[kept], generated[kept]
    expected, parts = {}, {}
    energy = -cosines(signal, generated)
    no_near_ties(name, energy)
    own = np.diag(energy)
    total = own + weight * np.array(case["fluency"])[kept] / 10 if "fluency" in case else own
    expected |= {"etes.alignment": own.mean(), "etes.total": total.mean(), "etes.min": own.min(), "etes.max": own.max(),
                 "etes.median": np.median(own), "etes.p10": np.percentile(own, 10), "etes.p90": np.percentile(own, 90)}
    expected["etes.std"] = own.std(ddof=1) if len(own) > 1 else None
    expected["etes.modality_gap"] = np.linalg.norm(unit(signal).mean(0) - unit(generated).mean(0))
    of_reference = np.full(len(own), np.nan)
    if reference is not None:
        of_reference = -np.diag(cosines(signal, reference[kept]))
        gap = references("etes", own, of_reference, expected, parts)
        expected["etes.win_rate"] = (np.sign(-gap) / 2 + 0.5).mean()
        parts["etes.win_rate"] = {"chance": 0.5}
    else:
        expected |= dict.fromkeys(["etes.reference", "etes.gap", "etes.win_rate"])
    rank = against_others("etes", energy, expected, parts)
    parts["etes.alignment"] = {"chance": energy.mean(), "standard_error": sem(own)}
    if "fluency" in case:
        parts["etes.total"] = {"standard_error": sem(total)}

    def centre(rows):
        less = unit(rows) - unit(rows).mean(0)
        return np.where(np.linalg.norm(less, axis=1, keepdims=True) < SAME, 0.0, less)

    left = centre(signal).any(1) & centre(generated).any(1)
    if left.sum() > 1:
        centred = -cosines(centre(signal)[left], centre(generated)[left])
        no_near_ties(f"{name}, centred", centred)
        expected["etes.centred.alignment"] = np.diag(centred).mean()
        against_others("etes.centred", centred, expected, parts)
        if reference is not None:
            has = reference[kept].any(1)
            less = np.zeros_like(generated)
            less[has] = centre(reference[kept][has])
            of = -np.diag(cosines(centre(signal)[left], less[left]))
            references("etes.centred", np.diag(centred), of, expected, parts)
    else:
        expected |= dict.fromkeys(["etes.centred.alignment", "etes.centred.auc", "etes.centred.z"])
    numbers = {"energy": own, "total": total, "reference_energy": of_reference, "gap": own - of_reference, "rank": rank,
               "band": [band(e) for e in own]}
    return expected, parts, kept, numbers


def band(energy):
    return int(np.searchsorted(CUTS[:3], energy, side="right")) if energy <= CUTS[3] else 4


def etes_case(name, about, signal, generated, weight=WEIGHT, **more):
    def plain(values):
        return values.tolist() if isinstance(values, np.ndarray) else values

    case = {"name": name, "about": about, "signal": plain(signal), "generated": plain(generated)}
    case |= {key: plain(value) for key, value in more.items()}
    if weight != WEIGHT:
        case["fluency_weight"] = weight
    expected, parts, kept, numbers = measure(name, case, weight)
    n = len(signal)

    def spread_out(values):
        column = [None] * n
        for row, value in zip(kept, values):
            column[row] = None if np.isnan(value) else float(value)
        return column

    case["samples"] = {key: spread_out(values) for key, values in numbers.items()}
    counts = np.bincount(numbers["band"], minlength=5)
    cells = {"etes.bands": {label: {"samples": counts[b], "share": counts[b] / len(kept)} for b, label in enumerate(BANDS)}}
    for factor, labels in case.get("groups", {}).items():
        for label in sorted(set(labels)):
            rows = [i for i, other in enumerate(labels) if other == label]
            part = {key: [case[key][i] for i in rows] for key in ("signal", "generated", "reference", "fluency") if key in case}
            within, errors, members, _ = measure(f"{name}, {label}", part, weight)
            line = {"samples": len(members), "centred_alignment": within["etes.centred.alignment"],
                    "centred_auc": within["etes.centred.auc"]}
            for column in ("alignment", "total", "reference", "gap", "win_rate", "shuffled", "z", "auc", "mrr", "modality_gap",
                           *(f"top@{k}" for k in K)):
                line[column] = within[f"etes.{column}"]
            cells.setdefault(factor, {})[label] = line
    if "units" in case:
        codes = np.array(case["units"])[kept]
        for part in parts.values():
            part.pop("standard_error", None)
        for name, values in (("alignment", numbers["energy"]), ("total", numbers["total"]), ("gap", numbers["gap"])):
            without = np.array([values[codes != unit].mean() for unit in np.unique(codes)])
            g = len(without)
            parts[f"etes.{name}"]["standard_error"] = np.sqrt((g - 1) / g * ((without - without.mean()) ** 2).sum())
    if "texts" in case:
        expect_texts(case, numbers["energy"], expected)
    case |= {"expected": rounded(expected), "parts": rounded(parts), "cells": rounded(cells)}
    return case


def expect_texts(case, energy, expected):
    pairs = list(zip(case["texts"], case["reference_texts"]))
    rouge = [SCORER.score(reference, text) for text, reference in pairs]
    scores = {"bleu": [sentence_bleu(text, [reference]).score for text, reference in pairs],
              "rouge.1": [found["rouge1"].fmeasure for found in rouge],
              "rouge.2": [found["rouge2"].fmeasure for found in rouge],
              "rouge.l": [found["rougeL"].fmeasure for found in rouge],
              "wer": [jiwer.wer(reference, text) for text, reference in pairs]}
    case["samples"] |= scores
    for name in ("bleu", "rouge.1", "rouge.l", "wer"):
        expected[f"etes.spearman(with={name})"] = spearmanr(energy, scores[name]).statistic
        expected[f"etes.pearson(with={name})"] = pearsonr(energy, scores[name]).statistic


def rounded(tree):
    if isinstance(tree, dict):
        return {key: rounded(value) for key, value in tree.items()}
    return None if tree is None else float(tree)


def check_against_all_orders():
    """The formula for the spread, by all 720 orders of six pairs."""
    rng = np.random.default_rng(2000)
    energy = -cosines(rng.standard_normal((6, 4)) + 1, rng.standard_normal((6, 4)))
    means = [energy[np.arange(6), order].mean() for order in permutations(range(6))]
    mean, spread = shuffled(energy)
    assert abs(np.mean(means) - mean) < 1e-14 and abs(np.std(means) - spread) < 1e-14


def cases():
    rng = np.random.default_rng(2001)

    def drawn(n, d, offset=0.0):
        return np.round(rng.standard_normal((n, d)) + offset, 4)

    def like(signal, noise, offset=0.0):
        return np.round(signal + noise * rng.standard_normal(signal.shape) + offset, 4)

    signal = drawn(30, 6)
    yield etes_case("references", "Generated texts somewhat worse than references.", signal, like(signal, 1.2),
                    reference=like(signal, 0.8))
    signal = drawn(24, 5)
    fluency = np.round(rng.uniform(1.0, 6.0, 24), 3)
    yield etes_case("fluency", "Log-perplexities, and a weight of 0.25.", signal, like(signal, 1.0), weight=0.25,
                    fluency=fluency)
    signal = drawn(36, 6, 0.5)
    subjects = ["YAC", "YAG", "ZAB"] * 12
    yield etes_case("groups", "Three subjects whose samples are resampled together.", signal, like(signal, 1.5),
                    reference=like(signal, 1.0), fluency=np.round(rng.uniform(2.0, 5.0, 36), 3),
                    groups={"subject": subjects}, units=subjects)
    signal = drawn(28, 4)
    sentences = drawn(5, 4)
    nearest = cosines(signal, sentences).argmax(1)
    choice = np.where(rng.random(28) < 0.4, rng.integers(0, 5, 28), nearest)
    yield etes_case("ties", "Only five different texts.", signal, sentences[choice])
    signal = drawn(12, 40)
    yield etes_case("wide", "Fewer samples than columns.", signal, like(signal, 1.0), reference=like(signal, 2.0))
    signal = drawn(26, 8, 3.0)
    yield etes_case("cone", "Everything lies in a narrow cone: low energies, shuffled or not.", signal,
                    like(signal, 1.0, 0.5), reference=like(signal, 1.0, 0.5))
    constant = etes_case("constant", "The same text for every signal.", drawn(15, 5), np.tile(drawn(1, 5), (15, 1)))
    # Whichever pairings are drawn: none has another energy.
    constant["expected"]["etes.p"] = 1.0
    yield constant
    signal, generated, reference = drawn(20, 5), drawn(20, 5), drawn(20, 5)
    signal[3] = generated[3] = generated[7] = reference[11] = 0.0
    yield etes_case("zeros", "Two samples without a direction, and a reference without one.", signal, generated,
                    reference=reference)
    signal = drawn(18, 5)
    yield etes_case("opposite", "Texts on the other side of their signals, and references equal to texts in part.", signal,
                    generated := like(-signal, 0.7), reference=np.where(np.arange(18)[:, None] < 6, generated, like(signal, 2.0)))
    yield etes_case("two", "Two samples.", drawn(2, 3), drawn(2, 3), reference=drawn(2, 3))
    signal = drawn(len(PAIRS), 6)
    yield etes_case("texts", "Texts and reference texts.", signal, like(signal, 1.0), reference=like(signal, 0.7),
                    texts=[text for text, _ in PAIRS], reference_texts=[reference for _, reference in PAIRS])


def differences(stored, fresh, where=""):
    if isinstance(stored, dict) and isinstance(fresh, dict) and stored.keys() == fresh.keys():
        return [d for key in stored for d in differences(stored[key], fresh[key], f"{where}/{key}")]
    if isinstance(stored, list) and isinstance(fresh, list) and len(stored) == len(fresh):
        return [d for i, (a, b) in enumerate(zip(stored, fresh)) for d in differences(a, b, f"{where}/{i}")]
    if isinstance(stored, float) and isinstance(fresh, float):
        return [] if abs(stored - fresh) <= TOLERANCE else [f"{where}: {stored} and {fresh}"]
    return [] if stored == fresh else [f"{where}: {stored!r} and {fresh!r}"]


def main():
    check_against_all_orders()
    document = {"versions": {library: version(library) for library in LIBRARIES}, "cases": list(cases())}
    text = json.dumps(document, allow_nan=False, ensure_ascii=False).replace('{"name"', '\n{"name"') + "\n"
    values = sum(len(case["expected"]) for case in document["cases"])
    print(f"{len(document['cases'])} cases, {values} scores, {len(text.encode()) / 1e3:.0f} kB")
    if sys.argv[1:] != ["--check"]:
        FILE.write_text(text)
    elif found := differences(json.loads(FILE.read_text()), json.loads(text)):
        sys.exit("\n".join(found))


if __name__ == "__main__":
    main()
