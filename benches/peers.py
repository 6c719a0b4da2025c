#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""One measurement of one peer, in this process; prints one JSON line.

    python benches/peers.py knn faiss FILE --k 100          also sklearn
    python benches/peers.py recall faiss FILE --k 100       recall@k on 300 random rows against f64 distances
    python benches/peers.py recall ids.npy FILE --k 100     the same of a stored table of neighbours (N×k)
    python benches/peers.py trust+cont sklearn STATES CODES --k 10
    python benches/peers.py two_nn skdim FILE               also dadapy
    python benches/peers.py silhouette sklearn FILE LABELS
    python benches/peers.py probe ridge FILE TARGETS         RidgeCV of 13 penalties in 5 outer folds
    python benches/peers.py probe logistic FILE LABELS       LogisticRegressionCV of 9 penalties, 5 folds, no outer folds
    python benches/peers.py similarity numpy FILE FILE …    debiased CKA and mutual 10-NN by whole N x N matrices, of 3 pairs
    python benches/peers.py uniformity numpy FILE
    python benches/peers.py kmeans sklearn FILE             10 clusters, 10 restarts
    python benches/peers.py spectrum numpy FILE             covariance and its eigenvalues
    python benches/peers.py retrieval faiss QUERIES TARGETS LABELS --k 10 50 100   also numpy
    python benches/peers.py encode onnxruntime MODEL.onnx ROWS.npy         also a folder beside MODEL.onnx and TEXTS.txt
    python benches/peers.py masks numpy IMAGES.npy                         top, bottom and random 1 to 5 %, as document 003
    python benches/peers.py python METRIC CODES [STATES [LABELS]]          a call of the Python package, `-` for none
    python benches/peers.py gemm                            GF/s of a short matrix product: the machine's state

