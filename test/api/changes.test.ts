import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createAccountClient } from '../../client/src/api.ts';
import { endpoints } from '../../ingress/routes/index.ts';
import { ingressConfig } from '../../shared/config/config.ts';
import { createLog } from '../../shared/log.ts';
import { openBus } from '../../shared/queue/bus.ts';
import { CHANGES } from '../../shared/schemas/changes.ts';
import { issueKey, KeyClient, signUp, type UserClient } from '../support/account.ts';
import { predictionBody } from '../support/client.ts';
import { bySchema } from '../support/fake-provider.ts';
import { proposeReplies } from '../support/replies.ts';
import { type Part, useProcesses, useSystem } from '../support/system.ts';
import { until, untilDone } from '../support/until.ts';

const STREAMS_MAX = 20;
/** The tokens of one ingress hold at another. */
const PUBLIC_URL = 'http://localhost:8080';

/** Endpoints of an account that change nothing that is shown, or whose work says so when it ends. */
const SAY_NOTHING = [
  // What follows it does.
  'changeEmail',
  'startPasskey',
  // Events are shown once a sync has taken them into memory.
  'recordEvents',
  'assembleContext',
  'syncMemory',
  'promoteEpisodes',
  'promoteFacts',
  'predictReply',
  'predictReplies',
  'predictDraft',
  'cancelJob',
];

/** Follows the changes of an account at an ingress; `seen` are the events after the first. */
async function follow(person: UserClient, at: Pick<Part, 'url'>) {
  const { access, refresh } = person;
  const cut = new AbortController();
  const client = createAccountClient({ baseUrl: at.url, credential: { access, refresh } });
  const events = client.changes({ signal: cut.signal, retries: 0 });
  const seen: string[][] = [];
  const first = await events.next();
  const ended = (async () => {
    for await (const changed of events) seen.push(changed);
    return 'by the server';
  })().catch((error: { code?: string }) => error.code ?? String(error));
  return { first: first.value, seen, ended, cut: () => cut.abort() };
}

describe('changes of an account', () => {
  const system = useSystem({ webs: 2, workerEntry: ['workers/main.ts', 'all'], env: { PUBLIC_URL } });
  let person: UserClient;
  beforeEach(async () => {
    system.provider.reset();
    system.provider.respond(bySchema({ reply: proposeReplies([{ response: 'Blue' }]) }));
    person = await signUp(system);
  });

  const addFact = (of = person) => of.post('/api/memory/facts/', { text: 'The secret is 4711.' });
  const second = () => system.webs[1] ?? assert.fail();

  it('every endpoint that changes an account says what it changes, or is known to say nothing', () => {
    const silent = endpoints.filter(
      ({ credential, method, changes }) => credential === 'user' && method !== 'GET' && changes === undefined,
    );
    assert.deepEqual(silent.map(({ operationId }) => operationId).sort(), [...SAY_NOTHING].sort());
  });

  it('a change at one ingress is named at another, to the followers of this account alone, and nothing of its text', async () => {
    const stranger = await signUp(system);
    const [own, others] = await Promise.all([follow(person, second()), follow(stranger, second())]);
    assert.deepEqual(own.first, [...CHANGES]);
    await addFact();
    await until(() => own.seen.length > 0);
    await addFact(stranger);
    await until(() => others.seen.length > 0);
    assert.deepEqual([own.seen, others.seen], [[['memory']], [['memory']]]);
    own.cut();
    others.cut();
  });

  it('a prediction that a key asked for, and a job of a worker, are named to those who follow the changes', async () => {
    const [key, feed] = [new KeyClient(person, await issueKey(person)), await follow(person, second())];
    const prompt = { agent: 'coder', agent_input: 'Which colour?' };
    const predicted = await key.request('POST', '/api/predictions/predict/', prompt);
    assert.equal(predicted.status, 200, predicted.text);
    await until(() => feed.seen.flat().includes('predictions'));
    assert.equal((await key.request('POST', '/api/memory/sync/', {})).status, 200);
    await until(() => feed.seen.flat().includes('memory'));
    feed.cut();
  });

  it('many changes are named once a second at most, and the last one too', async () => {
    const feed = await follow(person, second());
    const since = performance.now();
    for (let nth = 0; nth < 60; nth += 1) await addFact();
    await person.request('PATCH', '/api/auth/me/', { name: 'Ada' });
    await until(() => feed.seen.flat().includes('account'));
    const events = feed.seen.length;
    assert.ok(events <= 2 + (performance.now() - since) / 1000, `${events} events`);
    feed.cut();
  });

  it('logging out everywhere ends the stream of changes without naming one, and the same token cannot open it again', async () => {
    const feed = await follow(person, second());
    assert.equal((await person.request('POST', '/api/auth/logout/', { all: true })).status, 200);
    assert.deepEqual([await feed.ended, feed.seen], ['by the server', []]);
    await until(
      async () => (await person.request('GET', '/api/changes/', undefined, { at: second() })).status === 401,
    );
  });

  it('an account has at most 20 streams of changes at an ingress, and a closed one makes room', async () => {
    const feeds = await Promise.all(Array.from({ length: STREAMS_MAX }, () => follow(person, second())));
    const headers = { accept: 'text/event-stream', authorization: `Bearer ${person.access}` };
    const one = await person.request('GET', '/api/changes/', undefined, { at: second(), headers });
    assert.deepEqual([one.status, one.code], [503, 'overloaded']);
    for (const feed of feeds) feed.cut();
    const again = await untilDone(() => follow(person, second()));
    again.cut();
  });

  it('a prediction of an app announces no change to anybody', async () => {
    const log = createLog('test', 'silent');
    const config = ingressConfig(system.env);
    const bus = openBus(config, system.database.pool, log);
    const heard: string[] = [];
    await bus.listen(`${config.queuePrefix}_changed`, (payload) => heard.push(payload));
    await until(async () => {
      await addFact();
      return heard.length > 0;
    });
    const app = await system.app();
    await app.predict(predictionBody());
    const marker = await signUp(system);
    await addFact(marker);
    await until(() => heard.some((one) => one.includes(marker.id)));
    assert.ok(
      heard.every((one) => one.includes(person.id) || one.includes(marker.id)),
      heard.join(),
    );
    await bus.close();
  });
});

describe('changes of an account, at an ingress that stops', () => {
  const system = useProcesses({ workers: 0 });

  it('an ingress that stops ends the streams of changes itself, and waits for none', async () => {
    const [person, web] = [await signUp(system), await system.startWeb()];
    const feed = await follow(person, web);
    web.kill('SIGTERM');
    assert.equal(await feed.ended, 'by the server');
    await once(web.child, 'exit').catch(() => {});
    assert.equal(web.child.exitCode, 0);
  });
});
