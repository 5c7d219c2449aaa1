import { type Html, html } from '../pages/html.ts';
import { formatCount } from './cells.ts';
import type { LastHourRow } from './last-hour.ts';

const HEIGHT = 48;
const STEP = 4;
/** Empty minutes have no value, and break a line. */
type Values = readonly (number | null)[];

interface Plot {
  title: string;
  /** One line each; the first has the title's colour. */
  lines: { name: string; values: Values }[];
  format(value: number): string;
}

const milliseconds = (value: number) =>
  value < 1000 ? `${Math.round(value)} ms` : `${(value / 1000).toFixed(1)} s`;

/** Draws the last hour as one small picture for each figure, without a script. */
export function hourPlots(minutes: readonly LastHourRow[]): Html {
  const plots: Plot[] = [
    {
      title: 'Calls a minute',
      lines: [{ name: 'calls', values: minutes.map(({ calls }) => calls) }],
      format: formatCount,
    },
    {
      title: 'Failed a minute',
      lines: [{ name: 'failed', values: minutes.map(({ failed }) => failed) }],
      format: formatCount,
    },
    {
      title: 'Time to the answer',
      lines: [
        { name: 'p95', values: minutes.map(({ p95 }) => p95) },
        { name: 'p50', values: minutes.map(({ p50 }) => p50) },
      ],
      format: milliseconds,
    },
    {
      title: 'Time in the queue',
      lines: [{ name: 'p95', values: minutes.map(({ waited }) => waited) }],
      format: milliseconds,
    },
  ];
  return html`<div class="plots">${plots.map(plotCard)}</div>`;
}

function plotCard({ title, lines, format }: Plot): Html {
  const most = Math.max(...lines.flatMap(({ values }) => values.map((value) => value ?? 0)));
  const latest = lines
    .map(({ name, values }) => {
      const value = values.findLast((one) => one !== null);
      return value == null ? undefined : `${name} ${format(value)}`;
    })
    .filter((text) => text !== undefined);
  const words = most === 0 ? 'none in the last hour' : `at most ${format(most)}; last ${latest.join(', ')}`;
  const width = (lines[0]?.values.length ?? 0) * STEP;
  return html`<figure class="plot">
    <figcaption>${title} <small>${words}</small></figcaption>
    <svg viewBox="0 0 ${width} ${HEIGHT}" preserveAspectRatio="none" role="img" aria-label="${title}, last hour: ${words}">
      ${lines.map(({ name, values }) => html`<path class="${name}" d="${pathOf(values, most)}"/>`)}
    </svg>
  </figure>`;
}

function pathOf(values: Values, most: number): string {
  if (most === 0) return '';
  const points = values.map((value, at) =>
    value === null ? undefined : `${at * STEP} ${(HEIGHT - 1 - ((HEIGHT - 2) * value) / most).toFixed(1)}`,
  );
  return points
    .map((point, at) => (point === undefined ? '' : `${points[at - 1] === undefined ? 'M' : 'L'}${point}h1`))
    .join('');
}
