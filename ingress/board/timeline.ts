import type { Pool } from 'pg';
import type { WorkTimeouts } from '../../shared/config/config.ts';
import {
  callsFor,
  eventsOf,
  findWork,
  type TracedCall,
  type TracedEvent,
  type TracedWork,
} from '../../shared/db/stores/board/timeline.ts';
import { lowestIdAt, timeOfId } from '../../shared/ids.ts';
import { IDENTIFIER_PATTERN, UUID } from '../../shared/schemas/limits.ts';
import { kinds } from '../../shared/work/kinds.ts';
import { type Html, html } from '../pages/html.ts';
import { badge, formatDuration, NIL, sourceOf, text } from './cells.ts';

const IDENTIFIER = new RegExp(IDENTIFIER_PATTERN);
const HOUR_MS = 60 * 60 * 1000;
/** Allowed difference between the clocks of two machines. */
const CLOCK_TOLERANCE_MS = 60_000;

interface FoundWork {
  work: TracedWork;
  calls: TracedCall[];
  events: TracedEvent[];
}

type EndingLimits = WorkTimeouts & { recoveryWindowS: number };

/**
 * Finds work by the id of a prediction or job, or by the `X-Request-Id` of its request. Searches from the creation time
 * that an id of ours contains. Any other `X-Request-Id` is searched for only in the last hour.
 */
export async function findForTimeline(
  pool: Pool,
  searchedId: string,
  limits: EndingLimits,
): Promise<FoundWork[]> {
  const id = searchedId.toLowerCase();
  if (!IDENTIFIER.test(searchedId)) return [];
  const createdMs = timeOfId(id);
  const trace = `"trace":{"requestId":${JSON.stringify(searchedId)}`;
  const findIn = (from: number, to: number) => {
    const span = { fromMs: from - CLOCK_TOLERANCE_MS, toMs: to + CLOCK_TOLERANCE_MS };
    return findWork(pool, { id: UUID.test(id) ? id : null, trace, ...span });
  };
  const from = createdMs ?? Date.now() - HOUR_MS;
  const to = from + (createdMs === undefined ? HOUR_MS : Math.max(HOUR_MS, longestWorkMs(limits)));
  let works = await findIn(from, to);
  // Searches one hour more, because an outage may have delayed the end of the work.
  if (works.length === 0 && createdMs !== undefined) works = await findIn(to, to + HOUR_MS);
  return Promise.all(works.map((work) => withCallsAndEvents(pool, work)));
}

/** Returns the longest time from a request to the end of its work, including further attempts. */
function longestWorkMs({ recoveryWindowS, ...timeouts }: EndingLimits): number {
  return Math.max(...Object.values(kinds).map(({ deadline }) => timeouts[deadline])) + 1000 * recoveryWindowS;
}

async function withCallsAndEvents(pool: Pool, work: TracedWork): Promise<FoundWork> {
  const until = work.endedAt ?? work.deadlineAt ?? work.admittedAt + HOUR_MS;
  const [calls, events] = await Promise.all([
    callsFor(
      pool,
      work.id,
      lowestIdAt(work.admittedAt - CLOCK_TOLERANCE_MS),
      lowestIdAt(until + CLOCK_TOLERANCE_MS),
    ),
    eventsOf(pool, work.id),
  ]);
  return { work, calls, events };
}

export function timelines(searchedId: string, found: readonly FoundWork[]): Html {
  if (found.length > 0) return html`<h1 class="hidden">Timeline</h1>${found.map((one) => timeline(one))}`;
  return html`<section class="narrow"><h1>Nothing found</h1>
    <p>No work has the id <code>${text(searchedId)}</code>, and none was admitted for a request with that
      <code>X-Request-Id</code>.</p>
    <p class="quiet">The history keeps work for 35 days. Our own ids contain their creation time; any other
      <code>X-Request-Id</code> is looked for in the last hour. A refused request has no work: the log has its line.</p></section>`;
}

function timeline({ work, calls, events }: FoundWork): Html {
  const { admittedAt, code, state, kind, party, app, attempt, worker, requestId } = work;
  const tone = state === 'failed' ? 'bad' : state === 'suggested' ? 'good' : 'quiet';
  const facts: [string, Html | string][] = [
    ['Id', html`<code>${work.id}</code>`],
    ['X-Request-Id', requestId === null ? NIL : html`<code>${text(requestId)}</code>`],
    ['Kind', kind],
    ['Party', html`${app === null ? 'account' : text(app)} <code>${party}</code>`],
    ['Attempt', `${attempt}`],
    ['Unit', unitOf(work)],
    ...(worker === null ? [] : [['Worker', html`<code>${worker}</code>`] as [string, Html]]),
  ];
  return html`<section>
    <h2>${kind} ${badge(code === null ? state : `${state}: ${code}`, tone)}${code === null ? undefined : html` <small class="quiet">from the ${sourceOf(work)}</small>`}</h2>
    <dl class="facts">${facts.map(([name, value]) => html`<div><dt>${name}</dt><dd>${value}</dd></div>`)}</dl>
    <ol class="timeline">${momentsOf(work, calls, events).map(
      ({ at, what }) =>
        html`<li><time datetime="${new Date(at).toISOString()}">${new Date(at).toISOString().slice(11, 23)}</time>
          <span class="since">${formatOffset(at - admittedAt)}</span> <span>${what}</span></li>`,
    )}</ol>
    <p class="quiet small">${new Date(admittedAt).toISOString().slice(0, 10)}, UTC, by the database’s clock.</p>
  </section>`;
}

const isCharged = ({ kind }: TracedWork) =>
  Object.values(kinds).some(({ name, costs }) => name === kind && costs === 'unit');

function unitOf(work: TracedWork): string {
  if (!isCharged(work)) return 'none';
  if (work.endedAt === null) return 'reserved';
  return work.units > 0 ? 'settled' : 'refunded';
}

function formatOffset(ms: number): string {
  const sign = ms < 0 ? '−' : '+';
  return Math.abs(ms) < 100_000
    ? `${sign}${Math.round(Math.abs(ms))} ms`
    : `${sign}${formatDuration(Math.abs(ms) / 1000)}`;
}

interface Moment {
  at: number;
  what: Html | string;
}

function momentsOf(work: TracedWork, calls: readonly TracedCall[], events: readonly TracedEvent[]): Moment[] {
  const { admittedAt, startedAt, endedAt, leftAt, deadlineAt, callers, state, code } = work;
  const moments: (Moment | undefined)[] = [
    { at: admittedAt, what: isCharged(work) ? 'admitted, and its unit reserved' : 'admitted' },
    momentAt(startedAt, `claimed by a worker, attempt ${work.attempt}`),
    ...calls.map((call) => ({
      at: call.at,
      what: html`asked ${text(call.model)}, attempt ${call.attempt}: ${text(call.outcome)} after ${call.latencyMs} ms,
        ${call.inputTokens} + ${call.outputTokens} tokens`,
    })),
    momentAt(leftAt, 'its callers left'),
    momentAt(endedAt, code === null ? `ended: ${state}` : `ended: ${state}, ${code}`),
    ...events.map((event) => ({ at: event.at, what: html`the app reported: ${text(event.kind)}` })),
    momentAt(endedAt === null ? deadlineAt : null, `deadline; ${callers ?? 0} ingresses wait for it now`),
  ];
  return moments.filter((one) => one !== undefined).sort((a, b) => a.at - b.at);
}

function momentAt(moment: number | null, what: string): Moment | undefined {
  return moment === null ? undefined : { at: moment, what };
}
