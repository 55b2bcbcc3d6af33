/** Stored settings, and the handling of invalid ones. */

import { CODES, type LanguageCode } from "../i18n/languages";
import { PACES, type Pace } from "./pace";

export const PALETTES = ["classic", "clear", "walnut", "dusk"] as const;
export type Palette = (typeof PALETTES)[number];

export interface Settings {
  theme: "system" | "light" | "dark";
  palette: Palette;
  marks: "auto" | "subtle" | "bold";
  sound: boolean;
  motion: "system" | "full" | "reduced";
  numbers: boolean;
  /** Explanations use the terms of experienced players. */
  terms: boolean;
  name: string;
  /** `auto` is the browser's language. */
  language: LanguageCode | "auto";
  /** The level played last. */
  level: number;
  /** The speed of watched and replayed games. */
  pace: Pace;
}

export const DEFAULTS: Settings = {
  theme: "system",
  palette: "classic",
  marks: "auto",
  sound: true,
  motion: "system",
  numbers: true,
  terms: false,
  name: "",
  language: "auto",
  level: 3,
  pace: "normal",
};

const CHOICES: { [K in keyof Settings]?: readonly Settings[K][] } = {
  theme: ["system", "light", "dark"],
  palette: PALETTES,
  marks: ["auto", "subtle", "bold"],
  motion: ["system", "full", "reduced"],
  language: ["auto", ...CODES],
  pace: PACES,
  level: [1, 2, 3, 4, 5, 6, 7, 8, 9, 10],
};

export const NAME_LENGTH = 24;

/** Parses stored settings; missing and invalid ones get their defaults. */
export function parseSettings(text: string | null): Settings {
  const settings: Settings = { ...DEFAULTS };
  let stored: unknown;
  try {
    stored = JSON.parse(text ?? "{}");
  } catch {
    return settings;
  }
  if (typeof stored !== "object" || stored === null) return settings;
  for (const key of Object.keys(DEFAULTS) as (keyof Settings)[]) {
    const value = (stored as Record<string, unknown>)[key];
    const choices = CHOICES[key] as readonly unknown[] | undefined;
    if (choices ? choices.includes(value) : typeof value === typeof DEFAULTS[key]) Object.assign(settings, { [key]: value });
  }
  settings.name = settings.name.slice(0, NAME_LENGTH);
  return settings;
}