`seconds` is the computation alone, without imports and loading. The process may allocate --memory GiB, so that a
job that does not fit reports an error instead of bringing the machine down.
"""
import argparse
import json
import os
import resource
import sys
import time

parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
parser.add_argument("case")
parser.add_argument("peer", nargs="?")
parser.add_argument("files", nargs="*")
parser.add_argument("--k", type=int, nargs="+", default=[10], help="several for retrieval, else one")
parser.add_argument("--rows", type=int, help="use only the first rows of the files")
parser.add_argument("--threads", type=int, default=2)
parser.add_argument("--memory", type=float, default=21.0, help="GiB of private memory")
args = parser.parse_args()
ks, args.k = args.k, args.k[0]
for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS"):
    os.environ[variable] = str(args.threads)  # read when the libraries are imported, hence before
resource.setrlimit(resource.RLIMIT_DATA, (int(args.memory * 2**30), resource.RLIM_INFINITY))

import numpy as np  # noqa: E402


def load(path):
    return np.ascontiguousarray(np.load(path)[:args.rows])


def knn_with(peer, rows, k):
    """A function that returns squared distances and ids of the k nearest rows of each row, which include the row itself."""
    if peer == "faiss":
        import faiss
        faiss.omp_set_num_threads(args.threads)

        def search():
            index = faiss.IndexFlatL2(rows.shape[1])
            index.add(rows)
            return index.search(rows, k)
    elif peer == "sklearn":
        from sklearn.neighbors import NearestNeighbors

        def search():
            fitted = NearestNeighbors(n_neighbors=k, algorithm="brute", n_jobs=args.threads).fit(rows)
            distances, ids = fitted.kneighbors(rows)
            return distances ** 2, ids
    else:
        sys.exit(f"no peer `{peer}` for kNN; there are faiss, sklearn")
    return search


def timed(work):
    start = time.perf_counter()
    answer = work()
    return answer, time.perf_counter() - start


def knn():
    rows = load(args.files[0])
    (squared, _), seconds = timed(knn_with(args.peer, rows, args.k + 1))
    farthest = np.sqrt(np.maximum(squared[:, -1].astype(np.float64), 0)).mean()
    return {"n": len(rows), "d": rows.shape[1], "k": args.k, "seconds": seconds,
            "answer": {"mean k-th distance": float(farthest)}}


def recall():
    rows = load(args.files[0])
    if args.peer.endswith(".npy"):
        ids, seconds = np.load(args.peer), None
    else:
        (_, ids), seconds = timed(knn_with(args.peer, rows, args.k + 1))
    found = 0
    queries = np.random.default_rng(1).choice(len(rows), min(300, len(rows)), replace=False)
    for query in queries:
        difference = rows.astype(np.float64) - rows[query].astype(np.float64)
        squared = (difference ** 2).sum(axis=1)
        squared[query] = np.inf
        kth = np.partition(squared, args.k - 1)[args.k - 1]
        others = ids[query][ids[query] != query][:args.k]
        found += (squared[others] <= kth).sum()  # any row at the distance of the k-th is as good
    return {"n": len(rows), "d": rows.shape[1], "k": args.k, "seconds": seconds,
            "answer": {f"recall@{args.k}": float(found / (len(queries) * args.k))}}


def trust_and_cont():
    from sklearn.manifold import trustworthiness
    states, codes = load(args.files[0]), load(args.files[1])
    trust, first = timed(lambda: trustworthiness(states, codes, n_neighbors=args.k))
    cont, second = timed(lambda: trustworthiness(codes, states, n_neighbors=args.k))
    return {"n": len(states), "k": args.k, "seconds": first + second,
            "answer": {f"trustworthiness@{args.k}": float(trust), f"continuity@{args.k}": float(cont)}}


def two_nn():
    rows = load(args.files[0])
    if args.peer == "skdim":
        from skdim.id import TwoNN

        def estimate():
            return TwoNN().fit(rows).dimension_
    elif args.peer == "dadapy":
        from dadapy import Data

        def estimate():  # it computes in f64
            return Data(rows.astype(np.float64), verbose=False, n_jobs=args.threads).compute_id_2NN()[0]
    else:
        sys.exit(f"no peer `{args.peer}` for two_nn; there are skdim, dadapy")
    value, seconds = timed(estimate)
    return {"n": len(rows), "d": rows.shape[1], "seconds": seconds, "answer": {"two_nn": float(value)}}


def silhouette():
    from sklearn.metrics import silhouette_score
    rows, labels = load(args.files[0]), load(args.files[1])
    value, seconds = timed(lambda: silhouette_score(rows, labels))
    return {"n": len(rows), "d": rows.shape[1], "seconds": seconds, "answer": {"silhouette": float(value)}}


def probe():
    """RidgeCV chooses by leaving out single rows; it is fitted once for each outer fold. LogisticRegressionCV is run once, without outer
    folds, which is a fraction of what repscope does."""
    from sklearn.linear_model import LogisticRegressionCV, RidgeCV
    from sklearn.metrics import r2_score
    from sklearn.model_selection import KFold, cross_val_predict
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler
    rows, known = load(args.files[0]).astype(np.float64), load(args.files[1])
    if args.peer == "ridge":
        model = make_pipeline(StandardScaler(), RidgeCV(alphas=10.0 ** np.arange(-4, 9)))
        folds = KFold(5, shuffle=True, random_state=0)
        found, seconds = timed(lambda: cross_val_predict(model, rows, known, cv=folds))
        answer = {"probe.linear.r2": float(r2_score(known, found))}
    else:
        model = LogisticRegressionCV(Cs=10.0 ** np.arange(-5, 4), cv=5, scoring="neg_log_loss", max_iter=1000)
        rows = StandardScaler().fit_transform(rows)
        _, seconds = timed(lambda: model.fit(rows, known))
        answer = {}
    return {"n": len(rows), "d": rows.shape[1], "seconds": seconds, "answer": answer}


def similarity():
    """What the scripts of the field do for two models (Huh et al. 2024, `metrics.py`): whole N x N kernels, and the K largest entries of
    each row. Of their third term only the sums of rows are needed, which saves a product of N x N matrices. Three pairs are measured."""
    models = [load(path) for path in args.files]
    pairs = [(first, second) for first in range(len(models)) for second in range(first)]

    def hsic(a, b):
        n = len(a)
        return ((a * b).sum(dtype=np.float64) + a.sum(dtype=np.float64) * b.sum(dtype=np.float64) / (n - 1) / (n - 2)
                - 2 * a.sum(axis=0, dtype=np.float64) @ b.sum(axis=0, dtype=np.float64) / (n - 2)) / (n * (n - 3))

    def kernel(rows):
        product = rows @ rows.T
        np.fill_diagonal(product, 0)
        return product

    def cka(a, b):
        a, b = kernel(a), kernel(b)
        return hsic(a, b) / np.sqrt(hsic(a, a) * hsic(b, b))

    def neighbors(rows):
        rows = rows / np.linalg.norm(rows, axis=1, keepdims=True)
        product = rows @ rows.T
        np.fill_diagonal(product, -np.inf)
        return np.argpartition(-product, 10, axis=1)[:, :10]

    def mutual(a, b):
        a, b = neighbors(a), neighbors(b)
        return np.mean([len(np.intersect1d(one, other)) for one, other in zip(a, b)]) / 10

    def measure():
        return [(cka(models[a], models[b]), mutual(models[a], models[b])) for b, a in pairs[:3]]

    found, seconds = timed(measure)
    return {"n": len(models[0]), "d": models[0].shape[1], "seconds": seconds * len(pairs) / 3,
            "answer": {"cka(kernel=linear)": float(found[0][0]), "mutual_knn@10": float(found[0][1])}}


def uniformity():
    """Blocks of 1024 rows against the rows after them, in f32; with unit rows |x − y|² = 2 − 2x·y, so exp(−2|x − y|²) is
    exp(4x·y − 4)."""
    rows = load(args.files[0])

    def log_mean():
        unit = rows / np.linalg.norm(rows, axis=1, keepdims=True)
        total = 0.0
        for start in range(0, len(unit), 1024):
            kernel = unit[start:start + 1024] @ unit[start:].T
            kernel *= 4
            kernel -= 4
            np.exp(kernel, out=kernel)
            block = len(kernel)
            total += kernel[:, block:].sum(dtype=np.float64)
            total += np.triu(kernel[:, :block], 1).sum(dtype=np.float64)
        return np.log(total / (len(unit) * (len(unit) - 1) / 2))

    value, seconds = timed(log_mean)
    return {"n": len(rows), "d": rows.shape[1], "seconds": seconds, "answer": {"uniformity": float(value)}}


def kmeans():
    from sklearn.cluster import KMeans
    rows = load(args.files[0])
    fitted, seconds = timed(lambda: KMeans(n_clusters=10, n_init=10, random_state=0).fit(rows))
    return {"n": len(rows), "d": rows.shape[1], "seconds": seconds, "answer": {"inertia": float(fitted.inertia_)}}


def spectrum():
    """The product in f32, as the rows are; the eigenvalues in f64."""
    rows = load(args.files[0])

    def eigenvalues():
        centred = rows - rows.mean(axis=0)
        return np.linalg.eigvalsh((centred.T @ centred).astype(np.float64) / (len(rows) - 1))

    values, seconds = timed(eigenvalues)
    return {"n": len(rows), "d": rows.shape[1], "seconds": seconds, "answer": {"spectrum.max": float(values[-1])}}


def encode():
    """Codes in batches of 32 by ONNX Runtime from Python. Texts are tokenised, padded to the longest of their batch,
    averaged over their tokens and brought to length 1, as sentence-transformers does."""
    import onnxruntime
    path, data = args.files
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = args.threads
    is_text = data.endswith(".txt")
    session = onnxruntime.InferenceSession(path + ".onnx" if is_text else path, options, ["CPUExecutionProvider"])
    if is_text:
        from tokenizers import Tokenizer
        tokenizer = Tokenizer.from_file(path + "/tokenizer.json")
        tokenizer.enable_truncation(256)
        tokenizer.enable_padding()
        rows = open(data, encoding="utf-8").read().splitlines()
    else:
        rows = np.load(data)

    def batch(part):
        if not is_text:
            return session.run(None, {session.get_inputs()[0].name: part})[0]
        tokens = tokenizer.encode_batch(part)
        mask = np.array([one.attention_mask for one in tokens])
        inputs = {"input_ids": np.array([one.ids for one in tokens]), "attention_mask": mask,
                  "token_type_ids": np.zeros_like(mask)}
        hidden = session.run(None, inputs)[0]
        mean = (hidden * mask[..., None]).sum(axis=1) / mask.sum(axis=1, keepdims=True)
        return mean / np.linalg.norm(mean, axis=1, keepdims=True)

    codes, seconds = timed(lambda: np.concatenate([batch(rows[at:at + 32]) for at in range(0, len(rows), 32)]))
    return {"n": len(rows), "seconds": seconds, "answer": {"mean abs": float(np.abs(codes).astype(np.float64).mean())}}


def masks():
    """The masks of document 003 by its own rule: percentiles of the lit pixels, and random pixels of the whole image."""
    images = np.load(args.files[0])
    shares = {}

    def mask_all():
        lit_pixels = 0
        for image in images:
            lit = image[image > 0]
            lit_pixels += len(lit)
            for percent in range(1, 6):
                top, bottom, random = image.copy(), image.copy(), image.copy()
                top[top >= np.percentile(lit, 100 - percent)] = 0
                bottom[(bottom > 0) & (bottom <= np.percentile(lit, percent))] = 0
                np.random.seed(42)
                random.flat[np.random.choice(image.size, image.size * percent // 100, replace=False)] = 0
                if percent == 5:
                    for name, masked in (("top5", top), ("bottom5", bottom)):  # random ones share a seed
                        shares[name] = shares.get(name, 0) + len(lit) - np.count_nonzero(masked)
        return lit_pixels

    lit_pixels, seconds = timed(mask_all)
    return {"n": len(images), "seconds": seconds, "answer": {name: float(n / lit_pixels) for name, n in shares.items()}}


def retrieval():
    """Label precision at every K. Both peers rank once for all K, in f32; document 001's script ranks anew for each."""
    queries, targets, labels = (load(path) for path in args.files)
    deepest = min(max(ks), len(targets))

    def unit(rows):
        return rows / np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), 1e-12)

    if args.peer == "numpy":
        def search():  # the way of document 001's script: the whole matrix, sorted whole
            similarity = unit(queries) @ unit(targets).T
            return np.argsort(similarity, axis=1)[:, -deepest:][:, ::-1]
    elif args.peer == "faiss":
        import faiss
        faiss.omp_set_num_threads(args.threads)

        def search():
            index = faiss.IndexFlatIP(targets.shape[1])
            index.add(unit(targets))
            return index.search(unit(queries), deepest)[1]
    else:
        sys.exit(f"no peer `{args.peer}` for retrieval; there are numpy, faiss")

    def score():
        matches = labels[search()] == labels[:, None]
        return {f"label_precision.text2sensor@{k}": float(matches[:, :k].mean()) for k in ks}

    answer, seconds = timed(score)
    return {"n": len(queries), "d": queries.shape[1], "k": ks, "seconds": seconds, "answer": answer}


