# SPDX-License-Identifier: MIT
"""Golden cases of language models: folders as transformers saves them, and the loss that transformers gives for each text.

    golden/text/<case>/                      a tiny model with random weights and its tokenizer
    golden/text/<case>/log_perplexity.npy    the loss of each text of golden/text/texts.json, in f64

The first token follows the one that begins texts: `model(ids, labels=ids).loss` of GPT-2 with the token bos before the text, and
`model(input_ids=[eos], labels=ids).loss` of T5, whose encoder reads the empty text. An empty text is its end alone.
`language.py` writes them (`pip install torch==2.15.0 transformers==5.22.2`), `language.py --check` recomputes the losses from the
stored models and compares. Each text goes through a model by itself.
"""
import json
import os
import shutil
import sys
from pathlib import Path

os.environ["HF_HUB_OFFLINE"] = "1"

import numpy as np
import torch
import transformers
from safetensors.torch import load_file, save_file
from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers

TEXT_DIR = Path(__file__).parent / "text"
TEXTS = json.loads((TEXT_DIR / "texts.json").read_text())
LONGEST = 24
END = "<|endoftext|>"


def randomise(model, seed):
    """Weights so large that attention is not even and that a wrong scale shows."""
    generator = torch.Generator().manual_seed(seed)
    for name, value in model.named_parameters():
        drawn = torch.randn(value.shape, generator=generator)
        with torch.no_grad():
            if value.ndim > 1:
                is_table = any(part in name for part in ("wte", "wpe", "shared", "bias", "lm_head"))
                value.copy_(drawn * (0.5 if is_table else (2.0 / value.shape[-1]) ** 0.5))
            else:
                value.copy_(0.2 * drawn + (1.0 if name.endswith("weight") else 0.0))
    return model.eval()


def byte_pairs():
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    trainer = trainers.BpeTrainer(vocab_size=300, special_tokens=[END], initial_alphabet=alphabet)
    tokenizer.train_from_iterator(TEXTS, trainer)
    return tokenizer


def gpt2(vocabulary, end, **more):
    return transformers.GPT2Config(
        vocab_size=vocabulary, n_positions=LONGEST, n_embd=16, n_layer=2, n_head=4, bos_token_id=end, eos_token_id=end,
        **more,
    )


def t5(vocabulary, **more):
    # Few buckets and a short distance, so that a sentence has far tokens.
    return transformers.T5Config(
        vocab_size=vocabulary, d_model=16, d_kv=6, d_ff=24, num_layers=2, num_heads=4, relative_attention_num_buckets=8,
        relative_attention_max_distance=12, decoder_start_token_id=0, pad_token_id=0, eos_token_id=1, **more,
    )


def write_case(name, config, seed, own_head, tokenizer):
    folder = TEXT_DIR / name
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    kind = {"gpt2": transformers.GPT2LMHeadModel, "t5": transformers.T5ForConditionalGeneration}[config.model_type]
    model = randomise(kind(config), seed)
    weights = {key: value.detach().clone().contiguous() for key, value in model.state_dict().items()}
    # Tables that are shared are stored once, as `save_pretrained` does.
    for key in ("lm_head.weight", "encoder.embed_tokens.weight", "decoder.embed_tokens.weight"):
        weights.pop(key, None)
    if own_head:
        drawn = torch.randn(config.vocab_size, 16, generator=torch.Generator().manual_seed(seed + 100))
        weights["lm_head.weight"] = 0.5 * drawn
    save_file(weights, folder / "model.safetensors", metadata={"format": "pt"})
    stored = config.to_dict() | {"architectures": [kind.__name__]}
    if config.model_type == "t5":
        # Files that are in use say it this way.
        stored.pop("scale_decoder_outputs", None)
        stored["tie_word_embeddings"] = not own_head
    kept = {key: value for key, value in sorted(stored.items()) if value is not None and key != "transformers_version"}
    (folder / "config.json").write_text(json.dumps(kept, indent=1) + "\n")
    if isinstance(tokenizer, Path):
        for file in ("tokenizer.json", "tokenizer_config.json"):
            shutil.copy(tokenizer / file, folder / file)
    else:
        tokenizer.save(str(folder / "tokenizer.json"))
        about = {"model_max_length": LONGEST, "tokenizer_class": "PreTrainedTokenizerFast"}
        (folder / "tokenizer_config.json").write_text(json.dumps(about, indent=1) + "\n")


def write_cases():
    pairs = byte_pairs()
    count, end = pairs.get_vocab_size(), pairs.token_to_id(END)
    write_case("gpt2", gpt2(count, end), 11, False, pairs)
    scaled = gpt2(count, end, scale_attn_by_inverse_layer_idx=True, activation_function="relu", n_inner=20)
    write_case("gpt2_own_head", scaled, 12, True, pairs)
    grams = TEXT_DIR / "t5"
    count = Tokenizer.from_file(str(grams / "tokenizer.json")).get_vocab_size()
    write_case("t5_language", t5(count), 13, False, grams)
    gated = t5(count, feed_forward_proj="gated-gelu", num_decoder_layers=3)
    write_case("t5_language_own_head", gated, 14, True, grams)


CASES = ["gpt2", "gpt2_own_head", "t5_language", "t5_language_own_head"]


def losses(folder):
    stored = json.loads((folder / "config.json").read_text())
    config = transformers.AutoConfig.from_pretrained(folder, attn_implementation="eager")
    is_t5 = stored["model_type"] == "t5"
    model = (transformers.T5ForConditionalGeneration if is_t5 else transformers.GPT2LMHeadModel)(config)
    weights = load_file(folder / "model.safetensors")
    head = weights.pop("lm_head.weight", None)
    table = weights["shared.weight" if is_t5 else "transformer.wte.weight"]
    missing, unexpected = model.load_state_dict(weights, strict=False)
    assert not unexpected and all("embed_tokens" in name or name == "lm_head.weight" for name in missing), missing
    model.lm_head.weight = torch.nn.Parameter(table.clone() if head is None else head)
    if is_t5:
        model.config.scale_decoder_outputs = stored["tie_word_embeddings"]
    model = model.double().eval()
    tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
    tokenizer.enable_truncation(LONGEST - 1)
    found = []
    for text in TEXTS:
        ids = tokenizer.encode(text).ids
        with torch.no_grad():
            if is_t5:
                loss = model(input_ids=torch.tensor([[stored["eos_token_id"]]]), labels=torch.tensor([ids])).loss
            else:
                ids = torch.tensor([[stored["bos_token_id"]] + (ids or [stored["eos_token_id"]])])
                loss = model(input_ids=ids, labels=ids).loss
        found.append(loss.item())
    return np.array(found)


def main():
    if "--check" not in sys.argv:
        write_cases()
    for case in CASES:
        found, file = losses(TEXT_DIR / case), TEXT_DIR / case / "log_perplexity.npy"
        if "--check" in sys.argv:
            np.testing.assert_allclose(found, np.load(file), rtol=1e-9)
        else:
            np.save(file, found)
        print(case, np.round(found, 4))


main()
