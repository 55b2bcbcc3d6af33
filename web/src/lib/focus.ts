/** Which kind of element has the focus, as far as key bindings depend on it. */

import type { Situation } from "./transitions/keys";

export function focusOf(event: KeyboardEvent): Situation["focus"] {
  const target = event.target instanceof Element ? event.target : null;
  if (!target || target === document.body) return "none";
  if (document.querySelector("dialog[open]")) return "field";
  if (target.closest("[data-column]")) return "column";
  if (target.closest("input, select, textarea, [contenteditable]")) return "field";
  return target.closest("button, a, summary") ? "control" : "none";
}
