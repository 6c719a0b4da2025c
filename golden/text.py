# SPDX-License-Identifier: MIT
"""Golden cases of text encoders: folders as transformers and sentence-transformers save them, and what those compute.

    golden/text/texts.json                 the texts: one is empty, some are longer than the models take
    golden/text/<case>/                    a tiny model with random weights and its tokenizer
    golden/text/<case>/<pooling>.npy       the code of each text, in f64, rounded to f32
    golden/text/onnx/ids.npy               the tokens of the texts, filled up to one length
    golden/text/checkpoints/<case>.pt      projections as training programs keep them; <case>.npy the codes

`text.py` writes them (`pip install torch==2.15.0 transformers==5.22.2 sentence-transformers==6.2.0 onnx==1.23.2
onnxscript==0.7.2`), `text.py --check` recomputes the codes from the stored models and compares. Writing anew gives other
tokenizers: they learn equally frequent pieces in an order that changes from run to run.
All texts go through a model in one batch, padded to the longest, with masks: what repscope never does.
"""
import dataclasses
import json
import os
import shutil
import sys
import types
from pathlib import Path

os.environ["HF_HUB_OFFLINE"] = "1"

import numpy as np
import torch
import transformers
from safetensors.torch import load_file, save_file
from tokenizers import Tokenizer, decoders, models, normalizers, pre_tokenizers, processors, trainers
from torch import nn
from torch.nn import functional as F

TEXT_DIR = Path(__file__).parent / "text"
LONGEST = 24
TEXTS = [
    "The cat sat on the mat.",
    "",
    "A person dozes on the sofa while the kettle boils.",
    "Größe, naïve café: 漢字 🙂",
    "one <pad> two",
    "yes",
    "The kettle boils and the person makes tea, then sits down on the sofa, reads a long book about the sea and the "
    "mountains, dozes, wakes up again, looks out of the window and goes to bed late at night.",
    "a person reads a book",
    "  two   spaces\tand a tab ",
    "The person makes tea.",
    "A cat reads the window at night; the mountains look at the sea, and then they sleep and sleep and sleep again.",
]


# ---------------------------------------------------------------- tokenizers


def word_piece(special, pad, first, last):
    tokenizer = Tokenizer(models.WordPiece(unk_token="[UNK]"))
    tokenizer.normalizer = normalizers.BertNormalizer(lowercase=True)
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    tokenizer.train_from_iterator(TEXTS, trainers.WordPieceTrainer(vocab_size=120, special_tokens=special))
    return with_ends(tokenizer, first, last), pad


def with_ends(tokenizer, first, last):
    ends = [(token, tokenizer.token_to_id(token)) for token in (first, last)]
    tokenizer.post_processor = processors.TemplateProcessing(single=f"{first} $A {last}", special_tokens=ends)
    return tokenizer


def byte_pairs():
    tokenizer = Tokenizer(models.BPE(unk_token="<unk>"))
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    special = ["<s>", "<pad>", "</s>", "<unk>"]
    tokenizer.train_from_iterator(TEXTS, trainers.BpeTrainer(vocab_size=140, special_tokens=special))
    return with_ends(tokenizer, "<s>", "</s>"), "<pad>"


def clip_pairs():
    first, last = "<|startoftext|>", "<|endoftext|>"
    tokenizer = Tokenizer(models.BPE(unk_token=last, end_of_word_suffix="</w>"))
    tokenizer.normalizer = normalizers.Sequence([normalizers.NFC(), normalizers.Lowercase()])
    tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
    trainer = trainers.BpeTrainer(vocab_size=118, end_of_word_suffix="</w>", special_tokens=[])
    tokenizer.train_from_iterator(TEXTS, trainer)
    # The end has the largest number, as in CLIP.
    tokenizer.add_special_tokens([first, last])
    return with_ends(tokenizer, first, last), last


