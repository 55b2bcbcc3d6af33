/** The texts in use. `t` changes only before the page is drawn, or drawn anew after another language was chosen. */

import { en, type Texts } from "./en";
import { setLocale } from "./format";
import { LANGUAGES, type LanguageCode } from "./languages";

export let t: Texts = en;

/** Makes a language the one in use. If it cannot be loaded, the page stays in the one it has. */
export async function useLanguage(code: LanguageCode): Promise<void> {
  try {
    t = await LANGUAGES[code].load();
  } catch {
    return;
  }
  setLocale(LANGUAGES[code].locale);
  document.documentElement.lang = code;
}
