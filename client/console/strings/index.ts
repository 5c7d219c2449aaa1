import { de } from './de.ts';
import { en } from './en.ts';

const LANGUAGES: Record<string, typeof en> = { en, de };
const KEY = 'forecue.language';

/** Prefers the language that the person chose, then the browser's, then English. */
export const language =
  [localStorage.getItem(KEY) ?? '', ...navigator.languages]
    .map((tag) => tag.slice(0, 2).toLowerCase())
    .find((tag) => Object.hasOwn(LANGUAGES, tag)) ?? 'en';

export const t: typeof en = LANGUAGES[language] ?? en;

export const languages = Object.entries(LANGUAGES).map(([tag, { language }]) => ({ tag, name: language }));

export function choose(tag: string): void {
  localStorage.setItem(KEY, tag);
  location.reload();
}

/** First locale of the browser in `language`, such as `en-GB`; without one, `language` itself. */
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

export const moment = (iso: string) => dates.format(new Date(iso));
export const day = (iso: string) => days.format(new Date(iso));
/** Formats a date `YYYY-MM-DD` as that day in every time zone. Without a time, `Date` would read midnight in UTC. */
export const dayOf = (date: string) => days.format(new Date(`${date}T12:00`));
export const number = (value: number) => numbers.format(value);
export const money = (dollars: number) => moneys.format(dollars);
export const percent = (share: number) => percents.format(share);
