# SPDX-License-Identifier: MIT
"""Ctrl-C, threads, forks, progress: a call does not get in the way of the program around it."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import textwrap
import threading

import numpy as np
import pytest
import repscope

CODES = np.random.default_rng(0).normal(size=(3000, 16)).astype("f4")


def test_ctrl_c_interrupts_long_work():
    # In a process of its own, as the signal goes to the main thread. The work would take minutes.
    program = """
        import os, signal, threading, numpy as np, repscope
        codes = np.random.default_rng(0).normal(size=(60000, 64)).astype("f4")
        threading.Timer(1.0, os.kill, (os.getpid(), signal.SIGINT)).start()
        try:
            repscope.trustworthiness(codes, codes[:, :8], k=10)
            print("ran to its end")
        except KeyboardInterrupt:
            print("interrupted")
        print(repscope.two_nn(codes[:500]) > 1)
    """
    assert _printed(program) == ["interrupted", "True"]


def test_other_threads_run_while_a_call_works():
    # Were Python's lock held, the other thread could not count until the call is over.
    counted = []
    done = threading.Event()

    def count():
        while not done.wait(0.001):
            counted.append(1)

    thread = threading.Thread(target=count)
    thread.start()
    while not counted:
        pass
    before = len(counted)
    repscope.uniformity(CODES)
    during = len(counted) - before
    done.set()
    thread.join()
    assert during > 3


def test_calls_from_several_threads_give_the_same_numbers():
    expected = repscope.two_nn(CODES)
    got = []
    threads = [threading.Thread(target=lambda: got.append(repscope.two_nn(CODES))) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert got == [expected] * 4


def test_an_encoder_may_call_repscope_itself():
    def encode(batch):
        assert repscope.participation_ratio(batch) > 0
        return batch

    run = repscope.robustness(encode, CODES[:300], noise=0.1, threads=1)
    assert run["model", "robustness@0.1"] > 0


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system cannot fork")
def test_a_forked_child_computes_too():
    # In a process of its own: what other tests have imported here may not survive a fork.
    program = """
        import multiprocessing, numpy as np, repscope
        codes = np.random.default_rng(0).normal(size=(500, 16)).astype("f4")
        def two_nn(_):
            return float(repscope.two_nn(codes))
        expected = two_nn(0)
        with multiprocessing.get_context("fork").Pool(2) as pool:
            print(pool.map_async(two_nn, [0, 1]).get(timeout=120) == [expected] * 2)
    """
    assert _printed(program) == ["True"]


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system cannot fork")
def test_a_forked_child_whose_parent_ran_a_model_is_told_so_and_does_not_hang(folder):
    model = folder.parents[1] / "golden" / "text" / "bert"
    program = f"""
        import multiprocessing, repscope
        def encode(_):
            try:
                return float(repscope.encode({str(model)!r}, ["a text", "another"], no_cache=True).sum())
            except ValueError as error:
                return str(error)
        def child():
            with multiprocessing.get_context("fork").Pool(1) as pool:
                return pool.map_async(encode, [0]).get(timeout=120)[0]
        first, own = child(), encode(0)
        print(first == own, "`spawn` instead of `fork`" in child())
    """
    assert _printed(program) == ["True", "True"]


def _printed(program: str) -> list[str]:
    """What a program prints, in a process of its own."""
    ran = subprocess.run([sys.executable, "-c", textwrap.dedent(program)], capture_output=True, text=True, timeout=300)
    assert ran.returncode == 0, ran.stderr
    return ran.stdout.split()


def test_progress_is_told_while_a_call_works(monkeypatch, capsys):
    monkeypatch.setattr("repscope._progress._PATIENCE", 0.0)
    told = []
    monkeypatch.setattr("repscope._progress.Bar._draw", lambda self, *state: told.append(state))
    # An encoder that waits, so that the work takes longer than the time between two looks.
    waiting = threading.Event()

    def encode(batch):
        waiting.wait(0.08)
        return batch

    repscope.robustness(encode, CODES[:200], noise=[0.1, 0.2], batch_size=50, progress=True)
    stages = {stage for stage, _, _ in told}
    assert any("encoding" in stage for stage in stages)
    assert all(0.0 <= share <= 1.0 for _, share, _ in told)
    assert capsys.readouterr().err == ""


def test_no_bar_is_drawn_where_nobody_watches(capsys):
    repscope.uniformity(CODES[:200])
    captured = capsys.readouterr()
    assert captured.out == "" and captured.err == ""


def test_the_command_is_installed_and_ends_as_the_binary_does(tmp_path):
    def run(*words):
        return subprocess.run(
            [sys.executable, "-m", "repscope", *words], cwd=tmp_path, capture_output=True, text=True, timeout=120
        )

    version = run("--version")
    assert version.returncode == 0 and version.stdout.strip() == f"repscope {repscope.__version__}"
    wrong = run("manifold", "--model", "missing.npy")
    assert wrong.returncode == 2 and "error: cannot read missing.npy" in wrong.stderr
    np.save(tmp_path / "z.npy", CODES[:200])
    gate = run("compare", "--model", "z.npy", "--gate", "two_nn>=1000", "--only", "manifold", "--no-figures")
    assert gate.returncode == 1
    assert (tmp_path / "evaluation_plots" / "results.json").exists()


def test_an_interrupted_call_leaves_the_signal_as_it_was():
    before = signal.getsignal(signal.SIGINT)
    repscope.two_nn(CODES[:100])
    assert signal.getsignal(signal.SIGINT) is before
