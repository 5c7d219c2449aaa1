import type { WorkerConfig } from '../../shared/config/config.ts';
import type { Database } from '../../shared/db/orm.ts';
import type { Heartbeat } from '../../shared/db/processes.ts';
import { admit } from '../../shared/db/stores/work/admit.ts';
import { readLoad } from '../../shared/db/stores/work/load.ts';
import { close } from '../../shared/lifecycle.ts';
import type { Log } from '../../shared/log.ts';
import type { Queues, TicketQueue } from '../../shared/queue/queues.ts';
import { admissionTerms, jobAdmission, NO_UNITS } from '../../shared/work/admission.ts';
import { type RoundStep, SCHEDULE_QUEUE, SCHEDULES } from '../../shared/work/schedules.ts';
import { PAGE, Rounds } from './rounds.ts';
import { Scheduler } from './scheduler.ts';

export interface ScheduleParts {
  config: WorkerConfig;
  database: Database;
  queues: Queues;
  heartbeat: Heartbeat;
  log: Log;
}

/** Opens what fires the recurring work and admits its jobs, and registers it for disposal. */
export async function openScheduler(
  opening: AsyncDisposableStack,
  { config, database: { pool }, queues, heartbeat, log }: ScheduleParts,
): Promise<Scheduler> {
  const queueOf = new Map<string, TicketQueue>();
  for (const { kind } of Object.values(SCHEDULES).flat())
    if (!queueOf.has(kind.pool)) queueOf.set(kind.pool, queues.queue(kind.pool));
  const { recoveryWindowS, recurrence } = config;
  const timeoutMs = ({ kind }: RoundStep) => config[kind.deadline];
  const rounds = new Rounds({
    pool,
    process: heartbeat.id,
    steps: (name) => Object.entries(SCHEDULES).find(([known]) => known === name)?.[1] ?? [],
    async admit(step, accountId, tick) {
      const requestId = `scheduled ${new Date(tick).toISOString()}`;
      const request = jobAdmission(step.kind, { accountId, body: step.body, requestId, wait: false });
      const terms = { process: heartbeat.id, timeoutMs: timeoutMs(step), recoveryWindowS, units: NO_UNITS };
      const admission = { ...request, kind: step.kind.name };
      await admit(pool, [admission], admissionTerms(step.kind, terms));
    },
    ticket: async ({ kind }) => queueOf.get(kind.pool)?.add([]),
    async hasRoom({ kind }) {
      if (heartbeat.paused.has(kind.pool)) return false;
      const [load] = await readLoad(pool, [kind]);
      // However many jobs one account has waiting, the others have their turns.
      return load !== undefined && load.workers > 0 && load.queues.length < PAGE;
    },
    timeoutMs,
    log,
  });
  opening.adopt(rounds, close);
  const round = (name: string) => rounds.run(name);
  const tickets = queues.recurring(SCHEDULE_QUEUE);
  const scheduler = opening.adopt(new Scheduler({ pool, recurrence, tickets, round, log }), close);
  await scheduler.start();
  return scheduler;
}
