// SPDX-License-Identifier: MIT
//! Bad input is refused: exit code 2, a message on stderr that names the facts, nothing on stdout, nothing written.

use crate::fixtures::{Folder, Run, noise, npy, npy_f64, npy_i64, npy_words, npz};

/// A folder with good arrays and every bad file that the cases name.
fn bad_files() -> Folder {
    let folder = Folder::with_arrays();
    let z = noise(2, 180);
    let changed = |at: usize, value: f64| {
        let mut changed = z.clone();
        changed[at] = value;
        npy_f64(&[60, 3], &changed)
    };
    let whole = npy_f64(&[60, 3], &z);
    folder.write("empty.npy", b"");
    folder.write("truncated.npy", &whole[..whole.len() - 100]);
    folder.write("half_a_header.npy", &whole[..20]);
    folder.write(
        "garbage.npy",
        &noise(8, 99).iter().flat_map(|v| v.to_le_bytes()).collect::<Vec<_>>(),
    );
    folder.write(
        "garbage.npz",
        &noise(8, 99).iter().flat_map(|v| v.to_le_bytes()).collect::<Vec<_>>(),
    );
    folder.write("vast.npy", &npy_f64(&[1_000_000_000_000, 3], &z[..30]));
    folder.write("overflow.npy", &npy_f64(&[usize::MAX, usize::MAX], &z[..30]));
    folder.write("nan.npy", &changed(7 * 3 + 1, f64::NAN));
    folder.write("infinite.npy", &changed(7 * 3 + 1, f64::NEG_INFINITY));
    folder.write("words.npy", &npy_words(&["cat", "dog"]));
    folder.write("words.csv", b"a,b\n1,2\n3,four\n");
    folder.write("pickle.npy", &npy("|O", &[1], b"cos\nsystem\n(S'touch executed'\ntR."));
    folder.write("short.npy", &npy_f64(&[59, 3], &z[..177]));
    folder.write("rowless.npy", &npy_f64(&[0, 3], &[]));
    folder.write("single.npy", &npy_f64(&[], &[1.0]));
    folder.write("zero.npy", &npy_f64(&[60, 3], &[&[0.0; 3], &z[3..]].concat()));
    folder.write(
        "both.npz",
        &npz(&[("latent", whole.clone()), ("labels", npy_i64(&[0; 60]))]),
    );
    folder.write("notes.txt", b"1 2 3");
    folder.write("twice.npy", &npy_i64(&[1; 60]));
    folder.write("ids.npy", &npy_i64(&(0..60).collect::<Vec<_>>()));
    folder.write("other_ids.npy", &npy_i64(&(100..160).collect::<Vec<_>>()));
    folder.write("fractions.npy", &npy_f64(&[60], &z[..60]));
    folder.write("many_ids.npy", &npy_i64(&(0..61).collect::<Vec<_>>()));
    folder.write("cube.npy", &npy_f64(&[60, 2, 2], &noise(5, 240)));
    folder.write("two.npy", &npy_f64(&[2, 3], &z[..6]));
    folder.write("upper.npy", &npy_words(&["CAT", "DOG"]));
    folder.write("birds.npy", &npy_words(&["owl", "hen"]));
    folder.write(
        "captions.npz",
        &npz(&[("embeddings", whole.clone()), ("caption_indices", npy_i64(&[0, 1]))]),
    );
    folder.write(
        "meta.json",
        br#"{"villa": {"label_to_text_plain": {"cat": "A cat."}}, "barn": {}}"#,
    );
    folder.write("text.json", b"no json");
    folder.write("nothing/notes.txt", b"1 2 3");
    folder.write("nothing/z.npz", b"");
    for name in ["a", "b", "c", "d"] {
        folder.write(&format!("runs/{name}.npy"), &whole);
        folder.write(&format!("again/{name}.npy"), &whole);
    }
    folder.write("three.npy", &npy_f64(&[3, 3], &z[..9]));
    folder.write("others.csv", b"model,accuracy\njepa,0.5\nae,0.6\n");
    folder.write("words_of.csv", b"model,accuracy\na,0.5\nb,good\n");
    folder.write("empty_cell.csv", b"model,accuracy\na,0.5\nb,\n");
    folder.write("infinite.csv", b"model,accuracy\na,0.5\nb,inf\n");
    folder.write("twice.csv", b"model,accuracy\na,0.5\nb,0.6\na,0.7\n");
    folder.write("two_columns.csv", b"model,top1,top5\na,0.5,0.6\n");
    folder.write("one_column.csv", b"model\na\nb\n");
    folder.write("list.json", b"[0.5, 0.6]");
    folder
}

