import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { bareEnvironment } from '../../support/environment.ts';
import * as fake from '../../support/fake-provider.ts';
import { proposeReplies } from '../../support/replies.ts';

const CHECKOUT = join(import.meta.dirname, '../../..');
const QUICK_RUN = ['--lives', '1', '--concurrency', '16'];

describe('reply benchmark', function () {
  this.timeout(300_000);
  const provider = fake.useFakeProvider();
  beforeEach(() => provider.reset());

  const run = async (...args: string[]) => {
    const child = spawn(join(CHECKOUT, 'bin/node'), ['bench/replies/main.ts', ...args], {
      cwd: CHECKOUT,
      env: { ...bareEnvironment(), OPENAI_API_KEY: 'sk-test' },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    const [stdout, stderr, [code]] = await Promise.all([
      text(child.stdout),
      text(child.stderr),
      once(child, 'exit'),
    ]);
    return { stdout, stderr, code };
  };

  it("the reply benchmark runs against an OpenAI-compatible server, and counts the server's refusals and failures", async () => {
    const always = proposeReplies([{ response: 'yes' }]);
    const malformed = fake.message({ content: 'Certainly! They would say yes.' });
    const isRepair = (call: fake.ProviderCall) => call.body.messages?.at(-2)?.role === 'assistant';
    const reply: fake.Step = (response, call) => {
      const odd: Record<number, fake.Step> = {
        3: fake.refusal(),
        7: malformed,
        11: fake.status(500),
        13: fake.lengthStop(),
        17: fake.status(429, { 'retry-after-ms': '5' }),
        19: fake.reset(),
      };
      return (isRepair(call) ? malformed : (odd[call.index % 40] ?? always))(response, call);
    };
    provider.respond(fake.bySchema({ reply }, fake.ok({ continuation: 'st' })));
    const { stdout, stderr, code } = await run('fake-model', provider.url, ...QUICK_RUN);
    assert.equal(code, 0, stderr);
    const calls = /^Calls to fake-model: (.*)\.$/m.exec(stdout)?.[1] ?? '';
    for (const ending of ['answered', 'refused', 'rate limited and asked again'])
      assert.match(calls, new RegExp(String.raw`\d+ ${ending}`), calls);
    for (const fault of [
      'InternalServerError 500',
      'unusable answer: cut off',
      'unusable answer: not the answer format',
      'APIConnectionError',
    ])
      assert.match(calls, new RegExp(String.raw`\d+ failed \(${fault}`), calls);
    const [, turns, predicted, top1] = cells(stdout, /^\| creature of habit .*?\| 0 \|/m);
    assert.equal(turns, '50');
    // Some calls gave no answer, so some turns have no prediction.
    assert.ok(Number(predicted) > 0.5 && Number(predicted) < 1, stdout);
    assert.ok(Number(top1) > 0.6, stdout);
    assert.match(stdout, /^Of \d+ prompts with an injection, 0 became auto\.$/m);
    assert.match(stdout, /^\| repeats orders .* 20 \|/m);
    assert.ok(provider.calls.every(({ headers }) => headers.authorization === 'Bearer sk-test'));
  });

  it('the reply benchmark gets answers from a server that refuses a JSON schema as response format (400)', async () => {
    const yes = proposeReplies([{ response: 'yes' }]);
    provider.respond((response, call) => {
      const asked = call.body['response_format'] as { type: string } | undefined;
      if (asked?.type === 'json_schema')
        return fake.status(400, {}, 'unknown response_format')(response, call);
      return (/situation/.test(JSON.stringify(call.body.messages?.[0])) ? yes : fake.ok())(response, call);
    });
    const { stdout, stderr, code } = await run('plain-model', provider.url, ...QUICK_RUN);
    assert.equal(code, 0, stderr);
    assert.match(stdout, /Calls to plain-model: \d+ answered; p50/);
  });

  it('the reply benchmark stops early with an error when the provider refuses the API key (401)', async () => {
    provider.respond(fake.status(401));
    const { stderr, code } = await run('fake-model', provider.url, ...QUICK_RUN);
    assert.notEqual(code, 0);
    assert.match(stderr, /the provider refuses the key/);
    assert.ok(provider.calls.length < 100);
  });
});

/** Returns the cells after `beginning` in the table row that begins with it; the first one is empty. */
function cells(table: string, beginning: RegExp): string[] {
  const found = beginning.exec(table);
  const row = found === null ? '' : table.slice(found.index + found[0].length).split('\n', 1)[0];
  return ['', ...(row ?? '').split('|').map((cell) => cell.trim())];
}
