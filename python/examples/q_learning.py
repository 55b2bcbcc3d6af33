"""Q-learning with a linear model against a random player, in a vector environment of 256 games."""

import numpy as np

from claimeven.envs.gymnasium import ConnectFourVectorEnv

env = ConnectFourVectorEnv(256, opponent="random", autoreset_mode="SameStep")
observations, infos = env.reset(seed=1)
weights = np.zeros((7, 84))
rng = np.random.default_rng(1)
won = []
for step in range(3000):
    features = observations.reshape(256, 84).astype(np.float64)
    values = np.where(infos["action_mask"] == 1, features @ weights.T, -np.inf)
    greedy = values.argmax(axis=1)
    random = np.where(infos["action_mask"] == 1, rng.random((256, 7)), -1).argmax(axis=1)
    actions = np.where(rng.random(256) < 0.1, random, greedy)
    observations, rewards, terminated, _, infos = env.step(actions)
    after = observations.reshape(256, 84) @ weights.T
    target = rewards + np.where(terminated, 0, 0.95 * after.max(axis=1))
    error = target - (features * weights[actions]).sum(axis=1)
    for action in range(7):
        chosen = actions == action
        weights[action] += 0.01 * (error[chosen, None] * features[chosen]).sum(axis=0) / 256
    won.extend(rewards[terminated])
print(f"mean result of the first 1000 games {np.mean(won[:1000]):+.2f}, of the last {np.mean(won[-1000:]):+.2f}")