/// The command line, and what the message must say.
const CASES: &[(&str, &[&str])] = &[
    // Files
    ("manifold --model a=none.npy", &["cannot read none.npy", "No such file"]),
    ("manifold --model none.npy", &["cannot read none.npy"]),
    (
        "manifold --model nothing",
        &[
            "--model nothing",
            "no .npy file is in this folder",
            "`notes.txt`, `z.npz`",
            "'nothing/*.npz'",
        ],
    ),
    (
        "manifold --model m=runs/*.npz",
        &["--model m=runs/*.npz", "no file matches", "runs holds `a.npy`, `b.npy`"],
    ),
    (
        "manifold --model nowhere/*.npy",
        &["no file matches", "nowhere", "No such file"],
    ),
    ("manifold --model runs/[a", &["--model runs/[a", "no pattern"]),
    (
        "manifold --model runs again",
        &["two models are called `a`", "NAME=PATH"],
    ),
    ("manifold --model runs runs/a.npy", &["two models are called `a`"]),
    (
        "smoothness --states x.npy --next-states x.npy --model m=runs",
        &["--next-states", "NAME=Z,Z1"],
    ),
    ("manifold --model empty.npy", &["empty.npy is empty"]),
    (
        "manifold --model truncated.npy",
        &["truncated.npy", "(60, 3)", "1440", "1340"],
    ),
    ("manifold --model half_a_header.npy", &["half_a_header.npy"]),
    (
        "manifold --model garbage.npy",
        &["garbage.npy does not start like an .npy file"],
    ),
    ("manifold --model garbage.npz", &["garbage.npz"]),
    ("manifold --model vast.npy", &["vast.npy", "(1000000000000, 3)", "240"]),
    ("manifold --model overflow.npy", &["overflow.npy"]),
    ("manifold --model nan.npy", &["nan.npy", "NaN", "row 7", "column 1"]),
    (
        "manifold --model m=infinite.npy",
        &["infinite.npy", "`m`", "-inf", "row 7", "column 1"],
    ),
    (
        "neighborhood --states nan.npy --model z.npy",
        &["nan.npy", "`states`", "row 7", "column 1"],
    ),
    ("manifold --model words.npy", &["words.npy", "\"cat\"", "not numbers"]),
    (
        "manifold --model words.csv",
        &["words.csv", "\"four\"", "line 3", "`b`"],
    ),
    (
        "manifold --model pickle.npy",
        &["pickle.npy", "os.system", "never executed", "np.save"],
    ),
    (
        "geometry --model z.npy --labels pickle.npy",
        &["pickle.npy", "never executed", "astype(str)"],
    ),
    ("manifold --model rowless.npy", &["rowless.npy", "(0, 3)"]),
    ("manifold --model single.npy", &["single.npy", "single value"]),
    ("manifold --model notes.txt", &["notes.txt", "text", "not numbers"]),
    (
        "manifold --model both.npz",
        &["both.npz", "2 arrays", "`latent` (60, 3) f64", "`labels` (60,) i64"],
    ),
    (
        "manifold --model both.npz#laten",
        &["`laten`", "did you mean `latent`?", "(60, 3)", "`labels`"],
    ),
    ("manifold --model z.npy#z", &["z.npy", "leave out #z"]),
    (
        "geometry --model z.npy --labels x.npy",
        &["x.npy", "(60, 4)", "one value per row"],
    ),
    (
        "geometry --model z.npy --labels fractions.npy",
        &["fractions.npy", "row 0", "not an integer"],
    ),
    // Arrays that do not fit together
    (
        "neighborhood --states x.npy --model short.npy",
        &["`short`", "60", "59", "--ids"],
    ),
    ("smoothness --states short.npy --model z.npy", &["`z`", "59", "60"]),
    (
        "geometry --model short.npy --labels labels.npy",
        &["`short`", "60", "59"],
    ),
    (
        "smoothness --states x.npy --model z.npy --episodes words.npy",
        &["episode", "2", "60"],
    ),
    (
        "smoothness --states x.npy --next-states x.npy --model z.npy",
        &["--next-states", "NAME=Z,Z1"],
    ),
    (
        "smoothness --states x.npy --next-states x.npy --model m=z.npy,",
        &["--next-states", "NAME=Z,Z1"],
    ),
    (
        "smoothness --states x.npy --next-states z.npy --model m=z.npy,w.npy",
        &["60 × 4", "60 × 3"],
    ),
    (
        "smoothness --states x.npy --next-states x.npy --model m=z.npy,short.npy",
        &["60 × 3", "59 × 3"],
    ),
    (
        "neighborhood --states x.npy --model zero.npy --distance cosine",
        &["row 0", "`zero`", "length zero"],
    ),
    (
        "neighborhood --states x.npy --model z.npy --k 60",
        &["k = 60", "model `z` has 60"],
    ),
    (
        "neighborhood --states x.npy --model z.npy --k 5 100",
        &["k = 100", "60"],
    ),
    // Ids
    (
        "neighborhood --states x.npy --model z.npy --ids ids.npy",
        &["--ids NAME=ids.npy", "`states`"],
    ),
    (
        "neighborhood --states x.npy --model z.npy --ids z=ids.npy",
        &["`states`", "add states=PATH"],
    ),
    (
        "neighborhood --states x.npy --model z.npy --ids states=ids.npy z=twice.npy",
        &["`z`", "twice", "rows 0 and 1"],
    ),
    (
        "neighborhood --states x.npy --model z.npy --ids states=ids.npy z=other_ids.npy",
        &["`0`", "`100`"],
    ),
    (
        "neighborhood --states x.npy --model both.npz#latent --ids id",
        &["x.npy"],
    ),
    (
        "manifold --model both.npz#latent --ids id",
        &["both.npz", "`id`", "`labels`"],
    ),
    (
        "neighborhood --states x.npy --model states=z.npy --ids states=ids.npy",
        &["`states`", "another name"],
    ),
    // Options
    (
        "neighborhood --states x.npy --model z.npy --k 0",
        &["--k 0", "at least one"],
    ),
    ("neighborhood --states x.npy --model z.npy --k five", &["five", "--k"]),
    (
        "neighborhood --states x.npy --model z.npy --distance manhattan",
        &["manhattan", "euclidean, cosine"],
    ),
    (
        "manifold --model z.npy --pool max",
        &["max", "last, mean, first, flatten"],
    ),
    ("manifold --model z.npy --model z.npy", &["two models are called `z`"]),
    (
        "manifold --model a=z.npy a=w.npy",
        &["two models are called `a`", "NAME=PATH"],
    ),
    ("manifold --model a=", &["--model a=", "NAME=PATH"]),
    ("manifold --model =z.npy", &["--model =z.npy", "NAME=PATH"]),
    ("manifold --model a", &["cannot read a"]),
    ("manifold", &["--model"]),
    ("neighborhood --model z.npy", &["--states"]),
    ("manifold --model z.npy --threads 0", &["--threads 0"]),
    ("manifold --model z.npy --threads two", &["--threads", "two"]),
    ("manifold --model z.npy --level 2", &["--level 2", "between 0 and 1"]),
    ("manifold --model z.npy --level nan", &["--level NaN"]),
    ("manifold --model z.npy --memory 5X", &["--memory 5X", "512M"]),
    ("manifold --model z.npy --sample 1", &["--sample 1", "at least 2"]),
    ("manifold --model z.npy --discard 1", &["--discard 1"]),
    ("geometry --model z.npy --clusters 0", &["--clusters 0"]),
    ("geometry --model z.npy --k 0", &["--k 0"]),
    ("geometry --model z.npy --restarts 0", &["--restarts 0"]),
    ("geometry --model z.npy --splits 0", &["--splits 0"]),
    (
        "geometry --model z.npy --splits 18446744073709551615",
        &["--splits 18446744073709551615"],
    ),
    (
        "neighborhood --states x.npy --model z.npy --k 18446744073709551615",
        &["--k 18446744073709551615"],
    ),
    ("manifold --model z.npy --threads 100000", &["--threads 100000", "1024"]),
    ("geometry --model z.npy --t 0", &["t = 0"]),
    (
        "manifold --model z.npy --output-dir notes.txt",
        &["notes.txt", "Not a directory"],
    ),
    (
        "manifold --model z.npy --format yaml",
        &["yaml", "table, markdown, latex, csv, json"],
    ),
    ("manifld --model z.npy", &["manifld", "'manifold'"]),
    ("manifold --modle z.npy", &["--modle", "'--model'"]),
    // CLID
    ("clid", &["--model"]),
    ("clid --model z.npy --preset best", &["best", "spec, robust, paper"]),
    (
        "clid --model z.npy --clusters ten",
        &["ten", "--clusters", "neither a number nor sqrt"],
    ),
    ("clid --model z.npy --clusters 1", &["--clusters 1", "at least 2"]),
    (
        "clid --model z.npy --clusters 60",
        &["--clusters 60", "more than 60 rows", "`z` has 60"],
    ),
    (
        "clid --model three.npy --clusters sqrt",
        &["--clusters sqrt", "4 rows", "`three` has 3"],
    ),
    ("clid --model z.npy --k 31", &["--k 31", "`z` has 60", "at most 30"]),
    ("clid --model z.npy --k 0", &["--k 0"]),
    ("clid --model z.npy --restarts 0", &["--restarts 0"]),
    ("clid --model z.npy --splits 0", &["--splits 0"]),
    ("clid --model z.npy --repeats 0", &["--repeats 0"]),
    (
        "clid --model z.npy --repeats 1000 --splits 1000",
        &["--repeats 1000", "--splits 1000", "100000"],
    ),
    (
        "clid --model z.npy --repeats 18446744073709551615 --splits 2",
        &["--repeats 18446744073709551615"],
    ),
    ("clid --model z.npy --standardize maybe", &["maybe", "yes, no"]),
    ("clid --model z.npy --unit-length some", &["some", "none, vote, all"]),
    ("clid --model z.npy --id-norm max", &["max", "dim, pool"]),
    (
        "clid --model z.npy --id-norm pool",
        &["--id-norm pool", "at least 2 models", "1 is given"],
    ),
    ("clid --model z.npy --alpha 0", &["--alpha 0", "above 0"]),
    ("clid --model z.npy --t nan", &["--t NaN", "above 0"]),
    ("clid --model z.npy --eps -1", &["--eps -1", "0.01 is usual"]),
    ("clid --model z.npy --gam1 inf", &["--gam1 inf"]),
    ("clid --model z.npy --gam2 0", &["--gam2 0"]),
    (
        "clid --model z.npy --labels words.npy",
        &["the labels 2", "model `z` 60"],
    ),
    ("clid --model z.npy --views none.npy", &["cannot read none.npy"]),
    ("clid --model z.npy --views short.npy", &["second view", "59", "60"]),
    (
        "clid --model z.npy --views x.npy",
        &["second view", "4 columns", "have 3"],
    ),
    ("clid --model z.npy --views nan.npy", &["nan.npy", "row 7"]),
    (
        "clid --model z.npy --views m=w.npy",
        &["--views m=w.npy", "no model is called `m`", "`z`"],
    ),
    (
        "clid --model z.npy w.npy --views z=w.npy",
        &["model `w` has no second view", "`z`", "--views w=PATH"],
    ),
    (
        "clid --model z.npy w.npy --views runs",
        &["model `z` has no second view", "`a`, `b`, `c`, `d`"],
    ),
    (
        "clid --model runs/a.npy runs/b.npy --views runs again",
        &["could both be the second view of model `a`", "again/a.npy"],
    ),
    (
        "clid --model z.npy --views nothing",
        &["--views nothing", "no .npy file"],
    ),
    (
        "clid --model z.npy --views w.npy --ids z=ids.npy",
        &["no ids for `z.view`", "add z.view=PATH"],
    ),
    ("clid --model runs --performance none.csv", &["cannot read none.csv"]),
    (
        "clid --model z.npy w.npy --performance others.csv",
        &["--performance", "at least 4", "2 are given"],
    ),
    (
        "clid --model runs --performance others.csv",
        &[
            "others.csv",
            "no value for any model",
            "`jepa`, `ae`",
            "`a`, `b`, `c`, `d`",
        ],
    ),
    (
        "clid --model runs --performance words_of.csv",
        &["words_of.csv", "\"good\"", "`b`", "row 1", "not a number"],
    ),
    (
        "clid --model runs --performance empty_cell.csv",
        &["empty_cell.csv", "empty cell", "line 3", "`accuracy`"],
    ),
    (
        "clid --model runs --performance infinite.csv",
        &["infinite.csv", "`b`", "inf", "finite"],
    ),
    (
        "clid --model runs --performance twice.csv",
        &["twice.csv", "`a` twice", "rows 0 and 2"],
    ),
    (
        "clid --model runs --performance two_columns.csv",
        &[
            "two_columns.csv",
            "no column `accuracy`",
            "2 columns of numbers",
            "`top1`, `top5`",
            "#COLUMN",
        ],
    ),
    (
        "clid --model runs --performance two_columns.csv#top11",
        &["`top11`", "did you mean `top1`?"],
    ),
    (
        "clid --model runs --performance one_column.csv",
        &["one_column.csv", "one column"],
    ),
    (
        "clid --model runs --performance list.json",
        &["list.json", "{\"jepa\": 0.91}"],
    ),
    (
        "clid --model runs --performance notes.txt",
        &["notes.txt", "one column"],
    ),
    (
        "clid --model r=runs s=again --performance others.csv",
        &["others.csv", "no value for any model"],
    ),
    (
        "clid --model r=runs s=again --performance infinite.csv",
        &["`a`", "`r/a` or `s/a`", "whole name"],
    ),
    // Retrieval
    (
        "retrieval --labels labels.npy",
        &["nothing to search", "--sensor-embeddings PATH", "--space NAME=PATH"],
    ),
    (
        "retrieval --sensor_embeddings z.npy",
        &["labels are needed", "--labels PATH"],
    ),
    (
        "retrieval --sensor_embeddings none.npy --labels labels.npy",
        &["cannot read none.npy"],
    ),
    (
        "retrieval --sensor_embeddings z.npy --labels none.npz",
        &["cannot read none.npz"],
    ),
    (
        "retrieval --sensor_embeddings z.npy --text_embeddings x.npy --labels labels.npy",
        &["`text` has 4 columns", "`sensor` has 3"],
    ),
    (
        "retrieval --sensor_embeddings z.npy --text_embeddings short.npy --labels labels.npy",
        &["`sensor` has 60 rows", "`text` has 59", "by id"],
    ),
    (
        "retrieval --sensor_embeddings z.npy --labels words.npy",
        &["2 rows", "`sensor` has 60"],
    ),
    (
        "retrieval --sensor_embeddings cube.npy --labels labels.npy",
        &["cube.npy", "[60, 2, 2]", "N × D"],
    ),
    (
        "retrieval --sensor_embeddings nan.npy --labels labels.npy",
        &["nan.npy", "`sensor`", "row 7"],
    ),
    (
        "retrieval --sensor_embeddings labels.npy --labels labels.npy",
        &["labels.npy", "\"cat\"", "not numbers"],
    ),
    (
        "retrieval --sensor_embeddings both.npz --labels both.npz",
        &[
            "no array `embeddings`",
            "`latent` (60, 3) f64",
            "both.npz#KEY",
            "--sensor-key",
        ],
    ),
    (
        "retrieval --sensor_embeddings both.npz --sensor_key laten --labels both.npz",
        &["no array `laten`", "did you mean `latent`?", "`labels` (60,) i64"],
    ),
    (
        "retrieval --sensor_embeddings z.npy --labels both.npz --labels_key label",
        &["no array `label`", "did you mean `labels`?"],
    ),
    (
        "retrieval --sensor_embeddings captions.npz --labels labels.npy",
        &["captions.npz#caption_indices has 2 values", "60 embeddings"],
    ),
    (
        "retrieval --sensor_embeddings z.npy --text_embeddings w.npy --labels labels.npy --directions text2senser",
        &[
            "`text2senser`",
            "text2sensor, sensor2text, sensor2sensor, text2text, both",
        ],
    ),
    (
        "retrieval --sensor_embeddings z.npy --labels labels.npy --directions text2sensor",
        &["`text2sensor` needs --text-embeddings", "sensor2sensor"],
    ),
    (
        "retrieval --sensor_embeddings z.npy --labels labels.npy --directions both",
        &["--text-embeddings was not given"],
    ),
    (
        "retrieval --sensor_embeddings z.npy --labels labels.npy --directions prototype2sensor",
        &["needs prototypes", "--prototype-embeddings"],
    ),
    (
        "retrieval --sensor_embeddings z.npy --labels labels.npy --k_values 0",
        &["--k-values 0", "at least 1"],
    ),
    (
        "retrieval --sensor_embeddings z.npy --labels labels.npy --k_values 5 -1",
        &["-1"],
    ),
    (
        "retrieval --sensor_embeddings z.npy --labels labels.npy --k_values 18446744073709551615",
        &["--k-values 18446744073709551615"],
    ),
    (
        "retrieval --space sensor2=z.npy --labels labels.npy",
        &["`sensor2`", "digits other than 2"],
    ),
    ("retrieval --space z.npy --labels labels.npy", &["--space NAME=PATH"]),
    (
        "retrieval --space a=z.npy a=w.npy --labels labels.npy",
        &["two spaces are called `a`"],
    ),
    (
        "retrieval --space prototype=z.npy --labels labels.npy",
        &["`prototype`", "another name"],
    ),
    (
        "retrieval --sensor_embeddings z.npy --labels labels.npy ids.npy",
        &["labels.npy have no name", "l1=PATH l2=PATH"],
    ),
    (
        "retrieval --sensor_embeddings z.npy --labels l1=labels.npy l1=ids.npy",
        &["`l1` is named twice"],
    ),
    (
        "retrieval --space a=z.npy b=w.npy --labels a=labels.npy",
        &["`b` has no labels", "b=PATH"],
    ),
    (
        "retrieval --space a=z.npy b=w.npy --labels l1=labels.npy l2=ids.npy b=labels.npy",
        &["say nothing of the set", "b.l1=PATH"],
    ),
    (
        "retrieval --sensor_embeddings z.npy --labels labels.npy --exclude_labels cats",
        &["cats", "did you mean `cat`?", "`cow`, `dog`"],
    ),
    (
        "retrieval --sensor_embeddings z.npy --labels labels.npy --exclude_labels cat cow dog",
        &["none of the 60 rows of `sensor`"],
    ),
    (
        "retrieval --sensor_embeddings z.npy --labels labels.npy --ids sensor=ids.npy labels=ids.npy text=ids.npy",
        &["--ids names `text`", "`sensor`, `labels`"],
    ),
    (
        "retrieval --space a=z.npy b=w.npy --labels labels.npy b=labels.npy --ids a=ids.npy b=ids.npy labels=ids.npy",
        &["`b` has its own"],
    ),
    (
        "retrieval --sensor_embeddings z.npy --labels labels.npy --ids sensor=many_ids.npy labels=ids.npy",
        &["`sensor` has 60 rows but 61 ids"],
    ),
    (
        "manifold --model z.npy --ids z=many_ids.npy",
        &["`z` has 60 rows but 61 ids"],
    ),
    (
        "geometry --model z.npy --labels words.npy --ids z=ids.npy labels=ids.npy",
        &["`labels` has 2 rows but 60 ids"],
    ),
    (
        "retrieval --sensor_embeddings z.npy --labels labels.npy --use_prototypes",
        &["--prototype-embeddings", "metadata/casas_metadata.json"],
    ),
    (
        "retrieval --sensor_embeddings z.npy --labels labels.npy --use_prototypes --metadata meta.json --dataset_name \
         vila",
        &["meta.json", "`vila`", "did you mean `villa`?", "`barn`"],
    ),
    (
        "retrieval --sensor_embeddings z.npy --labels labels.npy --use_prototypes --metadata meta.json --dataset_name \
         villa",
        &["`sourish`", "Its styles are `plain`"],
    ),
    (
        "retrieval --sensor_embeddings z.npy --labels labels.npy --use_prototypes --metadata text.json",
        &["text.json is not a readable JSON file"],
    ),
    (
        "retrieval --sensor_embeddings z.npy --labels labels.npy --use_prototypes --metadata meta.json --dataset_name \
         villa --caption_style plain --checkpoint best.pt",
        &["cannot read best.pt", "No such file"],
    ),
    (
        "retrieval --sensor_embeddings z.npy --labels labels.npy --use_prototypes --metadata meta.json --dataset_name \
         villa --caption_style plain",
        &[
            "no text encoder for 1 text",
            "--text-encoder",
            "--checkpoint",
            "--prototype-texts texts.csv",
            "--prototype-embeddings",
        ],
    ),
    (
        "retrieval --prototype_texts texts.csv --metadata meta.json --dataset_name barn",
        &["no labels of `barn`"],
    ),
    (
        "retrieval --sensor_embeddings z.npy --labels labels.npy --prototype_labels words.npy",
        &["--prototype-embeddings"],
    ),
    (
        "retrieval --sensor_embeddings z.npy --labels labels.npy --prototype_embeddings two.npy",
        &["needs labels", "--prototype-labels", "--metadata"],
    ),
    (
        "retrieval --sensor_embeddings z.npy --labels labels.npy --prototype_embeddings w.npy --prototype_labels \
         words.npy",
        &["60 prototypes", "2 labels"],
    ),
    (
        "retrieval --sensor_embeddings z.npy --labels labels.npy --prototype_embeddings two.npy --metadata meta.json \
         --dataset_name villa --caption_style plain",
        &["2 prototypes", "1 label"],
    ),
    (
        "retrieval --sensor_embeddings z.npy --labels labels.npy --prototype_embeddings two.npy --prototype_labels \
         birds.npy",
        &[
            "no prototype has a label of the data",
            "`hen`, `owl`",
            "`cat`, `cow`, `dog`",
        ],
    ),
    (
        "retrieval --sensor_embeddings z.npy --labels labels.npy --prototype_embeddings two.npy --prototype_labels \
         upper.npy",
        &["`CAT` and label `cat`", "--ignore-case"],
    ),
    (
        "retrieval --sensor_embeddings x.npy --labels labels.npy --prototype_embeddings two.npy --prototype_labels \
         words.npy",
        &["`prototype` has 3 columns", "`sensor` has 4"],
    ),
    (
        "retrieval --sensor_embeddings z.npy --labels labels.npy --output .",
        &["--output .", "folder"],
    ),
    (
        "retrieval --sensor_embeddings z.npy --labels labels.npy --level 2",
        &["--level 2"],
    ),
    (
        "retrieval --sensor_embeddings z.npy --labels labels.npy --memory 1K",
        &["memory limit", "1.0 KiB"],
    ),
    // Commands that read no model
    (
        "explain trustworthyness",
        &[
            "`trustworthyness`",
            "did you mean `trustworthiness`?",
            "repscope metrics",
        ],
    ),
    ("explain two_n", &["did you mean `two_nn`?"]),
    ("explain zzz", &["there is no metric `zzz`", "repscope metrics"]),
    ("check none.npy", &["cannot read none.npy"]),
    ("check pickle.npy", &["never executed"]),
    ("check both.npz#laten", &["did you mean `latent`?"]),
];

