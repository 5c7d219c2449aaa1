import assert from 'node:assert/strict';
import { connect, createServer } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { notify } from '../../shared/db/notify.ts';
import { createLog } from '../../shared/log.ts';
import { openQueues } from '../../shared/queue/backend.ts';
import type { Bus } from '../../shared/queue/bus.ts';
import { postgresBus } from '../../shared/queue/postgres-bus.ts';
import type { TicketQueue } from '../../shared/queue/queues.ts';
import { redisBus } from '../../shared/queue/redis-bus.ts';
import { createDatabase, type TestDatabase } from '../support/database.ts';
import { freePort } from '../support/free-port.ts';
import { describeOnEachStore } from '../support/queue-stores.ts';
import type { SilentProxy } from '../support/silent-proxy.ts';
import { until } from '../support/until.ts';

const LOG = createLog('test', 'silent');
const NOTICED_WITHIN_MS = 12_000;
/** Well under the second after which a worker polls by itself. */
const PROMPTLY_MS = 300;
const CLOSED_WITHIN_MS = 3000;

describeOnEachStore('connections that go silent without closing', function (store, kind) {
  this.timeout(60_000);
  let proxy: SilentProxy;
  let opened: { close(): Promise<void> }[] = [];
  beforeEach(async () => {
    proxy = await store().proxy();
  });
  afterEach(async () => {
    await Promise.all(opened.map((one) => one.close()));
    opened = [];
    await proxy.close();
  });

  const open = async (way?: SilentProxy) => {
    const queues = await openQueues(store().config(way), LOG);
    opened.push(queues);
    return queues;
  };
  let taken = 0;
  const take = async () => {
    taken += 1;
  };
  /** Five tickets in a row reach an idle worker at once, which would not happen by chance. */
  const comePromptly = async (queue: TicketQueue) => {
    for (let n = 0; n < 5; n += 1) {
      await sleep(100 + 100 * Math.random());
      const before = taken;
      const since = performance.now();
      await queue.add([`${n}`]);
      await until(() => taken > before, 2000);
      if (performance.now() - since > PROMPTLY_MS) return false;
    }
    return true;
  };

  it('of a worker: it takes tickets as promptly as before', async () => {
    const queue = (await open()).queue('silent');
    const worker = (await open(proxy)).worker('silent', take);
    await until(() => comePromptly(queue));
    proxy.silence();
    const since = performance.now();
    await until(() => comePromptly(queue).catch(() => false), NOTICED_WITHIN_MS);
    assert.ok(performance.now() - since < NOTICED_WITHIN_MS, `${performance.now() - since} ms`);
    assert.ok(worker.silentMs < 2000);
  });

  const listenerAlone = async () => {
    const queue = (await open()).queue('silent');
    (await open(proxy)).worker('silent', take);
    await until(() => comePromptly(queue));
    await until(() => proxy.silenceIdle(2500) > 0);
    const since = performance.now();
    await until(() => comePromptly(queue), NOTICED_WITHIN_MS);
    assert.ok(performance.now() - since < NOTICED_WITHIN_MS, `${performance.now() - since} ms`);
  };
  // On Redis a worker has none that only listens: it asks again each second over the one on which it waits.
  if (kind === 'PostgreSQL')
    it('of a worker, only the one that listens: it takes tickets as promptly as before', listenerAlone);

  it('of a producer: it is noticed without a call, and calls succeed at once', async () => {
    const queue = (await open(proxy)).queue('silent');
    (await open()).worker('silent', take);
    await until(() => comePromptly(queue));
    proxy.silence();
    // The keep-alive runs every 5 s, and has its own timeout.
    await sleep(8000);
    assert.ok(await comePromptly(queue));
  });

  it('of the listeners for wake-ups: they reconnect and hear them', async () => {
    const { config } = store();
    const pool = new pg.Pool({ connectionString: config().database.url });
    opened.push({ close: () => pool.end() });
    const publish: Bus['publish'] = (messages) => notify(pool, messages);
    const through = config(proxy);
    const listening =
      through.redis === undefined
        ? postgresBus(publish, through.database, LOG)
        : redisBus(through.redis, LOG);
    const direct = config();
    const sending =
      direct.redis === undefined ? postgresBus(publish, direct.database, LOG) : redisBus(direct.redis, LOG);
    opened.push(listening, sending);
    const heard = new Set<string>();
    await listening.listen('silent_test', (payload) => heard.add(payload));
    const arrives = async (payload: string) => {
      await sending.publish([{ channel: 'silent_test', payload }]).catch(() => {});
      return heard.has(payload);
    };
    await until(() => arrives('before'));
    proxy.silence();
    await until(() => arrives('after'), NOTICED_WITHIN_MS);
  });

  it('at shutdown: nobody waits for them', async () => {
    const queues = await open(proxy);
    const worker = queues.worker('silent', take);
    await until(() => comePromptly(queues.queue('silent')));
    proxy.silence();
    const since = performance.now();
    await worker.close();
    await queues.close();
    assert.ok(performance.now() - since < CLOSED_WITHIN_MS, `${performance.now() - since} ms`);
  });
});

describe('a PostgreSQL that cannot be reached when the queues are opened', function () {
  this.timeout(30_000);
  let database: TestDatabase;
  before(async () => {
    database = await createDatabase();
  });
  after(() => database.drop());

  it('is used as soon as it can be', async () => {
    const { hostname, port } = new URL(database.url);
    const way = createServer((client) => {
      const server = connect(Number(port), hostname);
      for (const socket of [client, server]) socket.on('error', () => {});
      client.pipe(server).pipe(client);
    });
    const directUrl = new URL(database.url);
    directUrl.port = `${await freePort()}`;
    const urls = { url: database.url, directUrl: directUrl.href };
    const config = { database: { ...urls, poolSize: 4 }, queuePrefix: 'forecue', redis: undefined };
    const queues = await openQueues(config, LOG);
    let taken = 0;
    queues.worker('late', async () => {
      taken += 1;
    });
    try {
      const queue = queues.queue('late');
      await assert.rejects(queue.add(['a']));
      way.listen(Number(directUrl.port), '127.0.0.1');
      await queue.add(['b']);
      await until(() => taken === 1, 2000);
    } finally {
      await queues.close();
      way.close();
    }
  });
});
