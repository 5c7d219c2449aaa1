import assert from 'node:assert/strict';
import { connect, createServer } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { createLog } from '../../shared/log.ts';
import { postgresBus, redisBus } from '../../shared/queue/bus.ts';
import type { TicketQueue } from '../../shared/queue/queues.ts';
import { openQueues } from '../../shared/queue/queues.ts';
import { useDatabase } from '../support/database.ts';
import { freePort } from '../support/free-port.ts';
import { describeOnEachStore } from '../support/queue-stores.ts';
import { describeWithRedis, useRedisServer } from '../support/redis-server.ts';
import { type SilentProxy, startSilentProxy } from '../support/silent-proxy.ts';
import { until } from '../support/until.ts';

const LOG = createLog('test', 'silent');
const [WARN, INFO] = [40, 30];
const NOTICED_WITHIN_MS = 12_000;
/** Much less than the ten seconds after which an idle worker polls. */
const PROMPTLY_MS = 500;
/** A ticket lost in the silence is freed within twenty seconds, and the worker polls within ten more seconds. */
const TAKEN_AGAIN_WITHIN_MS = 35_000;
const CLOSED_WITHIN_MS = 3000;

describeOnEachStore('silent queue connections', function (store) {
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
  /** Adds a ticket, and resolves with true if a ticket reaches the worker within `withinMs`. */
  const arrivesWithin = async (queue: TicketQueue, withinMs: number) => {
    const before = taken;
    queue.add(['a']);
    return until(() => taken > before, withinMs).catch(() => false);
  };

  it('a worker takes tickets again within 35 s after its connection to the queue fell silent', async () => {
    const queue = (await open()).queue('silent');
    (await open(proxy)).worker('silent', take);
    await until(() => arrivesWithin(queue, PROMPTLY_MS));
    proxy.silence();
    await until(() => arrivesWithin(queue, PROMPTLY_MS), TAKEN_AGAIN_WITHIN_MS);
  });

  it("a producer's tickets reach the worker again within 12 s after the producer's connection to the queue fell silent", async () => {
    const queue = (await open(proxy)).queue('silent');
    (await open()).worker('silent', take);
    await until(() => arrivesWithin(queue, PROMPTLY_MS));
    proxy.silence();
    await until(() => arrivesWithin(queue, PROMPTLY_MS), NOTICED_WITHIN_MS);
  });

  it('a wake-up listener reconnects and gets wake-ups within 12 s after its connection fell silent', async () => {
    const { config } = store();
    const pool = new pg.Pool({ connectionString: config().database.url });
    opened.push({ close: () => pool.end() });
    const through = config(proxy);
    const listening =
      through.redis === undefined ? postgresBus(pool, through.database, LOG) : redisBus(through.redis, LOG);
    const direct = config();
    const sending =
      direct.redis === undefined ? postgresBus(pool, direct.database, LOG) : redisBus(direct.redis, LOG);
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

  it('closing the queues takes less than 3 s even if their connections are silent', async () => {
    const queues = await open(proxy);
    const worker = queues.worker('silent', take);
    const queue = queues.queue('silent');
    await until(() => arrivesWithin(queue, PROMPTLY_MS));
    proxy.silence();
    const since = performance.now();
    await worker.close();
    await queues.close();
    assert.ok(performance.now() - since < CLOSED_WITHIN_MS, `${performance.now() - since} ms`);
  });
});

describeWithRedis('silent connection to a Redis cluster', function () {
  this.timeout(60_000);
  const redis = useRedisServer({ isCluster: true });

  it('wake-ups from a Redis cluster arrive again within 12 s after the listening connection fell silent', async () => {
    const proxy = await startSilentProxy(redis.url);
    await redis.serveAllSlots(proxy.url);
    const port = Number(new URL(proxy.url).port);
    const bus = redisBus({ kind: 'cluster', hosts: [{ host: '127.0.0.1', port }] }, LOG);
    try {
      const heard = new Set<string>();
      await bus.listen('silent_test', (payload) => heard.add(payload));
      const arrives = async (payload: string) => {
        await bus.publish([{ channel: 'silent_test', payload }]).catch(() => {});
        return heard.has(payload);
      };
      await until(() => arrives('before'));
      proxy.silence('listening');
      await until(() => arrives('after'), NOTICED_WITHIN_MS);
    } finally {
      await bus.close();
      await proxy.close();
    }
  });
});

describe('queues without PostgreSQL', function () {
  this.timeout(30_000);
  const database = useDatabase();

  it('queues opened while PostgreSQL is unreachable work within 2 s after it becomes reachable, and log the outage once', async () => {
    const levels: number[] = [];
    const log = createLog('test', 'info', { write: (line) => void levels.push(JSON.parse(line).level) });
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
    const queues = await openQueues(config, log);
    let taken = 0;
    queues.worker('late', async () => {
      taken += 1;
    });
    try {
      const queue = queues.queue('late');
      for (let n = 0; n < 5; n += 1) {
        queue.add([`${n}`]);
        await sleep(250);
      }
      assert.equal(taken, 0);
      way.listen(Number(directUrl.port), '127.0.0.1');
      await until(() => {
        queue.add(['again']);
        return taken > 0;
      }, 2000);
      assert.deepEqual(levels, [WARN, INFO]);
    } finally {
      await queues.close();
      way.close();
    }
  });
});