/// What is wrong with a refusal; nothing where it is as it should be.
fn complaint(run: &Run, line: &str, facts: &[&str]) -> Option<String> {
    let lacking: Vec<&&str> = facts.iter().filter(|fact| !run.stderr.contains(**fact)).collect();
    let is_error = run.code == 2 && run.stdout.is_empty() && run.stderr.starts_with("error: ");
    (!is_error || !lacking.is_empty())
        .then(|| format!("repscope {line}\ngives {}, lacks {lacking:?}\n{}", run.code, run.stderr))
}

fn is_refused(run: &Run, line: &str, facts: &[&str]) {
    if let Some(complaint) = complaint(run, line, facts) {
        panic!("{complaint}");
    }
}

#[test]
fn bad_input_is_refused_with_the_facts_and_nothing_is_written() {
    let folder = bad_files();
    let before = folder.files();
    let mut complaints = Vec::new();
    for (line, facts) in CASES {
        complaints.extend(complaint(&folder.run(line), line, facts));
        assert_eq!(folder.files(), before, "repscope {line} wrote something");
    }
    assert!(complaints.is_empty(), "{}", complaints.join("\n"));
}

#[test]
fn a_message_says_the_cause_once() {
    let stderr = Folder::new().run("manifold --model none.npy").stderr;
    assert_eq!(
        stderr,
        "error: cannot read none.npy: No such file or directory (os error 2)\n"
    );
}

