"""Measures the solver bitbully on the public test sets and prints what `claimeven bench --json` does."""

import json
import sys
import time

from bitbully.bitbully_core import BitBullyCore, BoardCore

folder, with_empty = sys.argv[1], len(sys.argv) > 2
SETS = [
    ("End-Easy", "Test_L3_R1", 1000),
    ("Middle-Easy", "Test_L2_R1", 1000),
    ("Middle-Medium", "Test_L2_R2", 1000),
    ("Begin-Easy", "Test_L1_R1", 1000),
    ("Begin-Medium", "Test_L1_R2", 1000),
    ("Begin-Hard", "Test_L1_R3", 30),
]


def measure(name, lines):
    solver = BitBullyCore()
    times, correct, nodes = [], 0, 0
    for moves, score in lines:
        board = BoardCore()
        for column in moves:
            assert board.play(int(column) - 1)
        solver.resetTranspositionTable()
        solver.resetNodeCounter()
        start = time.perf_counter()
        found = solver.mtdf(board, 0)
        times.append(time.perf_counter() - start)
        nodes += solver.getNodeCounter()
        correct += found == score
    total = sum(times)
    return {
        "name": name,
        "positions": len(times),
        "correct": correct,
        "nodes": nodes,
        "mean_us": total * 1e6 / len(times),
        "median_us": sorted(times)[len(times) // 2] * 1e6,
        "nodes_per_second": nodes / total,
    }


reports = []
for name, file, count in SETS:
    with open(f"{folder}/{file}") as text:
        pairs = [line.split() for line in text.read().splitlines()[:count]]
    reports.append(measure(name, [(moves, int(score)) for moves, score in pairs]))
    print(name, file=sys.stderr)
if with_empty:
    reports.append(measure("empty board", [("", 1)]))
print(json.dumps(reports))
