# SPDX-License-Identifier: MIT
"""What benches/compare measures: who competes, on which data, and what is asked of the outcome."""
import operator
import os
import re
import statistics
import subprocess
from dataclasses import dataclass, field
from pathlib import Path

HERE = Path(__file__).resolve().parent
TARGET = HERE.parent / "target"
VENV = TARGET / "bench-venv"
DADAPY_VENV = TARGET / "bench-venv-dadapy"
K = ["5", "10", "15"]  # of trustworthiness and continuity
OF_ARRAYS = ("smoothness trustworthiness continuity participation_ratio dimension_usage spectrum two_nn uniformity silhouette "
             "nmi ami inertia cluster_balance knn_accuracy rankme numerical_rank stable_rank alpha_req condition_number "
             "std_collapse clid mcr2").split()
LARGE_MIB = 1024  # what a sample of a million rows may use


def python_of(venv):
    return str(venv / "bin" / "python")


@dataclass
class Contestant:
    name: str
    command: list
    clock: str = "inside"  # `inside`: the process reports its seconds; `wall`: the whole process counts
    environment: dict = field(default_factory=dict)
    skipped: str = ""  # why it is not run
    runs: list = field(default_factory=list)

    def is_ours(self):
        return self.name.startswith("repscope")

    def done(self):
        return [run for run in self.runs if run["seconds"] is not None]

    def median(self):
        seconds = [run["seconds"] for run in self.done()]
        return statistics.median(seconds) if seconds else None

    def peak(self, what="rss_mib"):
        return max((run[what] for run in self.done() if run[what] is not None), default=None)

    def answer(self):
        return next((run["answer"] for run in self.runs if "error" not in run), {})


@dataclass
class Comparison:
    """One line of the table: how many times as long as `ours` the `peer` takes."""
    name: str
    ours: str
    peer: tuple  # names; the slowest counts
    target: tuple = ()  # such as (">=", 2.3)
    most_mib: float = None  # what repscope may use
    is_mapped: bool = False  # pages of the file itself do not count as memory used
    has_same_answer: bool = True


@dataclass
class Job:
    name: str
    data: list  # what benches/data.py has to build
    contestants: list
    comparisons: list
    tolerance: float = 1e-4  # relative, between two answers
    is_lower_better: bool = False  # then ours may also be below that of the peer

    def find(self, name):
        return next(one for one in self.contestants if one.name == name)

    def slowest(self, names):
        found = [self.find(name) for name in names]
        return max(found, key=lambda one: one.median() or 0)

    def agrees(self, ours, peer):
        """Whether the numbers that both report are the same; None where they report none in common."""
        shared = [key for key in ours if ours[key] is not None and peer.get(key) is not None]
        if not shared:
            return None

        def is_same(a, b):
            return (self.is_lower_better and a < b) or abs(a - b) <= self.tolerance * max(abs(a), abs(b))

        return all(is_same(ours[key], peer[key]) for key in shared)


def is_met(target, ratio):
    return {">=": operator.ge, "<=": operator.le}[target[0]](ratio, target[1])


class Makers:
    """Short ways to write the contestants."""

    def __init__(self, args):
        self.args = args

    def file(self, space, rows):
        return str(self.args.data / f"{space}-{rows}.npy")

    def ours(self, *words, name="repscope", clock="inside", environment=None):
        command = [str(self.args.binary), *words, "--threads", str(self.args.threads)]
        return Contestant(name, command, clock, environment or {})

    def brute(self, *words):
        return self.ours(*words, name="repscope (brute force)", environment={"REPSCOPE_PRUNING": "off"})

    def metric(self, *words, name="repscope"):
        return self.ours("bench", "metric", *words, name=name)

    def peer(self, case, program, *words, name=None, venv=VENV):
        command = [python_of(venv), str(HERE / "peers.py"), case, program, *words]
        limits = ["--threads", str(self.args.threads), "--memory", str(self.args.memory)]
        environment = faiss_environment() if program == "faiss" else {}
        return Contestant(name or program, command + limits, environment=environment)


