/** The user's settings, stored in the browser. */

import { t, useLanguage } from "../i18n";
import type { Colours } from "../i18n/en";
import { pickLanguage, type LanguageCode } from "../i18n/languages";
import { readStored, store } from "../storage";
import { parseSettings, type Palette, type Settings } from "../transitions/settings";

const KEY = "claimeven.settings";

class SettingsState {
  all: Settings = $state(parseSettings(readStored(KEY)));
  /** The language whose texts are loaded. The page is rendered again when it changes. */
  language: LanguageCode = $state("en");
  private systemReduced = $state(false);

  /** Reduced motion: discs do not fall, and nothing pulses. */
  readonly reducedMotion = $derived(this.all.motion === "reduced" || (this.all.motion === "system" && this.systemReduced));
  readonly colours: Colours = $derived.by(() => {
    void this.language;
    return t.colours[this.all.palette] ?? t.colours.classic!;
  });
  readonly marks = $derived(this.marksOf(this.all.palette));

  /** The shapes on the discs of a palette: bold by default for the colour-blind palette. */
  marksOf(palette: Palette): "subtle" | "bold" {
    if (this.all.marks !== "auto") return this.all.marks;
    return palette === "clear" ? "bold" : "subtle";
  }

  /** Loads the texts of the chosen language, or of the browser's. */
  async loadLanguage(): Promise<void> {
    const code = pickLanguage(this.all.language, navigator.languages);
    await useLanguage(code);
    this.language = code;
  }

  /** Writes every change to the browser's storage and to the page. Call it once, inside an effect root. */
  start(): void {
    const reduced = matchMedia("(prefers-reduced-motion: reduce)");
    this.systemReduced = reduced.matches;
    reduced.addEventListener("change", () => (this.systemReduced = reduced.matches));
    // Follow changes made in another tab.
    addEventListener("storage", (event) => {
      if (event.key === KEY) this.all = parseSettings(event.newValue);
    });
    $effect(() => {
      const page = document.documentElement;
      if (this.all.theme === "system") delete page.dataset.theme;
      else page.dataset.theme = this.all.theme;
      page.dataset.palette = this.all.palette;
      page.dataset.motion = this.reducedMotion ? "reduced" : "full";
      const text = JSON.stringify(this.all);
      if (text !== readStored(KEY)) store(KEY, text);
    });
  }
}

export const settings = new SettingsState();
