import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import type { PredictionResponse } from '../../shared/schemas/predictions.ts';
import { bareEnvironment } from '../support/environment.ts';
import { type System, startSystem } from '../support/system.ts';

const CHECKOUT = join(import.meta.dirname, '../..');
/** Printed between the outputs of the commands. */
const PASTED = '--- pasted ---';
const STORY = '## A reply in five commands';

describe('the README', function () {
  this.timeout(120_000);
  let system: System;
  before(async () => {
    system = await startSystem({
      workerEntry: ['workers/main.ts', 'all'],
      env: { OPENAI_API_KEY: '', OPENAI_BASE_URL: '', DEFAULT_MODEL: 'local' },
    });
  });
  after(() => system?.stop());

  it('has five commands from a recording to a calibrated reply, and one that completes a draft from the same memory', async () => {
    const readme = await readFile(join(CHECKOUT, 'README.md'), 'utf8');
    const story = readme.slice(readme.indexOf(STORY), readme.indexOf('## The path of a prediction'));
    const blocks = [...story.matchAll(/^```(sh)?\n(.*?)^```/gms)];
    const commands = blocks.flatMap(([, language, text]) => (language === 'sh' ? (text ?? '') : []));
    const [claimed] = blocks.flatMap(([, language, text]) => (language === 'sh' ? [] : (text ?? '')));
    assert.equal(commands.length, 6);
    const { key, url } = await system.app({ redirectUris: ['http://localhost:3000/callback'] });
    // Where the story says what `npm start` prints.
    const script = commands
      .join(`\necho ${PASTED}\n`)
      .replaceAll('http://127.0.0.1:8080', url)
      .replace('$(cat .data/app-key)', key);
    const [recorded = '', promoted = '', , read, fedBack = '', drafted = ''] = (await run(script)).split(
      `${PASTED}\n`,
    );
    assert.equal(recorded.match(/"accepted":2,"duplicates":0/g)?.length, 8);
    assert.match(promoted, /"text":"yes, I always want coverage"/);
    assert.equal(read, claimed);
    const [decision, confidence] = fedBack.split('\n');
    assert.equal(decision, 'accepted');
    assert.ok(story.includes(`The confidence is ${confidence} now`), fedBack);
    const { status, completion }: PredictionResponse = JSON.parse(drafted);
    assert.equal(status, 'suggested');
    assert.ok(story.includes(`completes the draft with \`${completion}\``), drafted);
  });

  async function run(script: string): Promise<string> {
    const env = { ...bareEnvironment(), DATABASE_URL: system.database.url };
    const child = spawn('bash', ['--norc', '-euo', 'pipefail', '-c', script], {
      cwd: CHECKOUT,
      env,
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    const [stdout, stderr, [code]] = await Promise.all([
      text(child.stdout),
      text(child.stderr),
      once(child, 'exit'),
    ]);
    assert.equal(code, 0, `${stderr}\n${stdout}`);
    return stdout;
  }
});
