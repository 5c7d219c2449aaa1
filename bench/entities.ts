import { parseArgs } from 'node:util';
import { defineEntity, p } from '@mikro-orm/core';
import { type EntityManager, LockMode, MikroORM, raw } from '@mikro-orm/postgresql';
import { ormOptions } from '../shared/db/orm.ts';
import { transaction } from '../shared/db/statement.ts';
import { type Claim, claim } from '../shared/db/stores/work/claim.ts';
import { complete } from '../shared/db/stores/work/complete.ts';
import {
  claimTerms,
  insertAppAndWorker,
  queueWork,
  suggestedCompletion,
  WINDOW_S,
} from '../test/support/common-path.ts';
import { install } from './installation.ts';
import { openPostgres } from './stores.ts';

/**
 * Measures a completion as the kernel's one statement, and as calls of the entity API in a transaction that write the
 * same rows under the same guard, in turns.
 */
const { values: options } = parseArgs({
  options: { batch: { type: 'string', default: '1,10' }, rounds: { type: 'string', default: '200' } },
});

const archived = {
  id: p.uuid().primary(),
  kind: p.text(),
  party: p.uuid(),
  key: p.uuid(),
  attempt: p.integer(),
  admission: p.uuid(),
  connectionId: p.uuid().nullable(),
  fingerprint: p.blob(),
  admittedAt: p.datetime(3),
  startedAt: p.datetime(3).nullable(),
  month: p.text().nullable(),
  plan: p.text().nullable(),
  priceMicrocents: p.bigint('number').nullable(),
  facts: p.text(),
};
const Work = defineEntity({
  name: 'Work',
  tableName: 'work',
  properties: { ...archived, worker: p.uuid(), line: p.uuid().nullable() },
});
const History = defineEntity({
  name: 'History',
  tableName: 'history',
  properties: {
    ...archived,
    state: p.text(),
    report: p.text(),
    units: p.smallint(),
    endedAt: p.datetime(3),
    expiresAt: p.datetime(3),
  },
});
const Answer = defineEntity({
  name: 'Answer',
  tableName: 'answers',
  properties: {
    id: p.uuid().primary(),
    answer: p.text(),
    key: p.uuid(),
    line: p.uuid().nullable(),
    expiresAt: p.datetime(3),
  },
});
const Usage = defineEntity({
  name: 'Usage',
  tableName: 'usage',
  properties: {
    appId: p.uuid().primary(),
    month: p.text().primary(),
    page: p.integer().primary(),
    reserved: p.integer(),
    settled: p.integer(),
    writes: p.integer(),
  },
});

const { answer, report, state } = suggestedCompletion({} as Claim);

async function completeWithEntities(tx: EntityManager, claims: readonly Claim[]): Promise<void> {
  const [{ party, month, worker } = {} as Claim] = claims;
  const lock = { lockMode: LockMode.PESSIMISTIC_WRITE } as const;
  const used = await tx.findOneOrFail(
    Usage,
    { appId: party, month: month ?? '' },
    { ...lock, orderBy: { page: 'desc' } },
  );
  const attempts = claims.map(({ id, attempt }) => ({ id, attempt, worker }));
  const live = await tx.find(Work, { $or: attempts }, lock);
  const times = { endedAt: raw('now()'), expiresAt: raw(`now() + interval '${WINDOW_S} seconds'`) };
  await tx.insertMany(
    History,
    live.map(({ line: _, worker: __, ...row }) => ({
      ...row,
      ...times,
      state,
      report: JSON.stringify(report),
      units: 1,
    })),
  );
  await tx.insertMany(
    Answer,
    live.map(({ id, key, line }) => ({ id, key, line, answer: answer ?? '', expiresAt: times.expiresAt })),
  );
  await tx.nativeDelete(Work, { id: { $in: live.map(({ id }) => id) } });
  tx.assign(used, {
    reserved: used.reserved - live.length,
    settled: used.settled + live.length,
    writes: used.writes + 1,
  });
  await tx.flush();
}

await using postgres = await openPostgres();
await using installation = await install(postgres.url, 'forecue-entities');
const orm = new MikroORM({
  ...ormOptions(installation.databaseUrl),
  entities: [Work, History, Answer, Usage],
});
const pool = await orm.driver.getConnection().getNativeClient();
const ways = {
  statement: async (claims: readonly Claim[]) =>
    void (await complete(pool, claims.map(suggestedCompletion), WINDOW_S)),
  entities: (claims: readonly Claim[]) => transaction(orm.em, (tx) => completeWithEntities(tx, claims)),
};
const median = (times: number[]) => times.sort((a, b) => a - b)[times.length >> 1] ?? 0;

for (const size of options.batch.split(',').map(Number)) {
  const app = await insertAppAndWorker(pool);
  const times = { statement: [] as number[], entities: [] as number[] };
  for (let round = 0; round < Number(options.rounds); round += 1)
    for (const way of ['statement', 'entities'] as const) {
      await queueWork(pool, app, size);
      const asks = [{ kind: 'predict', party: app.appId, count: size, sinceMs: null }];
      const { claims } = await claim(pool, claimTerms(app.processId, asks));
      const since = performance.now();
      await ways[way](claims);
      times[way].push(performance.now() - since);
    }
  const [statementMs, entitiesMs] = [median(times.statement), median(times.entities)];
  process.stdout.write(
    `${JSON.stringify({ completions: size, statementMs, entitiesMs, ratio: entitiesMs / statementMs })}\n`,
  );
}
const { rows } = await pool.query('select count(*) from work');
if (Number(rows[0].count) > 0) throw new Error('not all work has ended');
await orm.close(true);