def python():
    """A call from Python of what `repscope bench metric` computes, without reading the arrays."""
    import repscope
    codes, *others = [None if file == "-" else np.load(file) for file in args.files]
    others = [array for array in others if array is not None]
    ask = getattr(repscope, args.peer)
    given = [others[0], codes] if args.peer == "trustworthiness" else [codes, *others]
    value, seconds = timed(lambda: ask(*given, threads=args.threads))
    name = f"{args.peer}@10" if args.peer == "trustworthiness" else args.peer
    return {"n": len(codes), "d": codes.shape[1], "seconds": seconds, "answer": {name: float(value)}}


def gemm():
    a = np.ones((2048, 784), np.float32)
    best = min(timed(lambda: a @ a.T)[1] for _ in range(6))
    return {"gflops": 2 * 2048 * 2048 * 784 / best / 1e9}


def main():
    cases = {"knn": knn, "recall": recall, "trust+cont": trust_and_cont, "two_nn": two_nn, "silhouette": silhouette,
             "probe": probe, "similarity": similarity, "uniformity": uniformity, "kmeans": kmeans, "spectrum": spectrum, "retrieval": retrieval, "encode": encode,
             "masks": masks, "python": python, "gemm": gemm}
    if args.case not in cases:
        sys.exit(f"there is no case `{args.case}`; there are {', '.join(cases)}")
    try:
        measured = cases[args.case]()
    except MemoryError as error:
        measured = {"error": f"{type(error).__name__}: {error}"[:200]}
    print(json.dumps({"case": args.case, "peer": args.peer} | measured))


if __name__ == "__main__":
    main()
