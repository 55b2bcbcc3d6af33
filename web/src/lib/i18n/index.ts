/** The current texts. `t` changes only before the page is rendered, or rendered again after a change of language. */

import { en, type Texts } from "./en";
import { setLocale } from "./format";
import { LANGUAGES, type LanguageCode } from "./languages";

export let t: Texts = en;

/** Switches to a language. If it cannot be loaded, the page keeps its current one. */
export async function useLanguage(code: LanguageCode): Promise<void> {
  try {
    t = await LANGUAGES[code].load();
  } catch {
    return;
  }
  setLocale(LANGUAGES[code].locale);
  document.documentElement.lang = code;
}