def unigrams():
    tokenizer = Tokenizer(models.Unigram())
    tokenizer.normalizer = normalizers.NFKC()
    tokenizer.pre_tokenizer = pre_tokenizers.Metaspace()
    trainer = trainers.UnigramTrainer(vocab_size=110, special_tokens=["<pad>", "</s>", "<unk>"], unk_token="<unk>")
    tokenizer.train_from_iterator(TEXTS, trainer)
    end = [("</s>", tokenizer.token_to_id("</s>"))]
    tokenizer.post_processor = processors.TemplateProcessing(single="$A </s>", special_tokens=end)
    return tokenizer, "<pad>"


# ---------------------------------------------------------------- models


def randomise(model, seed):
    """Weights so large that attention is not even, that positions count and that an ε of the wrong size shows."""
    generator = torch.Generator().manual_seed(seed)
    for name, value in model.state_dict().items():
        if not value.is_floating_point():
            continue
        drawn = torch.randn(value.shape, generator=generator)
        with torch.no_grad():
            if value.ndim > 1 and ("embed" in name or "shared" in name or "bias" in name):
                value.copy_(0.5 * drawn)
            elif value.ndim > 1:
                value.copy_(drawn * (2.0 / value.shape[-1]) ** 0.5)
            else:
                value.copy_(0.2 * drawn + (1.0 if name.endswith("weight") else 0.0))
    return model.eval()


SIZES = {"hidden_size": 16, "num_hidden_layers": 2, "num_attention_heads": 4, "intermediate_size": 24}


def bert_like(kind, tokenizer, positions=LONGEST, **more):
    config = getattr(transformers, f"{kind}Config")(
        vocab_size=tokenizer.get_vocab_size(), max_position_embeddings=positions, **SIZES, **more
    )
    return getattr(transformers, f"{kind}Model")(config)


def t5(tokenizer, feed_forward):
    # Few buckets and a short distance, so that a sentence has far tokens.
    config = transformers.T5Config(
        vocab_size=tokenizer.get_vocab_size(), d_model=16, d_kv=6, d_ff=24, num_layers=2, num_heads=4,
        feed_forward_proj=feed_forward, relative_attention_num_buckets=8, relative_attention_max_distance=12,
    )
    return transformers.T5EncoderModel(config)


def clip_text_config(tokenizer, **more):
    return transformers.CLIPTextConfig(
        vocab_size=tokenizer.get_vocab_size(), max_position_embeddings=LONGEST, projection_dim=10,
        bos_token_id=tokenizer.token_to_id("<|startoftext|>"), **SIZES, **more
    )


def cases():
    """Name → model, tokenizer with its padding, options for saving."""
    piece, pad = word_piece(["[PAD]", "[UNK]", "[CLS]", "[SEP]"], "[PAD]", "[CLS]", "[SEP]")
    yield "bert", bert_like("Bert", piece), piece, pad, {}
    distil = transformers.DistilBertConfig(
        vocab_size=piece.get_vocab_size(), max_position_embeddings=LONGEST, dim=16, hidden_dim=24, n_layers=2, n_heads=4
    )
    yield "distilbert", transformers.DistilBertModel(distil), piece, pad, {}
    pairs, pad = byte_pairs()
    roberta = bert_like("Roberta", pairs, LONGEST + 2, pad_token_id=1, type_vocab_size=1, hidden_act="gelu_new")
    yield "roberta", roberta, pairs, pad, {"max_shard_size": "16KB"}
    # MPNet's padding is number 1, whatever its configuration says.
    piece, pad = word_piece(["<s>", "<pad>", "</s>", "[UNK]"], "<pad>", "<s>", "</s>")
    mpnet = bert_like("MPNet", piece, LONGEST + 2, pad_token_id=1, hidden_act="relu")
    yield "mpnet", mpnet, piece, pad, {}
    pairs, pad = clip_pairs()
    end = pairs.token_to_id("<|endoftext|>")
    config = clip_text_config(pairs, hidden_act="gelu", eos_token_id=end)
    yield "clip_text", transformers.CLIPTextModelWithProjection(config), pairs, pad, {}
    text = clip_text_config(pairs, hidden_act="quick_gelu", eos_token_id=2)
    vision = transformers.CLIPVisionConfig(image_size=8, patch_size=4, **SIZES)
    both = transformers.CLIPConfig(text_config=text.to_dict(), vision_config=vision.to_dict(), projection_dim=10)
    yield "clip", transformers.CLIPModel(both), pairs, pad, {}
    grams, pad = unigrams()
    yield "t5", t5(grams, "relu"), grams, pad, {}
    yield "t5_gated", t5(grams, "gated-gelu"), grams, pad, {}


