# SPDX-License-Identifier: MIT
"""Golden cases of robustness: clean and noisy codes, distances by NumPy and SciPy."""
import numpy as np
from case import Case, digits, f64, principal_codes, unit
from scipy.integrate import trapezoid
from scipy.spatial.distance import pdist


def robustness_case(name, about, latent, noisy):
    """`noisy`: level, as it is written, to a list of draws."""
    draws = {f"noisy_{level}_{i}": rows for level, of_level in noisy.items() for i, rows in enumerate(of_level)}
    case = Case("robustness", name, about, {"latent": latent} | draws, {})
    clean = f64(latent)
    typical = np.sqrt((pdist(clean) ** 2).mean()) if len(clean) > 1 else 0.0
    lengths = [np.linalg.norm(f64(rows), axis=1).min() for rows in [latent, *draws.values()]]
    raw = {level: np.mean([np.linalg.norm(f64(rows) - clean, axis=1) for rows in of_level], axis=0)
           for level, of_level in noisy.items()}
    families = {"robustness": (raw, "norm(noisy - Z, axis=1)", None)}
    on_unit = None
    if min(lengths) > 0:
        on_unit = {level: np.mean([np.linalg.norm(unit(rows) - unit(clean), axis=1) for rows in of_level], axis=0)
                   for level, of_level in noisy.items()}
    families["robustness.unit"] = (on_unit, "norm(unit(noisy) - unit(Z), axis=1)", "a code of length zero has no direction")
    scaled = {level: distances / typical for level, distances in raw.items()} if typical > 0 else None
    families["robustness.scaled"] = (scaled, "norm(noisy - Z, axis=1) / sqrt(mean(pdist(Z) ** 2))", "codes without variance")
    strengths = np.array([0.0, *sorted(map(float, noisy))])
    for family, (of_levels, call, why) in families.items():
        for level in noisy:
            if of_levels is None:
                case.undefine(f"{family}@{level}", why)
                continue
            distances = of_levels[level]
            library = "scipy" if family == "robustness.scaled" else "numpy"
            case.expect(f"{family}@{level}", distances.mean(), 1e-12 * max(1.0, distances.max()), "absolute", library,
                        f"mean over samples of the mean over draws of {call}")
            cells = {"standard_error": distances.std() / np.sqrt(len(distances)), "std": distances.std(),
                     "min": distances.min(), "max": distances.max(), "median": np.median(distances)}
            for column, value in cells.items():
                case.expect("robustness", value, 1e-12 * max(1.0, distances.max()), "absolute", "numpy",
                            f"{column} of {call}", part="cell", row=[family, level], column=column)
        if of_levels is None:
            case.undefine(f"{family}.auc", why)
            case.undefine(f"{family}.slope", why)
            continue
        order = sorted(noisy, key=float)
        curves = np.array([np.zeros(len(clean)), *(of_levels[level] for level in order)])
        area = trapezoid(curves, strengths, axis=0).mean() / strengths[-1]
        case.expect(f"{family}.auc", area, 1e-12 * max(1.0, curves.max()), "absolute", "scipy",
                    "mean over samples of trapezoid([0, distances], [0, levels]) / largest level")
        if len(order) < 2:
            case.undefine(f"{family}.slope", "one level of noise")
            continue
        slope = np.polyfit(strengths[1:], curves[1:].mean(axis=1), 1)[0]
        case.expect(f"{family}.slope", slope, 1e-11 * max(1.0, curves.max() / np.ptp(strengths[1:])), "absolute", "numpy",
                    "polyfit(levels, mean distances, 1)[0]")


def robustness_cases():
    rng = np.random.default_rng(1601)
    rows = rng.standard_normal((60, 8))
    moved = lambda by: rows + by * rng.standard_normal(rows.shape)
    robustness_case("five-levels", "The levels of document 000, one draw each.", rows,
                    {level: [moved(float(level))] for level in ("0.01", "0.05", "0.1", "0.15", "0.2")})
    robustness_case("three-draws", "Three draws of two levels, the stronger one first.", rows,
                    {"0.5": [moved(0.5) for _ in range(3)], "0.1": [moved(0.1) for _ in range(3)]})
    rng = np.random.default_rng(1602)
    codes = principal_codes(digits(150)[0], 16)
    robustness_case("digits", "PCA codes of digits, f32, with noise in the codes.", codes.astype(np.float32),
                    {"2": [(codes + 2 * rng.standard_normal(codes.shape)).astype(np.float32)],
                     "8": [(codes + 8 * rng.standard_normal(codes.shape)).astype(np.float32)]})
    robustness_case("still", "Noise that moves nothing: 0.", rows, {"1": [rows.copy()]})
    robustness_case("longer", "Codes that grow only: no distance on the unit sphere.", rows, {"1": [rows * 3]})
    same = np.full((12, 4), 2.0)
    robustness_case("collapsed", "One code for everything: perfectly robust, and no scale.", same, {"0.1": [same.copy()]})
    zero = rng.standard_normal((10, 3))
    zero[4] = 0.0
    robustness_case("zero-row", "A clean code of length zero.", zero, {"0.1": [zero + 0.1]})
    robustness_case("offset", "A common offset of 1e4.", rows + 1e4, {"0.1": [rows + 1e4 + 0.1 * rng.standard_normal(rows.shape)]})
    robustness_case("one-row", "One row has distances, but no typical one.", rows[:1], {"0.1": [rows[:1] + 0.5]})
