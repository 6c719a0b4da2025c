# SPDX-License-Identifier: MIT
"""Installs the peers into environments of their own, and has the data built."""
import hashlib
import subprocess
import sys
from pathlib import Path

from jobs import DADAPY_VENV, HERE, VENV, python_of


def install_peers(has_encoders=False, wheel=None):
    files = [HERE / "requirements.txt"] + ([HERE / "requirements-encoders.txt"] if has_encoders else [])
    for file in files:
        failed = install(VENV, file)
        if failed:
            sys.exit(f"installing the peers into {VENV} failed:\n{failed}")
    if wheel:
        subprocess.run([python_of(VENV), "-m", "pip", "install", "-q", "--force-reinstall", "--no-deps", wheel], check=True)


def install_dadapy(contestants):
    """A DADApy that cannot be compiled is left out of the race, with the reason."""
    failed = install(DADAPY_VENV, HERE / "requirements-dadapy.txt") if contestants else ""
    for one in contestants:
        one.skipped = f"not installed: {failed.strip().splitlines()[-1]}" if failed else ""


def install(venv, requirements):
    """Unless that was done before; what went wrong, if anything."""
    stamp = venv / f"{requirements.stem}.installed"
    digest = hashlib.sha256(requirements.read_bytes()).hexdigest()
    if stamp.exists() and stamp.read_text() == digest:
        return ""
    print(f"installing {requirements.name} into {venv}", file=sys.stderr)
    for step in ([sys.executable, "-m", "venv", str(venv)],
                 [python_of(venv), "-m", "pip", "install", "-q", "-r", str(requirements)]):
        done = subprocess.run(step, capture_output=True, text=True)
        if done.returncode != 0:
            return done.stderr or done.stdout or f"{' '.join(step)} failed"
    stamp.write_text(digest)
    return ""


def build_data(parts, folder, fashion_mnist=None):
    if not parts:
        return
    source = ["--fashion-mnist", str(Path(fashion_mnist))] if fashion_mnist else []
    command = [python_of(VENV), str(HERE / "data.py"), *sorted(parts), "--out", str(folder), *source]
    if subprocess.run(command).returncode != 0:
        sys.exit("the data could not be built")
