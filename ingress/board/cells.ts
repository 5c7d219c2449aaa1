import { catalogue, type ErrorEntry } from '../../shared/errors/catalogue.ts';
import { escapeInvisible } from '../../shared/text/visible.ts';
import { type Html, html } from '../pages/html.ts';

export interface Column<Row> {
  head: string;
  cell(row: Row): Html | string | number;
  /** Aligns cells to the right, with digits of equal width. */
  isNumber?: boolean;
}

export function number<Row>(head: string, cell: (row: Row) => string): Column<Row> {
  return { head, cell, isNumber: true };
}

/** On a narrow screen, CSS shows each row as a card, and browsers drop the table's roles. The ARIA roles keep them. */
export function table<Row>(
  name: string,
  rows: readonly Row[],
  columns: readonly Column<Row>[],
  emptyText: string,
): Html {
  if (rows.length === 0) return html`<p class="none">${emptyText}</p>`;
  return html`<table role="table" aria-label="${name}">
    <thead role="rowgroup"><tr role="row">${columns.map(
      (column) => html`<th role="columnheader" scope="col" class="${alignment(column)}">${column.head}</th>`,
    )}</tr></thead>
    <tbody role="rowgroup">${rows.map(
      (row) => html`<tr role="row">${columns.map((column) => cellOf(column, row))}</tr>`,
    )}</tbody>
  </table>`;
}

/** Shown in place of a missing value. A narrow screen, which shows each row as a card, omits such cells. */
export const NIL = '–';

function cellOf<Row>(column: Column<Row>, row: Row): Html {
  const content = column.cell(row);
  const classes = `${alignment(column)}${content === NIL ? ' nil' : ''}`;
  return html`<td role="cell" class="${classes}" data-head="${column.head}">${content}</td>`;
}

const alignment = ({ isNumber }: Pick<Column<never>, 'isNumber'>) => (isNumber ? 'number' : 'words');

/** Returns the part of the system that caused an error: `source` if set, else the source of `code` in the catalogue. */
export function sourceOf({ code, source }: { code: string | null; source: string | null }): string {
  const entry: ErrorEntry | undefined = Object.entries(catalogue).find(([name]) => name === code)?.[1];
  return source ?? (entry ? (entry.source ?? 'ingress') : NIL);
}

/** Renders untrusted text in a `<bdi>`, so that right-to-left characters in it do not reorder the text around it. */
export function text(value: string): Html {
  return html`<bdi>${escapeInvisible(value)}</bdi>`;
}

export function formatCount(value: number): string {
  return value.toLocaleString('en-US', { maximumFractionDigits: value < 10 ? 1 : 0 });
}

const UNITS = [
  [86_400, 'd'],
  [3600, 'h'],
  [60, 'min'],
] as const;

/** Formats a duration in whole units of the largest unit that fits. */
export function formatDuration(seconds: number): string {
  const found = UNITS.find(([size]) => seconds >= size);
  if (found === undefined) return `${Math.max(0, Math.round(seconds))} s`;
  const [size, unit] = found;
  return `${Math.floor(seconds / size)} ${unit}`;
}

export const formatAgo = (seconds: number) => `${formatDuration(seconds)} ago`;

export function badge(word: string, tone: 'good' | 'quiet' | 'bad'): Html {
  return html`<span class="badge ${tone}">${word}</span>`;
}

export function workLink(id: string): Html {
  return html`<a href="find?id=${id}"><code>${id}</code></a>`;
}

const MICROCENTS_PER_DOLLAR = 100_000_000;
const SMALLEST_DOLLARS = 0.0001;

/** Formats millionths of a cent as dollars. */
export function formatDollars(microcents: number): string {
  const value = microcents / MICROCENTS_PER_DOLLAR;
  if (value > 0 && value < SMALLEST_DOLLARS) return `< $${SMALLEST_DOLLARS}`;
  return `$${value.toFixed(value !== 0 && value < 1 ? 4 : 2)}`;
}
