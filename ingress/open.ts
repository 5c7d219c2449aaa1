import type { IngressConfig } from '../shared/config/config.ts';
import { ingressSettings } from '../shared/config/published-settings.ts';
import { openAccessLog } from '../shared/db/access-log.ts';
import { openDatabase } from '../shared/db/orm.ts';
import { openHeartbeat } from '../shared/db/processes.ts';
import type { Log } from '../shared/log.ts';
import { waitForDatabase } from '../shared/process/boot.ts';
import { ProcessHealth } from '../shared/process/health.ts';
import { closePart } from '../shared/process/lifecycle.ts';
import { openOperatorPort } from '../shared/process/operator-port.ts';
import { openQueues } from '../shared/queue/queues.ts';
import { STOP_LIMITS } from '../shared/stop-limits.ts';
import { kinds } from '../shared/work/kinds.ts';
import { readDesiredWorkers } from '../shared/work/pool-load.ts';
import { mailDailyNotes } from './accounts/daily-notes.ts';
import { openMailer } from './accounts/mailer.ts';
import { openBoard } from './board/board.ts';
import { ChangeFeeds } from './changes/feeds.ts';
import { socketLimiter } from './guards/socket-limits.ts';
import { type ListeningServer, listen } from './http/server.ts';
import { openLimits } from './limits/open-limits.ts';
import { openRefusalCounter } from './limits/refusals.ts';
import { openUploads } from './recording/uploads.ts';
import { compileTrust } from './request/address.ts';
import { openWork, type Work } from './work/open.ts';

export type OpenedParts = Awaited<ReturnType<typeof openParts>>;

/** Opens every part that has to be closed, dependencies first. */
export async function openParts(opening: AsyncDisposableStack, config: IngressConfig, log: Log) {
  const health = new ProcessHealth();
  const database = opening.adopt(await openDatabase(config, log, 'forecue web'), closePart);
  const { pool } = database;
  // Has its own connections: a request that waits for a locked row of an account must not delay the admission of work.
  const managementDatabase = opening.adopt(await openDatabase(config, log, 'forecue web rows'), closePart);
  const limits = openLimits(pool);
  const queues = opening.adopt(await openQueues(config, log), closePart);
  const board = opening.adopt(await openBoard(config, { limits, queues, log }), closePart);
  const operator = opening.adopt(
    await openOperatorPort(
      config.operator,
      health,
      (name) => readDesiredWorkers(pool, kinds, name),
      board.handle,
    ),
    closePart,
  );
  await waitForDatabase(database, config, log);

  const lease = {
    kind: 'web',
    leaseMs: config.leaseMs,
    settings: ingressSettings(config),
    port: config.port,
    log,
  };
  const heartbeat = await openHeartbeat(opening, pool, lease);
  health.require(() => heartbeat.assertStored());
  health.require(() => queues.ping());
  const { em } = managementDatabase;
  const feeds = new ChangeFeeds(config);
  const hearChanges = (messages: readonly string[]) => feeds.hear(messages);
  const workParts = { config, database, em, queues, heartbeat, kinds, hearChanges, log };
  const work = await openWork(opening, workParts);
  health.watch(heartbeat);
  const limitSockets = socketLimiter(config.connections, compileTrust(config.trustProxy), log);
  const uploads = opening.adopt(await openUploads(config, () => work.isBusy, log), closePart);
  const refusals = opening.adopt(openRefusalCounter(pool, log), closePart);
  const accesses = opening.adopt(openAccessLog(managementDatabase.pool, log), closePart);
  const mailer = await openMailer(config.mail, log);
  opening.defer(async () => mailer?.close());
  const server = opening.adopt(await listen(config, limitSockets), (one) => {
    feeds.close();
    return drain(one, work, health);
  });
  const publicUrl = config.publicUrl ?? `http://localhost:${server.port}`;
  if (mailer !== undefined) {
    const notes = mailDailyNotes({ em, mailer, publicUrl, log });
    opening.defer(() => notes.stop());
  }
  return {
    pool,
    em,
    uploads,
    limits,
    refusals,
    accesses,
    work,
    feeds,
    health,
    rest: heartbeat.rest,
    mailer,
    publicUrl,
    server,
    operator,
  };
}

/** Lets running calls finish. Calls that still wait after `ingressDrain` milliseconds get 503. */
async function drain(server: ListeningServer, work: Work, health: ProcessHealth): Promise<void> {
  health.serving = false;
  void work.housekeeper.close();
  const closeRoomTimer = setTimeout(() => work.closeRoom(), STOP_LIMITS.ingressDrain);
  await server.close(STOP_LIMITS.ingressConnections);
  clearTimeout(closeRoomTimer);
}
