/** The board as a standalone image that needs no style sheet. */

import { boardHeight, boardWidth, centre, DISC, HEAD, plate } from "./transitions/geometry";
import type { Shown } from "./transitions/position";
import type { Setup } from "./types";

/** An SVG document in the page's colours. */
export function boardImage(setup: Setup, shown: Shown, bold: boolean, style: CSSStyleDeclaration): string {
  const colour = (name: string): string => resolved(name, style);
  const [width, height] = [boardWidth(setup), boardHeight(setup) - HEAD];
  const parts = [`<rect x="8" y="${HEAD + 8}" width="${width - 16}" height="${height - 16}" rx="26" fill="${colour("--hole")}"/>`];
  for (const { column, row, player } of shown.discs) {
    const { x, y } = centre(column, row, setup);
    const mark =
      player === 0
        ? `<circle r="19" fill="none" stroke="${colour(bold ? "--p0-bold" : "--p0-mark")}" stroke-width="${bold ? 9 : 5}"/>`
        : `<path d="M0 -23L23 0L0 23L-23 0Z" fill="${bold ? colour("--p1-bold") : "none"}" stroke="${colour(bold ? "--p1-bold" : "--p1-mark")}" stroke-width="${bold ? 9 : 5}" stroke-linejoin="round"/>`;
    parts.push(`<g transform="translate(${x} ${y})"><circle r="${DISC}" fill="${colour(`--p${player}-edge`)}"/><circle r="${DISC - 4}" fill="${colour(`--p${player}`)}"/>${mark}</g>`);
  }
  parts.push(`<path d="${plate(setup)}" fill-rule="evenodd" fill="${colour("--board")}"/>`);
  for (const { cells } of shown.lines) {
    const [from, to] = [cells[0]!, cells.at(-1)!];
    const [a, b] = [centre(from[0], from[1], setup), centre(to[0], to[1], setup)];
    parts.push(`<path d="M${a.x} ${a.y}L${b.x} ${b.y}" stroke="#fff" stroke-width="9" stroke-linecap="round"/>`);
  }
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 ${HEAD} ${width} ${height}" width="${width}" height="${height}">${parts.join("")}</svg>`;
}

/** Renders an SVG as PNG. */
export async function pngOf(svg: string, width: number, height: number): Promise<Blob> {
  const image = new Image();
  image.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(svg)}`;
  await image.decode();
  const canvas = document.createElement("canvas");
  [canvas.width, canvas.height] = [width, height - HEAD];
  canvas.getContext("2d")?.drawImage(image, 0, 0, canvas.width, canvas.height);
  return new Promise((done, fail) => canvas.toBlob((blob) => (blob ? done(blob) : fail(new Error("failed to render the image"))), "image/png"));
}

/** Offers a file for download. */
export function save(content: Blob, name: string): void {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(content);
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}

/** A colour of the current theme, resolved because `light-dark()` does not work outside the page. */
function resolved(name: string, style: CSSStyleDeclaration): string {
  const value = style.getPropertyValue(name).trim();
  const both = /^light-dark\((.*),(.*)\)$/.exec(value);
  if (!both) return value;
  const chosen = style.colorScheme;
  const dark = chosen === "dark" || (chosen !== "light" && matchMedia("(prefers-color-scheme: dark)").matches);
  return (dark ? both[2] : both[1])!.trim();
}
