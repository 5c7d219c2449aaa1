import { escapeInvisible } from '../../../shared/text/visible.ts';
import { AdminError, diagnose } from '../admin-error.ts';
import { checkErasures } from '../check-erasures.ts';
import { checkPooler } from '../check-pooler.ts';
import { checkProcesses } from '../check-processes.ts';
import {
  type Check,
  checkClock,
  checkDatabase,
  checkMigrations,
  checkProvider,
  checkQueue,
  type Finding,
  fault,
} from '../checks.ts';
import { checkConnections, checkDisk } from '../checks-of-capacity.ts';
import { type Admin, command } from '../command.ts';
import { checkLive } from '../live.ts';

type CheckFunction = (admin: Admin) => Promise<Finding>;

const CHECKS: Record<string, CheckFunction> = {
  database: ({ database }) => checkDatabase(database.pool),
  migrations: ({ database }) => checkMigrations(database.pool),
  pooler: ({ config }) => checkPooler(config),
  connections: ({ database }) => checkConnections(database.pool),
  erasures: ({ database }) => checkErasures(database.pool),
  disk: ({ database, config }) => checkDisk(database.pool, config),
  queue: ({ config }) => checkQueue(config),
  provider: ({ config }) => checkProvider(config),
  clock: ({ database }) => checkClock(database.pool),
  processes: ({ database, config }) => checkProcesses(database.pool, config),
};

export const doctor = command({
  summary: 'Check the stores, the settings, the provider and the running processes',
  synopsis: '[--live [--url U]]',
  example: '--live',
  options: { live: { type: 'boolean', default: false }, url: { type: 'string' } },
  read({ live, url }) {
    if (url !== undefined && !live) throw new AdminError('--url goes with --live');
    return async (admin) => {
      const checks = await Promise.all(
        Object.entries(CHECKS).map(([name, run]) => runCheck(name, run, admin)),
      );
      // Runs after the others, because the provider's check sets a proxy for the whole process meanwhile.
      if (live) checks.push(await runCheck('live', () => checkLive(admin, url), admin));
      const ok = checks.every((one) => one.ok);
      return { data: { ok, checks }, text: checks.map(findingLine).join('\n'), failed: !ok };
    };
  },
});

async function runCheck(name: string, run: CheckFunction, admin: Admin): Promise<Check> {
  const finding = await run(admin).catch((error: unknown) => {
    if (error instanceof AdminError) throw error;
    const { what, toDo } = diagnose(error, 'DATABASE_URL');
    return fault(what, toDo);
  });
  return { name, ...finding, see: finding.ok ? null : `docs/operating.md#doctor-${name}` };
}

const INDENT = ' '.repeat(20);

function findingLine({ name, ok, found, to_do, see }: Check): string {
  const result = `${ok ? 'ok   ' : 'FAULT'}  ${name.padEnd(11)}  ${escapeInvisible(found)}`;
  return ok ? result : `${result}\n${INDENT}to do: ${to_do}\n${INDENT}see ${see}`;
}