def write_case(name, model, tokenizer, pad, options):
    folder = TEXT_DIR / name
    model.save_pretrained(folder, **options)
    fast = transformers.PreTrainedTokenizerFast(tokenizer_object=tokenizer, pad_token=pad, model_max_length=LONGEST)
    fast.save_pretrained(folder)


def load(folder):
    config = transformers.AutoConfig.from_pretrained(folder)
    kind = {"t5": transformers.T5EncoderModel, "clip_text_model": transformers.CLIPTextModelWithProjection}
    model = kind.get(config.model_type, transformers.AutoModel).from_pretrained(folder, attn_implementation="eager")
    return model.double().eval(), transformers.PreTrainedTokenizerFast.from_pretrained(folder)


def tokens(tokenizer, texts, longest=LONGEST):
    batch = tokenizer(texts, padding=True, truncation=True, max_length=longest, return_tensors="pt")
    return {"input_ids": batch["input_ids"], "attention_mask": batch["attention_mask"]}


def pooled(hidden, mask):
    """Each way of pooling, by the mask."""
    mask = mask.unsqueeze(-1)
    last = mask.squeeze(-1).sum(1) - 1
    return {
        "mean": (hidden * mask).sum(1) / mask.sum(1),
        "cls": hidden[:, 0],
        "max": hidden.masked_fill(mask == 0, -torch.inf).max(1).values,
        "last": hidden[torch.arange(len(hidden)), last],
    }


def codes_of(folder):
    """The codes by pooling, as the model itself gives them."""
    model, tokenizer = load(folder)
    batch = tokens(tokenizer, TEXTS)
    if model.config.model_type == "clip":
        text = model.text_model(**batch)
        return {"pooler": text.pooler_output, "eos": model.text_projection(text.pooler_output)}
    output = model(**batch)
    if model.config.model_type == "clip_text_model":
        pooler = model.text_model(**batch).pooler_output
        return {"eos": output.text_embeds, "pooler": pooler}
    codes = pooled(output.last_hidden_state, batch["attention_mask"])
    if folder.name in ("bert", "mpnet"):
        codes["pooler"] = output.pooler_output
    return codes


# ---------------------------------------------------------------- other ways to keep a model


def write_bert_bin():
    """The weights of `bert` as old programs keep them: in a pickle, below `bert.`, with a head and old names."""
    old = lambda name: name.replace("LayerNorm.weight", "LayerNorm.gamma").replace("LayerNorm.bias", "LayerNorm.beta")
    weights = load_file(TEXT_DIR / "bert" / "model.safetensors")
    weights = {f"bert.{old(name)}": value for name, value in weights.items()}
    weights["bert.embeddings.position_ids"] = torch.arange(LONGEST).unsqueeze(0)
    weights["cls.predictions.bias"] = torch.zeros(3)
    folder = TEXT_DIR / "bert_bin"
    folder.mkdir()
    torch.save(weights, folder / "pytorch_model.bin")
    copy_texts("bert", "bert_bin", "config.json")


def copy_texts(source, target, *more):
    for file in ("tokenizer.json", "tokenizer_config.json", *more):
        shutil.copy(TEXT_DIR / source / file, TEXT_DIR / target / file)


def write_sentence_transformer():
    from sentence_transformers import SentenceTransformer
    from sentence_transformers.models import Dense, Normalize, Pooling, Transformer

    torch.manual_seed(5)
    transformer = Transformer(str(TEXT_DIR / "bert"), max_seq_length=12)
    dense = Dense(16, 6, activation_function=nn.Tanh())
    parts = [transformer, Pooling(16, pooling_mode="mean"), dense, Normalize()]
    SentenceTransformer(modules=parts, device="cpu").save(str(TEXT_DIR / "sentence"), create_model_card=False)