def faiss_environment():
    """The OpenBLAS inside faiss-cpu does not know newer Intel processors and falls back to SSE, four times slower: so it is told
    to use AVX-512 where there is any."""
    processor = Path("/proc/cpuinfo").read_text()
    return {"OPENBLAS_CORETYPE": "SkylakeX"} if "GenuineIntel" in processor and " avx512f " in processor else {}


def all_jobs(args, scratch):
    make = Makers(args)
    rows = 10000 if args.quick else 60000
    jobs = [*neighbours(make, rows), *trust_and_continuity(make, args), two_nn(make, rows), *silhouettes(make, rows),
            *probes(make, rows), similarity(make, 2000 if args.quick else 20000), uniformity(make, rows), label_precision(make, 10000 if args.quick else 30000), *kmeans(make, rows),
            *spectra(make, rows)]
    if not args.quick:
        jobs += [everything(make, scratch), large(make), recall(make, scratch), masks(make), predictions(make, scratch)]
        jobs += [comparisons(make, models) for models in (2, 10, 50, 200)]
        jobs.append(Job("start", [], [make.ours("--version", name="repscope --version", clock="wall")], []))
        jobs[-1].contestants[0].command = [str(args.binary), "--version"]
    if args.encoders:
        jobs += encoders(make)
    if args.wheel:
        jobs += calls_from_python(make)
    return [job for job in jobs if re.search(args.only, job.name)]


def neighbours(make, rows):
    for space, width, pruned, brute in (("pixels", 784, 8, 2.3), ("code", 64, 3.7, None)):
        words = ["bench", "knn", make.file(space, rows), "--k", "100"]
        name = f"100 nearest neighbours, {rows} x {width}"
        contestants = [make.ours(*words), make.peer("knn", "faiss", *words[2:], name="faiss IndexFlatL2")]
        comparisons = [Comparison(name, "repscope", ("faiss IndexFlatL2",), (">=", pruned))]
        if brute:
            contestants.insert(1, make.brute(*words))
            one = Comparison(f"{name}, brute force", "repscope (brute force)", ("faiss IndexFlatL2",), (">=", brute))
            comparisons.append(one)
        yield Job(name, [f"rows:{rows}"], contestants, without_targets(comparisons, rows))


def without_targets(comparisons, rows):
    """The targets speak of 60000 rows; fewer are for looking at regressions."""
    for comparison in comparisons:
        comparison.target = comparison.target if rows == 60000 else ()
    return comparisons


def trust_and_continuity(make, args):
    for rows, target in ((10000, 18), (30000, 28), (60000, None)):
        if args.quick and rows > 10000:
            return
        states = make.file("pixels", rows)
        words = ["trustworthiness", "continuity", "--states", states, "--k", *K]
        good = ["--model", f"z={make.file('code', rows)}"]
        name = f"trustworthiness and continuity, {rows} rows"
        job = Job(name, [f"rows:{rows}"], [make.metric(*words, *good)], [], tolerance=1e-6)
        if rows == 60000 or args.quick:
            poor = ["--model", f"z={make.file('code2', rows)}"]
            job.contestants += [make.brute("bench", "metric", *words, *good),
                                make.metric(*words, *poor, name="repscope (poor embedding)")]
            targets = [(">=", 2), ("<=", 1.2)] if rows == 60000 else [(), ()]
            job.comparisons += [
                Comparison(f"{name}: against brute force", "repscope", ("repscope (brute force)",), targets[0],
                           1024 if rows == 60000 else None),
                Comparison(f"{name}: a poor 2-d embedding against a good one by brute force", "repscope (brute force)",
                           ("repscope (poor embedding)",), targets[1], has_same_answer=False),
                Comparison(f"{name}: a poor 2-d embedding against a good one", "repscope", ("repscope (poor embedding)",),
                           targets[1], has_same_answer=False)]
        else:
            sklearn = make.peer("trust+cont", "sklearn", states, make.file("code", rows), "--k", "10",
                                name="scikit-learn (k = 10, two calls)")
            job.contestants.append(sklearn)
            job.comparisons.append(Comparison(name, "repscope", (sklearn.name,), (">=", target)))
        yield job


