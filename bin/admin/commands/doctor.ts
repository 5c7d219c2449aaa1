import type { AdminConfig } from '../../../shared/config/config.ts';
import { escapeInvisible } from '../../../shared/text/visible.ts';
import { AdminError, diagnose } from '../admin-error.ts';
import { checkErasures } from '../check-erasures.ts';
import { checkPooler } from '../check-pooler.ts';
import { checkProcesses } from '../check-processes.ts';
import { checkProvider } from '../check-provider.ts';
import { checkSettings } from '../check-settings.ts';
import {
  type Check,
  checkClock,
  checkDatabase,
  checkMigrations,
  checkQueue,
  type Finding,
  fault,
} from '../checks.ts';
import { checkConnections, checkDisk } from '../checks-of-capacity.ts';
import { type Admin, command } from '../command.ts';
import { checkLive } from '../live.ts';

type CheckFunction = (admin: Admin) => Promise<Finding>;

const CHECKS: Record<string, CheckFunction> = {
  settings: ({ config }) => checkSettings(process.env, config),
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

/** Earlier checks without which a check would only find their fault again. */
function needsOf(name: string, { redis }: AdminConfig): readonly string[] {
  if (['migrations', 'pooler', 'disk', 'clock'].includes(name)) return ['database'];
  if (['connections', 'erasures', 'live'].includes(name)) return ['database', 'migrations'];
  if (name === 'processes') return ['database', 'migrations', 'queue'];
  return name === 'queue' && redis === undefined ? ['database', 'migrations', 'pooler'] : [];
}

export const doctor = command({
  summary: 'Check the stores, the settings, the provider and the running processes',
  synopsis: '[--live [--url U]]',
  example: '--live',
  options: { live: { type: 'boolean', default: false }, url: { type: 'string' } },
  read({ live, url }) {
    if (url !== undefined && !live) throw new AdminError('--url goes with --live');
    return async (admin) => {
      const started = new Map<string, Promise<Check>>();
      const start = (name: string, run: CheckFunction) => {
        const check = runInTurn(name, run, admin, started);
        started.set(name, check);
        return check;
      };
      for (const [name, run] of Object.entries(CHECKS)) start(name, run);
      const checks = await Promise.all(started.values());
      // Runs after the others, because the provider's check sets a proxy for the whole process meanwhile.
      if (live) checks.push(await start('live', () => checkLive(admin, url)));
      const ok = checks.every((one) => one.ok !== false);
      return { data: { ok, checks }, text: checks.map(findingLine).join('\n'), failed: !ok };
    };
  },
});

async function runInTurn(
  name: string,
  run: CheckFunction,
  admin: Admin,
  started: ReadonlyMap<string, Promise<Check>>,
): Promise<Check> {
  for (const needed of needsOf(name, admin.config))
    if ((await started.get(needed))?.ok !== true)
      return { name, ok: null, found: `not checked until ${needed} is right`, to_do: null, see: null };
  return runCheck(name, run, admin);
}

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
  const label = ok === false ? 'FAULT' : ok ? 'ok   ' : '-    ';
  const result = `${label}  ${name.padEnd(11)}  ${escapeInvisible(found)}`;
  return ok === false ? `${result}\n${INDENT}to do: ${to_do}\n${INDENT}see ${see}` : result;
}
