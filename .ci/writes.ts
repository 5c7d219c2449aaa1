import { dirname } from 'node:path';
import { fail, sourcesIn, textOf } from './sources.ts';
import { POOL_ROOMS, SQL_WRITERS, WORKERS_PART } from './write-rules.ts';

/*
 * Counts how rows are written, by folder: by entities, or by statements in SQL text. Exits with 1 if a file writes by SQL
 * text or uses the connection pool without a reason in `write-rules.ts`.
 */

const COMMENT = /\/\*[\s\S]*?\*\/|(?<=^|\s)(?:\/\/|--).*$/gm;
const ENTITY_WRITE =
  /\b(?:em|tx|em\(\)|em\.fork\(\))\s*\.(?:create|assign|insert|insertMany|upsert|upsertMany|nativeUpdate|nativeDelete)\(|\binsertNew\(|\.createQueryBuilder\(\w+\)\s*\.(?:insert|update|delete)\(/g;
const SQL_WRITE =
  /\b(?:insert\s+into|delete\s+from)\s+[\w$"]|\bupdate\s+(?:[\w"]+|\$\{\w+\})(?:\s+(?:as\s+)?\w+)?\s+set\b/g;
/** Calls of `query` in `shared/db/statement.ts`, or of the driver. `select 1` only asks whether the database is there. */
const POOL_USE =
  /\bquery(?:<[^(]*>)?\(\s*(?:this\.#)?(?:pool|database)\b|\b(?:pool|client)\s*\.query\b(?!\('select 1'\))/;
/** Files that open, migrate and adapt the pool. */
const POOL_ITSELF = /^shared\/(?:primary|db\/\w+)\.ts$/;

interface Counts {
  entity: number;
  sql: number;
}

const folders = new Map<string, Counts>();
const ofWorkers: Counts = { entity: 0, sql: 0 };
for (const file of ['bin', 'ingress', 'workers', 'shared'].flatMap((one) => sourcesIn(one, /\.(ts|sql)$/))) {
  const code = textOf(file).replace(COMMENT, '');
  const count = (pattern: RegExp) => code.match(pattern)?.length ?? 0;
  const [entity, sql] = [count(ENTITY_WRITE), count(SQL_WRITE)];
  add(file, { entity, sql });
  const [allowed] = SQL_WRITERS[file] ?? [0];
  if (!/^shared\/db\/(sql|stores\/work)\//.test(file) && sql !== allowed)
    fail(`${file} has ${sql} writing statements in SQL text, not ${allowed}: .ci/write-rules.ts`);
  const mayUsePool = POOL_ITSELF.test(file) || Object.keys(POOL_ROOMS).some((room) => file.startsWith(room));
  if (!mayUsePool && POOL_USE.test(code)) fail(`${file} uses the connection pool: .ci/write-rules.ts`);
}
print('workers and their stores', ofWorkers);
for (const [folder, counts] of folders) print(folder, counts);
print('all', [...folders.values()].reduce(sum));

function add(file: string, counts: Counts): void {
  if (counts.entity + counts.sql === 0) return;
  folders.set(dirname(file), sum(folders.get(dirname(file)) ?? { entity: 0, sql: 0 }, counts));
  if (WORKERS_PART.test(file)) Object.assign(ofWorkers, sum(ofWorkers, counts));
}

function sum(one: Counts, other: Counts): Counts {
  return { entity: one.entity + other.entity, sql: one.sql + other.sql };
}

function print(name: string, { entity, sql }: Counts): void {
  const share = Math.round((100 * sql) / (entity + sql));
  process.stdout.write(
    `${name.padEnd(28)} ${String(entity).padStart(3)} by entities, ${String(sql).padStart(3)} by SQL text (${share} %)\n`,
  );
}
