/** The languages of the page, and how one is chosen. */

import type { Texts } from "./en";

/** One entry per folder. English is built in; the others are loaded on demand. */
export const LANGUAGES = {
  en: { name: "English", locale: "en-GB", load: () => import("./en").then(({ en }): Texts => en) },
  de: { name: "Deutsch", locale: "de-DE", load: () => import("./de").then(({ de }) => de) },
  es: { name: "Español", locale: "es-ES", load: () => import("./es").then(({ es }) => es) },
} satisfies Record<string, Language>;

interface Language {
  /** Its native name. */
  name: string;
  /** The locale for number formats. */
  locale: string;
  load: () => Promise<Texts>;
}

export type LanguageCode = keyof typeof LANGUAGES;
export const CODES = Object.keys(LANGUAGES) as LanguageCode[];

/** The chosen language, otherwise the first of the browser's languages that the page supports, otherwise English. */
export function pickLanguage(chosen: LanguageCode | "auto", preferred: readonly string[]): LanguageCode {
  if (chosen !== "auto") return chosen;
  const codes = preferred.map((tag) => tag.toLowerCase().split("-")[0]);
  return codes.map((code) => CODES.find((one) => one === code)).find((code) => code !== undefined) ?? "en";
}
