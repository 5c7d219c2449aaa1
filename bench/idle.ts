import { spawn } from 'node:child_process';
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { Client } from 'pg';
import packageJson from '../package.json' with { type: 'json' };
import { freePort } from '../test/support/free-port.ts';
import { until } from '../test/support/until.ts';
import { cpuMsOf } from './cpu.ts';

/**
 * By hand: what `npm start` with its embedded PostgreSQL takes while nobody calls. Memory is the proportional set size,
 * which shares what processes have in common among them. Linux only.
 */
const { values } = parseArgs({
  options: {
    /** Minutes after the start at which it is measured, and for which. */
    after: { type: 'string', default: '10' },
    during: { type: 'string', default: '2' },
  },
});
const [AFTER_MS, DURING_MS] = [values.after, values.during].map((minutes) => Number(minutes) * 60_000);

const folder = await mkdtemp(join(tmpdir(), 'forecue-idle-'));
const ports = { PORT: await freePort(), MCP_PORT: await freePort(), OPERATOR_PORT: 0 };
const start = spawn('sh', ['-c', `${packageJson.scripts.start} ${folder}`], {
  env: { ...process.env, ...(Object.fromEntries(Object.entries(ports)) as object) },
  stdio: ['ignore', 'pipe', 'inherit'],
});
let said = '';
start.stdout.on('data', (chunk) => {
  said += chunk;
});
try {
  await until(() => /Forecue is ready in (.*)\./.test(said), 120_000);
  await sleep(AFTER_MS);
  const client = new Client((await readFile(join(folder, 'database-url'), 'utf8')).trim());
  await client.connect();
  const root = start.pid ?? 0;
  const before = await countersOf(client, root);
  await sleep(DURING_MS);
  const after = await countersOf(client, root);
  await client.end();
  const seconds = (after.at - before.at) / 1000;
  // Ignores processes that end meanwhile, such as a session of PostgreSQL.
  const cpuMs = after.cpu.reduce((sum, [id, ms]) => sum + ms - (new Map(before.cpu).get(id) ?? ms), 0);
  const ids = await treeOf(root);
  const rows = await Promise.all(ids.map(async (id) => [await nameOf(id), await memoryMibOf(id)] as const));
  const byName = Map.groupBy(rows, ([name]) => name);
  const mib = (of: typeof rows) => of.reduce((sum, [, one]) => sum + one, 0).toFixed(0);
  const lines = [
    ['ready, as it says', /ready in (.*)\./.exec(said)?.[1] ?? ''],
    ['memory, MiB', mib(rows)],
    ...[...byName].map(([name, of]) => [`memory of ${name}, MiB`, mib(of)]),
    ['CPU, % of a core', (cpuMs / seconds / 10).toFixed(1)],
    ['transactions a second', ((after.transactions - before.transactions) / seconds).toFixed(1)],
    ['WAL, bytes a second', ((after.wal - before.wal) / seconds).toFixed(0)],
  ];
  for (const [what, figure] of lines) process.stdout.write(`${what}: ${figure}\n`);
} finally {
  start.kill('SIGTERM');
  await new Promise((resolve) => start.once('exit', resolve));
  await rm(folder, { recursive: true });
}

async function countersOf(client: Client, root: number) {
  const { rows } = await client.query(
    `select (select sum(xact_commit + xact_rollback) from pg_stat_database)::float8 as transactions,
            pg_wal_lsn_diff(pg_current_wal_insert_lsn(), '0/0')::float8 as wal`,
  );
  const ids = await treeOf(root);
  const cpu = await Promise.all(ids.map(async (id) => [id, await cpuMsOf(id).catch(() => 0)] as const));
  const [{ transactions, wal }] = rows as [{ transactions: number; wal: number }];
  return { transactions, wal, cpu, at: performance.now() };
}

/** Lists a process and all that it has started. */
async function treeOf(root: number): Promise<number[]> {
  const parents = new Map<number, number>();
  for (const name of await readdir('/proc')) {
    const stat = await readFile(`/proc/${name}/stat`, 'utf8').catch(() => '');
    const [, parent] = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    if (/^\d+$/.test(name) && parent !== undefined) parents.set(Number(name), Number(parent));
  }
  const tree = [root];
  for (const id of tree)
    tree.push(...[...parents].flatMap(([child, parent]) => (parent === id ? child : [])));
  return tree;
}

async function nameOf(id: number): Promise<string> {
  const line = await readFile(`/proc/${id}/cmdline`, 'utf8').catch(() => '');
  const named = ['start/main.ts', 'mcp/main.ts', 'ingress/main.ts', 'workers/main.ts'];
  return (
    named.find((name) => line.includes(name)) ?? (/postgres/.test(line) ? 'postgres' : line.slice(0, 40))
  );
}

async function memoryMibOf(id: number): Promise<number> {
  const rollup = await readFile(`/proc/${id}/smaps_rollup`, 'utf8').catch(() => 'Pss: 0');
  return Number(/^Pss:\s+(\d+)/m.exec(rollup)?.[1]) / 1024;
}