class Tokens(nn.Module):
    """A model whose outputs have plain names."""

    def __init__(self, model):
        super().__init__()
        self.model = model

    def forward(self, input_ids, attention_mask, token_type_ids):
        output = self.model(input_ids, attention_mask=attention_mask, token_type_ids=token_type_ids)
        return output.last_hidden_state, output.pooler_output


def write_onnx():
    """`bert` as a graph for any number of tokens, and as one for two rows of exactly 24."""
    model = transformers.AutoModel.from_pretrained(TEXT_DIR / "bert", attn_implementation="eager").eval()
    names = ["input_ids", "attention_mask", "token_type_ids"]
    example = tuple(torch.ones(2, LONGEST, dtype=torch.long) for _ in names)
    for case, axes in [("onnx", {0: "batch", 1: "tokens"}), ("onnx_fixed", None)]:
        folder = TEXT_DIR / case
        folder.mkdir()
        dynamic = {"dynamic_axes": {n: axes for n in names + ["last_hidden_state"]} | {"pooler_output": {0: "batch"}}}
        torch.onnx.export(
            Tokens(model), example, folder / "model.onnx", input_names=names, dynamo=False, opset_version=17,
            output_names=["last_hidden_state", "pooler_output"], **(dynamic if axes else {}),
        )
        copy_texts("bert", case)
    tokenizer = transformers.PreTrainedTokenizerFast.from_pretrained(TEXT_DIR / "bert")
    ids = tokenizer(TEXTS, padding="max_length", truncation=True, max_length=LONGEST)["input_ids"]
    np.save(TEXT_DIR / "onnx" / "ids.npy", np.array(ids, dtype=np.int64))


# ---------------------------------------------------------------- checkpoints


class Linear(nn.Module):
    def __init__(self, width, out):
        super().__init__()
        self.proj = nn.Linear(width, out, bias=False)

    def forward(self, x):
        return self.proj(x)


class Perceptron(nn.Module):
    def __init__(self, *sizes):
        super().__init__()
        parts = []
        for a, b in zip(sizes, sizes[1:-1]):
            parts += [nn.Linear(a, b), nn.GELU(), nn.Dropout(0.1)]
        self.mlp = nn.Sequential(*parts, nn.Linear(sizes[-2], sizes[-1], bias=False))

    def forward(self, x):
        return self.mlp(x)


class Aligner(nn.Module):
    """One learned query that attends to all tokens, for signals (x) and for texts (y)."""

    def __init__(self, hidden, width, heads):
        super().__init__()
        self.q_x, self.q_y = (nn.Parameter(torch.zeros(1, 1, width)) for _ in range(2))
        self.in_proj = nn.Linear(hidden, width)
        self.cross_attn_x = nn.MultiheadAttention(width, heads, batch_first=True)
        self.cross_attn_y = nn.MultiheadAttention(width, heads, batch_first=True)

    def embed_text(self, hidden, mask):
        query = self.q_y.expand(len(hidden), -1, -1)
        return self.cross_attn_y(query, hidden, hidden, key_padding_mask=mask == 0)[0].squeeze(1)


def training_config():
    """An instance of a class of the training program, which nobody else has."""
    @dataclasses.dataclass
    class AlignmentConfig:
        hidden: int = 2048
        name: str = "base"

    module = types.ModuleType("alignment.config")
    package = types.ModuleType("alignment")
    AlignmentConfig.__module__, AlignmentConfig.__qualname__ = "alignment.config", "AlignmentConfig"
    module.AlignmentConfig = AlignmentConfig
    sys.modules |= {"alignment": package, "alignment.config": module}
    return AlignmentConfig()


def heads():
    """Name → the part of a checkpoint that is wanted."""
    yield "linear", Linear(16, 7)
    yield "mlp", Perceptron(16, 20, 7)
    yield "mlp_deep", Perceptron(16, 20, 18, 7)
    yield "old", Perceptron(16, 20, 7)
    yield "aligner", Aligner(12, 16, 8)


