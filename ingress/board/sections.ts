import type { ProviderState } from '../../shared/db/stores/board/last-hour.ts';
import type { HourlySpending } from '../../shared/db/stores/board/lately.ts';
import type { ShownProcess } from '../../shared/db/stores/board/live.ts';
import { type Html, html } from '../pages/html.ts';
import {
  badge,
  type Column,
  formatAgo,
  formatCount,
  formatDollars,
  formatDuration,
  NIL,
  number,
  sourceOf,
  table,
  text,
  workLink,
} from './cells.ts';
import { headline, isFailing, reasonOf } from './headline.ts';
import { hourPlots } from './plots.ts';
import type { BoardPool, BoardSnapshot } from './snapshot.ts';
import { SUMMED_COLUMNS } from './spend.ts';

/** The sections that are refreshed while somebody views the board, in their order on the page. */
export const SECTIONS = {
  now: 'Now',
  hour: 'The last hour',
  pools: 'Pools',
  failures: 'Failures of the last hour',
  processes: 'Processes',
  parties: 'Parties with the most work',
  providers: 'Provider',
  models: 'Models',
  spend: 'Provider, by hour',
  webhooks: 'Webhooks',
  schedules: 'Recurring work',
  erasures: 'Accounts being erased',
} as const;
type SectionId = keyof typeof SECTIONS;

export function renderSections(snapshot: BoardSnapshot): Record<SectionId, string> {
  const { pools, live, lately, spend, tokenQuota, recurring, providers, minutes, at } = snapshot;
  const sections: Record<SectionId, Html> = {
    now: headline(snapshot),
    hour: hourPlots(minutes),
    pools: html`<div class="pools">${pools.map((one) => poolCard(one, at))}</div>`,
    failures: table('Failures', lately.failures, FAILURE_COLUMNS, 'None.'),
    processes: table('Processes', live.processes, PROCESS_COLUMNS, 'None.'),
    parties: table('Parties', live.parties, PARTY_COLUMNS, 'Nobody has work that waits or runs.'),
    providers: table('Provider', providers, PROVIDER_COLUMNS, 'Not called in the last quarter of an hour.'),
    models: table('Models', modelsOf(snapshot), MODEL_COLUMNS, 'No call in the last 24 hours.'),
    spend: html`<p>Tokens of all accounts today (UTC): ${formatCount(lately.tokensToday)}
        ${tokenQuota === null ? undefined : `of ${formatCount(tokenQuota)}`}</p>
      ${table('Spend', hoursOf(spend.hours), HOUR_COLUMNS, 'No call to a provider in the last 24 hours.')}
      ${spend.isWhole ? undefined : html`<p class="none">Earlier calls are left out: there are too many.</p>`}`,
    webhooks: html`<p>Deliveries that wait: ${formatCount(lately.deliveries.pending)}; failed in the last 24 hours: ${formatCount(lately.deliveries.failed)}</p>`,
    schedules: table('Schedules', recurring, recurringColumns(at), 'None.'),
    erasures: table('Erasures', lately.erasing, ERASURE_COLUMNS, 'None.'),
  };
  return Object.fromEntries(Object.entries(sections).map(([id, content]) => [id, content.text])) as Record<
    SectionId,
    string
  >;
}

function poolCard(one: BoardPool, at: number): Html {
  const { pool, queued, isMore, running, oldestMs, slots, workers, desired, rate, shed, pausedAt } = one;
  const state =
    pausedAt !== null
      ? badge(`paused ${formatAgo(Math.max(0, at - pausedAt) / 1000)}`, 'bad')
      : workers === 0
        ? badge('no worker', 'bad')
        : badge('open', 'good');
  const facts: [string, Html | string, string?][] = [
    ['Waiting', `${formatCount(queued)}${isMore ? ' or more' : ''}`],
    ['Oldest', queued === 0 ? NIL : formatDuration(oldestMs / 1000)],
    ['Workers', `${workers}`, desired > workers ? `${desired} wanted` : undefined],
    ['Claims a second', rate === undefined ? '…' : formatCount(rate)],
    ['Shed', formatCount(shed), 'here, since start'],
  ];
  return html`<article class="pool">
    <h3>${pool} ${state}</h3>
    <p class="slots"><span>Slots</span> <strong>${formatCount(running)}</strong> of ${formatCount(slots)}
      <meter min="0" max="${Math.max(slots, 1)}" value="${Math.min(running, slots)}" aria-label="Slots of ${pool} that hold work"></meter></p>
    <dl>${facts.map(
      ([name, value, note]) =>
        html`<div><dt>${name}</dt><dd>${value}${note === undefined ? undefined : html` <small>${note}</small>`}</dd></div>`,
    )}</dl>
  </article>`;
}

const FAILURE_COLUMNS: Column<BoardSnapshot['lately']['failures'][number]>[] = [
  { head: 'Code', cell: ({ code }) => html`<strong>${text(code)}</strong>` },
  { head: 'Kind', cell: ({ kind }) => kind },
  { head: 'From', cell: sourceOf },
  number('Count', ({ count, isMore }) => `${formatCount(count)}${isMore ? ' or more' : ''}`),
  number('Latest', ({ agoS }) => formatAgo(agoS)),
  { head: 'Example', cell: ({ example }) => workLink(example) },
];

