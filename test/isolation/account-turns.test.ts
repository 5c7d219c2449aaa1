import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import { readExamples } from '../../ingress/openapi/committed.ts';
import { endpoints } from '../../ingress/routes/index.ts';
import { findAnyAccount } from '../../shared/db/stores/accounts.ts';
import { issueToken } from '../../shared/db/stores/log-ins.ts';
import { PASSWORD_RESET_PATH, passwordResetLink } from '../../shared/domain/account.ts';
import { newId } from '../../shared/ids.ts';
import { Visitor } from '../connect/visitor.ts';
import { anonymously, signUp, type UserClient } from '../support/account.ts';
import { predictionBody } from '../support/client.ts';
import { approve, connectingApp, exchange, startBody, startConnection } from '../support/connection.ts';
import { callUntil } from '../support/paced-until.ts';
import { lockRow, lockTable } from '../support/row-lock.ts';
import { type System, type TestProcess, useProcesses, useSystem } from '../support/system.ts';
import { until } from '../support/until.ts';

const examples = readExamples();

const ROW = { content: 'A note.', kind: 'note', origin: 'human' };
/** Too many for the 10 connections of an ingress, since each change waits up to 2 s for the lock. */
const CHANGES_PER_SECOND = 40;
const HELD_MS = 4000;
/** More calls of one account than may run or wait. */
const EXCESSIVE_CALLS = 105;

describe('account whose row is locked', () => {
  const system = useProcesses();
  let person: UserClient;
  beforeEach(async () => {
    person = await signUp(system);
  });

  const change = () => person.request('POST', '/api/memory/raw/', ROW);
  const rename = () => person.request('PATCH', '/api/auth/me/', { name: 'Another' });
  const lock = () => lockRow(system, 'accounts', 'id = $1', [person.id]);

  it("during a long change of an account's memory, apps start connections and exchange codes for it within 1.5 s", async () => {
    const [app, other] = [await connectingApp(system), await signUp(system)];
    const exchanges = [];
    for (const [n, account] of [person, person, person, person, other].entries()) {
      const attempt = await startConnection(app, `u-${n}`);
      exchanges.push([attempt, await approve(system, attempt, account)] as const);
    }
    const changing = await lockRow(system, 'accounts', 'id = $1', [person.id], 'no key update');
    const replies = await Promise.all([
      ...exchanges.map(([attempt, code]) => exchange(app, attempt, code)),
      app.request('POST', '/v1/connections', startBody().body),
    ]);
    await changing.release();
    for (const { status, text, tookMs } of replies) {
      assert.equal(status, 200, text);
      assert.ok(tookMs < 1500, `${tookMs} ms`);
    }
  });

  it("while 40 memory changes per second wait for an account's locked row, no call of another account or app fails #account-lock", async () => {
    const app = await system.app();
    const other = await signUp(system);
    const locked = await lock();
    const changes = callUntil(CHANGES_PER_SECOND, change, sleep(HELD_MS));
    const calls = await callUntil(
      5,
      async () => {
        const { status } = await app.predict(predictionBody());
        const kept = await other.request('POST', '/api/memory/raw/', ROW);
        return `${status} ${kept.status}`;
      },
      changes,
    );
    await locked.release();
    for (const { status } of await changes) assert.equal(status, 503);
    assert.deepEqual(
      calls,
      calls.map(() => '200 201'),
    );
    assert.equal((await change()).status, 201);
  });

  for (const [turn, fill] of Object.entries({ memory: change, account: rename }))
    it(`an account gets 503 overloaded for each call that takes its turn of the ${turn} while 100 of its changes run or wait for its locked row`, async () => {
      const locked = await lock();
      const others = Array.from({ length: EXCESSIVE_CALLS }, fill);
      const codes: unknown[] = [];
      for (const other of others) void other.then(({ code }) => codes.push(code));
      await until(() => codes.includes('overloaded'));
      const inTurn = endpoints.filter((one) => one.inTurn === turn);
      const answers = inTurn.map(async ({ method, path, operationId, body }) => {
        const sent = body && (examples[operationId]?.request as object);
        const { status, code } = await person.request(method, path.replace(/:\w+/, newId()), sent);
        return [operationId, `${status} ${code}`];
      });
      assert.deepEqual(
        await Promise.all(answers),
        inTurn.map(({ operationId }) => [operationId, '503 overloaded']),
      );
      await locked.release();
      await Promise.all(others);
    });
});

