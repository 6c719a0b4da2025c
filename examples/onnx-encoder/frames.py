# SPDX-License-Identifier: MIT
"""Frames of a small world: a disc and a bar that move and bounce, 12 episodes of 30 frames, 16 × 16 gray pixels."""
import numpy as np

SIDE, EPISODES, STEPS = 16, 12, 30


def bounce(position, velocity, low, high):
    position = position + velocity
    if not low <= position <= high:
        velocity = -velocity
        position = position + 2 * velocity
    return position, velocity


def make(seed=11):
    """Frames (N, 1, 16, 16) of bytes, and the episode of each."""
    generator = np.random.default_rng(seed)
    rows, columns = np.mgrid[0:SIDE, 0:SIDE]
    frames, episodes = [], []
    for episode in range(EPISODES):
        (y, x), bar = generator.uniform(3, 12, 2), generator.uniform(2, 13)
        vy, vx, vb = generator.uniform(0.3, 0.9, 3) * generator.choice([-1, 1], 3)
        for _ in range(STEPS):
            disc = np.clip(3.0 - np.hypot(rows - y, columns - x), 0, 1)
            stripe = 0.5 * np.clip(1.5 - np.abs(columns - bar), 0, 1)
            frames.append(np.round(255 * np.maximum(disc, stripe)).astype(np.uint8)[None])
            episodes.append(episode)
            y, vy = bounce(y, vy, 2, 13)
            x, vx = bounce(x, vx, 2, 13)
            bar, vb = bounce(bar, vb, 1, 14)
    return np.stack(frames), np.array(episodes, dtype=np.int32)
