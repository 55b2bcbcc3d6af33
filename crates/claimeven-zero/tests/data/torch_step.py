"""Computes training steps with PyTorch, for the test in src/learner.rs.

    python3 torch_step.py > torch_step.json

The network is small: 4x4, connect 3, one residual block. Everything is computed in double
precision by PyTorch's own convolution, batch normalisation, losses, backward pass and AdamW.
A batch of 32 samples is two chunks of 16, each normalised on its own, as in src/gradient.rs.
"""

import json
import random

import torch
import torch.nn.functional as F

COLS, ROWS = 4, 4
CHANNELS, POLICY_CHANNELS, VALUE_CHANNELS, VALUE_HIDDEN = 4, 2, 2, 4
CHUNK, CHUNKS, STEPS = 16, 2, 2
RATE, WEIGHT_DECAY, NORM_MOMENTUM, EPSILON = 0.01, 0.02, 0.1, 1e-5

torch.set_default_dtype(torch.float64)
torch.manual_seed(1)
random.seed(1)


def single(tensor):
    """Rounds to numbers that single precision has."""
    return tensor.float().double()


def make_tensors():
    tensors = {}

    def conv(name, outputs, inputs, side):
        tensors[f"{name}.conv"] = single(torch.randn(outputs, inputs, side, side) * 0.4)
        tensors[f"{name}.gain"] = single(1 + 0.3 * torch.randn(outputs))
        tensors[f"{name}.bias"] = single(0.3 * torch.randn(outputs))
        tensors[f"{name}.mean"] = single(0.1 * torch.randn(outputs))
        tensors[f"{name}.variance"] = single(1 + 0.1 * torch.rand(outputs))

    def dense(name, outputs, inputs):
        tensors[f"{name}.weight"] = single(torch.randn(outputs, inputs) * 0.4)
        tensors[f"{name}.bias"] = single(0.3 * torch.randn(outputs))

    conv("stem", CHANNELS, 4, 3)
    conv("block0.first", CHANNELS, CHANNELS, 3)
    conv("block0.second", CHANNELS, CHANNELS, 3)
    conv("policy", POLICY_CHANNELS, CHANNELS, 1)
    dense("policy.columns", COLS, POLICY_CHANNELS * COLS * ROWS)
    conv("value", VALUE_CHANNELS, CHANNELS, 1)
    dense("value.hidden", VALUE_HIDDEN, VALUE_CHANNELS * COLS * ROWS)
    dense("value.result", 3, VALUE_HIDDEN)
    return tensors


def make_sample():
    """Random moves, in which nobody connects three, with random targets."""
    while True:
        heights, owners, moves = [0] * COLS, {}, []
        for ply in range(random.randrange(7)):
            col = random.choice([col for col in range(COLS) if heights[col] < ROWS])
            owners[col, heights[col]] = ply % 2
            heights[col] += 1
            moves.append(col + 1)
        directions = [(1, 0), (0, 1), (1, 1), (1, -1)]
        lines = [[owners.get((x + i * dx, y + i * dy)) for i in range(3)]
                 for x in range(COLS) for y in range(ROWS) for dx, dy in directions]
        if not any(line in ([0] * 3, [1] * 3) for line in lines):
            break
    policy = torch.tensor([random.random() if height < ROWS else 0.0 for height in heights])
    wdl = torch.tensor([random.random() for _ in range(3)])
    player = len(moves) % 2
    planes = torch.zeros(4, ROWS, COLS)
    for (col, row), owner in owners.items():
        planes[0 if owner == player else 1, row, col] = 1
    for col in range(COLS):
        if heights[col] < ROWS:
            planes[2, heights[col], col] = 1
    planes[3] = 1 if player == 0 else -1
    return {
        "moves": "".join(map(str, moves)),
        "policy": single(policy / policy.sum()),
        "value": single(wdl / wdl.sum())[:2],
        "planes": planes,
        "open": torch.tensor([height < ROWS for height in heights]),
    }


