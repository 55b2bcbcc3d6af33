/** The texts in use. A second language becomes a choice here and nowhere else. */

import { en, type Texts } from "./en";

export const languages: Record<string, Texts> = { en };

export const t: Texts = en;