def two_nn(make, rows):
    codes = make.file("code", rows)
    job = Job(f"TwoNN, {rows} x 64", [f"rows:{rows}"], [make.metric("two_nn", "--model", f"z={codes}")], [])
    if rows == 60000:
        job.contestants += [make.peer("two_nn", "skdim", codes, name="scikit-dimension"),
                            make.peer("two_nn", "dadapy", codes, name="DADApy", venv=DADAPY_VENV)]
        job.comparisons += [Comparison(job.name, "repscope", ("scikit-dimension",), (">=", 25)),
                            Comparison(job.name, "repscope", ("DADApy",), (">=", 5))]
    return job


def silhouettes(make, rows):
    labels = make.file("labels", rows)
    for space, width, target in (("code", 64, 10), ("pixels", 784, 5)):
        path, name = make.file(space, rows), f"silhouette, {rows} x {width}"
        yield Job(name, [f"rows:{rows}"], [make.metric("silhouette", "--model", f"z={path}", "--labels", labels),
                                           make.peer("silhouette", "sklearn", path, labels, name="scikit-learn")],
                  without_targets([Comparison(name, "repscope", ("scikit-learn",), (">=", target))], rows))


def probes(make, rows):
    """Ours are nested cross-validations; that of labels also has shuffled labels, votes of neighbors and probes of few rows."""
    path = make.file("view-a", rows)
    for option, kind, what in (("targets", "ridge", "RidgeCV, 13 penalties, 5 folds"),
                               ("labels", "logistic", "LogisticRegressionCV, 9 penalties, not nested")):
        known, name = make.file(f"view-{option}", rows), f"probe of {option}, {rows} x 512"
        peer = make.peer("probe", kind, path, known, name=f"scikit-learn {what}")
        yield Job(name, [f"views:{rows}"], [make.metric("probe", "--model", f"z={path}", f"--{option}", known), peer],
                  without_targets([Comparison(name, "repscope", (peer.name,), (">=", 5))], rows), tolerance=1e-3)


def similarity(make, rows):
    """Ours are all pairs, calibrated by shuffled rows. The peer takes a sample of the pairs, and its seconds are those of as many as there
    are."""
    files = [make.file(f"model-{model}", rows) for model in range(12)]
    models = [word for model, path in enumerate(files) for word in ("--model", f"m{model}={path}")]
    name = f"similarity of 12 models (CKA, mutual k-NN), {rows} x 512"
    peer = make.peer("similarity", "numpy", *files, name="NumPy, N x N kernels, 3 of 66 pairs, x 22")
    return Job(name, [f"models:{rows}"], [make.metric("cka", "mutual_knn", *models), peer],
               [Comparison(name, "repscope", (peer.name,), (">=", 10) if rows == 20000 else ())], tolerance=1e-3)


def uniformity(make, rows):
    codes, name = make.file("code", rows), f"uniformity, {rows} x 64"
    return Job(name, [f"rows:{rows}"], [make.metric("uniformity", "--model", f"z={codes}"),
                                        make.peer("uniformity", "numpy", codes, name="NumPy, in blocks")],
               without_targets([Comparison(name, "repscope", ("NumPy, in blocks",), (">=", 4))], rows))


def label_precision(make, rows):
    """Ours in both directions, the peer in one."""
    files = [make.file(f"view-{part}", rows) for part in ("a", "b", "labels")]
    words = [word for pair in zip(("--queries", "--targets", "--labels"), files) for word in pair]
    deep = ["--k", "10", "50", "100"]
    name = f"label precision at 10, 50, 100, both directions, {rows} x 512"
    ours = make.ours("bench", "retrieval", *words, *deep, "--first-only", "--both")
    faiss = make.peer("retrieval", "faiss", *files, *deep, name="faiss IndexFlatIP (one direction)")
    target = (">=", 1) if rows == 30000 else ()
    return Job(name, [f"views:{rows}"], [ours, faiss], [Comparison(name, "repscope", (faiss.name,), target)])


