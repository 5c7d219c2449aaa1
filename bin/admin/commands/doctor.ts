import { diagnose } from '../admin-error.ts';
import { type Check, type Finding, fault } from '../check.ts';
import { type Admin, command } from '../command.ts';
import { checkClock, checkDatabase, checkMigrations, checkQueue } from '../database-checks.ts';
import { checkProvider } from '../provider-check.ts';

type Look = (admin: Admin) => Promise<Finding>;

const CHECKS: Record<string, Look> = {
  database: ({ database }) => checkDatabase(database.pool),
  migrations: ({ database }) => checkMigrations(database.pool),
  queue: ({ config }) => checkQueue(config),
  provider: ({ config }) => checkProvider(config),
  clock: ({ database }) => checkClock(database.pool),
};

export const doctor = command({
  synopsis: '',
  options: {},
  operands: 0,
  read: () => async (admin) => {
    const checks = await Promise.all(Object.entries(CHECKS).map(([name, look]) => check(name, look, admin)));
    const ok = checks.every((one) => one.ok);
    return { data: { ok, checks }, text: checks.map(line).join('\n'), failed: !ok };
  },
});

async function check(name: string, look: Look, admin: Admin): Promise<Check> {
  try {
    return { name, ...(await look(admin)) };
  } catch (error) {
    const { what, toDo } = diagnose(error, 'DATABASE_URL');
    return { name, ...fault(what, toDo) };
  }
}

function line({ name, ok, found, to_do }: Check): string {
  const result = `${ok ? 'ok   ' : 'FAULT'}  ${name.padEnd(10)}  ${found}`;
  return to_do === null ? result : `${result}\n${' '.repeat(19)}to do: ${to_do}`;
}
