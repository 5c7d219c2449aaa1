import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  appendFile,
  chmod,
  mkdir,
  mkdtemp,
  readdir,
  readFile,
  rename,
  rm,
  stat,
  symlink,
  writeFile,
} from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { issueKey, signUp, type UserClient } from '../support/account.ts';
import { bareEnvironment } from '../support/environment.ts';
import { aiderFile, chatgptFile, conversationFile, copilotFile } from '../support/more-transcripts.ts';
import { installClient, type PackedClient } from '../support/packed-client.ts';
import { countOf, recording } from '../support/recording.ts';
import { type System, startSystem } from '../support/system.ts';
import { claudeCodeFile, claudeRecord, codexFile } from '../support/transcripts.ts';
import { until } from '../support/until.ts';

const SECRET = 'sk-proj-AbCdEf0123456789abcdef';
const OTHER_HOOK = { matcher: '', hooks: [{ type: 'command', command: 'say done' }] };

describe('forecue record', () => {
  let system: System;
  let installed: PackedClient;
  let ann: UserClient;
  let key: string;
  let home: string;
  let sessionCount = 0;
  before(async () => {
    [system, installed] = await Promise.all([startSystem(), installClient()]);
  });
  after(() => Promise.all([system?.stop(), installed?.remove()]));
  beforeEach(async () => {
    ann = await signUp(system);
    const { body } = await ann.request<{ key: string }>('POST', '/api/auth/keys/', { label: 'recorder' });
    key = body.key;
    home = await mkdtemp(join(tmpdir(), 'forecue-home-'));
    await mkdir(join(home, '.claude/projects/engine'), { recursive: true });
  });
  // Retries, because a recording may still be writing its bookmark.
  afterEach(() => rm(home, { recursive: true, maxRetries: 5 }));

  const run = async (command: string, args: string[], env: Record<string, string> = {}, input = '') => {
    const child = spawn(command, args, {
      cwd: installed.folder,
      env: { ...bareEnvironment(), HOME: home, ...env },
    });
    child.stdin.end(input);
    const [stdout, stderr, [code]] = await Promise.all([
      text(child.stdout),
      text(child.stderr),
      once(child, 'close'),
    ]);
    return { code, stdout, stderr };
  };
  const record = (args: string[] = [], env: Record<string, string> = {}) =>
    run(join(installed.folder, 'node_modules/.bin/forecue'), ['record', ...args], {
      FORECUE_URL: ann.url,
      FORECUE_KEY: key,
      ...env,
    });
  const settings = async () => JSON.parse(await readFile(join(home, '.claude/settings.json'), 'utf8'));
  /** Runs the hook's command as Claude Code does at this event. */
  const triggerHook = async (hook_event_name: string, transcript_path: string) => {
    const [group] = (await settings()).hooks[hook_event_name].slice(-1);
    const input = JSON.stringify({ hook_event_name, transcript_path, session_id: 'x', cwd: '/' });
    return run('sh', ['-c', group.hooks[0].command], {}, input);
  };
  const transcript = async (content: (session: string) => string, name = 'session.jsonl') => {
    sessionCount += 1;
    const session = `recorded-${process.pid}-${sessionCount}`;
    const path = join(home, '.claude/projects/engine', name);
    await writeFile(path, content(session));
    return { path, session };
  };
  const line = (session: string, number: number, type: string, message: object, at = new Date()) =>
    `${JSON.stringify(claudeRecord(session, number, { type, message, timestamp: at.toISOString() }))}\n`;
  const userLine = (session: string, number: number, content: string, at?: Date) =>
    line(session, number, 'user', { role: 'user', content }, at);
  const agentLine = (session: string, number: number, text: string) =>
    line(session, number, 'assistant', {
      role: 'assistant',
      content: [{ type: 'text', text }],
      stop_reason: 'end_turn',
    });
  const typesOf = async (session: string) => {
    const { body } = await recording.sessionEvents(ann, `claude-code:${session}`);
    return (body.results ?? []).map(({ type }) => type);
  };

  it('`forecue record` without --yes only shows the account and what is masked, and installs nothing', async () => {
    await transcript(claudeCodeFile);
    const { code, stdout } = await run('npx', ['--offline', 'forecue', 'record'], {
      FORECUE_URL: ann.url,
      FORECUE_KEY: key,
    });
    assert.equal(code, 1);
    for (const shown of [ann.url, ann.email, 'private keys, tokens', '…use key [masked key]…', '--yes'])
      assert.ok(stdout.includes(shown), `${shown} is not in ${stdout}`);
    assert.ok(!stdout.includes(SECRET));
    await assert.rejects(stat(join(home, '.forecue')), { code: 'ENOENT' });
    await assert.rejects(settings(), { code: 'ENOENT' });
  });

  it("`forecue record` refuses an agent's key, and records the person's own words with one of the scope `record`", async () => {
    const { path } = await transcript(claudeCodeFile);
    const refused = await record(['--yes'], {
      FORECUE_KEY: await issueKey(ann, ['read', 'predict', 'write']),
    });
    assert.ok(refused.code !== 0 && refused.stderr.includes('lacks the scope `record`'), refused.stderr);
    await assert.rejects(settings(), { code: 'ENOENT' });
    const { code, stdout } = await record([path], { FORECUE_KEY: await issueKey(ann, ['record']) });
    assert.equal(code, 0, stdout);
    const rows = await system.sql('select distinct reported from recording_events where account_id = $1', [
      ann.id,
    ]);
    assert.deepEqual(rows, [{ reported: false }]);
  });

  it("`forecue record --yes` records each turn once, without secrets, and keeps the person's own hooks", async () => {
    const own = { model: 'some-model', hooks: { Stop: [OTHER_HOOK] } };
    await writeFile(join(home, '.claude/settings.json'), JSON.stringify(own));
    // Leaves files as others may have put them into a folder that was open to all.
    const victim = join(home, 'victim');
    await writeFile(victim, 'not a program');
    await mkdir(join(home, '.forecue/unsent'), { recursive: true });
    await chmod(join(home, '.forecue'), 0o777);
    await symlink(victim, join(home, '.forecue/record.mjs'));
    await writeFile(join(home, '.forecue/unsent/broken'), '{');
    assert.equal((await record(['--yes'])).code, 0);
    await record(['--yes']);
    const { hooks, ...others } = await settings();
    assert.deepEqual(others, { model: 'some-model' });
    assert.deepEqual([hooks.Stop.length, hooks.Stop[0], hooks.SessionEnd.length], [2, OTHER_HOOK, 1]);
    const modeOf = async (path: string) => (await stat(join(home, path))).mode & 0o777;
    assert.deepEqual([await modeOf('.forecue'), await modeOf('.forecue/connection.json')], [0o700, 0o600]);
    assert.equal(await readFile(victim, 'utf8'), 'not a program');

    const { path, session } = await transcript(
      (one) => userLine(one, 1, `go on with ${SECRET}`) + agentLine(one, 2, 'Shall I commit?'),
    );
    assert.deepEqual(await triggerHook('Stop', path), { code: 0, stdout: '', stderr: '' });
    const first = ['session.started', 'user.message', 'agent.prompt'];
    await until(async () => (await typesOf(session)).join() === first.join());
    await appendFile(path, userLine(session, 3, 'yes') + agentLine(session, 4, 'Done.'));
    await triggerHook('Stop', path);
    await until(async () => (await typesOf(session)).length === 5);
    await triggerHook('SessionEnd', path);
    await until(async () => (await typesOf(session)).includes('session.stopped'));
    assert.deepEqual(await countOf(system, ann), { events: 6, ids: 6 });
    const { body } = await recording.event(ann, `claude-code:${session}-1`);
    assert.equal(body['text'], 'go on with [masked key]');
  });

  it("`forecue record` installs hooks that run nothing of a folder's name, whatever characters it has", async () => {
    const plain = home;
    home = `${plain} it's "$(touch ran)\`touch ran\``;
    await rename(plain, home);
    await record(['--yes']);
    await record(['--yes']);
    assert.equal((await settings()).hooks.Stop.length, 1);
    assert.deepEqual(await triggerHook('Stop', join(home, 'none')), { code: 0, stdout: '', stderr: '' });
    await assert.rejects(stat(join(installed.folder, 'ran')), { code: 'ENOENT' });
  });

  it('`forecue record` records each turn of a session in a file that also has an older session', async () => {
    await record(['--yes']);
    const older = userLine(`older-${process.pid}`, 1, 'hello', new Date('2026-01-01'));
    const { path, session } = await transcript((one) => older + userLine(one, 1, 'go on'));
    await triggerHook('Stop', path);
    await until(async () => (await readdir(join(home, '.forecue/bookmarks'))).length === 1);
    await appendFile(path, userLine(session, 2, 'and on'));
    await triggerHook('Stop', path);
    await until(async () => (await typesOf(session)).length === 3);
  });

  it('`forecue record` reports a failed recording at the next turn of any session, and then records what was missed', async () => {
    await record(['--yes']);
    const two = (one: string) => userLine(one, 1, 'hello') + agentLine(one, 2, 'Hello.');
    const [ended, next, deleted] = [
      await transcript(two, 'ended.jsonl'),
      await transcript(two, 'next.jsonl'),
      await transcript(two, 'deleted.jsonl'),
    ];
    const connection = join(home, '.forecue/connection.json');
    const kept = await readFile(connection, 'utf8');
    await writeFile(connection, JSON.stringify({ ...JSON.parse(kept), key: 'service_revoked' }));
    const unsent = () => readdir(join(home, '.forecue/unsent'));
    await triggerHook('SessionEnd', ended.path);
    await triggerHook('Stop', deleted.path);
    await until(async () => (await unsent()).length === 2);
    await rm(deleted.path);
    await writeFile(connection, kept);
    const { stdout } = await triggerHook('Stop', next.path);
    assert.match(JSON.parse(stdout).systemMessage, /^Forecue did not record: .*\(not_authenticated\)$/);
    await until(async () => (await unsent()).length === 0);
    assert.equal((await typesOf(next.session)).length, 3);
    assert.equal((await typesOf(ended.session)).at(-1), 'session.stopped');
    assert.equal((await triggerHook('Stop', next.path)).stdout, '');
  });

  it("`forecue record FOLDER` records the folder's transcripts of any tool, each event once", async () => {
    await transcript(claudeCodeFile);
    await transcript(codexFile, 'rollout.jsonl');
    await transcript(aiderFile, '.aider.chat.history.md');
    await transcript(copilotFile, 'events.jsonl');
    await transcript(chatgptFile, 'conversations-000.json');
    await transcript(conversationFile, 'other.jsonl');
    const { code, stdout } = await record([join(home, '.claude/projects')]);
    assert.equal(code, 0, stdout);
    assert.match(stdout, /^6 transcripts: 48 events recorded, 0 were there/);
    assert.match(
      (await record([join(home, '.claude/projects')])).stdout,
      /: 0 events recorded, 48 were there/,
    );
    assert.deepEqual(await countOf(system, ann), { events: 48, ids: 48 });
  });

  it("`forecue record --remove` removes Forecue's hooks and files, and keeps the person's own hooks", async () => {
    await writeFile(join(home, '.claude/settings.json'), JSON.stringify({ hooks: { Stop: [OTHER_HOOK] } }));
    await record(['--yes']);
    assert.equal((await record(['--remove'], { FORECUE_KEY: '' })).code, 0);
    assert.deepEqual(await settings(), { hooks: { Stop: [OTHER_HOOK] } });
    await assert.rejects(stat(join(home, '.forecue')), { code: 'ENOENT' });
  });

  it('`forecue record` recognises an export of an account, and says what stores it again', async () => {
    const response = await fetch(`${ann.url}/api/export/`, { headers: { 'x-service-api-key': key } });
    assert.equal(response.status, 200);
    const path = join(home, 'export.jsonl');
    await writeFile(path, await response.text());
    const { code, stdout } = await record([path]);
    assert.equal(code, 1);
    assert.match(stdout, /export\.jsonl: it is an export of a Forecue account.*admin import/);
    assert.equal((await countOf(system, ann)).events, 0);
  });

  it('`forecue record` reports invalid settings without a stack trace or the key, and changes no invalid settings file', async () => {
    const refused = async (args: string[], env: Record<string, string>, message: RegExp) => {
      const { code, stderr } = await record(args, env);
      assert.equal(code, 1);
      assert.match(stderr, message);
      assert.ok(!stderr.includes(key) && !stderr.includes('    at '), stderr);
    };
    await refused([], { FORECUE_KEY: '' }, /^forecue: set FORECUE_URL .* and FORECUE_KEY/);
    await refused([], { FORECUE_KEY: 'eyJ' }, /^forecue: FORECUE_KEY: .* begins with service_/);
    await refused([], { FORECUE_URL: 'localhost' }, /^forecue: baseUrl: not an http or https address/);
    await refused([], { FORECUE_KEY: 'service_unknown' }, /^forecue: Send a valid access token/);
    await writeFile(join(home, '.claude/settings.json'), '{ "model": }');
    await refused(['--yes'], {}, /settings\.json is not a JSON object: nothing was changed/);
    assert.equal(await readFile(join(home, '.claude/settings.json'), 'utf8'), '{ "model": }');
    const { code, stdout } = await record([join(home, 'nowhere.jsonl')]);
    assert.equal(code, 1);
    assert.match(stdout, /nowhere\.jsonl: ENOENT/);
  });
});
