import type { Pool } from 'pg';
import { unkept } from './broken-promises.ts';
import { type AppClient, predictionBody } from './client.ts';
import type { FakeProvider } from './fake-provider.ts';
import { tally } from './flood.ts';
import { runTwentyAtOnce } from './in-turn.ts';
import { type Answer, KeepAliveClient, percentile } from './keep-alive-client.ts';
import { callUntil } from './paced-until.ts';
import { until, untilDone } from './until.ts';

/** One in this many requests has a connection of its own; the others share kept-alive ones. */
const REQUESTS_PER_OWN_CONNECTION = 4;
const REPEATED_WITHIN_MS = 60_000;

export interface LoadObservations {
  requests: number;
  answered: number;
  /** Number of 503s with a Retry-After, by code. */
  refused: Record<string, number>;
  others: Record<string, number>;
  broken: Record<string, number>;
  /** Number of requests without a 200, even when repeated at the end. */
  lost: number;
  /** Number of requests that ended with a suggestion, according to their rows. */
  suggested: number;
  units: number;
  reserved: number;
  /** Number of calls that the provider answered completely. */
  provided: number;
  p50Ms: number;
  p95Ms: number;
  slowestMs: number;
  /** Longest time between two answers with 200. */
  silenceMs: number;
}

interface CallOutcome {
  body: ReturnType<typeof predictionBody>;
  endedAt: number;
  answer?: Answer;
  broken?: string;
}

/** Sends `perSecond` requests a second until `act` is done, then repeats those without a 200. */
export async function underLoad(
  { app, pool, provider }: { app: AppClient; pool: Pool; provider: FakeProvider },
  perSecond: number,
  act: () => Promise<void>,
): Promise<LoadObservations> {
  const clients = [new KeepAliveClient(app.key), new KeepAliveClient(app.key, { keepAlive: false })] as const;
  const providedBefore = providedBy(provider);
  let nth = 0;
  const call = async (): Promise<CallOutcome> => {
    nth += 1;
    const client = clients[nth % REQUESTS_PER_OWN_CONNECTION === 0 ? 1 : 0];
    const body = predictionBody();
    try {
      const answer = await client.predict(app.url, body);
      return { body, answer, endedAt: performance.now() };
    } catch (error) {
      return { body, broken: codeOf(error), endedAt: performance.now() };
    }
  };
  const outcomes = await callUntil(perSecond, call, act());
  for (const client of clients) client.close();

  const unanswered = outcomes.filter(({ answer }) => answer?.status !== 200);
  const repeats = await runTwentyAtOnce(unanswered, (one) => isAnswered(app, one));
  const { reserved_units: reserved, prediction_units: units } = await untilDone(async () => {
    const { body } = await app.usage();
    if (body.reserved_units !== 0) throw new Error(`${body.reserved_units} units are reserved`);
    return body;
  });
  const { rows } = await pool.query<{ n: number }>(
    `select count(distinct facts::json ->> 'requestId')::int as n from history where party = $1 and state = 'suggested'`,
    [app.id],
  );
  const answers = outcomes.flatMap(({ answer }) => answer ?? []);
  const successes = outcomes.filter(({ answer }) => answer?.status === 200);
  const times = successes.flatMap(({ answer }) => answer?.tookMs ?? []);
  const ends = successes.map(({ endedAt }) => endedAt).sort((one, other) => one - other);
  return {
    requests: outcomes.length,
    answered: successes.length,
    refused: tally(answers.filter(isRefused)),
    others: tally(answers.filter((answer) => answer.status !== 200 && !isRefused(answer))),
    broken: count(outcomes.flatMap(({ broken }) => broken ?? [])),
    lost: repeats.filter((isDone) => !isDone).length,
    suggested: rows[0]?.n ?? 0,
    units,
    reserved,
    provided: providedBy(provider) - providedBefore,
    p50Ms: Math.round(percentile(times, 0.5)),
    p95Ms: Math.round(percentile(times, 0.95)),
    slowestMs: Math.round(Math.max(...times)),
    silenceMs: Math.round(Math.max(...ends.slice(1).map((end, n) => end - (ends[n] ?? end)))),
  };
}

/** Lists the promises that an event broke. It may delay answers, but must lose no answer and no unit. */
export function lossesIn(seen: LoadObservations): string[] {
  return unkept([
    [seen.lost === 0, 'every request has an answer, if only when it is repeated'],
    [seen.suggested === seen.requests, 'every answer is in its row'],
    [seen.units === seen.requests, 'no answer is charged twice'],
    [seen.provided >= seen.units, 'no answer is charged that the provider did not give'],
    [seen.reserved === 0, 'nothing stays reserved'],
  ]);
}

export function interruptionsIn(seen: LoadObservations): string[] {
  return unkept([
    [Object.keys(seen.broken).length === 0, 'no connection breaks under a request'],
    [Object.keys(seen.others).length === 0, 'no answer but 200, or 503 with Retry-After'],
    [seen.answered > 0.9 * seen.requests, 'nine of ten are answered'],
    [seen.provided === seen.units, 'the provider is paid for nothing else'],
  ]).concat(lossesIn(seen));
}

async function isAnswered(app: AppClient, { body }: CallOutcome): Promise<boolean> {
  const hasSucceeded = async () => (await app.predict(body, { headers: { prefer: 'wait' } })).status === 200;
  return until(hasSucceeded, REPEATED_WITHIN_MS).catch(() => false);
}

function isRefused({ status, retryAfterS }: Answer): boolean {
  return status === 503 && (retryAfterS ?? 0) >= 1;
}

function providedBy({ calls }: FakeProvider): number {
  return calls.filter(({ finishedAt }) => finishedAt !== null).length;
}

function codeOf(error: unknown): string {
  return (error as { code?: string }).code ?? String(error);
}

function count(names: readonly string[]): Record<string, number> {
  return Object.fromEntries([...Map.groupBy(names, (name) => name)].map(([name, of]) => [name, of.length]));
}
