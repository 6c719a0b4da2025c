# SPDX-License-Identifier: MIT
"""Golden cases of generated texts against references: writes `text_metrics.json`; `--check` recomputes it and compares.

    pip install sacrebleu==2.6.0 rouge-score==0.1.2 jiwer==4.0.0 numpy==2.4.6 scipy==1.17.1

`tokens`   texts with the tokens of sacrebleu (13a), of rouge-score and of jiwer
`cases`    generated texts, references, and units where samples belong together;
           `expected`    scores of all samples, and their standard errors (`part`), by leaving out samples or units
                         one by one and asking the library again; for means of single samples by SciPy
           `undefined`   scores that do not exist
           `samples`     scores of single samples, null where there is none
Every value holds within 1e-9. jiwer answers with the number of words put in where no reference has words; here that is
undefined. Texts are written for this purpose; those called noise are drawn from characters that tokenizers treat apart.
"""
import json
import sys
from importlib.metadata import version
from pathlib import Path

import jiwer
import numpy as np
from rouge_score.rouge_scorer import RougeScorer
from rouge_score.tokenize import tokenize as rouge_tokens
from sacrebleu import sentence_bleu
from sacrebleu.metrics import BLEU
from sacrebleu.tokenizers.tokenizer_13a import Tokenizer13a
from scipy.stats import sem

FILE = Path(__file__).parent / "text_metrics.json"
TOLERANCE = 1e-9
LIBRARIES = ("sacrebleu", "rouge-score", "jiwer", "numpy", "scipy")
ROUGE = {"rouge.1": "rouge1", "rouge.2": "rouge2", "rouge.l": "rougeL"}
SCORER = RougeScorer(list(ROUGE.values()), use_stemmer=False)

PAIRS = [
    # generated, reference
    ("The cat sat on the mat.", "The cat sat on the mat."),
    ("A cat is sitting on the mat.", "The cat sat on the mat."),
    ("He gave her a book, and she read it.", "She gave him a book, and he read it at once."),
    ("The film was released in 1984 and cost $1,234.5 million.", "The film, released in 1984, cost 1,234.5 million dollars."),
    ("\"I don't know,\" she said.", "\"I do not know\", she said."),
    ("It's a well-known, state-of-the-art method.", "It is a well known state-of-the-art method."),
    ("He was born in 1950-1955 somewhere near Paris.", "He was born between 1950 and 1955, somewhere near Paris."),
    ("Tom &amp; Jerry said &quot;hello&quot; to everyone.", "Tom & Jerry said \"hello\" to everyone."),
    ("if a &lt; b then b &gt; a", "if a < b, then b > a"),
    ("The café in Zürich serves naïve customers.", "The Café in Zürich serves naive customers."),
    ("", "Nothing was generated for this one."),
    ("yes", "Yes"),
    ("no", "no"),
    ("not at all", "not at all"),
    ("thank you", "thank you very much"),
    ("on the mat the cat sat", "the cat sat on the mat"),
    ("the the the the the the the", "the cat is on the mat"),
    ("George Bush was the president of the United States, and he was the president of Texas.",
     "George W. Bush was the 43rd President of the United States (2001–2009), after six years as governor of Texas."),
    ("and and and , , , . . .", "She won the award for best actress in 1999, 2003 and 2007."),
    ("U.S. prices rose 3.5% in Q2, to $12.99 per unit...", "Prices in the U.S. rose 3.5 % in Q2 to $12.99 a unit."),
    ("e-mail: someone@example.org; see http://example.org/a_b?c=1#d", "Email someone@example.org or see http://example.org/a_b?c=1#d"),
    ("  two   blanks\tand a tab ", "two blanks and a tab"),
    ("two lines\nof text", "two lines of text"),
    ("a hyphen at the end of a li-\nne", "a hyphen at the end of a line"),
    ("THE CAT SAT ON THE MAT.", "the cat sat on the mat."),
    ("The cat sat on the mat.", "The cat sat on the mat."),
    ("The cat sat on the mat.", "A dog slept under the table."),
    ("It is not a great film, but it is a good one, and I would see it again with friends on a rainy day.",
     "It's not a great film but it is a good one: I'd see it again, with friends, on a rainy Sunday."),
]