#[test]
fn the_same_refusals_come_with_json_on_stdout() {
    let folder = bad_files();
    for line in [
        "manifold --model nan.npy --json",
        "neighborhood --states x.npy --model short.npy --json --quiet",
    ] {
        is_refused(&folder.run(line), line, &[]);
    }
}

#[test]
fn one_bad_model_among_good_ones_stops_the_run_before_anything_is_written() {
    let folder = bad_files();
    let before = folder.files();
    let line = "neighborhood --states x.npy --model z.npy w.npy nan.npy --output-dir out";
    is_refused(&folder.run(line), line, &["nan.npy"]);
    assert_eq!(folder.files(), before);
}

#[test]
fn a_budget_that_is_too_small_is_refused_with_both_numbers() {
    let folder = Folder::new();
    folder.write("x.npy", &npy_f64(&[40_000, 1], &noise(1, 40_000)));
    let before = folder.files();
    let line = "neighborhood --states x.npy --model z=x.npy --memory 12M";
    let run = folder.run(line);
    is_refused(&run, line, &["`z`", "memory limit", "sample"]);
    let words: Vec<&str> = run.stderr.split_whitespace().collect();
    let sizes: Vec<f64> = words
        .windows(2)
        .filter(|w| w[1].contains("iB"))
        .filter_map(|w| w[0].parse().ok())
        .collect();
    assert!(
        matches!(sizes[..], [needed, allowed] if needed > allowed && allowed > 0.0),
        "{}",
        run.stderr
    );
    assert_eq!(folder.files(), before);
}