def write_checkpoints():
    folder = TEXT_DIR / "checkpoints"
    folder.mkdir()
    for seed, (name, head) in enumerate(heads()):
        weights = randomise(head, 50 + seed).state_dict()
        about = {"encoder_type": "minilm", "model_name": "somebody/bert", "embedding_dim": 16, "projection_dim": 7}
        other = {"layers.0.ln1.weight": torch.ones(4), "clip_proj.mlp.0.weight": torch.ones(4, 4)}
        if name == "old":
            kept = {"config": training_config(), "vocab_sizes": {"room": 4}, "sensor_encoder_state_dict": other,
                    "clip_loss_state_dict": {"log_temperature": torch.zeros(())}, "text_projection_state_dict": weights}
        elif name == "aligner":
            state = {f"aligner.{k}": v for k, v in weights.items()} | {f"eeg_encoder.{k}": v for k, v in other.items()}
            kept = {"epoch": 3, "global_step": 10, "pytorch-lightning_version": "2.5.0", "state_dict": state,
                    "loops": {}, "callbacks": {}, "optimizer_states": [], "hyper_parameters": {"embed_dim": 16}}
        else:
            state = {f"text_projection.{k}": v for k, v in weights.items()}
            state |= {f"sensor_encoder.{k}": v for k, v in other.items()}
            kept = {"global_step": 10, "model_state_dict": state, "optimizer_state_dict": {"state": {}},
                    "best_val_loss": 0.5, "config": training_config(), "text_encoder_metadata": about}
        torch.save(kept, folder / f"{name}.pt")
    torch.save({"model_state_dict": other, "best_val_loss": 0.5}, folder / "none.pt")


def checkpoint_codes(name, head):
    training_config()
    kept = torch.load(TEXT_DIR / "checkpoints" / f"{name}.pt", weights_only=False)
    if name == "aligner":
        head.load_state_dict({k[8:]: v for k, v in kept["state_dict"].items() if k.startswith("aligner.")})
        model, tokenizer = load(TEXT_DIR / "t5_gated")
        batch = tokens(tokenizer, [f"To English: {text}" for text in TEXTS], 20)
        return head.double().eval().embed_text(model(**batch).last_hidden_state, batch["attention_mask"])
    state = kept.get("text_projection_state_dict") or kept["model_state_dict"]
    head.load_state_dict({k.removeprefix("text_projection."): v for k, v in state.items() if "sensor" not in k})
    vectors = torch.tensor(np.load(TEXT_DIR / "bert" / "mean.npy")).double()
    return F.normalize(head.double().eval()(F.normalize(vectors)))


# ---------------------------------------------------------------- all


def all_codes():
    """File → codes. The files of models are there."""
    for name, *_ in cases():
        for pooling, values in codes_of(TEXT_DIR / name).items():
            yield f"{name}/{pooling}.npy", values
    from sentence_transformers import SentenceTransformer

    model = SentenceTransformer(str(TEXT_DIR / "sentence"), device="cpu").double()
    yield "sentence/codes.npy", torch.tensor(model.encode(TEXTS, batch_size=len(TEXTS)))
    for name, head in heads():
        yield f"checkpoints/{name}.npy", checkpoint_codes(name, head)


@torch.no_grad()
def main(check):
    if not check:
        shutil.rmtree(TEXT_DIR, ignore_errors=True)
        TEXT_DIR.mkdir()
        (TEXT_DIR / "texts.json").write_text(json.dumps(TEXTS, ensure_ascii=False, indent=1) + "\n")
        for seed, (name, model, tokenizer, pad, options) in enumerate(cases()):
            write_case(name, randomise(model, seed), tokenizer, pad, options)
        write_bert_bin()
        write_sentence_transformer()
        write_onnx()
        write_checkpoints()
    for file, values in all_codes():
        values = values.float().numpy()
        if check:
            np.testing.assert_allclose(np.load(TEXT_DIR / file), values, rtol=1e-6, atol=1e-6, err_msg=file)
        else:
            np.save(TEXT_DIR / file, values)


if __name__ == "__main__":
    main(check="--check" in sys.argv[1:])
