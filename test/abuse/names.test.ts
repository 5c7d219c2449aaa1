import assert from 'node:assert/strict';
import { signUp, type UserClient } from '../support/account.ts';
import { type AppClient, predictionBody, type Reply } from '../support/client.ts';
import { bySchema, structured } from '../support/fake-provider.ts';
import { event, post, recording } from '../support/recording.ts';
import { BATCH, feedback, predictReply, proposeReplies, replyBody } from '../support/replies.ts';
import { useSystem } from '../support/system.ts';

/** Names that every JavaScript object inherits. Clients may use them as names and values. */
const NAMES = Object.getOwnPropertyNames(Object.prototype);
const DAY = '2026-05-01T12:00:00Z';

interface Clients {
  app: AppClient;
  person: UserClient;
}

/** Place where the name is used, expected status, and the call. */
type Use = [where: string, status: number, call: (name: string, clients: Clients) => Promise<Reply<unknown>>];

/** In an object literal, `__proto__` would set the prototype. */
const objectWithKey = (name: string) => Object.fromEntries([[name, name]]);
const read = (path: string, { person }: Clients) => person.request('GET', path);

const V1: Use[] = [
  ['request_id', 200, (request_id, { app }) => app.predict(predictionBody({ request_id }))],
  ['user_id', 200, (user_id, { app }) => app.predict(predictionBody({ user_id }))],
  ['session_id', 200, (session_id, { app }) => app.predict(predictionBody({ session_id }))],
  ['context_revision', 200, (context_revision, { app }) => app.predict(predictionBody({ context_revision }))],
  ['language', 200, (language, { app }) => app.predict(predictionBody({ language }))],
  [
    'artifact',
    200,
    (id, { app }) => app.predict(predictionBody({ artifact: { kind: 'other', id, revision: id } })),
  ],
  ['mode', 422, (mode, { app }) => app.predict(predictionBody({ mode }))],
  ['an unknown property', 422, (name, { app }) => app.predict(predictionBody(objectWithKey(name)))],
  ['connection_id', 404, (connection_id, { app }) => app.predict(predictionBody({ connection_id }))],
  [
    'headers',
    200,
    (name, { app }) =>
      app.predict(predictionBody(), {
        headers: { prefer: name, 'x-on-disconnect': name, 'x-request-id': name, accept: name },
      }),
  ],
  [
    'event_id',
    200,
    async (event_id, { app }) => {
      const { request_id, user_id } = predictionBody();
      await app.predict(predictionBody({ request_id }));
      return app.request('POST', '/v1/prediction-events', {
        event_id,
        request_id,
        user_id,
        kind: 'accepted',
      });
    },
  ],
  ['a path to no prediction', 404, (name, { app }) => app.cancel(`no.${name}`, name)],
  [
    'a path to no connection',
    404,
    (id, { app }) => app.request('POST', `/v1/connections/${id}/revoke`, { user_id: id }),
  ],
  ['a month', 400, (month, { app }) => app.request('GET', `/v1/usage?month=${month}`)],
];

const REPLIES: Use[] = [
  ['agent', 200, (agent, { person }) => predictReply(person, { agent })],
  ['model', 200, (model, { person }) => predictReply(person, { model })],
  ['session_id of a prompt', 200, (session_id, { person }) => predictReply(person, { session_id })],
  ['agent_input', 200, (agent_input, { person }) => predictReply(person, { agent_input })],
  [
    'Idempotency-Key',
    200,
    (key, { person }) => predictReply(person, {}, { headers: { 'idempotency-key': key } }),
  ],
  [
    'an agent that the calibrator knows',
    200,
    async (agent, { person }) => {
      const { body } = await predictReply(person, { agent });
      assert.equal((await feedback(person, body, { status: 'accepted' })).status, 200);
      return predictReply(person, { agent });
    },
  ],
  [
    'an agent of a batch',
    200,
    async (agent, { person }) => {
      const prompts = [replyBody({ agent }), replyBody()];
      const reply = await person.request<{ succeeded: number }>('POST', BATCH, { prompts });
      assert.equal(reply.body.succeeded, 2, reply.text);
      return reply;
    },
  ],
  [
    'the query of a list',
    200,
    (name, clients) => read(`/api/predictions/?agent=${name}&session_id=${name}`, clients),
  ],
  ['an unknown parameter', 200, (name, clients) => read(`/api/predictions/stats/?${name}=${name}`, clients)],
  ['status of a list', 422, (name, clients) => read(`/api/predictions/?status=${name}`, clients)],
];

