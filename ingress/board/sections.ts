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
  sourceOf,
  table,
  text,
  workLink,
} from './cells.ts';
import type { BoardPool, BoardSnapshot } from './snapshot.ts';
import type { HourlySpending } from './spend.ts';

/** The sections that are refreshed while somebody views the board, in their order on the page. */
export const SECTIONS = {
  pools: 'Pools',
  failures: 'Failures of the last hour',
  processes: 'Processes',
  parties: 'Parties with the most work',
  models: 'Models',
  spend: 'Provider, by hour',
  schedules: 'Recurring work',
  erasures: 'Accounts being erased',
} as const;
type SectionId = keyof typeof SECTIONS;

export function renderSections(snapshot: BoardSnapshot): Record<SectionId, string> {
  const { pools, live, lately, spend, recurring, at } = snapshot;
  const sections: Record<SectionId, Html> = {
    pools: html`<div class="pools">${pools.map(poolCard)}</div>`,
    failures: table('Failures', lately.failures, FAILURE_COLUMNS, 'None.'),
    processes: table('Processes', live.processes, PROCESS_COLUMNS, 'None.'),
    parties: table('Parties', live.parties, PARTY_COLUMNS, 'Nobody has work that waits or runs.'),
    models: table('Models', modelsOf(snapshot), MODEL_COLUMNS, 'No call in the last 24 hours, and no fault.'),
    spend: html`${table('Spend', hoursOf(spend.hours), HOUR_COLUMNS, 'No call to a provider in the last 24 hours.')}
      ${spend.isWhole ? undefined : html`<p class="none">Earlier hours are still being read.</p>`}`,
    schedules: table('Schedules', recurring, recurringColumns(at), 'None.'),
    erasures: table('Erasures', lately.erasing, ERASURE_COLUMNS, 'None.'),
  };
  return Object.fromEntries(Object.entries(sections).map(([id, content]) => [id, content.text])) as Record<
    SectionId,
    string
  >;
}