describe('account whose row a long change locks', () => {
  const system = useSystem({ workers: 0 });

  /** Returns calls that lock the person's row: to log in, approve, set a new password and erase the account. */
  async function lockingCalls(person: UserClient): Promise<(() => Promise<{ status: number }>)[]> {
    const { id, email, password, url } = person;
    const { authorize_url: consentUrl } = await startConnection(await connectingApp(system));
    const consenting = new Visitor();
    await consenting.submit(consentUrl, { do: 'sign-in', email, password });
    const { csrf: consentCsrf } = await consenting.get(consentUrl);
    const account = await findAnyAccount(system.em(), id);
    const token = account && (await issueToken(system.em(), 'password_resets', account))?.token;
    const forgetful = new Visitor();
    await forgetful.get(passwordResetLink(url, token ?? ''));
    const { csrf } = await forgetful.get(url + PASSWORD_RESET_PATH);
    return [
      () => anonymously(system, 'POST', '/api/auth/login/', { email, password }),
      () => consenting.post(consentUrl, { csrf: consentCsrf, do: 'approve' }),
      () => forgetful.post(url + PASSWORD_RESET_PATH, { csrf, password: 'a horse with 10 staples' }),
      () => person.request('DELETE', '/api/auth/me/'),
    ];
  }

  it("while 40 log-ins, approvals, new passwords and erasures per second wait for an account's lock, other accounts' memory can be changed", async () => {
    const [person, other] = [await signUp(system), await signUp(system)];
    const calls = await lockingCalls(person);
    const locked = await lockRow(system, 'accounts', 'id = $1', [person.id], 'no key update');
    let n = 0;
    const call = async () => {
      n += 1;
      return (await calls[n % calls.length]?.())?.status;
    };
    const waiting = callUntil(CHANGES_PER_SECOND, call, sleep(HELD_MS));
    const changes = await callUntil(5, () => other.request('POST', '/api/memory/raw/', ROW), waiting);
    await locked.release();
    assert.deepEqual(new Set(await waiting), new Set([503]));
    assert.deepEqual(new Set(changes.map(({ status }) => status)), new Set([201]));
    for (const one of calls.slice(0, 2)) assert.ok((await one()).status < 400);
  });
});

describe('slow reads of an account', () => {
  const system = useProcesses();

  it("while many reads of an account's predictions wait, accounts can be changed, and further reads get 503 overloaded #account-lock", async () => {
    const [person, other] = [await signUp(system), await signUp(system)];
    await assertChangesGoOn(system, [person, other], 'replies', '/api/predictions/');
  });
});

describe('app whose rows are locked', () => {
  const system = useProcesses();

  /** Runs `change` at a steady pace, and calls by another app and another person meanwhile. Returns the statuses. */
  const statusesDuring = async (change: () => Promise<{ status: number }>) => {
    const [app, person] = [await connectingApp(system), await signUp(system)];
    const changes = callUntil(CHANGES_PER_SECOND, change, sleep(HELD_MS));
    const others = await callUntil(
      5,
      async () => {
        const started = await app.request('POST', '/v1/connections', startBody().body);
        const kept = await person.request('POST', '/api/memory/raw/', ROW);
        return `${started.status} ${kept.status}`;
      },
      changes,
    );
    return { others: new Set(others), changes: new Set((await changes).map(({ status }) => status)) };
  };
  const undisturbed = { others: new Set(['200 201']), changes: new Set([503]) };

  it("while 40 starts of connections per second wait for an app's locked row, no call of another app or account fails #account-lock", async () => {
    const app = await connectingApp(system);
    const locked = await lockRow(system, 'apps', 'id = $1', [app.id]);
    assert.deepEqual(
      await statusesDuring(() => app.request('POST', '/v1/connections', startBody().body)),
      undisturbed,
    );
    await locked.release();
    assert.equal((await app.request('POST', '/v1/connections', startBody().body)).status, 200);
  });
});

/** Asserts that both people can change their accounts while the first one's reads wait for a locked table. */
async function assertChangesGoOn(
  system: System<TestProcess>,
  people: readonly [UserClient, UserClient],
  table: string,
  path: string,
): Promise<void> {
  const locked = await lockTable(system, table);
  const reads = Array.from({ length: EXCESSIVE_CALLS }, () => people[0].request('GET', path));
  const codes: unknown[] = [];
  for (const read of reads) void read.then(({ code }) => codes.push(code));
  await until(() => codes.includes('overloaded'));
  for (const one of people)
    assert.equal((await one.request('PATCH', '/api/auth/me/', { name: 'Another' })).status, 200);
  await locked.release();
  await Promise.all(reads);
}
