import { createHash } from 'node:crypto';
import { openWork } from '../../ingress/work.ts';
import { ingressConfig } from '../../shared/config/config.ts';
import { openDatabase } from '../../shared/db/orm.ts';
import { Heartbeat } from '../../shared/db/processes.ts';
import { requestKey } from '../../shared/domain/work.ts';
import { newId } from '../../shared/ids.ts';
import { openQueues } from '../../shared/jobs/backend.ts';
import { createLog } from '../../shared/log.ts';
import { type EchoFacts, type EchoInput, echo, kinds } from './echo-kind.ts';
import type { System } from './system.ts';

export interface EchoRequest {
  text: string;
  requestId?: string;
  /** What the handler gets instead of the text and the gate. */
  input?: string;
}

/** Whose echoes they are. */
export const PARTY = newId();

/** The ingress's side of echoes, without HTTP: this process is one more ingress of the installation. */
export type EchoCaller = Awaited<ReturnType<typeof openEchoCaller>>;

/** Joins an installation. Its echoes go through the gate at that address. */
export async function openEchoCaller(
  { env }: Pick<System, 'env'>,
  gate: string,
  more: { predictionTimeoutMs?: number } = {},
) {
  const config = { ...ingressConfig(env), ...more };
  const log = createLog('test', 'silent');
  const database = await openDatabase(config, log, 'forecue test caller');
  const { pool, orm } = database;
  const heartbeat = new Heartbeat(pool, { kind: 'web', leaseMs: config.leaseMs, log });
  await heartbeat.start();
  const queues = await openQueues(config, log);
  const em = () => orm.em.fork();
  const work = await openWork({ config, pool, em, queues, process: heartbeat.id, kinds, log });
  return {
    /** Resolves with the echo's outcome when it has ended. */
    ask({ text, requestId = newId(), input }: EchoRequest) {
      const facts: EchoFacts = { askedBy: PARTY };
      const call = {
        id: newId(),
        party: PARTY,
        requestId,
        key: requestKey(echo.name, PARTY, requestId),
        fingerprint: createHash('sha256').update(text).digest(),
        userId: '',
        connectionId: null,
        line: null,
        wait: false,
        cancelOnDisconnect: false,
        facts,
        input: input ?? JSON.stringify({ text, gate } satisfies EchoInput),
      };
      return work.service.perform(echo, call, new AbortController().signal);
    },

    cancel(requestId: string) {
      const key = requestKey(echo.name, PARTY, requestId);
      return work.service.cancel(echo, PARTY, { requestId, key }, () => {});
    },

    /** Whether the request waits in the queue. */
    async isQueued(requestId: string): Promise<boolean> {
      const key = requestKey(echo.name, PARTY, requestId);
      const { rowCount } = await pool.query(`select from work where key = $1 and state = 'queued'`, [key]);
      return rowCount === 1;
    },

    async close() {
      await work.close();
      await heartbeat.stop();
      await queues.close();
      await database.close();
    },
  };
}