function poolCard(one: BoardPool): Html {
  const { pool, queued, isMore, running, oldestS, slots, workers, desired, rate, shed, pausedS } = one;
  const state =
    pausedS !== null
      ? badge(`paused ${formatAgo(pausedS)}`, 'bad')
      : workers === 0
        ? badge('no worker', 'bad')
        : badge('open', 'good');
  const facts: [string, Html | string, string?][] = [
    ['Waiting', `${formatCount(queued)}${isMore ? ' or more' : ''}`],
    ['Oldest', oldestS === null ? NIL : formatDuration(oldestS)],
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
  {
    head: 'Count',
    cell: ({ count, isMore }) => `${formatCount(count)}${isMore ? ' or more' : ''}`,
    isNumber: true,
  },
  { head: 'Latest', cell: ({ agoS }) => formatAgo(agoS), isNumber: true },
  { head: 'Example', cell: ({ example }) => workLink(example) },
];

function stateBadge({ leaseS, leads }: ShownProcess): Html {
  if (leaseS <= 0) return badge(`silent, ${formatDuration(-leaseS)} past its lease`, 'bad');
  return leads ? badge('alive, leads', 'good') : badge('alive', 'good');
}

function servedPools({ pools }: ShownProcess): string {
  const named = Object.entries(pools).map(([pool, { slots }]) => `${pool} (${slots})`);
  return named.length === 0 ? NIL : named.join(', ');
}

const PROCESS_COLUMNS: Column<ShownProcess>[] = [
  { head: 'Kind', cell: ({ kind }) => html`<strong>${text(kind)}</strong>` },
  { head: 'State', cell: stateBadge },
  { head: 'Version', cell: ({ version }) => text(version ?? 'unknown') },
  {
    head: 'Heartbeats for',
    cell: ({ steadyS }) => (steadyS === null ? NIL : formatDuration(steadyS)),
    isNumber: true,
  },
  { head: 'Serves (slots)', cell: servedPools },
  { head: 'Holds', cell: ({ holds }) => formatCount(holds), isNumber: true },
  { head: 'Id', cell: ({ id }) => html`<code>${id}</code>` },
];

const PARTY_COLUMNS: Column<BoardSnapshot['live']['parties'][number]>[] = [
  {
    head: 'Party',
    cell: ({ app }) =>
      app === null ? html`<span class="quiet">account</span>` : html`<strong>${text(app)}</strong>`,
  },
  { head: 'Running', cell: ({ running }) => formatCount(running), isNumber: true },
  { head: 'Waiting', cell: ({ queued }) => formatCount(queued), isNumber: true },
  {
    head: 'Oldest',
    cell: ({ oldestS }) => (oldestS === null ? NIL : formatDuration(oldestS)),
    isNumber: true,
  },
  { head: 'Id', cell: ({ party }) => html`<code>${party}</code>` },
];

interface Model {
  model: string;
  state: Html;
  failures: number;
  fault: string;
  calls: number;
  cost: number;
  unpriced: number;
}

/** Lists the models that were called in the last 24 hours or have a circuit breaker in the database. */
function modelsOf({ spend, lately }: BoardSnapshot): Model[] {
  const names = new Set([...spend.hours, ...lately.circuits].map(({ model }) => model));
  return [...names].sort().map((model) => {
    const circuit = lately.circuits.find((one) => one.model === model);
    const sum = sumOf(spend.hours.filter((one) => one.model === model));
    const { failures = 0, fault = '' } = circuit ?? {};
    return { model, state: circuitBadge(circuit), failures, fault: failures === 0 ? '' : fault, ...sum };
  });
}

function circuitBadge(circuit: BoardSnapshot['lately']['circuits'][number] | undefined): Html {
  if (circuit?.probeS != null) return badge(`open, probed in ${formatDuration(circuit.probeS)}`, 'bad');
  if (circuit?.pausedS != null && circuit.pausedS > 0)
    return badge(`asked to wait ${formatDuration(circuit.pausedS)}`, 'bad');
  return badge('closed', 'good');
}

const MODEL_COLUMNS: Column<Model>[] = [
  { head: 'Model', cell: ({ model }) => html`<strong>${text(model)}</strong>` },
  { head: 'Breaker', cell: ({ state }) => state },
  { head: 'Failures in a row', cell: ({ failures }) => formatCount(failures), isNumber: true },
  { head: 'Latest fault', cell: ({ fault }) => (fault === '' ? NIL : text(fault)) },
  { head: 'Calls in 24 h', cell: ({ calls }) => formatCount(calls), isNumber: true },
  { head: 'Cost in 24 h', cell: costOf, isNumber: true },
];

function costOf({ cost, calls, unpriced }: { cost: number; calls: number; unpriced: number }): string {
  if (unpriced === calls && calls > 0) return 'no price';
  return unpriced === 0 ? formatDollars(cost) : `${formatDollars(cost)} + ${formatCount(unpriced)} unpriced`;
}

function sumOf(rows: readonly HourlySpending[]) {
  const sum = (column: 'calls' | 'inputTokens' | 'outputTokens' | 'costMicrocents' | 'unpriced') =>
    rows.reduce((all, row) => all + row[column], 0);
  return {
    calls: sum('calls'),
    input: sum('inputTokens'),
    output: sum('outputTokens'),
    cost: sum('costMicrocents'),
    unpriced: sum('unpriced'),
  };
}

function hoursOf(rows: readonly HourlySpending[]) {
  const byHour = [...Map.groupBy(rows, ({ hour }) => hour)].sort(([a], [b]) => b - a);
  return byHour.map(([hour, hourRows]) => ({ hour, ...sumOf(hourRows) }));
}

const HOUR_COLUMNS: Column<ReturnType<typeof hoursOf>[number]>[] = [
  { head: 'Hour (UTC)', cell: ({ hour }) => new Date(hour).toISOString().slice(5, 16).replace('T', ' ') },
  { head: 'Calls', cell: ({ calls }) => formatCount(calls), isNumber: true },
  { head: 'Input tokens', cell: ({ input }) => formatCount(input), isNumber: true },
  { head: 'Output tokens', cell: ({ output }) => formatCount(output), isNumber: true },
  { head: 'Cost', cell: costOf, isNumber: true },
];

const recurringColumns = (at: number): Column<BoardSnapshot['recurring'][number]>[] => [
  { head: 'Name', cell: ({ name }) => html`<strong>${name}</strong>` },
  {
    head: 'Every',
    cell: ({ every }) => (every === 'off' ? badge('off', 'quiet') : every),
  },
  { head: 'Last', cell: ({ last }) => (last === null ? NIL : formatAgo((at - last) / 1000)), isNumber: true },
  {
    head: 'Next',
    cell: ({ next }) => (next === null ? NIL : `in ${formatDuration((next - at) / 1000)}`),
    isNumber: true,
  },
];

const ERASURE_COLUMNS: Column<BoardSnapshot['lately']['erasing'][number]>[] = [
  { head: 'Account', cell: ({ id }) => html`<code>${id}</code>` },
  { head: 'For', cell: ({ forS }) => formatDuration(forS), isNumber: true },
];
