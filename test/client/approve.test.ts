import assert from 'node:assert/strict';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { signUp, type UserClient } from '../support/account.ts';
import { buildApprover, claudeRequest as claude, codexRequest as codex, runIn } from '../support/approver.ts';
import { listen } from '../support/listening.ts';
import { permissionEvent } from '../support/permissions.ts';
import { post } from '../support/recording.ts';
import { type System, startSystem } from '../support/system.ts';

const OTHERS =
  '{"model":"some-model","hooks":{"PermissionRequest":[{"matcher":"Edit","hooks":[{"type":"command","command":"say asked"}]}]}}';
const ALLOWED = {
  hookSpecificOutput: { hookEventName: 'PermissionRequest', decision: { behavior: 'allow' } },
};
const ALLOWED_BEFORE = { hookSpecificOutput: { hookEventName: 'PreToolUse', permissionDecision: 'allow' } };

describe('forecue approve', () => {
  let system: System;
  let person: UserClient;
  let key: string;
  let folder: string;
  let home: string;
  const program = () => join(folder, 'forecue.mjs');

  before(async () => {
    folder = await buildApprover();
    system = await startSystem();
    person = await signUp(system);
    const { body } = await person.request<{ key: string }>('POST', '/api/auth/keys/', {
      label: 'approver',
      scopes: ['predict'],
    });
    key = body.key;
    const usual = ['npm test', 'npm test -- --watch=false', ...Array<string>(5).fill('git push origin dev')];
    await post(
      person,
      usual.map((target) => permissionEvent(target)),
    );
  });
  after(() => Promise.all([system?.stop(), rm(folder, { recursive: true })]));
  beforeEach(async () => {
    home = await mkdtemp(join(folder, 'home-'));
    await mkdir(join(home, '.codex'));
    await mkdir(join(home, '.claude'));
    await writeFile(join(home, '.claude/settings.json'), OTHERS);
  });

  const forecue = async (args: string[], env: Record<string, string> = {}) => {
    const { code, stdout, stderr } = await runIn(home, [process.execPath, program(), 'approve', ...args], {
      env: { FORECUE_URL: person.url, FORECUE_KEY: key, ...env },
    });
    assert.equal(code, 0, stderr);
    return stdout;
  };
  const install = (...args: string[]) => forecue(['install', '--wait-ms', '2000', ...args]);
  const settings = () => readFile(join(home, '.claude/settings.json'), 'utf8');
  const codexHooks = () => readFile(join(home, '.codex/hooks.json'), 'utf8');
  /** Runs the hook that is installed, as its agent does, without the environment of `install`. */
  const ask = async (payload: { hook_event_name: string } | string, env: Record<string, string> = {}) => {
    const isCodex = typeof payload === 'object' && 'turn_id' in payload;
    const { hooks } = JSON.parse(await (isCodex ? codexHooks() : settings()));
    const event = typeof payload === 'string' ? 'PermissionRequest' : payload.hook_event_name;
    const { command } = hooks[event].at(-1).hooks[0];
    const { code, stdout, stderr } = await runIn(home, ['sh', '-c', command], {
      input: typeof payload === 'string' ? payload : JSON.stringify(payload),
      env,
    });
    assert.deepEqual({ code, stderr }, { code: 0, stderr: '' });
    return stdout === '' ? undefined : JSON.parse(stdout);
  };
  const why = async () => (await forecue(['why'])).trim().split('\n').at(-1) ?? '';

  it('forecue approve adds its hooks beside others, once, and takes them out again to the byte', async () => {
    assert.match(await install(), /Claude Code: installed.*Codex: not trusted yet/s);
    const first = [await settings(), await codexHooks()];
    const { PermissionRequest, PreToolUse } = JSON.parse(first[0] ?? '').hooks;
    assert.deepEqual([PermissionRequest.length, PreToolUse.length], [2, 1]);
    await install();
    assert.deepEqual([await settings(), await codexHooks()], first);
    const mark = `[hooks.state."${join(home, '.codex/hooks.json')}:permission_request:0:0"]\ntrusted_hash = "sha256:20bc"\n`;
    await writeFile(join(home, '.codex/config.toml'), mark);
    assert.match(await forecue(['status']), /Codex: installed/);
    await forecue(['uninstall']);
    assert.equal(await settings(), OTHERS);
    await assert.rejects(codexHooks(), { code: 'ENOENT' });
    await assert.rejects(readFile(join(home, '.forecue/approve.json')), { code: 'ENOENT' });
  });

  it('forecue approve takes out its hooks alone when the file has changed since', async () => {
    await install('claude-code', '--project');
    const file = join(home, '.claude/settings.local.json');
    const changed = { ...JSON.parse(await readFile(file, 'utf8')), model: 'other' };
    await writeFile(file, JSON.stringify(changed));
    await forecue(['uninstall']);
    assert.deepEqual(JSON.parse(await readFile(file, 'utf8')), { model: 'other' });
  });

  it('both agents are answered where the person allowed the like, and else not at all', async () => {
    await install();
    assert.deepEqual(await ask(claude('npm test -- --watch')), ALLOWED);
    assert.deepEqual(await ask(codex('npm test -- --watch')), ALLOWED);
    assert.match(await why(), /codex allowed: 2 allowed and 0 refused, 2 needed/);
    assert.equal(await ask(claude('npm run lint')), undefined);
    assert.equal(await ask(codex('rm -rf build')), undefined);
    const patch = {
      tool_name: 'apply_patch',
      tool_input: { command: '*** Begin Patch\n*** Add File: /srv/outside.md\n+Outside.\n*** End Patch' },
    };
    assert.equal(await ask(codex('', patch)), undefined);
    assert.match(await why(), /codex silent: 0 allowed and 0 refused, 5 needed/);
  });

  it('in auto mode the hook comes before the check of Claude Code, with the strict rule', async () => {
    await install();
    const auto = {
      hook_event_name: 'PreToolUse',
      permission_mode: 'auto',
      permission_suggestions: undefined,
    };
    assert.deepEqual(await ask(claude('git push origin dev', auto)), ALLOWED_BEFORE);
    assert.equal(await ask(claude('npm test', auto)), undefined);
    assert.equal(
      await ask(claude('git push origin dev', { ...auto, permission_mode: 'default' })),
      undefined,
    );
    const rules = JSON.stringify({
      ...JSON.parse(await settings()),
      permissions: { ask: ['Bash(git push *)'] },
    });
    await writeFile(join(home, '.claude/settings.json'), rules);
    assert.equal(await ask(claude('git push origin dev', auto)), undefined);
    // A rule for a server is about each of its tools, and one for edits about all tools that edit.
    const whyWith = async (tool_name: string, tool_input: object, rule: string) => {
      const changed = { ...JSON.parse(await settings()), permissions: { ask: [rule] } };
      await writeFile(join(home, '.claude/settings.json'), JSON.stringify(changed));
      await ask(claude('', { ...auto, tool_name, tool_input }));
      return why();
    };
    assert.match(await whyWith('mcp__tickets__create', { a: 1 }, 'mcp__tickets'), /a rule of yours asks/);
    assert.match(await whyWith('mcp__tickets__create', { a: 1 }, 'mcp__tickets__*'), /a rule of yours asks/);
    assert.match(await whyWith('Write', { file_path: '/x' }, 'Edit(/x)'), /a rule of yours asks/);
    assert.match(await whyWith('Write', { file_path: '/x' }, 'Bash(x)'), /allowed and/);
  });

  it('what the person always refused is denied once they have switched that on, with words for the model', async () => {
    await install();
    await person.request('PATCH', '/api/decisions/settings/', { deny: true });
    const asked = 'npm run format';
    await post(
      person,
      [1, 2].map(() => permissionEvent(asked, 'refused')),
    );
    for (const payload of [claude(asked), codex(asked)]) {
      const { hookSpecificOutput } = await ask(payload);
      assert.equal(hookSpecificOutput.decision.behavior, 'deny');
      assert.match(hookSpecificOutput.decision.message, /refused this each time/);
    }
    assert.match(await why(), /denied: 0 allowed and 2 refused/);
    await person.request('PATCH', '/api/decisions/settings/', { deny: false });
    assert.equal(await ask(claude(asked)), undefined);
  });

  it('the hook is silent where nobody is asked, a rule of the person asks, or the request is malformed', async () => {
    await install();
    const silent: [unknown, RegExp, Record<string, string>?][] = [
      [claude('npm test', { permission_suggestions: undefined }), /a rule of yours asks/],
      [claude('npm test'), /nobody is asked/, { CLAUDE_CODE_ENTRYPOINT: 'sdk-cli' }],
      [claude('npm test', { permission_mode: 'bypassPermissions' }), /nobody is asked/],
      [claude('', { tool_name: 'Skill', tool_input: { skill: 'x' } }), /not compared/],
      [claude('npm test -- --password=hunter2hunter2'), /a secret/],
      ['{"hook_event_name":', /malformed/],
      ['', /malformed/],
      ['[]', /malformed/],
    ];
    for (const [payload, reason, env] of silent) {
      assert.equal(await ask(payload as string, env), undefined);
      assert.match(await why(), reason);
    }
    await mkdir(join(home, '.codex/rules'));
    await writeFile(
      join(home, '.codex/rules/default.rules'),
      'prefix_rule(pattern=["npm","test"], decision="prompt")',
    );
    assert.equal(await ask(codex('npm test')), undefined);
    assert.match(await why(), /a rule of yours asks/);
    await writeFile(
      join(home, '.codex/rules/default.rules'),
      "prefix_rule(\n  pattern = [['pnpm', 'npm'], 'test'],\n  decision = 'prompt',\n)",
    );
    assert.equal(await ask(codex('npm test')), undefined);
    assert.match(await why(), /a rule of yours asks/);
    assert.ok(!(await readFile(join(home, '.forecue/approve.log'), 'utf8')).includes('npm'));
  });

  it('without Forecue, with a revoked key, or switched off the hook is silent, and in shadow it only notes', async () => {
    await install();
    await forecue(['shadow']);
    assert.equal(await ask(claude('npm test')), undefined);
    assert.match(await why(), /would have allowed/);
    await forecue(['off']);
    assert.equal(await ask(claude('npm test')), undefined);
    await forecue(['on']);
    assert.deepEqual(await ask(claude('npm test')), ALLOWED);
    assert.match(await forecue(['off', '--account']), /on no machine/);
    assert.equal(await ask(claude('npm test')), undefined);
    await person.request('PATCH', '/api/decisions/settings/', { automatic: true });
    await forecue(['install'], { FORECUE_URL: 'http://127.0.0.1:9' });
    assert.equal(await ask(claude('npm test')), undefined);
    assert.match(await why(), /not reached|silent/);
    const { body: revoked } = await person.request<{ id: string; key: string }>('POST', '/api/auth/keys/', {
      label: 'gone',
    });
    await person.request('DELETE', `/api/auth/keys/${revoked.id}/`);
    await forecue(['install'], { FORECUE_KEY: revoked.key });
    assert.equal(await ask(claude('npm test')), undefined);
    assert.match(await why(), /the key is not accepted/);
    const answer = [
      '{"id":"x","decision":"allow","reason":"supported",',
      '"allowed":2,"refused":0,"required":2}',
    ];
    await using chunked = await listen(
      createServer((request, response) => {
        request.resume();
        response.write(answer[0]);
        response.end(answer[1]);
      }),
    );
    await forecue(['install'], { FORECUE_URL: chunked.url });
    assert.deepEqual(await ask(claude('npm test')), ALLOWED);
    await using hanging = await listen(createServer(() => undefined));
    await forecue(['install', '--wait-ms', '500'], { FORECUE_URL: hanging.url });
    assert.equal(await ask(claude('npm test')), undefined);
    assert.match(await why(), /no answer in time|TimeoutError|aborted/);
  });
});