TRICKY = [
    "", " ", "...", "a...b", "a.b", "1.5", "1.", ".5", "1,234,567.89", "a,1", "1,a", ",,1,,", ".,.,", "5-6", "a-5", "5-", "-5", "5--6",
    "don't", "'quoted'", "rock 'n' roll", "A/B", "50%", "$5.00", "#tag", "a_b", "x^2", "`tick`", "{[(<>)]}", "~", "a\\b", "|",
    "&amp;lt;", "&amp;amp;", "&quot", "&nbsp;", "<skipped>word", "a-\nb", "a-\n", "a\n-b", "a\r\nb", "a\u00a0b", "a\u2003b",
    "a\tb", "a\t\tb", "a \tb", "\ta b\t", "a\u00a0\u00a0b", "a\x1cb", "a \x1d\x1eb", "a\x85b", "a\u200bb", "\ufeffa", "a\u3000b",
    "„Größe“ – naïve café…", "«Привет, мир!»", "漢字。かな、1.5", "١٢٣.٤", "x².5", "½.5", "İstanbul KELVIN Å", "ﬁne ſtraße", "Σίσυφος ΟΔΟΣ",
    "🙂.🙂", "e\u0301.5", "A.B.C.", "i.e., e.g.; etc.", "3.5.7", "1.a.2", "12-13-14", "2001–2009", "a--b", "..5..", "5..5", "5.,5",
    "a.", "a.\n", "a. \n", "1.\n2", "\n\n", "x\u2028y", "O'Neill's", "\"\"", "!!", "?!.", "a:b;c", "10:30", "C++", "a=b", "@user", "*bold*",
]


def noise(rng, length):
    """Characters that tokenizers treat apart, some far more often than in texts."""
    alphabet = list("ab19.,-'  \n\t\"&;<(/%A") + ["&amp;", "&lt;", "&quot;", "-\n", "<skipped>", "é", "İ", "\u00a0", "\x1c", "–", "漢"]
    return "".join(rng.choice(alphabet, length))


def long_texts(rng, words):
    """A text of frequent and rare words, and one made of it by edits and moves."""
    vocabulary = [f"w{i}" for i in range(300)]
    weights = 1 / np.arange(1, 301)
    draw = lambda count: list(rng.choice(vocabulary, count, p=weights / weights.sum()))
    reference = draw(words)
    generated = []
    for word in reference:
        lot = rng.random()
        generated += [] if lot < 0.1 else draw(1) if lot < 0.2 else [word, *draw(1)] if lot < 0.3 else [word]
    third = len(generated) // 3
    return " ".join(generated[third : 2 * third] + generated[:third] + generated[2 * third :]), " ".join(reference)


# ---------------------------------------------------------------- what the libraries say


def bleu(generated, references, order):
    return BLEU(max_ngram_order=order).corpus_score(generated, [references]).score


def wer(generated, references):
    words = sum(map(len, jiwer.wer_default(references)))
    return float(jiwer.wer(references, generated)) if words else None


def rouge(generated, reference):
    scores = SCORER.score(reference, generated)
    return {f"{id}{part}": float(getattr(scores[name], field)) for id, name in ROUGE.items()
            for part, field in (("", "fmeasure"), (".precision", "precision"), (".recall", "recall"))}


def samples(generated, references):
    rows = [{"bleu": sentence_bleu(g, [r]).score} | rouge(g, r) | {"wer": wer([g], [r])} for g, r in zip(generated, references)]
    return {name: [row[name] for row in rows] for name in rows[0]}


def jackknife(score, generated, references, units):
    """The standard error from leaving out one unit after the other; none where something has no score then."""
    replicates = []
    for unit in dict.fromkeys(units):
        rest = [i for i, other in enumerate(units) if other != unit]
        replicates.append(score([generated[i] for i in rest], [references[i] for i in rest]) if rest else None)
    if len(replicates) < 2 or None in replicates:
        return None
    count = len(replicates)
    return float(np.sqrt((count - 1) / count * np.sum((np.array(replicates) - np.mean(replicates)) ** 2)))


def case(name, about, pairs, units=None):
    generated, references = [list(texts) for texts in zip(*pairs)]
    single = units is None
    names = range(len(pairs)) if single else units
    of_samples = samples(generated, references)
    expected, undefined = [], []

    def expect(metric, value, error, library, call, call_of_error):
        expected.append({"metric": metric, "value": value, "library": library, "call": call})
        if error is not None:
            expected.append({"metric": metric, "part": "standard_error", "value": error, "library": library, "call": call_of_error})

    for order in (1, 2, 3, 4):
        score = lambda g, r: bleu(g, r, order)
        expect(f"bleu@{order}", score(generated, references), jackknife(score, generated, references, names), "sacrebleu",
               f"BLEU(max_ngram_order={order}).corpus_score(generated, [references]).score", "jackknife of corpus_score")
    for metric, values in of_samples.items():
        if metric.startswith("rouge"):
            mean = lambda g, r: float(np.mean([rouge(*pair)[metric] for pair in zip(g, r)]))
            error = float(sem(values)) if single and len(values) > 1 else jackknife(mean, generated, references, names)
            expect(metric, float(np.mean(values)), error, "rouge-score", "mean of RougeScorer.score(reference, generated)",
                   "scipy.stats.sem of samples" if single else "jackknife of the mean")
    if wer(generated, references) is None:
        undefined.append({"metric": "wer", "why": "no reference has words"})
    else:
        expect("wer", wer(generated, references), jackknife(wer, generated, references, names), "jiwer",
               "jiwer.wer(references, generated)", "jackknife of jiwer.wer")
    return {"name": name, "about": about, "generated": generated, "references": references, "units": units,
            "expected": expected, "undefined": undefined, "samples": of_samples}


