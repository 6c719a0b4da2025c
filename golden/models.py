# SPDX-License-Identifier: MIT
"""Golden cases of networks: weights, an input, and what PyTorch makes of it.

    golden/models/<case>/weights.safetensors   the state dict of a narrow network, random, statistics of normalisation too
    golden/models/<case>/input.npy             images
    golden/models/<case>/<output>.npy          what PyTorch computes in evaluation mode, in f64, rounded to f32
    golden/models/two_head/checkpoint.pth      those weights as a training program keeps them:
                                               torch.save({"epoch": 14, "model_state_dict": load_file("weights.safetensors")}, …)

`models.py` writes them (`pip install torch==2.15.0 torchvision==0.29.2 timm==1.0.30 safetensors==0.8.0 efficientnet-lite-pytorch==0.1.0`),
`models.py --check` recomputes and compares.
Vision transformers are timm's, EfficientNet-lite is that of its port. torchvision's ResNet cannot be made narrow, so there is one here; before anything is
written, its output at full width is compared with torchvision's. The other two networks have no published package.
"""
import sys
from pathlib import Path

import numpy as np
import torch
from safetensors.torch import load_file, save_file
from torch import nn
from torch.nn import functional as F

MODELS_DIR = Path(__file__).parent / "models"


# ---------------------------------------------------------------- networks


class ConvEncoder(nn.Module):
    """Frame encoder: convolution, activation, layer normalisation over channels; then a linear layer."""

    def __init__(self, channels, side, width, activation):
        super().__init__()
        sizes = [1, *channels]
        self.activation = activation
        self.conv_layers = nn.ModuleList(nn.Conv2d(a, b, 4, 2, 1) for a, b in zip(sizes, channels))
        self.layer_norms = nn.ModuleList(nn.LayerNorm(c) for c in channels)
        flat = channels[-1] * (side >> len(channels)) ** 2
        self.final_norm = nn.LayerNorm(flat)
        self.fc = nn.Linear(flat, width)

    def forward(self, x):
        for conv, norm in zip(self.conv_layers, self.layer_norms):
            x = norm(self.activation(conv(x)).permute(0, 2, 3, 1)).permute(0, 3, 1, 2)
        return {"features": self.fc(self.final_norm(x.flatten(1)))}