function stateBadge({ leaseS }: ShownProcess): Html {
  if (leaseS <= 0) return badge(`silent, ${formatDuration(-leaseS)} past its lease`, 'bad');
  return badge('alive', 'good');
}

function servedPools({ pools }: ShownProcess): string {
  const named = Object.entries(pools).map(([pool, { slots }]) => `${pool} (${slots})`);
  return named.length === 0 ? NIL : named.join(', ');
}

const PROCESS_COLUMNS: Column<ShownProcess>[] = [
  { head: 'Kind', cell: ({ kind }) => html`<strong>${text(kind)}</strong>` },
  { head: 'Host', cell: ({ host }) => (host === null ? NIL : text(host)) },
  number('Pid', ({ pid }) => (pid === null ? NIL : `${pid}`)),
  number('Port', ({ port }) => (port === null ? NIL : `${port}`)),
  { head: 'State', cell: stateBadge },
  { head: 'Version', cell: ({ version }) => text(version) },
  number('Heartbeats for', ({ steadyS }) => (steadyS === null ? NIL : formatDuration(steadyS))),
  { head: 'Serves (slots)', cell: servedPools },
  number('Holds', ({ holds }) => formatCount(holds)),
  { head: 'Id', cell: ({ id }) => html`<code>${id}</code>` },
];

const PROVIDER_COLUMNS: Column<ProviderState>[] = [
  { head: 'Model', cell: ({ model }) => html`<strong>${text(model)}</strong>` },
  {
    head: 'State',
    cell: (state) => (isFailing(state) ? badge(reasonOf(state), 'bad') : badge('answers', 'good')),
  },
  { head: 'Last failure', cell: (state) => (state.reason === null ? NIL : reasonOf(state)) },
  number('Calls in 15 min', ({ calls }) => formatCount(calls)),
  number('Failed', ({ failed }) => formatCount(failed)),
  number('Latest', ({ agoS }) => formatAgo(agoS)),
];

const PARTY_COLUMNS: Column<BoardSnapshot['live']['parties'][number]>[] = [
  {
    head: 'Party',
    cell: ({ app }) =>
      app === null ? html`<span class="quiet">account</span>` : html`<strong>${text(app)}</strong>`,
  },
  number('Running', ({ running }) => formatCount(running)),
  number('Waiting', ({ queued }) => formatCount(queued)),
  number('Oldest', ({ oldestS }) => (oldestS === null ? NIL : formatDuration(oldestS))),
  { head: 'Id', cell: ({ party }) => html`<code>${party}</code>` },
];

type SummedColumn = (typeof SUMMED_COLUMNS)[number];
type Sums = Record<SummedColumn, number>;

function modelsOf({ spend }: BoardSnapshot) {
  const byModel = [...Map.groupBy(spend.hours, ({ model }) => model)].sort();
  return byModel.map(([model, rows]) => ({ model, ...sumOf(rows) }));
}

const MODEL_COLUMNS: Column<ReturnType<typeof modelsOf>[number]>[] = [
  { head: 'Model', cell: ({ model }) => html`<strong>${text(model)}</strong>` },
  number('Calls in 24 h', ({ calls }) => formatCount(calls)),
  number('Failed', ({ failed }) => formatCount(failed)),
  number('Cost in 24 h', costOf),
];

function costOf({ costMicrocents: cost, calls, unpriced }: Sums): string {
  if (unpriced === calls && calls > 0) return 'no price';
  return unpriced === 0 ? formatDollars(cost) : `${formatDollars(cost)} + ${formatCount(unpriced)} unpriced`;
}

function sumOf(rows: readonly HourlySpending[]) {
  const sum = (column: SummedColumn) => rows.reduce((all, row) => all + row[column], 0);
  return Object.fromEntries(SUMMED_COLUMNS.map((column) => [column, sum(column)])) as Sums;
}

function hoursOf(rows: readonly HourlySpending[]) {
  const byHour = [...Map.groupBy(rows, ({ hour }) => hour)].sort(([a], [b]) => b - a);
  return byHour.map(([hour, hourRows]) => ({ hour, ...sumOf(hourRows) }));
}

const HOUR_COLUMNS: Column<ReturnType<typeof hoursOf>[number]>[] = [
  { head: 'Hour (UTC)', cell: ({ hour }) => new Date(hour).toISOString().slice(5, 16).replace('T', ' ') },
  number('Calls', ({ calls }) => formatCount(calls)),
  number('Input tokens', ({ inputTokens }) => formatCount(inputTokens)),
  number('Output tokens', ({ outputTokens }) => formatCount(outputTokens)),
  number('Cost', costOf),
];

const recurringColumns = (at: number): Column<BoardSnapshot['recurring'][number]>[] => [
  { head: 'Name', cell: ({ name }) => html`<strong>${name}</strong>` },
  { head: 'Every', cell: ({ every }) => (every === 'off' ? badge('off', 'quiet') : every) },
  number('Last', ({ last }) => (last === null ? NIL : formatAgo((at - last) / 1000))),
  number('Next', ({ next }) => (next === null ? NIL : `in ${formatDuration((next - at) / 1000)}`)),
];

const ERASURE_COLUMNS: Column<BoardSnapshot['lately']['erasing'][number]>[] = [
  { head: 'Account', cell: ({ id }) => html`<code>${id}</code>` },
  number('For', ({ forS }) => formatDuration(forS)),
];
