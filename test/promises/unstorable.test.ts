import assert from 'node:assert/strict';
import type { ReplyDetail, ReplyList } from '../../shared/schemas/replies.ts';
import { signUp } from '../support/account.ts';
import { type AppClient, predictionBody } from '../support/client.ts';
import { bySchema, ok, when } from '../support/fake-provider.ts';
import { echoPrompt, PREDICT, replyBody } from '../support/replies.ts';
import { useSystem } from '../support/system.ts';
import { until } from '../support/until.ts';

/** A result with this text violates a constraint of the database. */
const UNSTORABLE_TEXT = 'a-text-that-no-row-may-have';
const CALLS_AT_ONCE = 40;
const DEADLINE_MS = 20_000;
/** A call that takes less has not waited for its deadline. */
const PROMPT_MS = DEADLINE_MS / 2;

/** Posts without checking the answer against the OpenAPI document, which does not list 500. */
async function post(url: string, token: string, body: object) {
  const since = performance.now();
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
  const response = await fetch(url, { method: 'POST', headers, body: JSON.stringify(body) });
  const { detail } = (await response.json()) as { detail?: { code: string } };
  const source = response.headers.get('x-error-source');
  return { status: response.status, code: detail?.code, source, tookMs: performance.now() - since };
}

describe('result that cannot be stored', () => {
  const system = useSystem({
    workerEntry: ['workers/main.ts', 'all'],
    env: {
      PREDICTION_TIMEOUT_MS: String(DEADLINE_MS),
      REPLY_TIMEOUT_MS: String(DEADLINE_MS),
      BATCH_TIMEOUT_MS: String(DEADLINE_MS),
      WORKER_CONCURRENCY: '64',
    },
  });
  before(async () => {
    const { pool } = system.database;
    await pool.query(
      `alter table answers add constraint told check (answer not like '%${UNSTORABLE_TEXT}%')`,
    );
    await pool.query(
      `alter table replies add constraint told check (response not like '%${UNSTORABLE_TEXT}%')`,
    );
  });
  beforeEach(() => {
    system.provider.reset();
    system.provider.respond(bySchema({ reply: echoPrompt }, ok({ continuation: UNSTORABLE_TEXT })));
  });

  const predict = (app: AppClient, body: object) => post(`${app.url}/v1/predictions`, app.key, body);
  const logs = () => system.workers.map(({ log }) => log).join('\n');

  it('a result that cannot be stored ends its prediction with 500 internal_error, and is logged without its text #unstorable', async () => {
    const app = await system.app();
    const { status, code, source, tookMs } = await predict(app, predictionBody());
    assert.deepEqual([status, code, source], [500, 'internal_error', 'worker']);
    assert.ok(tookMs < PROMPT_MS, `${tookMs} ms`);
    const { body: usage } = await app.usage();
    assert.deepEqual([usage.prediction_units, usage.reserved_units], [0, 0]);
    const lines = await until(() => logs().match(/.*a result cannot be stored.*/g));
    assert.match(lines.join('\n'), /"level":"?(50|error).*23514/);
    assert.doesNotMatch(logs(), new RegExp(UNSTORABLE_TEXT));
  });

  it('a result that cannot be stored does not fail any of the 39 other calls that end at the same time #fast-failure', async () => {
    const app = await system.app();
    const { promise: areAsked, resolve: answer } = Promise.withResolvers<void>();
    system.provider.respond(
      when(areAsked, (response, call) =>
        ok({ continuation: call.record.draft.includes('spoils') ? UNSTORABLE_TEXT : ' now' })(response, call),
      ),
    );
    const texts = Array.from(
      { length: CALLS_AT_ONCE },
      (_, n) => `Please send ${n === 7 ? 'what spoils' : 'it'}`,
    );
    const asked = texts.map((text) => predict(app, predictionBody({ draft: { text, revision: 1 } })));
    await system.provider.called(CALLS_AT_ONCE, 15_000);
    answer();
    const answers = await Promise.all(asked);
    assert.deepEqual(
      answers.map(({ status }) => status),
      texts.map((_, n) => (n === 7 ? 500 : 200)),
    );
    assert.ok(Math.max(...answers.map(({ tookMs }) => tookMs)) < PROMPT_MS);
    const { body: usage } = await app.usage();
    assert.deepEqual([usage.prediction_units, usage.reserved_units], [CALLS_AT_ONCE - 1, 0]);
  });

  it('a result that cannot be stored ends its reply call with 500, and leaves the reply pending with an error', async () => {
    const ann = await signUp(system);
    const asked = replyBody({ agent_input: UNSTORABLE_TEXT });
    const { status, code, tookMs } = await post(ann.url + PREDICT, ann.access, asked);
    assert.deepEqual([status, code], [500, 'internal_error']);
    assert.ok(tookMs < PROMPT_MS, `${tookMs} ms`);
    const { body } = await ann.request<ReplyList>('GET', '/api/predictions/');
    const { status: state, error, candidates } = body.results[0] as ReplyDetail;
    assert.deepEqual([state, error, candidates], ['pending', 'internal_error', []]);
  });
});
