import { en } from './en.ts';

/** Languages by tag, in their own words. Texts of other languages than English are in files of their own. */
const LANGUAGES: Record<string, string> = { en: 'English', de: 'Deutsch' };
const KEY = 'forecue.language';

/** Prefers the language that the person chose, then the browser's, then English. */
export const language =
  [localStorage.getItem(KEY) ?? '', ...navigator.languages]
    .map((tag) => tag.slice(0, 2).toLowerCase())
    .find((tag) => Object.hasOwn(LANGUAGES, tag)) ?? 'en';

export const t: typeof en = language === 'de' ? (await import('./de.ts')).de : en;

export const languages = Object.entries(LANGUAGES).map(([tag, name]) => ({ tag, name }));

export function choose(tag: string): void {
  localStorage.setItem(KEY, tag);
  location.reload();
}

/** First locale of the browser in `language`, such as `en-GB`; without one, `language` itself. */
const locale = navigator.languages.find((tag) => tag.startsWith(language)) ?? language;
const dates = new Intl.DateTimeFormat(locale, { dateStyle: 'medium', timeStyle: 'short' });
const days = new Intl.DateTimeFormat(locale, { dateStyle: 'medium' });
const times = new Intl.DateTimeFormat(locale, { timeStyle: 'short' });
const shortDays = new Intl.DateTimeFormat(locale, { day: 'numeric', month: 'short' });
const numbers = new Intl.NumberFormat(locale);
const percents = new Intl.NumberFormat(locale, { style: 'percent', maximumFractionDigits: 0 });

const moneys = new Intl.NumberFormat(locale, {
  style: 'currency',
  currency: 'USD',
  currencyDisplay: 'narrowSymbol',
  maximumFractionDigits: 6,
});

/** In one line. */
export const moment = (iso: string) => dates.format(new Date(iso)).replaceAll(' ', '\u00a0');
export const day = (iso: string) => days.format(new Date(iso));
/** Today's time, this year's day, or else the whole date. */
export function shortMoment(iso: string): string {
  const date = new Date(iso);
  const now = new Date();
  if (date.toDateString() === now.toDateString()) return times.format(date);
  return (date.getFullYear() === now.getFullYear() ? shortDays : days).format(date);
}
/** Formats a date `YYYY-MM-DD` as that day in every time zone. Without a time, `Date` would read midnight in UTC. */
export const dayOf = (date: string) => days.format(new Date(`${date}T12:00`));
export const number = (value: number) => numbers.format(value);
export const money = (dollars: number) => moneys.format(dollars);
export const percent = (share: number) => percents.format(share);

/** Returns the day in the browser's time zone, as `YYYY-MM-DD`. */
export function localDay(date: Date): string {
  return new Date(date.getTime() - date.getTimezoneOffset() * 60_000).toISOString().slice(0, 10);
}

/** Returns the last second of a day `YYYY-MM-DD` in the browser's time zone. */
export const endOfDay = (date: string) => new Date(`${date}T23:59:59`).toISOString();