def kmeans(make, rows):
    for space, width in (("code", 64), ("pixels", 784)):
        path, name = make.file(space, rows), f"k-means, 10 clusters, 10 restarts, {rows} x {width}"
        ours = make.metric("inertia", "--model", f"z={path}", "--clusters", "10", "--restarts", "10")
        yield Job(name, [f"rows:{rows}"], [ours, make.peer("kmeans", "sklearn", path, name="scikit-learn")],
                  without_targets([Comparison(name, "repscope", ("scikit-learn",), (">=", 1))], rows),
                  is_lower_better=True)
        if rows < 60000:
            return  # the peer is slow on pixels


def spectra(make, rows):
    for space, width in (("code", 64), ("pixels", 784), ("gaussian", 2048)):
        path, name = make.file(space, rows), f"eigenvalues of the covariance, {rows} x {width}"
        if rows < 60000 and space == "gaussian":
            return
        yield Job(name, [f"gaussian:{rows}" if space == "gaussian" else f"rows:{rows}"],
                  [make.metric("spectrum", "--model", f"z={path}"),
                   make.peer("spectrum", "numpy", path, name="NumPy eigvalsh")],
                  without_targets([Comparison(name, "repscope", ("NumPy eigvalsh",), (">=", 1))], rows))


def everything(make, scratch):
    """All metrics of arrays in one run against the dearest alone; and the whole command, which also reads, draws a map of
    the codes and writes a report."""
    rows = 60000
    given = ["--states", make.file("pixels", rows), "--model", f"z={make.file('code', rows)}",
             "--labels", make.file("labels", rows)]
    alone = [make.metric(metric, *given, "--k", *K, name=f"repscope ({metric} alone)") for metric in ("trustworthiness", "clid")]
    contestants = [
        make.metric(*OF_ARRAYS, *given, "--k", *K, name="repscope (all metrics)"),
        make.ours("evaluate", *given, "--no-figures", "--quiet", "--output-dir", str(scratch / "evaluate"),
                  name="repscope evaluate", clock="wall"),
        *alone]
    names, target = tuple(one.name for one in alone), (">=", round(1 / 1.3, 3))
    return Job(f"evaluate, {rows} rows", [f"rows:{rows}"], contestants,
               [Comparison(f"all metrics of arrays, {rows} rows: the dearest alone", "repscope (all metrics)", names, target),
                Comparison(f"evaluate with map and report, {rows} rows: the dearest metric alone", "repscope evaluate", names,
                           target)])


def large(make):
    """TwoNN of M random rows against all rows of a mapped file: the work is M·N·D."""
    rows, counts = 1_000_000, (1000, 2000, 4000)
    words = ["two_nn", "--model", f"z={make.file('large', rows)}", "--memory", f"{LARGE_MIB}M"]
    contestants = [make.metric(*words, "--sample", str(m), name=f"repscope --sample {m}") for m in counts]
    comparisons = [Comparison(f"--sample {m} of {rows} x 256, against --sample {counts[0]}", contestants[0].name, (one.name,),
                              ("<=", 1.05 * m / counts[0]), most_mib=LARGE_MIB, is_mapped=True, has_same_answer=False)
                   for m, one in zip(counts[1:], contestants[1:])]
    return Job(f"--sample of {rows} rows", [f"large:{rows}"], contestants, comparisons)


def recall(make, scratch):
    """Are the neighbours right if all rows are far from the origin? Write our ids, then score them like those of a peer."""
    rows = 10000
    words = [make.file("code-offset", rows), "--k", "100"]
    ids = str(scratch / "ids.npy")
    contestants = [make.ours("bench", "knn", *words, "--output", ids, name="repscope (writes ids)"),
                   make.peer("recall", ids, *words, name="repscope (its ids, scored)"),
                   make.peer("recall", "faiss", *words), make.peer("recall", "sklearn", *words)]
    return Job(f"recall of 100 neighbours after adding 1000, {rows} x 64", [f"rows:{rows}"], contestants, [])


