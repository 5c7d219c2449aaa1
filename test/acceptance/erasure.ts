import { setTimeout as sleep } from 'node:timers/promises';
import { setUp } from '../setup.ts';
import { isGone, signUp, type UserClient } from '../support/account.ts';
import { type AppClient, predictionBody } from '../support/client.ts';
import { connect, connectingApp } from '../support/connection.ts';
import { delay, ok } from '../support/fake-provider.ts';
import { type Answer, KeepAliveClient, percentile } from '../support/keep-alive-client.ts';
import { fillRecording } from '../support/recording.ts';
import { type System, startProcesses, type TestProcess } from '../support/system.ts';

/** By hand: a large account is erased while others work; then another one, whose ingress is killed halfway through. */
const EVENTS = Number(process.env['EVENTS'] ?? 1_500_000);
const EVENTS_KILLED = Number(process.env['EVENTS_KILLED'] ?? EVENTS);
const CALLERS = 3;
const PAUSE_MS = 50;
const SERVICE_MS = 50;
/** Quiet time before and after the erasure; the quieter of the two is the baseline. */
const QUIET_MS = 20_000;
const LOOK_INTERVAL_MS = 200;

interface EndedCall extends Answer {
  at: number;
}

await using _ = await setUp();
await using system = await startProcesses({
  webs: 2,
  env: { PUBLIC_URL: 'http://localhost:8080', SANDBOX_UNITS: '10000000', LEASE_MS: '3000' },
});
system.provider.respond(delay(SERVICE_MS, ok()));
const [first, second] = system.webs;
if (first === undefined || second === undefined) throw new Error('two ingresses are needed');
const whole = await erasure(system, EVENTS, first);
process.stdout.write(`${JSON.stringify({ whole }, undefined, 2)}\n`);
const killed = await erasure(system, EVENTS_KILLED, second, first);
process.stdout.write(`${JSON.stringify({ killed }, undefined, 2)}\n`);
const results = [whole, killed];
const broken = results.flatMap(({ otherApps, sameApp, left }) => [
  ...[otherApps, sameApp].filter(({ refused }) => refused > 0).map(() => 'nobody else is refused'),
  ...[otherApps, sameApp].filter(({ ratio }) => !(ratio <= 1.5)).map(() => "others' p95 stays within 1.5 x"),
  ...(left === 0 ? [] : ['nothing is left']),
]);
process.stdout.write(`${JSON.stringify({ broken })}\n`);
process.exitCode = broken.length === 0 ? 0 : 1;

/** Callers use `at`. The account is erased there too, or at `victim`, which is killed halfway through. */
async function erasure(system: System<TestProcess>, events: number, at: TestProcess, victim?: TestProcess) {
  const person = await signUp({ webs: [victim ?? at] });
  await fillRecording(system, person, events);
  const [connected, ...strangers] = await Promise.all([connectingApp(system), system.app(), system.app()]);
  const sessions = await sessionsOf(system, person);
  const { connection_id } = await connect(system, connected, person);

  const stop = new AbortController();
  const otherApps = strangers.map((app) => callUntilAborted(app, at, {}, stop.signal));
  const sameApp = callUntilAborted(connected, at, {}, stop.signal);
  const withConnection = callUntilAborted(connected, at, { connection_id }, stop.signal);
  await sleep(QUIET_MS);

  const since = performance.now();
  const erasureAnswer = person
    .request('DELETE', '/api/auth/me/')
    .then(({ status, tookMs }) => ({ status, seconds: Math.round(tookMs / 100) / 10 }))
    .catch(() => 'cut off');
  if (victim !== undefined) {
    while ((await sessionsOf(system, person)) > sessions / 2) await sleep(LOOK_INTERVAL_MS);
    await victim.stop('SIGKILL');
  }
  const answered = await erasureAnswer;
  // Unless the ingress was killed, any answer but 204 means that the account will never be erased.
  const mayEnd = victim !== undefined || (typeof answered !== 'string' && answered.status === 204);
  while (mayEnd && !(await isGone(system, person))) await sleep(LOOK_INTERVAL_MS);
  const erasureEnd = performance.now();
  await sleep(QUIET_MS);
  stop.abort();
  const compare = (calls: EndedCall[]) => comparison(calls, since, erasureEnd);
  return {
    events,
    answered,
    secondsUntilGone: Math.round((erasureEnd - since) / 100) / 10,
    left: await eventsOf(system, person),
    otherApps: compare((await Promise.all(otherApps)).flat()),
    sameApp: compare(await sameApp),
    mineAfter: [
      ...new Set(
        (await withConnection).filter((call) => call.at > since + 1000).map(({ code }) => code ?? '200'),
      ),
    ],
  };
}

async function callUntilAborted(
  app: AppClient,
  { url }: TestProcess,
  part: object,
  signal: AbortSignal,
): Promise<EndedCall[]> {
  const client = new KeepAliveClient(app.key);
  const ended: EndedCall[] = [];
  const caller = async () => {
    while (!signal.aborted) {
      const answer = await client.predict(url, predictionBody(part));
      ended.push({ ...answer, at: performance.now() });
      await sleep(PAUSE_MS * 2 * Math.random());
    }
  };
  await Promise.all(Array.from({ length: CALLERS }, caller));
  client.close();
  return ended;
}

function comparison(calls: EndedCall[], since: number, erasureEnd: number) {
  const before = calls.filter(({ at }) => at < since);
  // Calls answered after the erasure ended may still have been slowed down by it.
  const during = calls.filter(({ at, tookMs }) => at >= since && at - tookMs < erasureEnd);
  const after = calls.filter(({ at, tookMs }) => at - tookMs >= erasureEnd);
  const ms = (some: EndedCall[], share: number) =>
    Math.round(
      10 *
        percentile(
          some.map(({ tookMs }) => tookMs),
          share,
        ),
    ) / 10;
  const figures = (some: EndedCall[]) => ({
    calls: some.length,
    p50: ms(some, 0.5),
    p95: ms(some, 0.95),
    most: ms(some, 1),
  });
  return {
    before: figures(before),
    during: figures(during),
    after: figures(after),
    ratio: Math.round((100 * ms(during, 0.95)) / Math.min(ms(before, 0.95), ms(after, 0.95))) / 100,
    refused: during.filter(({ status }) => status !== 200).length,
    codes: [...new Set(during.map(({ status, code }) => `${status} ${code ?? ''}`.trim()))],
  };
}

async function eventsOf({ database }: System<TestProcess>, { id }: UserClient): Promise<number> {
  const { rows } = await database.pool.query(`select from recording_events where account_id = $1`, [id]);
  return rows.length;
}

async function sessionsOf({ database }: System<TestProcess>, { id }: UserClient): Promise<number> {
  const { rows } = await database.pool.query(`select from recording_sessions where account_id = $1`, [id]);
  return rows.length;
}
