/** The languages of the page, and which of them a person gets. */

import type { Texts } from "./en";

/** One entry per folder. English is part of the page; the others are loaded when they are chosen. */
export const LANGUAGES = {
  en: { name: "English", locale: "en-GB", load: () => import("./en").then(({ en }): Texts => en) },
  de: { name: "Deutsch", locale: "de-DE", load: () => import("./de").then(({ de }) => de) },
  es: { name: "Español", locale: "es-ES", load: () => import("./es").then(({ es }) => es) },
} satisfies Record<string, Language>;

interface Language {
  /** As its speakers call it. */
  name: string;
  /** How numbers are written. */
  locale: string;
  load: () => Promise<Texts>;
}

export type LanguageCode = keyof typeof LANGUAGES;
export const CODES = Object.keys(LANGUAGES) as LanguageCode[];

/** The language that was chosen, otherwise the first of the browser's languages that the page speaks, otherwise English. */
export function pickLanguage(chosen: LanguageCode | "auto", preferred: readonly string[]): LanguageCode {
  if (chosen !== "auto") return chosen;
  const codes = preferred.map((tag) => tag.toLowerCase().split("-")[0]);
  return codes.map((code) => CODES.find((one) => one === code)).find((code) => code !== undefined) ?? "en";
}
