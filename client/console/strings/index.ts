import { de } from './de.ts';
import { en } from './en.ts';

const LANGUAGES: Record<string, typeof en> = { en, de };
const KEY = 'forecue.language';

/** Language that the person chose, else the first of the browser's languages that the console has, else English. */
export const language =
  [localStorage.getItem(KEY) ?? '', ...navigator.languages]
    .map((tag) => tag.slice(0, 2).toLowerCase())
    .find((tag) => Object.hasOwn(LANGUAGES, tag)) ?? 'en';

/** Every sentence of the page, in its language. */
export const t: typeof en = LANGUAGES[language] ?? en;

export const languages = Object.entries(LANGUAGES).map(([tag, { language }]) => ({ tag, name: language }));

/** Remembers the chosen language, and loads the page again in that language. */
export function choose(tag: string): void {
  localStorage.setItem(KEY, tag);
  location.reload();
}

/**
 * Locale of dates and numbers: the first of the browser's locales in this language, which may name the person's region;
 * else the language alone.
 */
const locale = navigator.languages.find((tag) => tag.startsWith(language)) ?? language;
const dates = new Intl.DateTimeFormat(locale, { dateStyle: 'medium', timeStyle: 'short' });
const days = new Intl.DateTimeFormat(locale, { dateStyle: 'medium' });
const numbers = new Intl.NumberFormat(locale);
const percents = new Intl.NumberFormat(locale, { style: 'percent', maximumFractionDigits: 0 });

const moneys = new Intl.NumberFormat(locale, {
  style: 'currency',
  currency: 'USD',
  currencyDisplay: 'narrowSymbol',
  maximumFractionDigits: 6,
});

/** Formats date and time of a moment in the person's time zone. */
export const moment = (iso: string) => dates.format(new Date(iso));
export const day = (iso: string) => days.format(new Date(iso));
/** Formats a date `YYYY-MM-DD` as that day in every time zone; alone, `Date` would read it as midnight in UTC. */
export const dayOf = (date: string) => days.format(new Date(`${date}T12:00`));
export const number = (value: number) => numbers.format(value);
export const money = (dollars: number) => moneys.format(dollars);
export const percent = (share: number) => percents.format(share);