class Block(nn.Module):
    """A basic block or a bottleneck of a ResNet, with the stride in the 3 × 3 convolution."""

    def __init__(self, channels, width, stride, is_bottleneck, groups):
        super().__init__()
        out = 4 * width if is_bottleneck else width
        plan = [(width, 1, 1), (width, 3, stride), (out, 1, 1)] if is_bottleneck else [(width, 3, stride), (width, 3, 1)]
        before = channels
        for at, (after, kernel, step) in enumerate(plan, 1):
            parts = groups if at == 2 else 1
            conv = nn.Conv2d(before, after, kernel, step, kernel // 2, groups=parts, bias=False)
            setattr(self, f"conv{at}", conv)
            setattr(self, f"bn{at}", nn.BatchNorm2d(after))
            before = after
        self.steps, self.out, self.downsample = len(plan), out, None
        if stride != 1 or channels != out:
            self.downsample = nn.Sequential(nn.Conv2d(channels, out, 1, stride, bias=False), nn.BatchNorm2d(out))

    def forward(self, x):
        y = x
        for at in range(1, self.steps + 1):
            y = getattr(self, f"bn{at}")(getattr(self, f"conv{at}")(y))
            y = F.relu(y) if at < self.steps else y
        return F.relu(y + (x if self.downsample is None else self.downsample(x)))


class ResNet(nn.Module):
    """torchvision's ResNet with widths to choose; `classes` 0 leaves out the last layer."""

    def __init__(self, blocks, widths, stem, is_bottleneck, classes, channels=3, groups=1):
        super().__init__()
        self.conv1, self.bn1 = nn.Conv2d(channels, stem, 7, 2, 3, bias=False), nn.BatchNorm2d(stem)
        before = stem
        for stage, (count, width) in enumerate(zip(blocks, widths), 1):
            layer = []
            for at in range(count):
                layer.append(Block(before, width, 2 if at == 0 and stage > 1 else 1, is_bottleneck, groups))
                before = layer[-1].out
            setattr(self, f"layer{stage}", nn.Sequential(*layer))
        self.fc = nn.Linear(before, classes) if classes else None
        self.width = before

    def forward(self, x):
        x = F.max_pool2d(F.relu(self.bn1(self.conv1(x))), 3, 2, 1)
        x = self.layer4(self.layer3(self.layer2(self.layer1(x))))
        features = x.mean((2, 3))
        return {"features": features} | ({"logits": self.fc(features)} if self.fc else {})


class Extractor(nn.Module):
    """Two branches with attention and a residual each."""

    def __init__(self, width, task, hidden):
        super().__init__()
        for name, activation, gate in [("mod", nn.GELU, nn.Sigmoid), ("snr", nn.ReLU, nn.Tanh)]:
            branch = nn.Sequential(nn.Linear(width, task), activation(), nn.BatchNorm1d(task), nn.Dropout(0.5))
            attention = nn.Sequential(nn.Linear(width, hidden), nn.ReLU(), nn.Linear(hidden, width), gate())
            setattr(self, f"{name}_branch", branch)
            setattr(self, f"{name}_attention", attention)
            setattr(self, f"{name}_residual", nn.Linear(width, task))

    def task(self, x, name):
        attended = x * getattr(self, f"{name}_attention")(x)
        return 0.7 * getattr(self, f"{name}_branch")(attended) + 0.3 * getattr(self, f"{name}_residual")(x)


class TwoHead(nn.Module):
    """A ResNet on grey images, the extractor, and a head for each task; `snr_head` is a bottleneck."""

    def __init__(self, backbone, task, hidden, bottleneck, modulations, ratios):
        super().__init__()
        self.model = backbone
        self.task_specific_extractor = Extractor(backbone.width, task, hidden)
        self.modulation_head = nn.Linear(task, modulations)
        self.snr_head = nn.Sequential(
            nn.Linear(task, bottleneck), nn.ReLU(), nn.Dropout(0.5), nn.Linear(bottleneck, ratios)
        )

    def forward(self, x):
        x = self.model(x)["features"]
        modulation = self.task_specific_extractor.task(x, "mod")
        snr = self.task_specific_extractor.task(x, "snr")
        return {
            "modulation": self.modulation_head(modulation), "snr": self.snr_head(snr), "features": x,
            "modulation_features": modulation, "snr_features": snr,
        }


class Vit(nn.Module):
    """timm's vision transformer, with its features and, where it has classes, its logits."""

    def __init__(self, **options):
        super().__init__()
        from timm.models.vision_transformer import VisionTransformer

        self.timm = VisionTransformer(global_pool="token", **options)

    def state_dict(self):
        return self.timm.state_dict()

    def forward(self, x):
        tokens = self.timm.forward_features(x)
        outputs = {"features": self.timm.forward_head(tokens, pre_logits=True)}
        return outputs | ({"logits": self.timm.forward_head(tokens)} if self.timm.num_classes else {})


class EfficientNetLite(nn.Module):
    """The port of EfficientNet-lite to PyTorch (package efficientnet-lite-pytorch), with narrow stages, stem and head."""

    def __init__(self, size, stem, widths, repeats, head, classes):
        super().__init__()
        from efficientnet_lite_pytorch.model import EfficientNet
        from efficientnet_lite_pytorch.utils import BlockDecoder, get_model_params

        strides, kernels = [1, 2, 2, 2, 1, 2, 1], [3, 3, 5, 3, 5, 5, 3]
        before = [stem, *widths]
        stages = [
            f"r{repeats[at]}_k{kernels[at]}_s{strides[at]}{strides[at]}_e{1 if at == 0 else 2}_i{before[at]}_o{before[at + 1]}"
            for at in range(7)
        ]
        options = get_model_params("efficientnet-lite0", {"image_size": size, "num_classes": classes})[1]
        # Widths as they are given: neither scaled nor rounded.
        options = options._replace(width_coefficient=None, depth_coefficient=None, fix_head_stem=False)
        self.port = EfficientNet(BlockDecoder.decode(stages), options)
        replaced = type(self.port._conv_stem)(3, stem, kernel_size=3, stride=2, bias=False, image_size=size)
        self.port._conv_stem, self.port._bn0 = replaced, nn.BatchNorm2d(stem, eps=1e-3)
        last = type(self.port._conv_head)(widths[-1], head, kernel_size=1, bias=False, image_size=size)
        self.port._conv_head, self.port._bn1 = last, nn.BatchNorm2d(head, eps=1e-3)
        self.port._fc = nn.Linear(head, classes)

    def state_dict(self):
        return self.port.state_dict()

    def forward(self, x):
        features = self.port.extract_features(x).mean((2, 3))
        return {"features": features, "logits": self.port._fc(features)}


# ---------------------------------------------------------------- cases


# Ends of the names of what vision transformers add to their tokens.
ADDED = ("cls_token", "pos_embed", "patch_embed.proj.weight", "patch_embed.proj.bias", "attn.proj.weight",
         "attn.proj.bias", "mlp.fc2.weight", "mlp.fc2.bias")


def randomise(network, seed):
    """Random weights and statistics of normalisation, some so small that an ε ten times as large or small shows."""
    generator = torch.Generator().manual_seed(seed)
    for name, value in network.state_dict().items():
        if name.endswith("num_batches_tracked"):
            continue
        drawn = torch.randn(value.shape, generator=generator)
        fan_in = value[0].numel() if value.ndim > 1 else 1
        with torch.no_grad():
            if name.endswith("running_var"):
                value.copy_(0.002 + 0.5 * drawn**2)
            elif value.ndim > 1:
                value.copy_(drawn * (2.0 / fan_in) ** 0.5)
            else:
                value.copy_(0.3 * drawn + (1.0 if name.endswith("weight") or name.endswith("gamma") else 0.0))
            if isinstance(network, Vit) and name.endswith(ADDED):
                value.mul_(0.03)
    for module in network.modules():
        if isinstance(module, (nn.BatchNorm1d, nn.BatchNorm2d)):
            # A small variance must not make large values, which would hide what comes later.
            with torch.no_grad():
                module.weight.mul_(module.running_var.sqrt())
                module.running_mean.mul_(module.running_var.sqrt())
    return network.eval()


def cases():
    """Name → network and shape of its input. The numbers of blocks and widths of all stages differ."""
    encoder = lambda activation: ConvEncoder([3, 4, 6, 8], 64, 5, activation)
    widths = {"blocks": [2, 1, 2, 1], "stem": 6}
    yield "conv_encoder_silu", encoder(F.silu), (2, 1, 64, 64)
    yield "conv_encoder_relu", encoder(F.relu), (2, 1, 64, 64)
    yield "conv_encoder_gelu", encoder(F.gelu), (2, 1, 64, 64)
    yield "resnet_basic", ResNet(widths=[6, 8, 10, 12], is_bottleneck=False, classes=4, **widths), (2, 3, 40, 56)
    yield "resnet_bottleneck", ResNet(widths=[2, 3, 4, 5], is_bottleneck=True, classes=0, **widths), (2, 3, 56, 40)
    grey = ResNet(widths=[2, 3, 4, 5], is_bottleneck=True, classes=0, channels=1, **widths)
    yield "two_head", TwoHead(grey, task=7, hidden=6, bottleneck=5, modulations=4, ratios=3), (2, 1, 48, 48)
    size = {"img_size": 24, "patch_size": 8, "embed_dim": 12, "num_heads": 3}
    yield "vit", Vit(depth=2, num_classes=0, **size), (2, 3, 24, 24)
    yield "vit_layer_scale", Vit(depth=1, num_classes=4, init_values=0.1, **size), (2, 3, 24, 24)
    grouped = ResNet([1] * 4, [4, 4, 8, 8], 4, is_bottleneck=True, classes=0, groups=2)
    yield "resnet_groups", grouped, (1, 3, 32, 32)
    lite = EfficientNetLite(64, 6, [4, 5, 6, 7, 8, 9, 10], [1, 2, 1, 2, 1, 2, 1], head=14, classes=4)
    yield "efficientnet_lite", lite, (2, 3, 64, 64)


def compare_with_torchvision():
    """The ResNet above is torchvision's: the same names of weights, the same output but for rounding."""
    import torchvision

    for name, blocks, is_bottleneck in [("resnet18", [2] * 4, False), ("resnet50", [3, 4, 6, 3], True)]:
        theirs = randomise(getattr(torchvision.models, name)(weights=None, num_classes=10), 5)
        ours = ResNet(blocks, [64, 128, 256, 512], 64, is_bottleneck, 10).eval()
        ours.load_state_dict(theirs.state_dict())
        x = torch.randn(1, 3, 64, 96, generator=torch.Generator().manual_seed(6)).double()
        with torch.no_grad():
            a, b = ours.double()(x)["logits"], theirs.double()(x)
        if not (a - b).abs().max() <= 1e-12 * b.abs().max():
            sys.exit(f"{name}: differs from torchvision by {(a - b).abs().max()}")


def main(check):
    compare_with_torchvision()
    for seed, (name, network, shape) in enumerate(cases()):
        folder = MODELS_DIR / name
        weights = {k: v.clone() for k, v in randomise(network, seed).state_dict().items()}
        images = torch.rand(shape, generator=torch.Generator().manual_seed(100 + seed))
        with torch.no_grad():
            outputs = {k: v.float().numpy() for k, v in network.double()(images.double()).items()}
        if check:
            stored = load_file(folder / "weights.safetensors")
            same = stored.keys() == weights.keys() and all(torch.equal(stored[k], weights[k]) for k in weights)
            if not same or not np.array_equal(np.load(folder / "input.npy"), images.numpy()):
                sys.exit(f"{name}: weights or input differ from those stored")
            for key, value in outputs.items():
                np.testing.assert_allclose(np.load(folder / f"{key}.npy"), value, rtol=1e-6, atol=1e-6)
            continue
        folder.mkdir(parents=True, exist_ok=True)
        save_file(weights, folder / "weights.safetensors")
        np.save(folder / "input.npy", images.numpy())
        for key, value in outputs.items():
            np.save(folder / f"{key}.npy", value)


if __name__ == "__main__":
    main(check="--check" in sys.argv[1:])
