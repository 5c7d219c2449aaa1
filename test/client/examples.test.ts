import assert from 'node:assert/strict';
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { cp } from 'node:fs/promises';
import { join } from 'node:path';
import type { Browser } from 'playwright-core';
import { signUp, type UserClient } from '../support/account.ts';
import { describeInBrowser, openBrowser } from '../support/browser.ts';
import { describeWhere } from '../support/describe-where.ts';
import { bySchema, structured } from '../support/fake-provider.ts';
import { installClient, type PackedClient } from '../support/packed-client.ts';
import { writeEpisode } from '../support/promotion.ts';
import { proposeReplies } from '../support/replies.ts';
import { type System, startSystem } from '../support/system.ts';
import { until } from '../support/until.ts';

const EXAMPLES = join(import.meta.dirname, '../../client/examples');
/** True if util-linux's `script` is installed, which runs a program in its own terminal. */
const hasScript = spawnSync('script', ['--version']).stdout?.toString().includes('util-linux') ?? false;

describe("client's examples", () => {
  let system: System;
  let installed: PackedClient;
  let running: ChildProcess | undefined;
  let browser: Browser | undefined;
  before(async () => {
    [system, installed] = await Promise.all([
      startSystem({ workerEntry: ['workers/main.ts', 'all'] }),
      installClient(),
    ]);
    await cp(EXAMPLES, installed.folder, { recursive: true });
  });
  after(() => Promise.all([system?.stop(), installed?.remove()]));
  beforeEach(() => system.provider.reset());
  afterEach(async () => {
    await browser?.close();
    if (running?.exitCode !== null) return;
    running.kill();
    await once(running, 'exit');
  });

  async function start(command: string, args: string[], more: Record<string, string> = {}) {
    const app = await system.app();
    const env = { ...process.env, FORECUE_URL: app.url, APP_KEY: app.key, PORT: '0', TERM: 'xterm', ...more };
    const child = spawn(command, args, { cwd: installed.folder, env, stdio: 'pipe' });
    running = child;
    let text = '';
    for (const stream of [child.stdout, child.stderr])
      stream.on('data', (chunk) => {
        text += chunk;
      });
    return { app, child, printed: () => text };
  }

  describeWhere(hasScript, 'chat', 'there is no `script` of util-linux here', () => {
    it('the example chat completes what a person types in a terminal', async () => {
      const command = `${process.execPath} chat.ts`;
      const { app, child, printed } = await start('script', ['-qec', command, '/dev/null']);
      await until(() => printed().includes('Say something'));
      child.stdin.write('Handle it ');
      await until(() => printed().includes('\x1b[2mwith care\x1b[22m'));
      child.stdin.write('\t');
      await until(() => printed().includes('> Handle it with care'));
      child.stdin.write('\r');
      await until(() => printed().includes('You said 19 characters'));
      await until(async () => {
        const rows = await system.sql('select kind from prediction_events order by kind');
        return rows.map(({ kind }) => kind).join() === 'accepted,presented,submitted';
      });
      child.stdin.write('\x03');
      await once(child, 'exit');
      assert.equal((await app.usage()).body.prediction_units >= 1, true);
    });
  });

  describeInBrowser('editor', () => {
    it('the example editor completes what a person types, and the page never sends the app key', async () => {
      const { app, printed } = await start(process.execPath, ['editor.ts']);
      const url = await until(() => /http:\S+/.exec(printed())?.[0]);
      browser = await openBrowser();
      const page = await browser.newPage();
      page.setDefaultTimeout(10_000);
      const sent: string[] = [];
      page.on('request', (request) => sent.push(JSON.stringify(request.headers()) + request.postData()));
      await page.goto(url);
      await page.getByRole('textbox').pressSequentially('Handle it ');
      await page.locator('[data-forecue=ghost]').filter({ hasText: 'with care' }).waitFor();
      const { SCREENSHOT: path } = process.env;
      if (path) await page.screenshot({ path });
      await page.keyboard.press('Tab');
      assert.equal(await page.getByRole('textbox').inputValue(), 'Handle it with care');
      assert.equal(await page.locator('output').textContent(), '');
      assert.ok(!sent.join().includes(app.key));
    });
  });

  describe('agent and cron job', () => {
    const QUESTION = 'Shall I run the tests with coverage?';
    let ann: UserClient;
    let key: string;
    beforeEach(async () => {
      ann = await signUp(system);
      const { body } = await ann.request<{ key: string }>('POST', '/api/auth/keys/', { label: 'examples' });
      key = body.key;
      system.provider.respond(
        bySchema({
          reply: proposeReplies([{ response: 'yes, with coverage' }]),
          episode: writeEpisode(),
          facts: structured({ facts: [] }),
        }),
      );
    });

    /** Runs an example to its end, and types `answer` at each of its questions. */
    async function run(args: string[], answer = '') {
      const { child, printed } = await start(process.execPath, args, { FORECUE_KEY: key });
      child.stdout.on('data', (chunk) => String(chunk).endsWith('] ') && child.stdin.write(`${answer}\n`));
      const [code] = await once(child, 'exit');
      return { code, printed: printed() };
    }

    it('the example agent asks the person, and predicts the answer once the example cron job has learnt it', async () => {
      for (let times = 0; times < 2; times += 1)
        assert.deepEqual(await run(['agent.ts', QUESTION], 'yes, with coverage'), {
          code: 0,
          printed: `${QUESTION} [yes, with coverage] Going on with: yes, with coverage\n`,
        });
      const promoted = await run(['promote.ts']);
      assert.equal(promoted.code, 0, promoted.printed);
      assert.match(
        promoted.printed,
        /^syncMemory: 4 created\npromoteEpisodes: \d+ created\npromoteFacts: \d+ created\n$/,
      );
      assert.deepEqual(await run(['agent.ts', QUESTION]), {
        code: 0,
        printed: `${QUESTION} You would say: yes, with coverage\nGoing on with: yes, with coverage\n`,
      });
    });

    it('the example cron job prints the error code and exits with 1 if a step fails', async () => {
      key = 'service_unknown';
      const { code, printed } = await run(['promote.ts']);
      assert.equal(code, 1);
      assert.match(printed, /not_authenticated/);
    });
  });
});
