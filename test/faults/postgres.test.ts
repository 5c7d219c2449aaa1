import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { signUp } from '../support/account.ts';
import { type AppClient, call, fetchPublished, predictionBody, type Reply } from '../support/client.ts';
import { delay, ok } from '../support/fake-provider.ts';
import { type Load, type LoadCall, startLoad } from '../support/load.ts';
import { type OwnServer, SLOTS, useOwnServer } from '../support/own-server.ts';
import { startSilentProxy } from '../support/silent-proxy.ts';
import { type System, type TestProcess, useProcesses } from '../support/system.ts';
import { until, untilDone } from '../support/until.ts';

const SERVICE_MS = 50;
const CALLERS = 20;
const POOL = 4;
/** More than the second for which an ingress remembers a credential. */
const KNOWN_CREDENTIAL_MS = 1100;
/** Much less than the second after which polling finds an answer whose wake-up was lost. */
const PROMPT_MS = 500;

describe('PostgreSQL faults', () => {
  const server = useOwnServer();
  const env = { SANDBOX_UNITS: '1000000', DATABASE_POOL: String(POOL), LEASE_MS: '3000' };
  const system = useProcesses({ env });
  let app: AppClient;
  /** Closed even if a test fails: the next test needs the server's connection slots. */
  let opened: AsyncDisposableStack;
  before(() => system.provider.respond(delay(SERVICE_MS, ok())));
  beforeEach(async () => {
    opened = new AsyncDisposableStack();
    // A server that has just started may still count the connections of clients that have given up.
    app = await untilDone(() => system.app());
  });
  afterEach(async () => {
    await opened.disposeAsync();
    for (const { child, log } of [...system.webs, ...system.workers])
      assert.equal(child.exitCode ?? child.signalCode, null, `a process ended:\n${log}`);
  });

  const terminateAll = () =>
    administer(
      server,
      `select pg_terminate_backend(pid) from pg_stat_activity where datname = '${nameOf(system.database.url)}'`,
    );

  /** Asserts that the system recovers once a fault is over. Returns the calls of the load, which ends after `forMs`. */
  const assertRecovers = async (load: Load, forMs: number) => {
    const over = performance.now();
    await sleep(forMs);
    const calls = await load.stop();
    assertDocumented(calls);
    assertAnswersReturn(calls, over);
    await assertPrompt(app);
    await assertBilledOnce(system, app, calls);
    return calls;
  };

  it('when PostgreSQL drops all connections every 500 ms, calls end with 200 or a documented error, and each answer costs one unit', async () => {
    const load = startLoad((body) => app.predict(body), { callers: CALLERS });
    for (let n = 0; n < 10; n += 1) {
      await sleep(500);
      await terminateAll();
    }
    await assertRecovers(load, 1500);
  });

  for (const how of ['fast', 'immediate'] as const) {
    it(`while PostgreSQL is stopped (${how}), calls get 503; once it is started, calls succeed, and earlier answers are unchanged`, async () => {
      const load = startLoad((body) => app.predict(body), { callers: CALLERS });
      await sleep(500);
      await server.stop(how);
      await sleep(2500);
      const refused = await app.predict(predictionBody());
      assertUnavailable(refused);
      await server.start();
      const calls = await assertRecovers(load, 3500);
      for (const { body, reply } of calls.filter((call) => call.reply.status === 200)) {
        assert.equal((await app.predict(body)).text, reply.text);
      }
    });
  }

  it('while PostgreSQL has no free connection slot, calls get 503 within 3 s and /healthz is 200; calls succeed once slots are free #no-connections', async () => {
    const fillers: pg.Client[] = [];
    const freeSlots = () => Promise.all(fillers.splice(0).map((client) => client.end()));
    opened.defer(async () => {
      await freeSlots();
    });
    const keep = await tryConnect(server);
    assert.ok(keep);
    fillers.push(keep);
    // The fillers take every connection slot that the product loses, until the product has none left.
    await until(async () => {
      for (let more = await tryConnect(server); more; more = await tryConnect(server)) fillers.push(more);
      await keep.query('select pg_terminate_backend(pid) from pg_stat_activity where datname = $1', [
        nameOf(system.database.url),
      ]);
      return fillers.length === SLOTS;
    });
    const replies = await Promise.all(Array.from({ length: 10 }, () => app.predict(predictionBody())));
    replies.forEach(assertUnavailable);
    const { status } = await fetchPublished(`${app.url}/healthz`);
    assert.equal(status, 200);
    await until(async () => (await fetchPublished(`${app.url}/readyz`)).status === 503);

    const over = performance.now();
    await freeSlots();
    await until(async () => (await app.predict(predictionBody())).status === 200, 3000);
    assert.ok(performance.now() - over < 3000);
    await assertPrompt(app);
    const { body: usage } = await app.usage();
    assert.equal(usage.reserved_units, 0);
  });

  it('while PostgreSQL takes no writes, as on a full disk, /readyz is 503, and 200 again afterwards', async () => {
    const { pool } = system.database;
    const readiness = async () => (await fetchPublished(`${app.url}/readyz`)).status;
    await pool.query(`
      create function refuse() returns trigger language plpgsql as $$
        begin raise 'could not extend file: No space left on device' using errcode = '53100'; end $$;
      create trigger refuse before insert or update on processes execute function refuse()`);
    try {
      await until(async () => (await readiness()) === 503);
      assert.equal((await fetchPublished(`${app.url}/healthz`)).status, 200);
    } finally {
      await pool.query('drop function refuse cascade');
    }
    await until(async () => (await readiness()) === 200);
  });

  it('while PostgreSQL is silent on every connection of an ingress, calls get 503 soon after their deadline, also if their credential has to be looked up, and succeed again afterwards #deadline', async () => {
    const proxy = await startSilentProxy(server.url);
    opened.defer(() => proxy.close());
    const behind = new URL(system.database.url);
    behind.port = new URL(proxy.url).port;
    const web = system.launch('web', { DATABASE_URL: behind.href, PREDICTION_TIMEOUT_MS: '1000' });
    opened.defer(async () => {
      await web.stop();
      system.webs.pop();
    });
    await web.ready();
    const ask = () => app.predict(predictionBody(), { at: web });
    // Opens all connections; a busy machine may take longer for that than a call may.
    await until(async () => {
      const warm = await Promise.all(Array.from({ length: POOL }, ask));
      return warm.every(({ status }) => status === 200);
    });
    const person = await signUp({ webs: [web] });
    const askDraft = () => person.post('/api/predictions/draft/', { draft: 'Hello ' });

    proxy.mute();
    const asked: Promise<Reply<unknown>>[] = [...Array.from({ length: 2 * POOL }, ask), askDraft()];
    await sleep(KNOWN_CREDENTIAL_MS);
    asked.push(ask(), askDraft());
    for (const reply of await Promise.all(asked)) assertUnavailable(reply);
    proxy.unmute();
    const account = async () => {
      const credentials = { email: 'nobody@example.com', password: 'a password' };
      return (await call('POST', `${web.url}/api/auth/login/`, credentials)).status;
    };
    await until(async () => (await ask()).status === 200 && (await account()) === 401, 30_000);
  });
});

