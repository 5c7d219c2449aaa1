import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { gzipSync } from 'node:zlib';
import type { FactResponse } from '../../shared/schemas/memory.ts';
import { signUp } from '../support/account.ts';
import { type AppClient, predictionBody } from '../support/client.ts';
import { json, message, raw, type Step } from '../support/fake-provider.ts';
import { add } from '../support/memory.ts';
import { promote } from '../support/promotion.ts';
import { useSystem } from '../support/system.ts';

/** Drafts, what the model says of them, what the person should see, and why. */
const COMPLETIONS: [string, string, string, string][] = JSON.parse(
  readFileSync(new URL('field/completions.json', import.meta.url), 'utf8'),
);
/** Sentences of one person a list, whether a fact of each should be current, and why. */
const SAID: [text: string, expected: 'fact' | 'none', note: string][][] = JSON.parse(
  readFileSync(new URL('field/memory.json', import.meta.url), 'utf8'),
);

/** Facts and a question about each, by language. */
const ASKED: Record<string, [fact: string, question: string][]> = JSON.parse(
  readFileSync(new URL('field/recall.json', import.meta.url), 'utf8'),
);

const TEXT = '{"next":"4 Monday at ten"}';
const WRITTEN = JSON.stringify({ choices: [{ message: { content: TEXT } }] });
const EVENTS = [...TEXT].map(
  (content) => `data: ${JSON.stringify({ choices: [{ delta: { content } }] })}\n\n`,
);
const asJson =
  (body: Buffer, headers = {}): Step =>
  (response) =>
    void response.writeHead(200, { 'content-type': 'application/json', ...headers }).end(body);
const streamed = raw(`${EVENTS.join('')}data: [DONE]\n\n`, 'text/event-stream');
const whole = message({ content: TEXT });

/** Answers of servers, and what an app gets after `Let us meet on`. */
const ANSWERS: [name: string, step: Step, expected?: string][] = [
  [
    'a stream, unless none is asked for',
    (to, call) => (call.body['stream'] === false ? whole : streamed)(to, call),
  ],
  ['a stream', streamed],
  ['a list of parts', message({ content: [{ type: 'text', text: TEXT }] })],
  ['gzip', asJson(gzipSync(WRITTEN), { 'content-encoding': 'gzip' })],
  [
    'a line end of Windows',
    message({ content: TEXT.replace('y a', 'y\\r\\na') }),
    '200 suggested  Monday\nat ten',
  ],
  ['unclosed thoughts', message({ content: `<think>\nThe options are {a, b}. So I answer:\n${TEXT}` })],
  ['no UTF-8', asJson(Buffer.from(WRITTEN.replace('ond', 'ondé'), 'latin1')), '200 abstained'],
  [
    'an error of the choice',
    json({ choices: [{ finish_reason: 'error', message: { content: '' } }] }),
    '502 provider_failed',
  ],
  ['an error in a 200', json({ error: { code: 429 } }), '503 provider_rate_limited'],
];

describe('cases of public bug reports', () => {
  const system = useSystem({
    workerEntry: ['workers/main.ts', 'all'],
    env: { SUPPORTED_MODELS: 'fake-model,local' },
  });
  let app: AppClient;
  before(async () => {
    app = await system.app();
  });

  async function completed(text: string, step: Step): Promise<string> {
    system.provider.respond(step);
    const { status, code, body } = await app.predict(predictionBody({ draft: { text, revision: 1 } }));
    return [status, code ?? body.status, body.completion].filter(Boolean).join(' ');
  }

  for (const [draft, says, expected, note] of COMPLETIONS)
    it(`a completion repeats nothing of the draft ${JSON.stringify(draft)}: ${note}`, async () => {
      const step = message({ content: JSON.stringify({ next: says }) });
      assert.equal(await completed(draft, step), `200 suggested ${expected}`);
    });

  for (const [name, step, expected = '200 suggested  Monday at ten'] of ANSWERS)
    it(`an app gets what it can use of an answer that is ${name}`, async () => {
      assert.equal(await completed('Let us meet on', step), expected);
    });

  for (const [nth, said] of SAID.entries())
    it(`promotion without a model keeps what lasts, and nothing ends it that only shares a word (person ${nth + 1})`, async () => {
      const person = await signUp(system);
      for (const [n, [content]] of said.entries()) {
        const at = { session_id: `said-${n}`, occurred_at: new Date(Date.UTC(2026, 1, 1, n)).toISOString() };
        await add(person, 'raw', { content, kind: 'message', role: 'human', origin: 'human', ...at });
      }
      for (const tier of ['episodes', 'facts'] as const)
        assert.equal((await promote(person, tier, { model: 'local', limit: 200 })).status, 200);
      const { body } = await person.request<{ results: FactResponse[] }>(
        'GET',
        '/api/memory/facts/?limit=200',
      );
      const current = body.results.filter((one) => one.superseded_by === null && one.valid_to === null);
      const isCurrent = (text: string) => current.some((one) => one.text.includes(text.replace(/\.$/, '')));
      assert.deepEqual(
        said.map(([text, , note]) => [text, isCurrent(text) ? 'fact' : 'none', note]),
        said,
      );
    });

  for (const [language, asked] of Object.entries(ASKED))
    it(`a question finds its fact in the context and by search (${language})`, async () => {
      const person = await signUp(system);
      for (const [text] of asked) await add(person, 'facts', { text });
      for (const [text, query] of asked) {
        const context = await person.post<{ facts: FactResponse[] }>('/api/memory/context/', {
          query,
          max_facts: 3,
        });
        assert.ok(
          context.body.facts.some((one) => one.text === text),
          query,
        );
        const found = await person.get<{ results: FactResponse[] }>(
          `/api/memory/facts/?q=${encodeURIComponent(query)}&limit=3`,
        );
        assert.ok(
          found.body.results.some((one) => one.text === text),
          query,
        );
      }
    });
});