#[test]
fn no_cut_of_a_file_makes_the_command_panic() {
    let whole = npy_f64(&[10, 3], &noise(4, 30));
    let archive = npz(&[("z", whole.clone()), ("y", npy_i64(&[1, 2, 3]))]);
    let folder = Folder::new();
    for (name, bytes) in [("cut.npy", &whole), ("cut.npz", &archive)] {
        for end in (0..bytes.len()).step_by(29) {
            folder.write(name, &bytes[..end]);
            let run = folder.run_words(&["manifold", "--model", name]);
            assert_eq!(run.code, 2, "{name} cut at {end}: {}", run.stderr);
            assert!(run.stderr.contains(name), "{name} cut at {end}: {}", run.stderr);
        }
    }
}

#[test]
fn without_a_command_the_help_is_shown_as_an_error() {
    let run = Folder::new().run("");
    assert_eq!(run.code, 2);
    assert_eq!(run.stdout, "");
    assert!(run.stderr.contains("Usage: repscope"), "{}", run.stderr);
}

/// Stopped half-way: files are written whole at the end, so there are none. By SIGTERM, because a shell that starts the
/// tests in the background has them ignore Ctrl-C.
#[cfg(unix)]
#[test]
fn an_interrupted_run_leaves_no_files() {
    let folder = Folder::new();
    folder.write("x.npy", &npy_f64(&[60_000, 16], &noise(1, 960_000)));
    let before = folder.files();
    let mut child = crate::fixtures::command(folder.path())
        .args(["neighborhood", "--states", "x.npy", "--model", "z=x.npy"])
        .stdout(std::process::Stdio::null())
        .spawn()
        .expect("the command starts");
    std::thread::sleep(std::time::Duration::from_millis(300));
    let interrupt = std::process::Command::new("kill")
        .args(["-TERM", &child.id().to_string()])
        .status();
    assert!(
        interrupt.is_ok_and(|s| s.success()),
        "the run was over too soon to be interrupted"
    );
    assert!(!child.wait().expect("the command ends").success());
    assert_eq!(folder.files(), before);
}