const RECORDING: Use[] = [
  [
    'an event',
    201,
    async (name, { person }) => {
      const prompt = event({ session_id: name, source: name, agent: name });
      const reply = event({ ...prompt, id: name, type: 'user.reply', reply: name, in_reply_to: prompt.id });
      const answer = await post(person, [prompt, reply]);
      assert.deepEqual(answer.body, { accepted: 2, duplicates: 0, invalid: [] });
      assert.equal((await recording.event(person, name)).body['in_reply_to'], prompt.id);
      assert.equal((await recording.sessionEvents(person, name)).body.results.length, 2);
      return answer;
    },
  ],
  [
    'type of an event',
    201,
    async (type, { person }) => {
      const answer = await post(person, [event({ type }), event({ type: `custom.${type}`, payload: {} })]);
      assert.deepEqual([answer.body.accepted, answer.body.invalid.length], [1, 1]);
      return answer;
    },
  ],
  [
    'a property of an event',
    201,
    async (name, { person }) => {
      const payload = objectWithKey(name);
      const sent = { ...event({ type: 'custom.any', payload }), ...payload };
      const answer = await post(person, [event(), sent]);
      if (name === '__proto__') assert.equal(answer.body.invalid.length, 1);
      else {
        const { body } = await recording.event(person, sent.id);
        assert.deepEqual([body['payload'], body[name]], [payload, name]);
      }
      return answer;
    },
  ],
  [
    'session_id of a sync',
    200,
    (session_id, { person }) => person.request('POST', '/api/memory/sync/', { session_id }),
  ],
];

const addAndFind = (tier: string, row: (name: string) => object, query: (name: string) => string): Use => [
  `a row of ${tier}`,
  200,
  async (name, clients) => {
    const { status, text } = await clients.person.request('POST', `/api/memory/${tier}/`, row(name));
    assert.equal(status, 201, text);
    const path = `/api/memory/${tier}/?${query(name)}`;
    const found = await clients.person.request<{ results: object[] }>('GET', path);
    assert.equal(found.body.results?.length, 1, found.text);
    return found;
  },
];

const MEMORY: Use[] = [
  addAndFind(
    'raw',
    (name) => ({ content: name, agent: name, session_id: `raw ${name}`, source: name, tags: [name] }),
    (name) => `q=${name}&tag=${name}&session_id=raw%20${name}`,
  ),
  addAndFind(
    'episodes',
    (name) => ({ title: name, summary: name, started_at: DAY, ended_at: DAY, tags: [name], model: name }),
    (name) => `q=${name}&tag=${name}`,
  ),
  addAndFind(
    'facts',
    (name) => ({ text: name, kind: name, tags: [name], model: name }),
    (name) => `q=${name}&tag=${name}`,
  ),
  [
    'goal and tags of the context',
    200,
    (name, { person }) => person.request('POST', '/api/memory/context/', { goal: name, tags: [name] }),
  ],
  [
    'a key of JSON that is kept',
    200,
    async (name, clients) => {
      const { person } = clients;
      const json = objectWithKey(name);
      const expected = name === '__proto__' ? 422 : 201;
      const metadata = await person.request('POST', '/api/memory/raw/', { content: 'x', metadata: json });
      const profile = await person.request('POST', '/api/memory/profile/', { data: json });
      assert.deepEqual([metadata.status, profile.status], [expected, expected]);
      if (expected === 201) {
        const again = await person.request('POST', '/api/memory/profile/', { data: json });
        assert.deepEqual([again.status, again.text.includes(JSON.stringify(json))], [200, true]);
      }
      return read('/api/memory/stats/', clients);
    },
  ],
  [
    'model of a promotion',
    200,
    (model, { person }) => person.request('POST', '/api/memory/promote/facts/', { model }),
  ],
  ['a path to no row', 404, (id, clients) => read(`/api/memory/facts/${id}/`, clients)],
  ['a path to no job', 404, (id, clients) => read(`/api/jobs/${id}/`, clients)],
];

const ACCOUNTS: Use[] = [
  ['label of a key', 201, (label, { person }) => person.request('POST', '/api/auth/keys/', { label })],
  ['name of a person', 200, (name, { person }) => person.request('PATCH', '/api/auth/me/', { name })],
  ['a path to no key', 404, (id, clients) => read(`/api/auth/keys/${id}/`, clients)],
];

describe('inherited names', () => {
  const system = useSystem({
    workerEntry: ['workers/main.ts', 'all'],
    env: { REPLY_TIMEOUT_MS: '5000', BATCH_TIMEOUT_MS: '5000', SUPPORTED_MODELS: `fake-model,${NAMES}` },
  });

  for (const name of NAMES)
    it(`requests with ${name}, a property of all JavaScript objects, as a name or value get their usual status`, async () => {
      system.provider.respond(
        bySchema({ reply: proposeReplies([{ response: name }]), facts: structured({ facts: [] }) }),
      );
      const clients = { app: await system.app(), person: await signUp(system) };
      const uses = [...V1, ...REPLIES, ...RECORDING, ...MEMORY, ...ACCOUNTS];
      const answered = [];
      for (const [where, , call] of uses) answered.push([where, (await call(name, clients)).status]);
      assert.deepEqual(
        answered,
        uses.map(([where, due]) => [where, due]),
      );
    });
});
