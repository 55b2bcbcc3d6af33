/** A tree of moves: the current line and all variations. */

export interface Branch {
  id: number;
  /** The move that led here; 0 at the root. */
  column: number;
  parent: number;
  /** The first one is the main line. */
  children: number[];
  /** The user's name for the line that starts here. */
  name: string;
}

export interface Variations {
  branches: ReadonlyMap<number, Branch>;
  /** The id of the next branch. */
  next: number;
}

/** The tree and the current branch. */
export interface Place {
  tree: Variations;
  at: number;
}

export const ROOT = 0;
/** The maximum number of moves, so that the page stays readable. */
export const MAX_BRANCHES = 2000;

export function noVariations(): Variations {
  return { branches: new Map([[ROOT, { id: ROOT, column: 0, parent: ROOT, children: [], name: "" }]]), next: 1 };
}

/** Plays a move: goes to an existing branch or adds a new one. */
export function play({ tree, at }: Place, column: number): Place {
  const here = tree.branches.get(at);
  if (!here) return { tree, at };
  const known = here.children.find((child) => tree.branches.get(child)?.column === column);
  if (known !== undefined) return { tree, at: known };
  if (tree.branches.size > MAX_BRANCHES) return { tree, at };
  const branches = new Map(tree.branches);
  branches.set(at, { ...here, children: [...here.children, tree.next] });
  branches.set(tree.next, { id: tree.next, column, parent: at, children: [], name: "" });
  return { tree: { branches, next: tree.next + 1 }, at: tree.next };
}

export function playAll(place: Place, columns: readonly number[]): Place {
  return columns.reduce(play, place);
}

/** The moves from the root to a branch. */
export function movesTo(tree: Variations, at: number): Branch[] {
  const moves: Branch[] = [];
  for (let branch = tree.branches.get(at); branch && branch.id !== ROOT; branch = tree.branches.get(branch.parent)) moves.unshift(branch);
  return moves;
}

export type Way = "first" | "back" | "forward" | "last";

/** Steps along the main line of the current branch. */
export function walk(tree: Variations, at: number, way: Way): number {
  const here = tree.branches.get(at);
  if (!here) return ROOT;
  switch (way) {
    case "first":
      return ROOT;
    case "back":
      return here.parent;
    case "forward":
      return here.children[0] ?? at;
    case "last": {
      let last = here;
      for (let next = tree.branches.get(last.children[0] ?? -1); next; next = tree.branches.get(last.children[0] ?? -1)) last = next;
      return last.id;
    }
  }
}

/** Removes a branch and everything after it. */
export function remove({ tree, at }: Place, id: number): Place {
  const gone = tree.branches.get(id);
  if (!gone || id === ROOT) return { tree, at };
  const branches = new Map(tree.branches);
  const pending = [id];
  for (let next = pending.pop(); next !== undefined; next = pending.pop()) {
    pending.push(...(branches.get(next)?.children ?? []));
    branches.delete(next);
  }
  const parent = branches.get(gone.parent)!;
  branches.set(parent.id, { ...parent, children: parent.children.filter((child) => child !== id) });
  return { tree: { ...tree, branches }, at: branches.has(at) ? at : gone.parent };
}

/** Makes a branch the main line of its parent. */
export function promote(tree: Variations, id: number): Variations {
  const branch = tree.branches.get(id);
  const parent = branch && tree.branches.get(branch.parent);
  if (!parent || id === ROOT) return tree;
  const branches = new Map(tree.branches);
  branches.set(parent.id, { ...parent, children: [id, ...parent.children.filter((child) => child !== id)] });
  return { ...tree, branches };
}

export function rename(tree: Variations, id: number, name: string): Variations {
  const branch = tree.branches.get(id);
  if (!branch) return tree;
  return { ...tree, branches: new Map(tree.branches).set(id, { ...branch, name }) };
}

/** The branch where the current line left its parent line; the root for the main line. */
export function lineStart(tree: Variations, at: number): number {
  let here = tree.branches.get(at);
  while (here && here.id !== ROOT) {
    if (tree.branches.get(here.parent)?.children[0] !== here.id) return here.id;
    here = tree.branches.get(here.parent);
  }
  return ROOT;
}

/** A line in reading order: its moves, each followed by the alternatives to the next one. */
export interface Line {
  /** The branch of the first move. */
  id: number;
  name: string;
  moves: { branch: Branch; ply: number; instead: Line[] }[];
}

/** The main line, with the variations nested in it. */
export function outline(tree: Variations, first: number | undefined = tree.branches.get(ROOT)?.children[0], ply = 1): Line | null {
  if (first === undefined) return null;
  const start = tree.branches.get(first);
  if (!start) return null;
  const line: Line = { id: first, name: start.name, moves: [] };
  for (let branch: Branch | undefined = start; branch; branch = tree.branches.get(branch.children[0] ?? -1)) {
    const at: number = ply + line.moves.length;
    // Alternatives follow the move of the main line that they replace.
    const siblings: number[] = branch.id === first && first !== tree.branches.get(branch.parent)?.children[0] ? [] : (tree.branches.get(branch.parent)?.children.slice(1) ?? []);
    const instead = siblings.flatMap((sibling) => outline(tree, sibling, at) ?? []);
    line.moves.push({ branch, ply: at, instead });
  }
  return line;
}
