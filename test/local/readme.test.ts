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
const STORY = 'In four commands';

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

  it('has four commands from a recording to a prediction that uses what was recorded', async () => {
    const readme = await readFile(join(CHECKOUT, 'README.md'), 'utf8');
    const story = readme.slice(readme.indexOf(STORY), readme.indexOf('## The path of a prediction'));
    const commands = [...story.matchAll(/^```sh\n(.*?)^```/gms)].map(([, command]) => command);
    assert.equal(commands.length, 4);
    const { key, url } = await system.app({ redirectUris: ['http://localhost:3000/callback'] });
    // Where the story says what `npm start` prints.
    const script = commands
      .join('\n')
      .replaceAll('http://127.0.0.1:8080', url)
      .replace('$(cat .data/app-key)', key);
    const answer = (await run(script)).split('\n').at(-1) ?? '';
    const { status, completion }: PredictionResponse = JSON.parse(
      answer.slice(answer.lastIndexOf('{"request_id"')),
    );
    assert.equal(status, 'suggested');
    assert.ok(
      story.includes(`completes the draft \`${completion}\``),
      `the README does not promise ${completion}`,
    );
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
