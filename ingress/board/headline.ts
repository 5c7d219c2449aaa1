import type { ProviderState } from '../../shared/db/stores/board/last-hour.ts';
import type { ShownProcess } from '../../shared/db/stores/board/live.ts';
import { type Html, html } from '../pages/html.ts';
import { formatCount, formatDuration, text } from './cells.ts';
import type { LastHourRow } from './last-hour.ts';
import type { BoardPool, BoardSnapshot } from './snapshot.ts';

/** As the alerts judge it (deploy/observability/rules.yml). */
const WAITING_MAX_MS = 3000;
const FAILED_SHARE_MAX = 0.01;
const PROVIDER_FAILED_SHARE_MAX = 0.2;
const ERASURE_MAX_S = 3600;
const CLOCK_OFF_MAX_S = 5;
/** Minutes of which the failures count as present. */
const PRESENT_MINUTES = 5;

/** Says in a sentence or two what is wrong now, the worst first. */
export function headline(snapshot: BoardSnapshot): Html {
  const { pools, live, lately, providers, minutes } = snapshot;
  const wrong = [
    ...pools.flatMap(wrongWithPool),
    ...providers.flatMap(wrongWithProvider),
    ...live.processes.flatMap(wrongWithProcess),
    ...failuresIn(minutes, lately.failures[0]?.code),
    ...lately.erasing
      .filter(({ forS }) => forS > ERASURE_MAX_S)
      .map(({ forS }) => html`An account has been under erasure for ${formatDuration(forS)}.`),
  ];
  if (wrong.length > 0) return html`<p class="headline bad">${wrong.map((one) => html`${one} `)}</p>`;
  const calls = minutes.reduce((sum, one) => sum + one.calls, 0);
  const failed = minutes.reduce((sum, one) => sum + one.failed, 0);
  return html`<p class="headline good">Nothing is wrong now. Calls that ended in the last hour:
    ${formatCount(calls)}; of them failed: ${failed === 0 ? 'none' : formatCount(failed)}.</p>`;
}

function wrongWithPool({ pool, workers, pausedAt, queued, oldestMs }: BoardPool): Html[] {
  if (pausedAt !== null) return [html`The pool ${pool} is paused.`];
  if (workers === 0) return [html`No worker serves the pool ${pool}.`];
  if (pool === 'predict' && queued > 0 && oldestMs > WAITING_MAX_MS)
    return [html`Work of the pool ${pool} waits for ${formatDuration(oldestMs / 1000)}.`];
  return [];
}

/** What a failed call says of the provider. */
const REASONS: Partial<Record<NonNullable<ProviderState['reason']>, string>> = {
  not_configured: 'refuses the key, or there is none',
  rate_limited: 'limits the rate',
  timeout: 'does not answer in time',
  failed: 'fails',
};

export function reasonOf({ reason }: ProviderState): string {
  return (reason && REASONS[reason]) ?? 'answers';
}

export function isFailing({ calls, failed }: ProviderState): boolean {
  return failed > PROVIDER_FAILED_SHARE_MAX * calls;
}

function wrongWithProvider(state: ProviderState): Html[] {
  if (!isFailing(state)) return [];
  const { model, calls, failed } = state;
  return [
    html`The provider of ${text(model)} ${reasonOf(state)}: ${formatCount(failed)} of ${formatCount(calls)} calls failed in
      the last quarter of an hour.`,
  ];
}

function wrongWithProcess({ kind, host, pid, leaseS, clockAheadS }: ShownProcess): Html[] {
  const named = html`The ${text(kind)} process ${pid ?? ''} on ${text(host ?? 'an unknown host')}`;
  if (leaseS <= 0) return [html`${named} has been silent since ${formatDuration(-leaseS)}.`];
  if (Math.abs(clockAheadS) > CLOCK_OFF_MAX_S)
    return [html`The clock of ${text(host ?? 'a process')} is ${formatDuration(Math.abs(clockAheadS))} off.`];
  return [];
}

function failuresIn(minutes: readonly LastHourRow[], code: string | undefined): Html[] {
  const present = minutes.slice(-PRESENT_MINUTES);
  const calls = present.reduce((sum, one) => sum + one.calls, 0);
  const failed = present.reduce((sum, one) => sum + one.failed, 0);
  if (failed === 0 || failed <= FAILED_SHARE_MAX * calls) return [];
  const mostly = code === undefined ? '' : html`, mostly as <code>${text(code)}</code>`;
  return [
    html`${formatCount(failed)} of ${formatCount(calls)} calls of the last five minutes failed${mostly}.`,
  ];
}
