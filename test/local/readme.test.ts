import assert from 'node:assert/strict';
import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { text } from 'node:stream/consumers';
import { Visitor } from '../connect/visitor.ts';
import type { AppClient } from '../support/client.ts';
import { describeWhere } from '../support/describe-where.ts';
import { bareEnvironment } from '../support/environment.ts';
import { hasPython, PYTHON_PATH } from '../support/python-client.ts';
import { useSystem } from '../support/system.ts';
import { until } from '../support/until.ts';

const CHECKOUT = join(import.meta.dirname, '../..');
const README = readFileSync(join(CHECKOUT, 'README.md'), 'utf8');
const FIRST_STEPS = readFileSync(join(CHECKOUT, 'docs/first-steps.md'), 'utf8');
const PYTHON_README = readFileSync(join(PYTHON_PATH, 'README.md'), 'utf8');
const PASTED = '--- pasted ---';
const PYTHON_REDIRECT_URI = 'https://app.example/forecue/callback';
/** Defines what the last block of the Python client's README takes as given. */
const PYTHON_SETUP = `
def come_back(url):
    from urllib.parse import parse_qsl, urlsplit
    print(f"{url} as {email}", flush=True)
    return dict(parse_qsl(urlsplit(input()).query))
`;

describe('README', () => {
  const system = useSystem({
    workerEntry: ['workers/main.ts', 'all'],
    env: { OPENAI_API_KEY: '', OPENAI_BASE_URL: '', DEFAULT_MODEL: 'local' },
  });

  it("the README's commands, pasted in order, print what the README shows", async () => {
    const [start, test, ...pasted] = blocks(README, 'sh');
    assert.deepEqual([start, test], ['npm ci && npm start\n', 'npm ci && npm test\n']);
    const [answer = '', demo = ''] = await paste(pasted);
    const [claimedAnswer = ''] = blocks(README, 'json');
    assert.deepEqual(blankVariableFields(JSON.parse(answer)), blankVariableFields(JSON.parse(claimedAnswer)));
    assert.ok(demo.includes(blocks(README, '')[1] ?? '?'), demo);
  });

  it("the README's call can be pasted again after its recovery window", async () => {
    const [, , call = ''] = blocks(README, 'sh');
    const app = await system.app();
    await paste([call], app);
    await system.sql('update history set expires_at = now() where party = $1', [app.id]);
    const second = Math.floor(Date.now() / 1000);
    await until(() => Math.floor(Date.now() / 1000) > second, 2000);
    const [again = ''] = await paste([call], app);
    assert.equal(JSON.parse(again).status, 'suggested');
  });

  it('the commands of the first steps, pasted in order, print what the document shows, and its consent flow can be completed', async () => {
    const pasted = blocks(FIRST_STEPS, 'sh');
    const [, reply, consent, completion = ''] = await paste(pasted);
    assert.equal(reply, blocks(FIRST_STEPS, '')[0]);
    assert.match(consent ?? '', /^http.*\/connect\//);
    const again = await paste(pasted);
    assert.deepEqual([again[1], again[3]], [reply, completion], 'a second paste prints the same');
    assert.ok(FIRST_STEPS.includes(`It prints \`${completion.trim()}\``), completion);
  });

  describeWhere(hasPython, 'of the Python client', 'there is no python3 from 3.9 on', () => {
    it("the code of the Python client's README runs in order, and prints what the README shows", async () => {
      const { key, url } = await system.app({ redirectUris: [PYTHON_REDIRECT_URI] });
      const [predict, cancel, reply, stream, connect, ...others] = blocks(PYTHON_README, 'python');
      assert.deepEqual(others, []);
      const script = [PYTHON_SETUP, predict, cancel, reply, stream, connect].join('\n');
      const env = { ...bareEnvironment(), FORECUE_URL: url, APP_KEY: key, PYTHONPATH: PYTHON_PATH };
      const child = spawn('python3', ['-B', '-W', 'error', '-c', script], { cwd: CHECKOUT, env });
      const [printed, shown = ''] = [await converse(child, PYTHON_README), blocks(PYTHON_README, '')[0]];
      const [consent = '', ...rest] = printed.split('\n').slice(1 + shown.trimEnd().split('\n').length + 1);
      assert.ok(printed.startsWith(`erly sales report\n${shown}2 predicted\n`), printed);
      assert.match(consent, /\/connect\//);
      assert.deepEqual(rest, ['connected suggested', '']);
    });
  });

  /** Runs the blocks in a shell, and consents when it asks for a code. Returns the output of each. */
  async function paste(blocks: string[], app?: AppClient): Promise<string[]> {
    const { key, url } =
      app ?? (await system.app({ redirectUris: ['http://localhost:8080/connect/callback'] }));
    // These values replace those that `npm start` prints.
    const script = blocks
      .join(`\necho '${PASTED}'\n`)
      .replaceAll('http://127.0.0.1:8080', url)
      .replace('$(cat .data/app-key)', key);
    const env = { ...bareEnvironment(), DATABASE_URL: system.database.url, PUBLIC_URL: url };
    const child = spawn('bash', ['--norc', '-euo', 'pipefail', '-c', script], { cwd: CHECKOUT, env });
    const printed = await converse(child, FIRST_STEPS, (back) => back.searchParams.get('code') ?? '');
    return printed.split(`${PASTED}\n`);
  }
});

/** Types, wherever a consent page is printed, what the person of the document comes back with. Returns all output. */
async function converse(
  child: ChildProcessWithoutNullStreams,
  document: string,
  typed: (back: URL) => string = String,
): Promise<string> {
  const said = text(child.stderr);
  const exited = once(child, 'exit');
  const lines: string[] = [];
  let page = '';
  for await (const line of createInterface(child.stdout)) {
    lines.push(line);
    page = /^http\S*\/connect\/\S*/.exec(line)?.[0] ?? page;
    const [, email] = / as (\S+@example\.com)/.exec(line) ?? [];
    if (email !== undefined) child.stdin.end(`${typed(await approve(page, { email, document }))}\n`);
  }
  const [code] = await exited;
  assert.equal(code, 0, `${await said}\n${lines.join('\n')}`);
  return `${lines.join('\n')}\n`;
}

/** Approves on the consent page as the person of the document. Returns the address to which the app's user comes back. */
async function approve(url: string, { email, document }: { email: string; document: string }): Promise<URL> {
  const person = new Visitor();
  const [, password = ''] = /"?password"?[:=] ?"(.*?)"/.exec(document) ?? [];
  await person.submit(url, { do: 'sign-in', email, password });
  const { location } = await person.submit(url, { do: 'approve' });
  return new URL(location ?? '');
}

function blocks(document: string, language: string): string[] {
  const found = [...document.matchAll(/^```(\w*)\n(.*?)^```$/gms)];
  return found.flatMap(([, of, block = '']) => (of === language ? [block] : []));
}

function blankVariableFields(answer: object): object {
  return { ...answer, request_id: '', prediction_id: '', expires_at: 0 };
}
