import assert from 'node:assert/strict';
import { type IncomingMessage, request } from 'node:http';
import { text } from 'node:stream/consumers';
import fc from 'fast-check';
import { type AppClient, predictionBody } from '../support/client.ts';
import { assertPublished } from '../support/client-contract.ts';
import { hang } from '../support/fake-provider.ts';
import { useSystem } from '../support/system.ts';

/** A fixed seed: the same ids in every run. */
const RUNS = { seed: 20261120, numRuns: 60 };
const PERMITTED_ID = fc.stringMatching(/^[A-Za-z0-9._:-]{1,80}$/);
const SPECIAL_IDS = [
  '123',
  '0',
  'a:b',
  ':',
  '::1',
  '.',
  '..',
  '...',
  '.'.repeat(80),
  '-',
  '--',
  '_',
  '-1',
  '1e3',
  'cancel',
  'predictions',
  'null',
  'undefined',
  'constructor',
  '__proto__',
  'toString',
  '00000000-0000-0000-0000-000000000000',
  '9'.repeat(80),
  ':'.repeat(80),
  'a'.repeat(80),
];

describe('identifiers', () => {
  const system = useSystem();
  beforeEach(() => system.provider.reset());

  it('requests with any valid request_id are answered, replayed, and found by a cancel with the id in the path', async () => {
    await fc.assert(
      fc.asyncProperty(PERMITTED_ID, async (id) => {
        const app = await system.app();
        const body = predictionBody({ request_id: id, session_id: id });
        const answer = await app.predict(body);
        assert.equal(answer.status, 200, answer.text);
        assert.deepEqual([answer.body.request_id, answer.body.session_id], [id, id]);
        assert.equal((await app.predict(body)).text, answer.text);
        assert.deepEqual(await cancel(app, id), [200, { status: 'suggested', prediction_units: 1 }]);
      }),
      { ...RUNS, examples: SPECIAL_IDS.map((id) => [id]) },
    );
  });

  it('a running request can be cancelled with any percent-encoding of its id in the path', async () => {
    const spellings = fc.constantFrom(unencoded, percentEncoded, fullyPercentEncoded);
    await fc.assert(
      fc.asyncProperty(PERMITTED_ID, spellings, async (id, spell) => {
        system.provider.reset();
        system.provider.respond(hang());
        const app = await system.app();
        const running = app.predict(predictionBody({ request_id: id }));
        await system.provider.called(1);
        assert.deepEqual(await cancel(app, spell(id)), [200, { status: 'cancelled', prediction_units: 0 }]);
        assert.equal((await running).code, 'prediction_cancelled');
      }),
      { ...RUNS, numRuns: 20, examples: SPECIAL_IDS.slice(0, 9).map((id) => [id, unencoded]) },
    );
  });

  it('request ids that differ in a single character, or only in upper and lower case, name different requests', async () => {
    const app = await system.app();
    for (const id of ['a', 'A', 'a.', '.a', 'a:', 'a-', 'a_', 'aa']) {
      const answer = await app.predict(predictionBody({ request_id: id }));
      assert.deepEqual([answer.status, answer.headers.has('idempotency-replayed')], [200, false], id);
    }
  });

  it('cancelling a prediction is 404 not_found if no prediction has the id in the path, or the id is invalid', async () => {
    const app = await system.app();
    await app.predict(predictionBody({ request_id: 'a' }));
    const notFound = [404, { detail: { code: 'not_found' } }];
    for (const path of ['b', 'A', 'a.', ...INVALID_PATH_IDS])
      assert.deepEqual([path, ...(await cancel(app, path))], [path, ...notFound]);
    // The path is checked before the body is validated.
    for (const path of INVALID_PATH_IDS)
      assert.deepEqual([path, ...(await cancel(app, path, {}))], [path, ...notFound]);
  });

  it('a prediction request with an invalid request_id, session_id or connection_id is 422', async () => {
    const app = await system.app();
    for (const field of ['request_id', 'session_id', 'connection_id']) {
      for (const value of INVALID_BODY_IDS) {
        const { status } = await app.predict(predictionBody({ [field]: value }));
        assert.deepEqual([field, value, status], [field, value, 422]);
      }
    }
    assert.equal(system.provider.calls.length, 0);
  });
});

const unencoded = (id: string): string => id;
/** Encodes as most clients do: `:` becomes `%3A`. */
const percentEncoded = (id: string): string => encodeURIComponent(id);
const fullyPercentEncoded = (id: string): string =>
  `%${Buffer.from(id).toString('hex').match(/../g)?.join('%')}`;

const INVALID_PATH_IDS = [
  '',
  'a'.repeat(81),
  '%2E'.repeat(81),
  'a%20',
  'a%2Fb',
  'a%00',
  'a%0A',
  'a+b',
  'a~',
  'a%',
  'a%zz',
  '%C3%A9',
  '%E9',
  'a%253A',
  'a/../a',
  '../predictions/a',
];
const INVALID_BODY_IDS = [
  '',
  'a'.repeat(81),
  'a b',
  'a/b',
  'a\n',
  'é',
  'a%3A',
  'a~',
  '\u0000',
  'ａ',
  1,
  true,
  {},
  [],
];

/** Cancels with exactly this path, unlike `fetch`, which would resolve dot segments. */
async function cancel(app: AppClient, id: string, body: object = { user_id: 'u-1' }) {
  const { hostname, port } = new URL(app.url);
  const path = `/v1/predictions/${id}/cancel`;
  const sent = Promise.withResolvers<IncomingMessage>();
  const outgoing = request({
    hostname,
    port,
    method: 'POST',
    path,
    headers: { authorization: `Bearer ${app.key}`, 'content-type': 'application/json' },
  });
  outgoing.on('error', sent.reject);
  outgoing.on('response', sent.resolve);
  outgoing.end(JSON.stringify(body));
  const response = await sent.promise;
  const { statusCode: status = 0, headers } = response;
  const answer = await text(response);
  const type = headers['content-type'];
  assertPublished({ method: 'POST', url: app.url + path, status, type, text: answer });
  return [status, JSON.parse(answer)];
}
