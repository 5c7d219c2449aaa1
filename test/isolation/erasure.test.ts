import assert from 'node:assert/strict';
import type { Pool } from 'pg';
import { admit } from '../../shared/db/stores/work/admit.ts';
import { newId } from '../../shared/ids.ts';
import { admissionTerms, jobAdmission } from '../../shared/work/admission.ts';
import { sync } from '../../shared/work/kinds.ts';
import { anonymously, isGone, signUp, type UserClient } from '../support/account.ts';
import { predictionBody } from '../support/client.ts';
import { connect, connectingApp } from '../support/connection.ts';
import { event, fillRecording, post } from '../support/recording.ts';
import { untilLocked } from '../support/row-lock.ts';
import { useProcesses } from '../support/system.ts';
import { until } from '../support/until.ts';

const EVENTS = 100_000;

describe('account erasure', () => {
  const system = useProcesses({
    webs: 2,
    env: { PUBLIC_URL: 'http://localhost:8080', SANDBOX_UNITS: '100000', LEASE_MS: '3000' },
  });

  beforeEach(() => system.provider.reset());

  const isBeingErased = async ({ id }: UserClient) => {
    const found = 'select from accounts where id = $1 and erasing_at is not null';
    return (await system.sql(found, [id])).length === 1;
  };

  const sessionsOf = async ({ id }: UserClient) => {
    const found = 'select from recording_sessions where account_id = $1';
    return (await system.sql(found, [id])).length;
  };

  /** Runs `work` while a lock stops the erasure of the person's recordings midway. */
  const whileErasureIsHeld = async (person: UserClient, work: () => Promise<void>) => {
    const holder = await system.database.pool.connect();
    try {
      await holder.query('begin');
      await holder.query('select from recording_events where account_id = $1 for update', [person.id]);
      await work();
    } finally {
      await holder.query('rollback');
      holder.release();
    }
  };

  it("while account erasure waits for a lock, apps still get predictions, but not through the account's connection", async () => {
    const person = await signUp(system);
    await post(person, [event()]);
    const [app, other] = await Promise.all([connectingApp(system), system.app()]);
    const { connection_id } = await connect(system, app, person);
    let erased: ReturnType<typeof person.request> | undefined;
    await whileErasureIsHeld(person, async () => {
      erased = person.request('DELETE', '/api/auth/me/');
      await until(() => isBeingErased(person));
      await until(async () => (await app.predict(predictionBody({ connection_id }))).status === 403);
      const replies = await Promise.all([
        app.predict(predictionBody()),
        app.predict(predictionBody({ connection_id })),
        other.predict(predictionBody()),
      ]);
      assert.deepEqual(
        replies.map(({ status, code }) => code ?? status),
        [200, 'connection_revoked', 200],
      );
      assert.equal(await isGone(system, person), false);
    });
    assert.equal((await erased)?.status, 204);
    await until(() => isGone(system, person));
  });

  it("once account erasure has begun, the account's credentials do not work, and its e-mail address can sign up again #erasure", async () => {
    const person = await signUp(system);
    const { email, password } = person;
    await post(person, [event()]);
    let erased: ReturnType<typeof person.request> | undefined;
    await whileErasureIsHeld(person, async () => {
      erased = person.request('DELETE', '/api/auth/me/');
      await until(() => isBeingErased(person));
      const replies = await Promise.all([
        post(person, [event()]),
        person.request('PATCH', '/api/auth/me/', { name: 'ghost' }),
        person.request('POST', '/api/auth/keys/', { label: 'ghost' }),
        person.request('GET', '/api/export/'),
        anonymously(system, 'POST', '/api/auth/login/', { email, password }),
        anonymously(system, 'POST', '/api/auth/token/refresh/', { refresh: person.refresh }),
      ]);
      assert.deepEqual([...new Set(replies.map(({ status }) => status))], [401]);
      assert.notEqual((await signUp(system, { email })).id, person.id);
    });
    assert.equal((await erased)?.status, 204);
  });

  it('account erasure removes work that is admitted while the erasure begins', async () => {
    const person = await signUp(system);
    const { pool } = system.database;
    const late = await pool.connect();
    let erased: ReturnType<typeof person.request> | undefined;
    try {
      await late.query('begin');
      const terms = { process: newId(), timeoutMs: 60_000, recoveryWindowS: 600 };
      const job = jobAdmission(sync, { accountId: person.id, body: {}, facts: {} });
      await admit(late as unknown as Pool, [job], admissionTerms(sync, terms));
      erased = person.request('DELETE', '/api/auth/me/');
      await untilLocked(system, 'lock_admissions');
    } finally {
      await late.query('commit');
      late.release();
    }
    assert.equal((await erased)?.status, 204);
    await until(() => isGone(system, person));
    assert.deepEqual(
      (await pool.query('select kind, state from work where party = $1', [person.id])).rows,
      [],
    );
  });

  it('account erasure is completed by another process if the erasing ingress dies midway #erasure', async () => {
    const person = await signUp(system);
    const { email } = person;
    await fillRecording(system, person, EVENTS);
    const mine = event({ session_id: `${person.id}-long` });
    const sessions = await sessionsOf(person);
    const other = await system.app();
    const [victim, survivor] = system.webs;
    const at = { url: survivor?.url ?? '' };

    // The call may be answered or cut off, since its answer does not wait for the whole erasure.
    const erased = person.request('DELETE', '/api/auth/me/').catch(() => undefined);
    await until(async () => (await sessionsOf(person)) < sessions);
    await victim?.stop('SIGKILL');
    await erased;
    assert.equal(await isGone(system, person), false);
    const heir = await signUp({ webs: system.webs.slice(1) }, { email });
    await until(async () => {
      assert.equal((await other.predict(predictionBody(), { at })).status, 200);
      return isGone(system, person);
    }, 30_000);
    assert.equal((await post(heir, [mine])).body.accepted, 1);
    const rows = await system.sql('select from recording_events where account_id = $1', [person.id]);
    assert.equal(rows.length, 0);
  });
});
