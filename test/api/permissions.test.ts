import assert from 'node:assert/strict';
import type { PermissionAnswer } from '../../shared/schemas/permissions.ts';
import { signUp, type UserClient } from '../support/account.ts';
import { call } from '../support/client.ts';
import { HOSTILE_COMMANDS, USUAL } from '../support/hostile-requests.ts';
import { permissionEvent, permissionRequest } from '../support/permissions.ts';
import { post } from '../support/recording.ts';
import { useSystem } from '../support/system.ts';

describe('permissions of agents', () => {
  const system = useSystem();
  let person: UserClient;

  const ask = async (target: string, more: object = {}, by = person) =>
    (
      await by.request<PermissionAnswer>(
        'POST',
        '/api/predictions/permission/',
        permissionRequest(target, more),
      )
    ).body;
  const judged = ({ decision, required }: PermissionAnswer) => ({ decision, required });
  const decide = (...targets: string[]) =>
    post(
      person,
      targets.map((target) => permissionEvent(target)),
    );

  before(async () => {
    person = await signUp(system);
    await decide(
      'npm test',
      'npm test -- --grep dates',
      ...Array<string>(5).fill('git push origin dev'),
      'rm -rf ~',
    );
  });

  it('a variant of what the person allowed twice is allowed, with its support', async () => {
    const { id, ...answer } = await ask('npm test -- --watch');
    assert.deepEqual(answer, {
      decision: 'allow',
      reason: 'supported',
      confidence: 0.75,
      allowed: 2,
      refused: 0,
      required: 2,
    });
    const [row] = await system.sql(
      'select decision, target, shadow from permission_decisions where id = $1',
      [id],
    );
    assert.deepEqual(row, { decision: 'allow', target: 'npm test -- --watch', shadow: false });
  });

  it('what cannot be undone needs five of the very same, and some things never become automatic', async () => {
    assert.equal((await ask('git push origin dev')).decision, 'allow');
    assert.deepEqual(judged(await ask('git push origin main')), { decision: 'ask', required: 5 });
    assert.deepEqual(judged(await ask('rm -rf ~')), {
      decision: 'ask',
      required: null,
    });
  });

  it('where nobody would be asked otherwise, all needs five', async () => {
    assert.equal((await ask('npm test', { mode: 'auto' })).decision, 'ask');
    assert.equal((await ask('git push origin dev', { mode: 'auto' })).decision, 'allow');
  });

  it('approvals of another person, in another project, or of what was refused since do not count', async () => {
    const stranger = await signUp(system);
    assert.equal((await ask('npm test', {}, stranger)).decision, 'ask');
    assert.equal(
      (await ask('npm test', { cwd: '/home/ada/other', project: '/home/ada/other' })).decision,
      'ask',
    );
    await decide('npm run lint', 'npm run lint');
    assert.equal((await ask('npm run lint')).decision, 'allow');
    const later = { occurred_at: '2026-05-02T12:00:00Z' };
    await post(person, [permissionEvent('npm run lint -- --quiet', 'refused', later)]);
    assert.equal((await ask('npm run lint')).decision, 'ask');
  });

  it('approvals that a key without the scope record reports support nothing', async () => {
    const { body } = await person.request<{ key: string }>('POST', '/api/auth/keys/', {
      label: 'agent',
      scopes: ['write'],
    });
    const reports = Array.from({ length: 6 }, () => permissionEvent('npm run format'));
    const headers = { 'x-service-api-key': body.key };
    const { status } = await call('POST', `${person.url}/api/recording/events/`, reports, { headers });
    assert.equal(status, 201);
    assert.equal((await ask('npm run format')).decision, 'ask');
  });

  it('answers of Forecue support nothing, however often an agent asks', async () => {
    for (let at = 0; at < 6; at += 1) assert.equal((await ask('npm run build')).decision, 'ask');
  });

  it('a hostile repository gets nothing allowed, whatever its texts say and its letters look like', async () => {
    const target = await signUp(system);
    const usual = USUAL.flatMap((command) => Array.from({ length: 6 }, () => permissionEvent(command)));
    await post(target, usual);
    const judge = async (command: string) => (await ask(command, {}, target)).decision;
    for (const command of USUAL) assert.equal(await judge(command), 'allow', command);
    for (const command of HOSTILE_COMMANDS) assert.equal(await judge(command), 'ask', command);
  });

  it('a command with a secret is left to the person, and stored without it', async () => {
    const command = 'npm test -- --password=hunter2hunter2';
    await decide(command, command);
    const { id, decision } = await ask(command);
    const [row] = await system.sql<{ target: string }>(
      'select target from permission_decisions where id = $1',
      [id],
    );
    assert.equal(decision, 'ask');
    assert.ok(row && !row.target.includes('hunter2'));
  });
});
