# SPDX-License-Identifier: MIT
"""What the runs of benches/compare come to: lines of a table, and what got slower."""
import re
import statistics

from jobs import is_met

QUIET_GEMM = 0.85  # a run whose calibration falls below this share of the best one was disturbed
SLOWER = 1.10  # times as long as stored, at the same speed of the machine
SIGNS = {">=": "≥", "<=": "≤"}


def every_run(jobs):
    return [run for job in jobs for one in job.contestants for run in one.runs]


def lines_of(job):
    """The comparisons of a job with their numbers, as they are stored."""
    return [line_of(job, comparison) for comparison in job.comparisons]


def line_of(job, comparison):
    ours, peer = job.find(comparison.ours), job.slowest(comparison.peer)
    seconds, peer_seconds = ours.median(), peer.median()
    ratio = peer_seconds / seconds if seconds and peer_seconds else None
    memory = ours.peak("own_mib" if comparison.is_mapped else "rss_mib")
    peer_memory = peer.peak("own_mib" if comparison.is_mapped else "rss_mib")
    checks = [is_met(comparison.target, ratio)] if comparison.target and ratio else []
    if comparison.most_mib:
        used = [memory, peer_memory if peer.is_ours() else None]
        checks += [mib <= comparison.most_mib for mib in used if mib is not None]
    same = job.agrees(ours.answer(), peer.answer()) if comparison.has_same_answer else None
    if checks and same is False:
        checks.append(False)  # speed with another result meets no target
    target = f"{SIGNS[comparison.target[0]]} {comparison.target[1]:.3g}" if comparison.target else ""
    limit = f"≤ {comparison.most_mib:.0f} MiB" if comparison.most_mib else ""
    line = {"name": comparison.name, "ours": ours.name, "seconds": seconds, "peer": peer.name, "peer_seconds": peer_seconds,
            "ratio": ratio, "target": ", ".join(part for part in (target, limit) if part),
            "is_met": all(checks) if checks else None, "mib": memory, "peer_mib": peer_memory, "is_same": same,
            "tolerance": job.tolerance, "rounds": len(ours.done()), "peer_rounds": len(peer.done())}
    return line | {"shown": " | ".join(cells_of(line)[1:])}


def number(value, digits=3):
    if value is None:
        return "-"
    return f"{value:.{digits}g}" if value < 100 else f"{value:.0f}"


def yes_or_no(value):
    return {None: "-", True: "yes", False: "**no**"}[value]


def cells_of(line):
    return [line["name"], f"{number(line['seconds'])} s", line["peer"], f"{number(line['peer_seconds'])} s",
            number(line["ratio"]), line["target"] or "-", yes_or_no(line["is_met"]), number(line["mib"]),
            number(line["peer_mib"]), yes_or_no(line["is_same"]), f"{line['rounds']} / {line['peer_rounds']}"]


def full_table(jobs):
    """Markdown: one line for each comparison, then every contestant with what is to be said of it."""
    head = ["job", "repscope", "peer", "peer's time", "ratio", "target", "met?", "peak MiB", "peer's peak MiB", "same result?",
            "rounds"]
    lines = [row(head), "|---" * len(head) + "|"]
    lines += [row(cells_of(line)) for job in jobs for line in lines_of(job)]
    lines += ["", "Every contestant:", "", row(["job", "contestant", "median s", "all s", "peak MiB", "without mapped files",
                                                "notes"]), "|---" * 7 + "|"]
    best_gemm = max((slowest_gemm(run) for run in every_run(jobs)), default=0)
    for job in jobs:
        for one in job.contestants:
            notes = [f"{name} {value:.10g}" for name, value in one.answer().items() if value is not None][:4]
            notes += [run["error"] for run in one.runs if "error" in run][:1] + ([one.skipped] if one.skipped else [])
            notes += [f"{name}={value}" for name, value in one.environment.items()]
            disturbed = sum(slowest_gemm(run) < QUIET_GEMM * best_gemm for run in one.runs)
            notes += [f"machine disturbed in {disturbed} of {len(one.runs)} runs"] if disturbed else []
            seconds = ", ".join(number(run["seconds"]) for run in one.done())
            lines.append(row([job.name, one.name, number(one.median()), seconds, number(one.peak()),
                              number(one.peak("own_mib")), "; ".join(notes).replace("\n", " ").replace("|", "/")]))
    return lines


def row(cells):
    return f"| {' | '.join(cells)} |"


def slowest_gemm(run):
    return min(run["gemm_before"], run["gemm_after"])


def readme_table(stored):
    """Markdown, of stored results: the lines that have a peer."""
    lines = [row(["", "repscope", "peer", "ratio", "target"]), "|---" * 5 + "|"]
    for job in stored["jobs"]:
        for line in job.get("comparisons", []):
            ours = f"**{number(line['seconds'])} s**, {number(line['mib'])} MiB"
            theirs = f"{line['peer']} {number(line['peer_seconds'])} s, {number(line['peer_mib'])} MiB"
            lines.append(row([in_prose(line["name"]), ours, theirs, f"{number(line['ratio'])} ×", line["target"] or "–"]))
    return lines


def in_prose(name):
    """`60000 x 64` as `60,000 × 64`."""
    name = re.sub(r"\d{5,}", lambda found: f"{int(found[0]):,}", name)
    return re.sub(r"(?<=\d) x (?=\d)", " × ", name)


def slower(stored, jobs):
    """What takes more than 10 % longer than stored, once both are put at the same speed of the matrix product."""
    old = {(job["job"], one["name"]): one["runs"] for job in stored["jobs"] for one in job["contestants"]}
    found = []
    for job in jobs:
        for one in job.contestants:
            before, now = work_of(old.get((job.name, one.name), [])), work_of(one.runs)
            if one.is_ours() and before and now and now > SLOWER * before:
                found.append(f"slower: {job.name}, {one.name}: {now / before:.2f} times as long as stored")
    return found


def work_of(runs):
    """The median of seconds times GF/s: what the run would have cost in matrix products."""
    costs = [run["seconds"] * (run["gemm_before"] + run["gemm_after"]) / 2 for run in runs if run["seconds"] is not None]
    return statistics.median(costs) if costs else None