def forward(tensors, samples, statistics):
    """The mean losses of a chunk; `statistics` gets the means and biased variances."""

    def conv(name, data, skipped=None):
        weights = tensors[f"{name}.conv"]
        data = F.conv2d(data, weights, padding=weights.shape[2] // 2)
        statistics[f"{name}.mean"] = data.mean((0, 2, 3)).detach()
        statistics[f"{name}.variance"] = data.var((0, 2, 3), unbiased=False).detach()
        data = F.batch_norm(data, None, None, tensors[f"{name}.gain"], tensors[f"{name}.bias"],
                            training=True, eps=EPSILON)
        return F.relu(data if skipped is None else data + skipped)

    def dense(name, data):
        return F.linear(data, tensors[f"{name}.weight"], tensors[f"{name}.bias"])

    def flat(data):
        # Cell by cell, row by row from the bottom, all channels of each.
        return data.permute(0, 2, 3, 1).reshape(len(data), -1)

    tower = conv("stem", torch.stack([sample["planes"] for sample in samples]))
    tower = conv("block0.second", conv("block0.first", tower), skipped=tower)
    logits = dense("policy.columns", flat(conv("policy", tower)))
    is_open = torch.stack([sample["open"] for sample in samples])
    targets = torch.stack([sample["policy"] for sample in samples])
    log_policy = F.log_softmax(logits.masked_fill(~is_open, -torch.inf), 1)
    policy_loss = -(targets * log_policy.masked_fill(~is_open, 0)).sum(1).mean()
    hidden = F.relu(dense("value.hidden", flat(conv("value", tower))))
    targets = torch.stack([sample["value"] for sample in samples])
    targets = torch.cat([targets, 1 - targets.sum(1, keepdim=True)], 1)
    value_loss = F.cross_entropy(dense("value.result", hidden), targets)
    return policy_loss, value_loss


def plain(tensors):
    """Numbers in nine digits, enough to distinguish all single-precision numbers."""
    return {name: [float(f"{x:.9g}") for x in tensor.flatten().tolist()]
            for name, tensor in tensors.items()}


def main():
    tensors = make_tensors()
    samples = [make_sample() for _ in range(CHUNK * CHUNKS)]
    result = {
        "rate": RATE, "weight_decay": WEIGHT_DECAY, "norm_momentum": NORM_MOMENTUM, "chunk": CHUNK,
        "tensors": plain(tensors),
        "samples": [{"moves": sample["moves"], "policy": sample["policy"].tolist(),
                     "value": sample["value"].tolist()} for sample in samples],
        "steps": [],
    }
    learnt = {name: tensor.requires_grad_() for name, tensor in tensors.items()
              if not name.endswith((".mean", ".variance"))}
    is_weight = lambda name: name.endswith((".conv", ".weight"))
    optimiser = torch.optim.AdamW([
        {"params": [learnt[name] for name in learnt if is_weight(name)],
         "weight_decay": WEIGHT_DECAY},
        {"params": [learnt[name] for name in learnt if not is_weight(name)], "weight_decay": 0},
    ], lr=RATE, betas=(0.9, 0.999), eps=1e-8)
    for _ in range(STEPS):
        optimiser.zero_grad()
        losses, observed = torch.zeros(2), {}
        for chunk in range(CHUNKS):
            statistics = {}
            policy_loss, value_loss = forward(
                tensors, samples[chunk * CHUNK:][:CHUNK], statistics)
            ((policy_loss + value_loss) / CHUNKS).backward()
            losses += torch.stack([policy_loss, value_loss]).detach() / CHUNKS
            for name, tensor in statistics.items():
                observed[name] = observed.get(name, 0) + tensor / CHUNKS
        gradient = {name: learnt[name].grad.clone() if name in learnt else observed[name]
                    for name in tensors}
        optimiser.step()
        with torch.no_grad():
            for name, tensor in observed.items():
                tensors[name] += NORM_MOMENTUM * (tensor - tensors[name])
        result["steps"].append({
            "losses": losses.tolist(),
            "gradient": plain(gradient),
            "tensors": plain({name: tensor.detach() for name, tensor in tensors.items()}),
        })
    print(json.dumps(result, separators=(",", ":")))


main()
