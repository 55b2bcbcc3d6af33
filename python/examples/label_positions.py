"""Labels random positions with exact scores and writes them as a data set: python label_positions.py [COUNT]"""

import sys

from claimeven import datasets, positions

count = int(sys.argv[1]) if len(sys.argv) > 1 else 10_000
boards = positions.random(count, plies=(8, 36), seed=1)
data = datasets.label(boards, progress=True)
data.save("positions.npz")
print(f"{len(data)} positions: {data.counts()}")