def masks(make):
    images = str(make.args.data / "histograms.npy")
    reference = ["--rule", "threshold", "--random-from", "all"]
    name = "15 masks of 224 x 224, one core"
    return Job(name, ["perturbations"],
               [make.ours("bench", "masks", images),
                make.ours("bench", "masks", images, *reference, name="repscope (the reference's rule)"),
                make.peer("masks", "numpy", images, name="NumPy")],
               [Comparison(name, "repscope", ("NumPy",), has_same_answer=False),  # exact shares against percentiles
                Comparison(f"{name}, by the reference's rule", "repscope (the reference's rule)", ("NumPy",))])


def comparisons(make, models):
    """The differences of all pairs of models must not take longer than the metrics that they compare."""
    words = ["bench", "comparisons", "--models", str(models), "--rows", "1800", "--columns", "64"]
    name = f"comparisons of {models} models, 1800 x 64"
    return Job(name, [], [make.ours(*words), make.ours(*words, "--metrics-only", name="repscope (their metrics)")],
               [Comparison(name, "repscope", ("repscope (their metrics)",), (">=", 1.0) if models <= 50 else (),
                           has_same_answer=False)])


def predictions(make, scratch):
    words = ["--predictions", str(make.args.data / "predictions"), "--no-figures", "--json",
             "--output-dir", str(scratch / "perturb")]
    return Job("scores of 16 x 111412 predictions", ["perturbations"],
               [make.ours("perturb", "evaluate", *words, clock="wall")], [])


def encoders(make):
    """The same runtime called from Python first, then ours with that runtime and in pure Rust. Batches of 32."""
    data = make.args.data
    library = onnxruntime_library()
    for name, model, rows in (("cnn 3x64x64", data / "cnn.onnx", data / "cnn-images.npy"),
                              ("resnet50 3x224x224", data / "resnet50.onnx", data / "resnet50-images.npy"),
                              ("minilm", data / "minilm", data / "sentences.txt")):
        ours = ["bench", "encode", "--encoder", str(model), "--input", str(rows), "--batch-size", "32"]
        same = ["--runtime", "onnxruntime", "--runtime-library", library]
        peer = make.peer("encode", "onnxruntime", str(model), str(rows), name="ONNX Runtime from Python")
        contestants = [peer, make.ours(*ours, *same, name="repscope (onnxruntime)"), make.ours(*ours)]
        yield Job(f"encode {name}", ["encoders"], contestants,
                  [Comparison(f"encode {name}, {one.name}", one.name, (peer.name,)) for one in contestants[1:]],
                  tolerance=1e-3)


def onnxruntime_library():
    code = "import onnxruntime, pathlib; print(pathlib.Path(onnxruntime.__file__).parent / 'capi')"
    found = subprocess.run([python_of(VENV), "-c", code], capture_output=True, text=True)
    folder = Path(found.stdout.strip() or os.devnull)
    files = sorted(folder.glob("libonnxruntime.*")) if folder.is_dir() else []
    return str(files[0]) if files else "onnxruntime is not installed"


def calls_from_python(make):
    rows = 10000
    states, codes, labels = (make.file(part, rows) for part in ("pixels", "code", "labels"))
    for metric, words, given in (("two_nn", [], []), ("trustworthiness", ["--states", states], [states]),
                                 ("silhouette", ["--labels", labels], [labels])):
        name = f"{metric} called from Python, {rows} rows"
        contestants = [make.metric(metric, "--model", f"z={codes}", *words),
                       make.peer("python", metric, codes, *given, name="the Python package")]
        yield Job(name, [f"rows:{rows}"], contestants, [Comparison(name, "repscope", ("the Python package",))])
