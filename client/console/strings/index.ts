import { de } from './de.ts';
import { en } from './en.ts';

const LANGUAGES: Record<string, typeof en> = { en, de };
const KEY = 'forecue.language';

/** The person's choice, else the first language of the browser that there is. */
export const language =
  [localStorage.getItem(KEY) ?? '', ...navigator.languages]
    .map((tag) => tag.slice(0, 2).toLowerCase())
    .find((tag) => Object.hasOwn(LANGUAGES, tag)) ?? 'en';

/** Every sentence of the page, in its language. */
export const t: typeof en = LANGUAGES[language] ?? en;

export const languages = Object.entries(LANGUAGES).map(([tag, { language }]) => ({ tag, name: language }));

/** Shows the page again, in this language. */
export function choose(tag: string): void {
  localStorage.setItem(KEY, tag);
  location.reload();
}

/** With the person's own way to write dates, where that is of this language. */
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

/** A moment, in the person's zone. */
export const moment = (iso: string) => dates.format(new Date(iso));
export const day = (iso: string) => days.format(new Date(iso));
/** A date `YYYY-MM-DD`, as it is: of a date alone, `Date` makes midnight in UTC. */
export const dayOf = (date: string) => days.format(new Date(`${date}T12:00`));
export const number = (value: number) => numbers.format(value);
export const money = (dollars: number) => moneys.format(dollars);
export const percent = (share: number) => percents.format(share);