#[test]
fn more_clusters_or_voters_than_rows_are_refused_only_where_they_were_asked_for() {
    let folder = Folder::new();
    folder.write("z.npy", &npy_f64(&[4, 2], &[0.0, 1.0, 2.0, 5.0, 3.0, 3.0, 9.0, 8.0]));
    let run = folder.run("geometry --model z.npy --clusters 50");
    is_refused(&run, "geometry --clusters 50", &["50", "4", "--clusters"]);
    let run = folder.run("geometry --model z.npy --k 50");
    is_refused(&run, "geometry --k 50", &["50", "4", "--k"]);
    assert_eq!(folder.run("geometry --model z.npy").code, 0);
}

#[test]
fn a_damaged_parquet_file_that_trips_its_decoder_is_an_error_like_any_other() {
    // Bytes found by mutation: each makes the parquet crate panic at another place. The runner asserts that no
    // panic is ever printed.
    let sound = include_bytes!("../../../repscope-io/tests/files/columns.parquet");
    for (at, value) in [(2621, 196), (1301, 84)] {
        let folder = Folder::new();
        let mut bytes = sound.to_vec();
        bytes[at] = value;
        folder.write("damaged.parquet", &bytes);
        let run = folder.run("check damaged.parquet");
        assert_eq!(run.code, 2, "byte {at}");
        assert!(
            run.stderr.starts_with("error: damaged.parquet"),
            "byte {at}: {}",
            run.stderr
        );
    }
}
