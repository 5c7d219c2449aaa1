import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { text } from 'node:stream/consumers';
import { Visitor } from '../connect/visitor.ts';
import { bareEnvironment } from '../support/environment.ts';
import { useSystem } from '../support/system.ts';

const CHECKOUT = join(import.meta.dirname, '../..');
const README = readFileSync(join(CHECKOUT, 'README.md'), 'utf8');
const FIRST_STEPS = readFileSync(join(CHECKOUT, 'docs/first-steps.md'), 'utf8');
const PASTED = '--- pasted ---';

describe('README', function () {
  this.timeout(120_000);
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

  it('the commands of the first steps, pasted in order, print what the document shows, and its consent flow can be completed', async () => {
    const pasted = blocks(FIRST_STEPS, 'sh');
    const [, reply, consent, completion = ''] = await paste(pasted);
    assert.equal(reply, blocks(FIRST_STEPS, '')[0]);
    assert.match(consent ?? '', /^http.*\/connect\//);
    assert.ok(FIRST_STEPS.includes(`It prints \`${completion.trim()}\``), completion);
  });

  /** Runs the blocks in a shell, and consents when it asks for a code. Returns the output of each. */
  async function paste(blocks: string[]): Promise<string[]> {
    const { key, url } = await system.app({ redirectUris: ['http://localhost:8080/connect/callback'] });
    // These values replace those that `npm start` prints.
    const script = blocks
      .join(`\necho '${PASTED}'\n`)
      .replaceAll('http://127.0.0.1:8080', url)
      .replace('$(cat .data/app-key)', key);
    const env = { ...bareEnvironment(), DATABASE_URL: system.database.url, PUBLIC_URL: url };
    const child = spawn('bash', ['--norc', '-euo', 'pipefail', '-c', script], { cwd: CHECKOUT, env });
    const said = text(child.stderr);
    const exited = once(child, 'exit');
    const lines: string[] = [];
    for await (const line of createInterface(child.stdout)) {
      lines.push(line);
      if (/^http.*\/connect\//.test(line)) child.stdin.end(`${await approveAsPerson(line)}\n`);
    }
    const [code] = await exited;
    assert.equal(code, 0, `${await said}\n${lines.join('\n')}`);
    return `${lines.join('\n')}\n`.split(`${PASTED}\n`);
  }
});

/** Approves on the consent page as the person of the first steps. Returns the code that the app gets. */
async function approveAsPerson(url: string): Promise<string> {
  const person = new Visitor();
  const { email, password } = JSON.parse(/\{ "email": .*? \}/.exec(FIRST_STEPS)?.[0] ?? '');
  await person.submit(url, { do: 'sign-in', email, password });
  const { location } = await person.submit(url, { do: 'approve' });
  return new URL(location ?? '').searchParams.get('code') ?? '';
}

function blocks(document: string, language: string): string[] {
  const found = [...document.matchAll(/^```(\w*)\n(.*?)^```$/gms)];
  return found.flatMap(([, of, block = '']) => (of === language ? [block] : []));
}

function blankVariableFields(answer: object): object {
  return { ...answer, prediction_id: '', expires_at: 0 };
}
