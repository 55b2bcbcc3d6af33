/** Formats numbers, dates and plurals in the current language. Everything users read goes through here; downloads do not. */

let locale = "en-GB";
const numbers = new Map<string, Intl.NumberFormat>();
let plurals = new Intl.PluralRules(locale);

export function setLocale(chosen: string): void {
  locale = chosen;
  numbers.clear();
  plurals = new Intl.PluralRules(locale);
}

/** `5,000`. */
export function whole(n: number): string {
  return format(n, { maximumFractionDigits: 0 });
}

/** `12.3`: with a fixed number of decimal places. */
export function decimal(n: number, digits = 1): string {
  return format(n, { minimumFractionDigits: digits, maximumFractionDigits: digits });
}

/** `3.14`: with at most this many significant digits. */
export function significant(n: number, digits: number): string {
  return format(n, { maximumSignificantDigits: digits });
}

/** `62%`, `62.5%`: a share from 0 to 1, with at most this many decimal places. */
export function percent(share: number, digits = 0): string {
  return format(share, { style: "percent", maximumFractionDigits: digits });
}

/** A number with its plural form: `plural(2, { one: "game", other: "games" })` is `2 games`. */
export function plural(n: number, forms: Partial<Record<Intl.LDMLPluralRule, string>> & { other: string }): string {
  return `${whole(n)} ${forms[plurals.select(n)] ?? forms.other}`;
}

/** `7 × 6`, without a line break. */
export function size(cols: number | string, rows: number | string): string {
  return `${cols}\u00a0×\u00a0${rows}`;
}

/** `16 Nov 2026`. */
export function day(date: Date): string {
  return date.toLocaleDateString(locale, { day: "numeric", month: "short", year: "numeric" });
}

/** `21:20`. */
export function timeOfDay(date: Date): string {
  return date.toLocaleTimeString(locale, { hour: "2-digit", minute: "2-digit" });
}

function format(n: number, options: Intl.NumberFormatOptions): string {
  const key = JSON.stringify(options);
  let made = numbers.get(key);
  if (!made) numbers.set(key, (made = new Intl.NumberFormat(locale, options)));
  return made.format(n);
}
