import { createHash } from 'node:crypto';
import type { Pool } from 'pg';
import { openWork } from '../../ingress/work/open.ts';
import { Box } from '../../shared/box.ts';
import { ingressConfig } from '../../shared/config/config.ts';
import { ingressSettings } from '../../shared/config/published-settings.ts';
import { openDatabase } from '../../shared/db/orm.ts';
import { openHeartbeat } from '../../shared/db/processes.ts';
import { requestKey } from '../../shared/domain/work.ts';
import { newId } from '../../shared/ids.ts';
import { createLog } from '../../shared/log.ts';
import { closePart } from '../../shared/process/lifecycle.ts';
import { openQueues } from '../../shared/queue/queues.ts';
import { type EchoFacts, type EchoInput, echo, kinds } from './echo-kind.ts';
import type { System } from './system.ts';

export interface EchoRequest {
  text: string;
  requestId?: string;
  /** Replaces the handler's usual input of text and gate. */
  input?: string;
  kind?: typeof echo;
  party?: string;
}

export const PARTY = newId();

export type EchoCaller = Awaited<ReturnType<typeof openEchoCaller>>;

/** Joins the installation as one more ingress, without HTTP. Echoes go through the gate at this address. */
export async function openEchoCaller(
  { env }: Pick<System, 'env'>,
  gate: string,
  more: { predictionTimeoutMs?: number } = {},
) {
  const config = { ...ingressConfig(env), ...more };
  const log = createLog('test', 'silent');
  const resources = new AsyncDisposableStack();
  const database = resources.adopt(await openDatabase(config, log, 'forecue test caller'), closePart);
  const { pool, em } = database;
  const heartbeat = await openHeartbeat(resources, pool, {
    kind: 'web',
    leaseMs: config.leaseMs,
    settings: ingressSettings(config),
    port: 0,
    log,
  });
  const queues = resources.adopt(await openQueues(config, log), closePart);
  const hearChanges = () => {};
  const work = await openWork(resources, {
    config,
    database,
    em,
    queues,
    heartbeat,
    kinds,
    hearChanges,
    log,
  });
  await makeAccount(pool, PARTY);
  const { signal } = new AbortController();
  return {
    /** Resolves with the echo's outcome when it has ended. */
    async ask(request: EchoRequest, disconnectSignal = signal) {
      if (request.party !== undefined) await makeAccount(pool, request.party);
      return work.service.perform(request.kind ?? echo, callOf(request, gate), disconnectSignal);
    },

    /** Resolves when the echo is admitted. */
    start(request: EchoRequest) {
      return work.service.start(request.kind ?? echo, callOf(request, gate), signal);
    },

    cancel(requestId: string) {
      const key = requestKey(echo.name, PARTY, requestId);
      return work.service.cancel(echo, key, () => {});
    },

    async isQueued(requestId: string): Promise<boolean> {
      const key = requestKey(echo.name, PARTY, requestId);
      const { rowCount } = await pool.query(`select from work where key = $1 and state = 'queued'`, [key]);
      return rowCount === 1;
    },

    close: () => resources.disposeAsync(),
  };
}

/** Makes the account of an echo's party, since no work is admitted for an account that does not exist. */
async function makeAccount(pool: Pool, party: string): Promise<void> {
  await pool.query(
    `insert into accounts (id, email, email_key, password_hash, created_at, updated_at)
     values ($1::uuid, $1::uuid::text, $1::uuid::text, '', now(), now()) on conflict (id) do nothing`,
    [party],
  );
}

function callOf({ text, requestId = newId(), input, kind = echo, party = PARTY }: EchoRequest, gate: string) {
  const facts: EchoFacts = { askedBy: party };
  return {
    id: newId(),
    party,
    key: requestKey(kind.name, party, requestId),
    fingerprint: createHash('sha256').update(text).digest(),
    userId: '',
    connectionId: null,
    line: null,
    wait: false,
    cancelOnDisconnect: false,
    facts,
    input: new Box(input ?? JSON.stringify({ text, gate } satisfies EchoInput)),
  };
}