def tokens(text):
    return {"text": text, "13a": Tokenizer13a()(text.rstrip()).split(), "rouge": rouge_tokens(text, None),
            "words": jiwer.wer_default(text)[0]}


def document():
    rng = np.random.default_rng(2001)
    noisy = [noise(rng, length) for length in range(1, 121)]
    shorter = [pair for pair in PAIRS if max(len(text.split()) for text in pair) <= 3]
    cases = [
        case("sentences", "Sentences with numbers, quotes, apostrophes, hyphens, entities and Unicode; one is empty.", PAIRS),
        case("units", "The same, samples of one of five units together, of different size and not in order.", PAIRS,
             [f"unit {(i * i) % 7 % 5}" for i in range(len(PAIRS))]),
        case("one-sample", "One sample: no interval.", PAIRS[1:2]),
        case("one-unit", "All samples are of one unit: no interval.", PAIRS[:3], ["a"] * 3),
        case("identical", "Every text is its reference.", [(r, r) for _, r in PAIRS]),
        case("short", "Three words at most: no run of four words.", shorter),
        case("nothing-shared", "No word is right.", [("a b c d e", "v w x y"), ("f g h i", "z"), ("j", "k l m n o")]),
        case("smoothed", "Words match, longer runs do not.", [("a b c d e", "b a d c f"), ("g x h y i", "i z h w g q")]),
        case("silence", "Nothing was generated.", [("", r) for _, r in PAIRS[:4]]),
        case("empty-references", "No reference has words.", [("something was said", ""), ("", " "), ("x", "\t")]),
        case("some-empty-references", "Two of four references have no words.",
             [("something was said", ""), ("", ""), ("the cat sat", "the cat sat down"), ("a dog ran far away", "a dog ran away")]),
        case("one-with-words", "All words are in one reference: nothing is left without it.",
             [("something", ""), ("the cat sat", "the cat sat down")]),
        case("not-latin", "Scripts that rouge-score does not see, beside two texts that it does.",
             [("Привет, мир!", "Привет, мир!"), ("漢字 かな", "漢字 かな"), ("Καλημέρα κόσμε", "Καλημέρα, κόσμε 2"), ("good day", "a good day")]),
        case("noise", "Random characters.", list(zip(noisy[20:60], noisy[22:62]))),
        case("long", "Hundreds of words, with edits and moves.", [long_texts(rng, words) for words in (50, 400, 900)]),
    ]
    texts = dict.fromkeys([text for pair in PAIRS for text in pair] + TRICKY + noisy)
    return {"versions": {library: version(library) for library in LIBRARIES}, "tolerance": TOLERANCE,
            "tokens": [tokens(text) for text in texts], "cases": cases}


def same(fresh, stored):
    if isinstance(fresh, float):
        return isinstance(stored, (int, float)) and abs(fresh - stored) <= TOLERANCE
    if isinstance(fresh, dict):
        return isinstance(stored, dict) and fresh.keys() == stored.keys() and all(same(fresh[k], stored[k]) for k in fresh)
    if isinstance(fresh, list):
        return isinstance(stored, list) and len(fresh) == len(stored) and all(map(same, fresh, stored))
    return fresh == stored


if __name__ == "__main__":
    made = document()
    if "--check" in sys.argv:
        held = json.loads(FILE.read_text())
        sys.exit(0 if same(made | {"versions": 0}, held | {"versions": 0}) else f"{FILE} differs")
    text = json.dumps(made, indent=1, ensure_ascii=True, allow_nan=False) + "\n"
    FILE.write_text(text)
    values = sum(len(c["expected"]) + sum(len(v) for v in c["samples"].values()) for c in made["cases"])
    print(f"{len(made['cases'])} cases, {values} values, tokens of {len(made['tokens'])} texts, {len(text) / 1e3:.0f} kB")
