/** The routes of the page. */

export type Route =
  | { page: "home" | "new" | "history" | "settings" | "about" | "missing" }
  | { page: "analysis" | "puzzles" | "statistics" | "lab" | "fleet" }
  | { page: "arena" | "training" | "learn"; id: string | null }
  | { page: "game" | "review"; id: string }
  /** An embedded board: a game, or the position in the query string. */
  | { page: "embed"; id: string | null };

const PAGES = {
  "/": "home",
  "/new": "new",
  "/games": "history",
  "/settings": "settings",
  "/about": "about",
  "/analysis": "analysis",
  "/puzzles": "puzzles",
  "/statistics": "statistics",
  "/lab": "lab",
  "/fleet": "fleet",
} as const;

export function parseRoute(path: string): Route {
  const trimmed = path.length > 1 ? path.replace(/\/+$/, "") || "/" : path;
  const page = PAGES[trimmed as keyof typeof PAGES];
  if (page) return { page };
  const job = /^\/(arena|training|learn)(?:\/([A-Za-z0-9_-]{1,64}))?$/.exec(trimmed);
  if (job) return { page: job[1] as "arena" | "training" | "learn", id: job[2] ?? null };
  const embed = /^\/embed(?:\/game\/([A-Za-z0-9_-]{1,64}))?$/.exec(trimmed);
  if (embed) return { page: "embed", id: embed[1] ?? null };
  const game = /^\/game\/([A-Za-z0-9_-]{1,64})(\/review)?$/.exec(trimmed);
  return game?.[1] ? { page: game[2] ? "review" : "game", id: game[1] } : { page: "missing" };
}