const nameOf = (url: string) => new URL(url).pathname.slice(1);

/** Opens a connection, which takes a slot from the product. Resolves with undefined if no slot is free. */
async function tryConnect({ url }: OwnServer): Promise<pg.Client | undefined> {
  const client = new pg.Client({ connectionString: url });
  client.on('error', () => {});
  try {
    await client.connect();
    return client;
  } catch (error) {
    assert.equal((error as { code?: string }).code, '53300');
    return undefined;
  }
}

async function administer(server: OwnServer, statement: string): Promise<pg.QueryResult> {
  const client = await tryConnect(server);
  assert.ok(client);
  try {
    return await client.query(statement);
  } finally {
    await client.end();
  }
}

function assertUnavailable({ status, code, headers, tookMs }: Reply<unknown>): void {
  assert.deepEqual([status, code], [503, 'service_unavailable']);
  assert.match(headers.get('retry-after') ?? '', /^[1-9]\d*$/);
  assert.ok(tookMs < 3000, `${tookMs} ms`);
}

/** Asserts that each call was answered, timed out, or was refused with a Retry-After. */
function assertDocumented(calls: readonly LoadCall[]): void {
  for (const { reply } of calls) {
    if (reply.status === 200 || reply.code === 'prediction_timeout') continue;
    // Where work waits for a worker that has lost its connections, too long a queue is refused.
    assert.match(reply.code ?? '', /^(service_unavailable|overloaded)$/, reply.text);
    assert.match(reply.headers.get('retry-after') ?? '', /^[1-9]\d*$/);
  }
  assert.ok(calls.every(({ reply }) => reply.tookMs < 11_000));
}

function assertAnswersReturn(calls: readonly LoadCall[], over: number): void {
  const answered = calls.filter(({ reply, endedAt }) => reply.status === 200 && endedAt > over);
  const first = Math.min(...answered.map(({ endedAt }) => endedAt));
  assert.ok(first - over < 3000, `back after ${first - over} ms`);
}

/** Asserts that wake-ups arrive again: without them most calls would wait for a poll. A busy machine delays a few. */
async function assertPrompt(app: AppClient): Promise<void> {
  const isPrompt = async () => {
    const { status, tookMs } = await app.predict(predictionBody());
    return status === 200 && tookMs < PROMPT_MS;
  };
  await until(isPrompt, 15_000);
  let prompt = 0;
  for (let n = 0; n < 10; n += 1) prompt += (await isPrompt()) ? 1 : 0;
  assert.ok(prompt > 5, `${prompt} of 10 did not wait`);
}

/** Asserts that every failed call succeeds when repeated, and that each answer costs one unit. */
async function assertBilledOnce(
  system: System<TestProcess>,
  app: AppClient,
  calls: readonly LoadCall[],
): Promise<void> {
  const failed = calls.filter(({ reply }) => reply.status !== 200);
  const repeat = async () => {
    for (let call = failed.pop(); call !== undefined; call = failed.pop()) {
      const { status, text } = await app.predict(call.body, { headers: { prefer: 'wait' } });
      assert.equal(status, 200, text);
    }
  };
  await Promise.all(Array.from({ length: CALLERS }, repeat));
  await until(async () => (await app.usage()).body.reserved_units === 0);
  const rows = await system.sql<{ request_id: string }>(
    "select facts::json ->> 'requestId' as request_id from history where party = $1 and state = 'suggested'",
    [app.id],
  );
  const suggested = new Set(rows.map(({ request_id }) => request_id));
  assert.ok(calls.every(({ body }) => suggested.has(body.request_id)));
  assert.equal((await app.usage()).body.prediction_units, suggested.size);
}
