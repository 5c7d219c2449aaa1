import assert from 'node:assert/strict';
import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { cp, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { Browser } from 'playwright-core';
import { packInto } from '../../bin/client/pack.ts';
import { describeInBrowser, openBrowser } from '../support/browser.ts';
import { freePort } from '../support/free-port.ts';
import { PLAIN_ENV } from '../support/packed-client.ts';
import { useSystem } from '../support/system.ts';
import { until } from '../support/until.ts';

const EXAMPLES = join(import.meta.dirname, '../../client/examples');
/** What starts each example at a port. */
const APPS: Record<string, (port: string) => string[]> = {
  express: () => ['start'],
  'vite-react': (port) => ['run', 'dev', '--', '--host', '127.0.0.1', '--strictPort', '--port', port],
  next: (port) => ['run', 'dev', '--', '--hostname', '127.0.0.1', '--port', port],
};

describeInBrowser("client's example apps", function () {
  this.timeout(300_000);
  const system = useSystem();
  let browser: Browser;
  let folder: string;
  let packed: string;
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'forecue-examples-'));
    packed = join(folder, (await packInto(folder)).filename);
    browser = await openBrowser();
  });
  after(async () => {
    await browser?.close();
    await rm(folder, { recursive: true, force: true });
  });

  for (const [name, start] of Object.entries(APPS))
    it(`the example of ${name} completes what a person types, and its page never sends the app key`, async () => {
      const cwd = join(folder, name);
      await cp(join(EXAMPLES, name), cwd, { recursive: true });
      const npm = (...args: string[]) => promisify(execFile)('npm', args, { cwd, env: PLAIN_ENV });
      await npm('ci', '--no-audit', '--no-fund', '--ignore-scripts');
      await npm('install', '--no-save', '--no-audit', '--no-fund', '--ignore-scripts', packed);
      const app = await system.app();
      const port = String(await freePort());
      const env = {
        ...PLAIN_ENV,
        FORECUE_URL: app.url,
        APP_KEY: app.key,
        PORT: port,
        NEXT_TELEMETRY_DISABLED: '1',
      };
      // A group of its own: npm starts what is to end, too.
      const child = spawn('npm', start(port), {
        cwd,
        env,
        detached: true,
        stdio: ['ignore', 'pipe', 'pipe'],
      });
      let printed = '';
      for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => (printed += chunk));
      try {
        await until(() => printed.includes(`:${port}`) || child.exitCode !== null, 120_000);
        const page = await browser.newPage();
        page.setDefaultTimeout(120_000);
        const sent: string[] = [];
        page.on('request', (request) => sent.push(JSON.stringify(request.headers()) + request.postData()));
        await page.goto(`http://127.0.0.1:${port}/`);
        const field = page.getByLabel('Message');
        await page.waitForLoadState('networkidle');
        await field.pressSequentially('Handle it ');
        await page.locator('[data-forecue=ghost]').filter({ hasText: 'with care' }).waitFor();
        await page.keyboard.press('Tab');
        assert.equal(await field.inputValue(), 'Handle it with care');
        assert.ok(!sent.join().includes(app.key));
        await page.close();
      } catch (cause) {
        throw new Error(`${name} printed:\n${printed}`, { cause });
      } finally {
        await end(child);
      }
    });
});

async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.pid === undefined) return;
  process.kill(-child.pid, 'SIGKILL');
  await once(child, 'exit');
}
