import { randomUUID } from 'node:crypto';
import pg from 'pg';
import { checkBatch, type RecordedEvent } from '../shared/domain/recording.ts';
import { percentile } from '../test/support/keep-alive-client.ts';
import { install, startProduct } from './installation.ts';
import { openPostgres } from './stores.ts';

/** Numbers of concurrent posters; each has an account of its own. */
const POSTERS = [1, 4];
const ROUNDS = 5;
const BATCHES = 10;
const ROWS_PER_BATCH = 1000;
const SESSIONS = 10;
const PROMPT = 'Shall I "go on" with the refactoring of the module, or write its tests first?\n'.repeat(4);

/** The rows that one poster sends in one round: as request bodies, and as checked events for the bare insert. */
interface Work {
  token: string;
  accountId: string;
  bodies: string[];
  columns: RecordedEvent[][];
}

type Way = (work: Work[]) => Promise<void>;

/** Posts fresh batches to an ingress, and in turn inserts such rows by a bare statement; compares rows per second. */
async function run(): Promise<string[]> {
  await using resources = new AsyncDisposableStack();
  const postgres = resources.use(await openPostgres());
  const { databaseUrl } = resources.use(await install(postgres.url, 'bench'));
  const env = { DATABASE_URL: databaseUrl };
  const { web } = await startProduct(resources, {
    name: 'ingest',
    providerUrl: 'http://127.0.0.1:9',
    queuePrefix: 'bench',
    env: { web: env, worker: env },
  });
  const pool = new pg.Pool({ connectionString: databaseUrl, max: Math.max(...POSTERS) });
  resources.defer(() => pool.end());
  await pool.query('create table bare (like recording_events including all)');

  const accounts = await Promise.all(Array.from({ length: Math.max(...POSTERS) }, () => signUp(web.url)));
  const ways: Way[] = [(work) => postAll(web.url, work), (work) => insertAll(pool, work)];
  const lines = ['posters  posted/s    bare/s  ratio'];
  for (const posters of POSTERS) {
    const rates: number[][] = [[], []];
    for (let round = -1; round < ROUNDS; round += 1) {
      for (const [place, way] of ways.entries()) {
        const work = await Promise.all(accounts.slice(0, posters).map(workOf));
        const since = performance.now();
        await way(work);
        const rate = (posters * BATCHES * ROWS_PER_BATCH) / ((performance.now() - since) / 1000);
        // The first round warms up.
        if (round >= 0) rates[place]?.push(rate);
      }
    }
    const [postedRate = 0, bareRate = 0] = rates.map((all) => percentile(all, 0.5));
    lines.push(
      `${String(posters).padStart(7)}${postedRate.toFixed(0).padStart(10)}${bareRate.toFixed(0).padStart(10)}${(postedRate / bareRate).toFixed(2).padStart(7)}`,
    );
  }
  return lines;
}

async function signUp(url: string): Promise<{ token: string; accountId: string }> {
  const body = JSON.stringify({ email: `${randomUUID()}@example.com`, password: randomUUID() });
  const headers = { 'content-type': 'application/json' };
  const response = await fetch(`${url}/api/auth/signup/`, { method: 'POST', headers, body });
  if (response.status !== 201) throw new Error(await response.text());
  const { access, user } = (await response.json()) as { access: string; user: { id: string } };
  return { token: access, accountId: user.id };
}

async function workOf(account: { token: string; accountId: string }): Promise<Work> {
  const batches = Array.from({ length: BATCHES }, () =>
    Array.from({ length: ROWS_PER_BATCH }, newRow(account.accountId)),
  );
  return {
    ...account,
    bodies: batches.map((batch) => JSON.stringify(batch)),
    columns: await Promise.all(batches.map(async (batch) => (await checkBatch(batch, Date.now())).events)),
  };
}

const newRow = (owner: string) => (_: unknown, place: number) => ({
  id: randomUUID(),
  session_id: `${owner} ${place % SESSIONS}`,
  occurred_at: new Date().toISOString(),
  source: 'bench',
  type: 'agent.prompt',
  agent: 'coder',
  prompt: PROMPT,
});

async function postAll(url: string, work: Work[]): Promise<void> {
  await Promise.all(
    work.map(async ({ token, bodies }) => {
      const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
      for (const body of bodies) {
        const response = await fetch(`${url}/api/recording/events/`, { method: 'POST', headers, body });
        const text = await response.text();
        if (!text.includes(`"accepted":${ROWS_PER_BATCH},`)) throw new Error(text.slice(0, 1000));
      }
    }),
  );
}

const BARE_INSERT = {
  name: 'bare',
  text: `insert into bare (account_id, id, session_id, type, occurred_at, received_at, body)
         select $1::uuid, r.id, r.session_id, r.type, r.occurred_at, now(), r.body
           from unnest($2::text[], $3::text[], $4::text[], $5::timestamptz[], $6::text[])
                r (id, session_id, type, occurred_at, body)`,
};

async function insertAll(pool: pg.Pool, work: Work[]): Promise<void> {
  await Promise.all(
    work.map(async ({ accountId, columns }) => {
      for (const rows of columns) {
        const values = [
          accountId,
          rows.map(({ id }) => id),
          rows.map(({ sessionId }) => sessionId),
          rows.map(({ type }) => type),
          rows.map(({ occurredAt }) => occurredAt),
          rows.map(({ body }) => body),
        ];
        await pool.query({ ...BARE_INSERT, values });
      }
    }),
  );
}

process.stdout.write(`${(await run()).join('\n')}\n`);
