import { randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { startChild } from './child.ts';
import { Connection } from './connection.ts';
import { install, startProduct } from './installation.ts';
import { postgresProtocol, redisProtocol } from './protocols.ts';
import { requestText } from './request.ts';
import { openPostgres, openRedis, removeKeys } from './stores.ts';
import { type TappedMessage, tap } from './wire-tap.ts';

const WARM_UP = 20;
const SAMPLES = 30;
/** Time after the answer within which the worker marks the job as done. */
const AFTERWARDS_MS = 40;

interface Trace {
  messages: TappedMessage[];
  since: number;
  answeredMs: number;
}

/**
 * Traces the statements, commands and wake-ups of one prediction between an ingress, a worker and their stores. The
 * most frequent sequence is the prediction's own, because periodic work occurs in few of the samples.
 */
async function traceOnePrediction(
  title: string,
  servers: { postgres: string; redis?: string },
): Promise<string> {
  await using resources = new AsyncDisposableStack();
  const queuePrefix = `bench-${randomBytes(4).toString('hex')}`;
  const {
    databaseUrl,
    keys: [key],
  } = resources.use(await install(servers.postgres, queuePrefix));
  const provider = resources.use(await startChild('provider', 'bench/provider.ts'));

  let messages: TappedMessage[] = [];
  const record = (one: TappedMessage) => messages.push(one);
  const storesOf = async (who: string): Promise<Record<string, string>> => {
    const postgres = resources.use(await tap(who, databaseUrl, postgresProtocol, record));
    if (servers.redis === undefined) return { DATABASE_URL: postgres.url };
    const redis = resources.use(await tap(who, servers.redis, await redisProtocol(), record));
    return { DATABASE_URL: postgres.url, REDIS_URL: redis.url };
  };
  const { redis } = servers;
  if (redis) resources.defer(() => removeKeys(redis, [`{${queuePrefix}}`]));
  const env = { web: await storesOf('web'), worker: await storesOf('worker') };
  const { web } = await startProduct(resources, {
    name: 'traced',
    providerUrl: provider.url,
    queuePrefix,
    env,
  });

  const connection = new Connection(new URL('/v1/predictions', web.url), { authorization: `Bearer ${key}` });
  resources.defer(() => connection.close());
  const traces: Trace[] = [];
  for (let n = -WARM_UP; n < SAMPLES; n += 1) {
    messages = [];
    const since = performance.now();
    const answer = await connection.post(requestText(`${queuePrefix}-${n + WARM_UP}`));
    const answeredMs = performance.now() - since;
    if (!answer.includes('"status":"suggested"')) throw new Error(answer);
    await sleep(AFTERWARDS_MS);
    if (n >= 0) traces.push({ messages, since, answeredMs });
  }
  return describeTrace(title, mostCommon(traces));
}

function mostCommon(traces: Trace[]): { traces: Trace[]; of: number } {
  const groups = Map.groupBy(traces, ({ messages }) =>
    messages
      .map(({ who, what }) => `${who} ${what}`)
      .sort()
      .join('\n'),
  );
  const [most = []] = [...groups.values()].sort((a, b) => b.length - a.length);
  return { traces: most, of: traces.length };
}

function describeTrace(title: string, { traces, of }: { traces: Trace[]; of: number }): string {
  const [trace] = traces.toSorted((a, b) => a.answeredMs - b.answeredMs);
  if (trace === undefined) throw new Error('no prediction was traced');
  const { messages, since, answeredMs } = trace;
  const sentMessages = messages.filter(({ kind }) => kind === 'sent');
  const lines = messages.map(
    ({ at, who, kind, what, roundTrip }) =>
      `${(at - since).toFixed(1).padStart(7)}  ${who.padEnd(6)}  ${kind === 'pushed' ? '<' : roundTrip ? '>' : '+'} ${what}`,
  );
  return [
    `${title}: ${sentMessages.length} statements and commands, ${sentMessages.filter(({ roundTrip }) => roundTrip).length} round trips, ` +
      `${messages.length - sentMessages.length} wake-ups; answered after ${answeredMs.toFixed(1)} ms (${traces.length} of ${of} samples were like this)`,
    '     ms  process   (> sent, a round trip begins; + sent along with it; < pushed by the store)',
    ...lines,
    '',
  ].join('\n');
}

await using servers = new AsyncDisposableStack();
const postgres = servers.use(await openPostgres());
const redis = servers.use(await openRedis());
process.stdout.write(`${await traceOnePrediction('PostgreSQL alone', { postgres: postgres.url })}\n`);
if (redis === undefined)
  process.stderr.write('no redis-server on this machine: only PostgreSQL was traced\n');
else {
  const stores = { postgres: postgres.url, redis: redis.url };
  process.stdout.write(`${await traceOnePrediction('Redis + PostgreSQL', stores)}\n`);
}
