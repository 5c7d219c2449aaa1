import { createServer } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import type { Browser, Page } from 'playwright-core';
import { createRelay, nodeHandler } from '../client/src/connect.ts';
import { mochaGlobalSetup, mochaGlobalTeardown } from '../test/setup.ts';
import { openBrowser } from '../test/support/browser.ts';
import { bundleForBrowser } from '../test/support/bundle.ts';
import { percentile } from '../test/support/keep-alive-client.ts';
import { listen } from '../test/support/listening.ts';
import { startProcesses } from '../test/support/system.ts';
import { startChild } from './child.ts';
import { readTrace, type Sample } from './ghost-trace.ts';
import { SENTENCES } from './typed-sentences.ts';

/**
 * By hand, on a quiet machine: one person types in Chromium, on loopback, with the built-in predictor, first alone and
 * then beside `--people` who type at the same time. Prints how long after the pause the ghost text is painted, and how
 * long after a key that types through it. All times are read from Chromium's trace.
 */
const { values } = parseArgs({
  options: { samples: { type: 'string', default: '150' }, people: { type: 'string', default: '200' } },
});
const SAMPLES = Number(values.samples);
/** How long a suggestion is waited for. The predictor has none for some texts. */
const PATIENCE_MS = 2000;
const KEY_MS = 90;
const WARM_UP_S = 15;
const WARM_UP_SAMPLES = 5;

const PAGE =
  '<!doctype html><textarea style="width: 600px; height: 120px"></textarea><script type="module" src="/page.js"></script>';
const SCRIPT = `
  import { attachCompleter } from './client/src/textarea.ts';
  import { createAppClient } from './client/src/v1.ts';
  const client = createAppClient({ baseUrl: location.origin + '/forecue' });
  const field = document.querySelector('textarea');
  const measured = { ...client, predict(...given) { performance.mark('ask'); return client.predict(...given); } };
  attachCompleter(field, measured, {
    userId: 'me',
    onSuggestion(suggestion) {
      globalThis.suggestion = suggestion;
      if (suggestion !== '') performance.mark('ghost');
    },
  });
  field.focus();`;

/** Types sentences, each until a suggestion comes, and the first letter of each suggestion. */
async function typeSamples(page: Page, samples: number): Promise<void> {
  for (let n = 0; n < samples; n += 1) {
    const words = (SENTENCES[n % SENTENCES.length] ?? '').split(' ');
    await page.evaluate("document.querySelector('textarea').value = ''");
    const many = 2 + (n % Math.max(1, words.length - 3));
    await page.keyboard.type(`${words.slice(0, many).join(' ')} `, { delay: KEY_MS });
    const shown = page.waitForFunction('globalThis.suggestion', undefined, { timeout: PATIENCE_MS });
    const suggestion = await shown.then(
      (handle) => handle.jsonValue(),
      () => '',
    );
    const [letter] = String(suggestion);
    if (letter !== undefined) await page.keyboard.type(letter);
    await sleep(50);
  }
}

async function measure(browser: Browser, url: string): Promise<Sample> {
  const page = await browser.newPage();
  await page.goto(url);
  await page.waitForFunction("document.activeElement.tagName === 'TEXTAREA'");
  // Fills caches, the code's and the store's.
  await typeSamples(page, WARM_UP_SAMPLES);
  await browser.startTracing(page, { categories: ['devtools.timeline', 'blink.user_timing'] });
  await typeSamples(page, SAMPLES);
  const trace = await browser.stopTracing();
  await page.close();
  return readTrace(trace);
}

function print(title: string, { asked, afterPause, typedThrough }: Sample): void {
  const figures = (times: number[]) =>
    [0.5, 0.95].map((share) => percentile(times, share).toFixed(1)).join(' / ');
  console.log(
    `${title}: ghost p50 / p95 ${figures(afterPause)} ms after the pause (${afterPause.length} of ${asked} calls), ` +
      `typed through ${figures(typedThrough)} ms after the key (${typedThrough.length})`,
  );
}

await mochaGlobalSetup();
const env = { DEFAULT_MODEL: 'local', SANDBOX_UNITS: '1000000000' };
const [system, browser, script] = await Promise.all([
  startProcesses({ env }),
  openBrowser(),
  bundleForBrowser(SCRIPT, { minify: true }),
]);
try {
  const app = await system.app();
  const relay = nodeHandler(createRelay({ baseUrl: app.url, appKey: app.key, userOf: () => 'me' }));
  await using site = await listen(
    createServer((request, response) => {
      if (request.url?.startsWith('/forecue/')) return void relay(request, response);
      const isScript = request.url === '/page.js';
      response.writeHead(200, { 'content-type': isScript ? 'text/javascript' : 'text/html' });
      response.end(isScript ? script : PAGE);
    }),
  );
  print('alone', await measure(browser, site.url));
  const args = [app.url, app.key, values.people];
  await using people = await startChild('typing-people', 'bench/typing-people.ts', { args });
  let calls = 0;
  people.process.on('message', (message: { calls?: number }) => {
    calls += message.calls ?? 0;
  });
  await sleep(WARM_UP_S * 1000);
  calls = 0;
  const since = performance.now();
  const beside = await measure(browser, site.url);
  const rate = (calls * 1000) / (performance.now() - since);
  print(`beside ${values.people} who type (${rate.toFixed(0)} predictions a second)`, beside);
} finally {
  await browser.close();
  await system.stop();
  await mochaGlobalTeardown();
}
process.exit();
