/** The pages by their addresses. */

export type Route =
  | { page: "home" | "new" | "history" | "settings" | "about" | "missing" | "lab" }
  | { page: "arena" | "training"; id: string | null }
  | { page: "game"; id: string };

const PAGES = { "/": "home", "/new": "new", "/games": "history", "/settings": "settings", "/about": "about", "/lab": "lab" } as const;

export function parseRoute(path: string): Route {
  const trimmed = path.length > 1 ? path.replace(/\/+$/, "") || "/" : path;
  const page = PAGES[trimmed as keyof typeof PAGES];
  if (page) return { page };
  const bench = /^\/(arena|training)(?:\/([A-Za-z0-9_-]{1,64}))?$/.exec(trimmed);
  if (bench) return { page: bench[1] as "arena" | "training", id: bench[2] ?? null };
  const game = /^\/game\/([A-Za-z0-9_-]{1,64})$/.exec(trimmed);
  return game?.[1] ? { page: "game", id: game[1] } : { page: "missing" };
}
