# SPDX-License-Identifier: MIT
"""scikit-learn's own tests of three functions, run against the shims.

The tests are those of the installed scikit-learn; none is copied. A pytest of its own runs them, in another process,
with this file as a plugin: it puts the shims in the places that the test modules import from, keeps the tests that use
one, and writes down how each ended and which shims it called. With deliberately wrong shims the same tests must fail.
"""

import functools
import json
import os
import subprocess
import sys

import pytest

#: Where scikit-learn's test modules import the functions from.
PLACES = {
    "trustworthiness": "sklearn.manifold._t_sne",
    "silhouette_score": "sklearn.metrics.cluster",
    "normalized_mutual_info_score": "sklearn.metrics.cluster",
}
MODULES = [
    "sklearn.manifold.tests.test_t_sne",
    "sklearn.metrics.cluster.tests.test_unsupervised",
    "sklearn.metrics.cluster.tests.test_supervised",
    "sklearn.metrics.cluster.tests.test_common",
]
#: Tests that must be among those found, so that a change in scikit-learn's files cannot leave nothing to run.
EXPECTED = {
    "test_trustworthiness",
    "test_trustworthiness_n_neighbors_error",
    "test_trustworthiness_not_euclidean_metric",
    "test_preserve_trustworthiness_approximately",
    "test_preserve_trustworthiness_approximately_with_precomputed_distances",
    "test_silhouette",
    "test_cluster_size_1",
    "test_correct_labelsize",
    "test_silhouette_score_integer_precomputed",
    "test_error_messages_on_wrong_input",
    "test_perfect_matches",
    "test_exactly_zero_info_score",
    "test_normalized_mutual_info_score_bounded",
    "test_format_invariance",
    "test_inf_nan_input",
    "test_returned_value_consistency",
}
REPORT, WRONG = "REPSCOPE_SKLEARN_REPORT", "REPSCOPE_SKLEARN_WRONG"


# --- the plugin -------------------------------------------------------------------------------------------------------


class Shims:
    """The shims in their places, and what became of the tests that use them."""

    def __init__(self, report, is_wrong):
        self.report = report
        self.is_wrong = is_wrong
        self.calls = dict.fromkeys(PLACES, 0)
        self.current, self.before = "", {}
        self.tests = {}
        self.shims = {name: self.place(name) for name in PLACES}

    def place(self, name):
        import importlib

        from repscope.compat import sklearn as compat

        shim = getattr(compat, name)

        @functools.wraps(shim)
        def counted(*args, **kwargs):
            self.calls[name] += 1
            return 2.0 if self.is_wrong else shim(*args, **kwargs)

        module = importlib.import_module(PLACES[name])
        assert callable(getattr(module, name))
        setattr(module, name, counted)
        return counted

    def pytest_collection_modifyitems(self, config, items):
        kept = [item for item in items if self.uses_a_shim(item)]
        config.hook.pytest_deselected(items=[item for item in items if item not in kept])
        items[:] = kept

    def uses_a_shim(self, item):
        given = getattr(getattr(item, "callspec", None), "params", {}).values()
        named = set(PLACES) & set(item.function.__code__.co_names)
        return bool(named) or any(self.is_a_shim(value, item.module) for value in given)

    def is_a_shim(self, value, module):
        if isinstance(value, str):  # a key of one of the module's tables of functions
            tables = [table for table in vars(module).values() if isinstance(table, dict)]
            value = next((table[value] for table in tables if callable(table.get(value))), None)
        value = getattr(value, "func", value)  # of a partial
        return any(value is shim for shim in self.shims.values())

    def pytest_runtest_setup(self, item):
        self.current, self.before = f"{item.module.__name__}::{item.name}", dict(self.calls)

    def pytest_runtest_logreport(self, report):
        if report.when == "call" or report.outcome != "passed":
            called = [name for name in PLACES if self.calls[name] > self.before[name]]
            self.tests[self.current] = {"outcome": report.outcome, "called": called, "why": str(report.longrepr or "")}

    def pytest_sessionfinish(self):
        with open(self.report, "w", encoding="utf-8") as file:
            json.dump(self.tests, file)


def pytest_configure(config):
    if REPORT in os.environ:
        config.pluginmanager.register(Shims(os.environ[REPORT], WRONG in os.environ))


# --- the tests --------------------------------------------------------------------------------------------------------


def run(folder, modules, *words, is_wrong=False):
    pytest.importorskip("sklearn", reason="scikit-learn is not installed, so there are no tests of its own to run")
    folder.mkdir(exist_ok=True)
    (folder / "pytest.ini").write_text("[pytest]\n", encoding="utf-8")
    report = folder / "report.json"
    here = os.path.dirname(os.path.abspath(__file__))
    path = os.pathsep.join([here, *(entry for entry in sys.path if entry)])
    # t-SNE of fifty rows waits for its threads longer than it works.
    environment = {**os.environ, "PYTHONPATH": path, "OMP_NUM_THREADS": "1", REPORT: str(report)}
    if is_wrong:
        environment[WRONG] = "1"
    command = [sys.executable, "-m", "pytest", "-p", __name__.rpartition(".")[2], "-c", str(folder / "pytest.ini")]
    command += ["--rootdir", str(folder), "-p", "no:cacheprovider", "-q", "--tb=short", *words, "--pyargs", *modules]
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)
    assert report.exists(), done.stdout[-3000:] + done.stderr[-3000:]
    return done, json.loads(report.read_text(encoding="utf-8"))


def function_of(test):
    return test.partition("::")[2].partition("[")[0]


def test_scikit_learns_own_tests_pass_with_the_shims(tmp_path):
    done, tests = run(tmp_path, MODULES)
    assert [(name, test["why"]) for name, test in tests.items() if test["outcome"] == "failed"] == []
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]
    ran = {name: test for name, test in tests.items() if test["outcome"] == "passed"}
    assert EXPECTED - {function_of(name) for name in ran} == set()
    assert [name for name, test in ran.items() if not test["called"]] == []
    assert {shim for test in ran.values() for shim in test["called"]} == set(PLACES)


def test_scikit_learns_own_tests_fail_with_wrong_shims(tmp_path):
    # Without those that fit t-SNE: the others look at all three functions.
    done, tests = run(tmp_path, MODULES, "-k", "not preserve and not fit_transform", is_wrong=True)
    assert done.returncode == 1, done.stdout[-3000:] + done.stderr[-3000:]
    failed = [test for test in tests.values() if test["outcome"] == "failed"]
    assert {shim for test in failed for shim in test["called"]} == set(PLACES)


def test_a_module_without_tests_of_the_shims_is_noticed(tmp_path):
    done, tests = run(tmp_path, ["sklearn.manifold.tests.test_classical_mds"])
    assert tests == {}
    assert done.returncode == int(pytest.ExitCode.NO_TESTS_COLLECTED)
