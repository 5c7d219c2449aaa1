import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { endpoints } from '../../ingress/routes/index.ts';
import type { LogInList, LoginResponse } from '../../shared/schemas/accounts.ts';
import type { JobReceipt } from '../../shared/schemas/jobs.ts';
import type { PasskeyCreation, PasskeyRequest } from '../../shared/schemas/passkeys.ts';
import type { BatchResponse } from '../../shared/schemas/replies.ts';
import { Visitor } from '../connect/visitor.ts';
import { isGone } from '../support/account.ts';
import { Authenticator } from '../support/authenticator.ts';
import { type AppClient, call, predictionBody, type Reply } from '../support/client.ts';
import { connectingApp, REDIRECT_URI, type StartResponse, startBody } from '../support/connection.ts';
import { proposeFacts as proposingFacts } from '../support/facts-promotion.ts';
import { bySchema, hang, ok } from '../support/fake-provider.ts';
import { letProgramIn } from '../support/grant.ts';
import { addFact, setProfile } from '../support/memory.ts';
import { permissionRequest } from '../support/permissions.ts';
import { writeEpisode } from '../support/promotion.ts';
import { event } from '../support/recording.ts';
import { describeWithRedis, type RedisServer, startRedisServer } from '../support/redis-server.ts';
import { proposeReplies as proposingReplies } from '../support/replies.ts';
import { type System, startSystem } from '../support/system.ts';
import { tablesWith } from '../support/tables-with.ts';
import { until } from '../support/until.ts';

/** Tables whose tombstones keep the app's own ids and the ids of its predictions and connections. */
const TOMBSTONES = ['public.connections', 'public.history', 'public.prediction_events'];

const WORKER = ['workers/main.ts', 'all'];

const newMarker = (name: string) => `${name}-${randomBytes(8).toString('hex')}`;

/** `mine` marks data of the person, which is erased; `theirs` marks the app's own ids, which stay. */
interface Markers {
  mine: string;
  theirs: string;
}

class Person {
  readonly used = new Set<string>();
  readonly #app: AppClient;
  readonly #url: string;
  access = '';
  id = '';

  constructor(app: AppClient) {
    this.#app = app;
    this.#url = app.url;
  }

  /** Calls a `path` of the endpoint table; `names` are the values of the path's parameters. */
  async use<Body>(
    method: string,
    path: string,
    { body, names = [], headers }: { body?: object; names?: string[]; headers?: Record<string, string> } = {},
  ): Promise<Reply<Body>> {
    this.used.add(`${method} ${path}`);
    const rest = [...names];
    const actual = path.replaceAll(/:\w+/g, () => encodeURIComponent(rest.shift() ?? ''));
    const bearer = path.startsWith('/v1/') ? this.#app.key : this.access;
    const authorization: Record<string, string> = bearer === '' ? {} : { authorization: `Bearer ${bearer}` };
    return call<Body>(method, this.#url + actual, body, { headers: headers ?? authorization });
  }

  async expectOk<Body>(...given: Parameters<Person['use']>): Promise<Body> {
    const reply = await this.use<Body>(...given);
    assert.ok(reply.status < 300, `${given[0]} ${given[1]} answered ${reply.status} ${reply.text}`);
    return reply.body;
  }
}

async function useAccount(person: Person, { mine }: Markers): Promise<void> {
  const email = `${mine}@example.com`;
  const password = `${mine} staples`;
  await person.expectOk('POST', '/api/auth/waitlist/', { body: { email } });
  await person.expectOk('POST', '/api/auth/invite/validate/', { body: { code: mine } });
  const signup = { email, password, name: mine, invite_code: mine };
  await person.expectOk('POST', '/api/auth/signup/', { body: signup });
  const wrong = await person.use('POST', '/api/auth/login/', { body: { email, password: `${mine} wrong` } });
  assert.equal(wrong.status, 401);
  const login = await person.expectOk<LoginResponse>('POST', '/api/auth/login/', {
    body: { email, password },
  });
  person.access = login.access;
  person.id = login.user.id;
  await person.expectOk('POST', '/api/auth/token/refresh/', { body: { refresh: login.refresh } });
  await person.expectOk('POST', '/api/auth/logout/', { body: { refresh: login.refresh } });
  const change = { name: `${mine} again`, password: `${mine} staples again`, current_password: password };
  await person.expectOk('PATCH', '/api/auth/me/', { body: change });
  const renewed = { email, password: change.password };
  person.access = (
    await person.expectOk<LoginResponse>('POST', '/api/auth/login/', { body: renewed })
  ).access;
  await person.expectOk('POST', '/api/auth/login/', { body: renewed, headers: { 'user-agent': mine } });
  const logIns = await person.expectOk<LogInList>('GET', '/api/auth/log-ins/');
  const others = logIns.results.filter(({ current }) => !current).map(({ id }) => id);
  await person.expectOk('DELETE', '/api/auth/log-ins/:id/', { names: others.slice(0, 1) });
  await person.expectOk('DELETE', '/api/auth/log-ins/');
  await person.expectOk('POST', '/api/auth/login/', { body: renewed, headers: { 'user-agent': mine } });
  const other = { email: `new-${email}`, current_password: renewed.password };
  // This server sends no mail.
  assert.equal((await person.use('POST', '/api/auth/email/', { body: other })).status, 404);
  await person.expectOk('GET', '/api/auth/me/');
  await person.expectOk('GET', '/api/accesses/');
  await person.expectOk('GET', '/api/activity/');
}

async function useConsole(person: Person, { mine }: Markers): Promise<void> {
  const user = { email: `${mine}@example.com`, password: `${mine} staples again` };
  assert.equal((await person.use('POST', '/console/auth/signup/', { body: user })).status, 409);
  const { headers } = await person.use('POST', '/console/auth/login/', { body: user });
  const cookie = headers.getSetCookie()[0]?.split(';')[0] ?? '';
  const inCookie = { refresh: 'cookie' };
  await person.expectOk('POST', '/console/auth/token/refresh/', { body: inCookie, headers: { cookie } });
  const authorization = `Bearer ${person.access}`;
  await person.expectOk('POST', '/console/auth/logout/', {
    body: inCookie,
    headers: { cookie, authorization },
  });
}

async function useKeys(person: Person, { mine }: Markers): Promise<void> {
  const issue = () =>
    person.expectOk<{ id: string; key: string }>('POST', '/api/auth/keys/', { body: { label: mine } });
  const [kept, revoked] = [await issue(), await issue()];
  await person.expectOk('DELETE', '/api/auth/keys/:key_id/', { names: [revoked.id] });
  await person.expectOk('GET', '/api/auth/keys/:key_id/', { names: [kept.id] });
  await person.expectOk('GET', '/api/auth/keys/', { headers: { 'x-service-api-key': kept.key } });
}

async function usePasskeys(person: Person, { mine }: Markers, origin: string): Promise<void> {
  const authenticator = new Authenticator();
  const { challenge } = await person.expectOk<PasskeyCreation>('POST', '/api/auth/passkeys/options/');
  const credential = authenticator.create({ challenge, origin });
  const body = { name: mine, credential };
  const { id } = await person.expectOk<{ id: string }>('POST', '/api/auth/passkeys/', { body });
  const names = [id];
  await person.expectOk('PATCH', '/api/auth/passkeys/:id/', { names, body: { name: `${mine} again` } });
  await person.expectOk('GET', '/api/auth/passkeys/');
  const asked = await person.expectOk<PasskeyRequest>('POST', '/console/auth/passkeys/options/');
  const answer = { credential: authenticator.get({ challenge: asked.challenge, origin }) };
  await person.expectOk('POST', '/console/auth/passkeys/login/', { body: answer });
  await person.expectOk('DELETE', '/api/auth/passkeys/:id/', { names });
  const again = await person.expectOk<PasskeyCreation>('POST', '/api/auth/passkeys/options/');
  const kept = { name: mine, credential: authenticator.create({ challenge: again.challenge, origin }) };
  await person.expectOk('POST', '/api/auth/passkeys/', { body: kept });
}

async function useGrants(system: System, person: Person): Promise<void> {
  const [kept, revoked] = [await letProgramIn(system, person.id), await letProgramIn(system, person.id)];
  await person.expectOk('PATCH', '/api/auth/grants/:id/', { names: [kept], body: { scopes: ['read'] } });
  await person.expectOk('DELETE', '/api/auth/grants/:id/', { names: [revoked] });
  await person.expectOk('GET', '/api/auth/grants/');
}

async function useApps(person: Person, { mine }: Markers): Promise<void> {
  const make = async () => {
    const body = { name: mine, redirect_uris: [`https://${mine}.example/back`] };
    return [(await person.expectOk<{ app_id: string }>('POST', '/api/apps/', { body })).app_id];
  };
  const [kept, deleted] = [await make(), await make()];
  await person.expectOk('PATCH', '/api/apps/:app_id/', { names: kept, body: { name: `${mine} again` } });
  await person.expectOk('POST', '/api/apps/:app_id/keys/', { names: kept, body: { grace_s: 60 } });
  await person.expectOk('DELETE', '/api/apps/:app_id/', { names: deleted });
  await person.expectOk('GET', '/api/apps/:app_id/', { names: kept });
  await person.expectOk('GET', '/api/apps/');
}

async function useWebhooks(person: Person, { mine }: Markers): Promise<void> {
  const make = async () => {
    const body = { url: `https://${mine}.example/`, events: ['job.finished'] };
    return [(await person.expectOk<{ id: string }>('POST', '/api/webhooks/', { body })).id];
  };
  const [kept, deleted] = [await make(), await make()];
  const url = `https://${mine}.example/again`;
  await person.expectOk('PATCH', '/api/webhooks/:webhook_id/', { names: kept, body: { url } });
  await person.expectOk('POST', '/api/webhooks/:webhook_id/secret/', { names: kept, body: { grace_s: 60 } });
  await person.expectOk('DELETE', '/api/webhooks/:webhook_id/', { names: deleted });
  await person.expectOk('POST', '/api/webhooks/:webhook_id/replay/', { names: kept, body: {} });
  for (const end of ['', 'deliveries/'])
    await person.expectOk('GET', `/api/webhooks/:webhook_id/${end}`, { names: kept });
  await person.expectOk('GET', '/api/webhooks/');
}

async function useRecording(person: Person, { mine }: Markers): Promise<void> {
  const part = { session_id: mine, source: mine, source_detail: mine, agent: mine, [mine]: { [mine]: mine } };
  const rows = [
    event({ ...part, id: mine, prompt: mine }),
    event({ ...part, type: 'session.started' }),
    event({ ...part, type: `custom.${mine}`, payload: { [mine]: mine } }),
    event({ ...part, occurred_at: mine }),
  ];
  await person.expectOk('POST', '/api/recording/events/', { body: rows });
  await person.expectOk('GET', '/api/recording/events/:id/', { names: [mine] });
  await person.expectOk('GET', '/api/recording/sessions/');
  await person.expectOk('GET', '/api/recording/sessions/:id/events/', { names: [mine] });
}

async function useMemory(person: Person, { mine }: Markers): Promise<void> {
  const add = async (tier: string, body: object) => {
    const { id } = await person.expectOk<{ id: string }>('POST', `/api/memory/${tier}/`, { body });
    await person.expectOk('GET', `/api/memory/${tier}/`);
    await person.expectOk('GET', `/api/memory/${tier}/:id/`, { names: [id] });
    return id;
  };
  const said = {
    content: mine,
    agent: mine,
    session_id: mine,
    source: mine,
    tags: [mine],
    metadata: { [mine]: mine },
  };
  const [raw, forgotten] = [await add('raw', said), await add('raw', said)];
  const moments = { started_at: '2026-05-01T12:00:00Z', ended_at: '2026-05-01T12:00:00Z' };
  const told = { title: mine, summary: mine, tags: [mine], raw_ids: [raw], model: mine, ...moments };
  const [episode, deleted] = [await add('episodes', told), await add('episodes', told)];
  const known = { text: mine, kind: mine, tags: [mine], episode_ids: [episode], model: mine };
  const [fact, wrong] = [await add('facts', known), await add('facts', { ...known, text: `${mine} too` })];
  await person.expectOk('PATCH', '/api/memory/episodes/:id/', {
    names: [episode],
    body: { title: `${mine} again` },
  });
  await person.expectOk('PATCH', '/api/memory/facts/:id/', {
    names: [fact],
    body: { text: `${mine} again` },
  });
  await person.expectOk('DELETE', '/api/memory/raw/:id/', { names: [forgotten] });
  await person.expectOk('DELETE', '/api/memory/episodes/:id/', { names: [deleted] });
  await person.expectOk('DELETE', '/api/memory/facts/:id/', { names: [wrong] });
  await person.expectOk('POST', '/api/memory/forget/', { body: { tier: 'facts', ids: [wrong] } });
  await person.expectOk('DELETE', '/api/memory/profile/');
  await person.expectOk('POST', '/api/memory/profile/', { body: { summary: mine, data: { [mine]: mine } } });
  await person.expectOk('GET', '/api/memory/profile/');
  await person.expectOk('GET', '/api/memory/stats/');
  await person.expectOk('GET', '/api/changes/');
}

async function useJobs(person: Person, { mine }: Markers): Promise<void> {
  await person.expectOk('POST', '/api/memory/sync/', { body: { session_id: mine } });
  const headers = {
    prefer: 'respond-async',
    'idempotency-key': mine,
    authorization: `Bearer ${person.access}`,
  };
  const { job_id } = await person.expectOk<JobReceipt>('POST', '/api/memory/sync/', { body: {}, headers });
  await person.expectOk('GET', '/api/jobs/:job_id/', { names: [job_id] });
  await person.expectOk('DELETE', '/api/jobs/:job_id/', { names: [job_id] });
}

/** The model's answers contain the marker too. */
async function usePromotion(system: System, person: Person, { mine }: Markers): Promise<void> {
  const quoting = proposingFacts({ text: `${mine} again and again`, quote: mine, slot: mine });
  system.provider.respond(
    bySchema({ episode: writeEpisode({ title: mine, summary: mine, tags: [mine] }), facts: quoting }),
  );
  const [prompt, reply] = [
    { content: `${mine}?`, kind: 'prompt' },
    { content: `${mine}!`, kind: 'reply' },
  ];
  await person.expectOk('POST', '/api/memory/raw/', { body: [prompt, reply] });
  for (const tier of ['episodes', 'facts'])
    await person.expectOk('POST', `/api/memory/promote/${tier}/`, { body: {} });
  await person.expectOk('POST', '/api/memory/context/', { body: { goal: mine } });
}

async function useReplies(system: System, person: Person, { mine }: Markers): Promise<void> {
  system.provider.respond(proposingReplies([{ response: mine, reasoning: mine }]));
  const body = { agent: mine, agent_input: mine, session_id: mine };
  const { id } = await person.expectOk<{ id: string }>('POST', '/api/predictions/predict/', { body });
  const told = { status: 'edited', actual_response: mine };
  await person.expectOk('POST', '/api/predictions/:id/feedback/', { names: [id], body: told });
  await person.expectOk('GET', '/api/predictions/:id/', { names: [id] });
  for (const path of ['', 'stats/', 'calibration/']) await person.expectOk('GET', `/api/predictions/${path}`);
  const batch = {
    prompts: [
      { agent: mine, agent_input: mine, session_id: mine },
      { agent: mine, agent_input: `${mine}?` },
    ],
  };
  const answer = await person.expectOk<BatchResponse>('POST', '/api/predictions/predict/batch/', {
    body: batch,
  });
  assert.equal(answer.succeeded, 2);
  system.provider.next(ok({ continuation: mine }));
  await person.expectOk('POST', '/api/predictions/draft/', { body: { draft: mine } });
  await person.expectOk('POST', '/api/predictions/permission/', { body: permissionRequest(mine) });
  const acted = await person.expectOk<{ id: string }>('POST', '/api/predictions/predict/', {
    body: { ...body, threshold: 0 },
  });
  await person.expectOk('GET', '/api/decisions/');
  await person.expectOk('POST', '/api/decisions/:id/object/', { names: [acted.id] });
  await person.expectOk('GET', '/api/decisions/settings/');
  await person.expectOk('PATCH', '/api/decisions/settings/', { body: { daily_note: false } });
}

/** Connects the person to the app through the consent page. Returns the connection's id. */
async function connect(person: Person, { mine }: Markers, userId: string): Promise<string> {
  const { body, verifier } = startBody(userId);
  const started = await person.expectOk<StartResponse>('POST', '/v1/connections', { body });
  const browser = new Visitor();
  const page = started.authorize_url;
  const credentials = { email: `${mine}@example.com`, password: `${mine} staples again` };
  await browser.submit(page, { do: 'sign-in', ...credentials });
  const { location } = await browser.submit(page, { do: 'approve' });
  const code = new URL(location ?? '').searchParams.get('code');
  const exchange = {
    request_id: started.request_id,
    user_id: userId,
    code,
    code_verifier: verifier,
    redirect_uri: REDIRECT_URI,
  };
  const { connection_id } = await person.expectOk<{ connection_id: string }>(
    'POST',
    '/v1/connections/exchange',
    {
      body: exchange,
    },
  );
  return connection_id;
}

function markedRequest({ mine, theirs }: Markers, connectionId: string, nth: number) {
  return predictionBody({
    request_id: `${theirs}-${nth}`,
    user_id: theirs,
    session_id: `${theirs}-${nth}`,
    connection_id: connectionId,
    draft: { text: `Draft ${mine} and `, revision: 1 },
    messages: [{ role: 'user', content: `Message ${mine}` }],
    artifact: { kind: 'other', id: mine, revision: mine, selection: mine, summary: mine },
    user_preferences: mine,
  });
}

async function usePredictions(
  system: System,
  person: Person,
  markers: Markers,
): Promise<{ running: Promise<unknown> }> {
  const { mine, theirs } = markers;
  const connection = await connect(person, markers, theirs);
  const others = [
    await connect(person, markers, `${theirs}-2`),
    await connect(person, markers, `${theirs}-3`),
  ];
  await person.expectOk('POST', '/v1/connections/:connection_id/revoke', {
    names: others.slice(0, 1),
    body: { user_id: `${theirs}-2` },
  });
  await person.expectOk('DELETE', '/api/connections/:id/', { names: others.slice(1) });
  await person.expectOk('GET', '/api/connections/');
  await person.expectOk('GET', '/api/connections/:id/', { names: [connection] });
  await person.expectOk('PATCH', '/api/connections/:id/', {
    names: [connection],
    body: { ends_at: null },
  });
  system.provider.respond(ok({ continuation: mine }));
  const body = markedRequest(markers, connection, 1);
  await person.expectOk('POST', '/v1/predictions', { body });
  await person.expectOk('POST', '/v1/prediction-events', {
    body: { event_id: theirs, request_id: body.request_id, user_id: theirs, kind: 'accepted' },
  });
  await person.expectOk('POST', '/v1/predictions/:request_id/cancel', {
    names: [body.request_id],
    body: { user_id: theirs },
  });
  await person.expectOk('GET', '/v1/usage');
  // One prediction still runs when the account is erased.
  system.provider.respond(hang());
  const running = person.use('POST', '/v1/predictions', { body: markedRequest(markers, connection, 2) });
  await until(() => system.provider.running === 1);
  return { running };
}

function defineTests(open: () => Promise<{ system: System; redis?: RedisServer }>) {
  let system: System;
  let redis: RedisServer | undefined;
  let person: Person;
  let running: Promise<unknown>;
  const markers = { mine: newMarker('mine'), theirs: newMarker('theirs') };

  before(async () => {
    ({ system, redis } = await open());
    person = new Person(await connectingApp(system));
    await useAccount(person, markers);
    await useConsole(person, markers);
    await useKeys(person, markers);
    await usePasskeys(person, markers, `http://localhost:${new URL(system.webs[0]?.url ?? '').port}`);
    await useGrants(system, person);
    await useApps(person, markers);
    await useWebhooks(person, markers);
    await useRecording(person, markers);
    await setProfile(system, person, markers.mine, { [markers.mine]: markers.mine });
    await addFact(system, person, { text: markers.mine, tags: [markers.mine] });
    await useMemory(person, markers);
    await useJobs(person, markers);
    await usePromotion(system, person, markers);
    await useReplies(system, person, markers);
    ({ running } = await usePredictions(system, person, markers));
    await person.expectOk('GET', '/healthz');
    await person.expectOk('GET', '/readyz');
  });

  after(async () => {
    await system?.stop();
    await redis?.kill();
  });

  it('erasing an account leaves none of its data in tables, queues and logs, except ids that a connected app chose, in tombstones', async () => {
    const before = await tablesWith(system, markers.mine);
    assert.ok(before.length > 3, `only ${before.join()} had anything of the account`);
    const exported = await fetch(`${system.webs[0]?.url}/api/export/`, {
      headers: { authorization: `Bearer ${person.access}` },
    });
    assert.ok((await exported.text()).includes(markers.mine));
    person.used.add('GET /api/export/');

    await person.expectOk('DELETE', '/api/auth/me/');
    await running;
    await until(() => isGone(system, person));
    assert.deepEqual(await tablesWith(system, markers.mine), []);
    assert.deepEqual(await tablesWith(system, person.id), []);
    const kept = await tablesWith(system, markers.theirs);
    // Partitions count as their table.
    const tables = new Set(kept.map((table) => table.replace(/_\d{8}$/, '')));
    assert.deepEqual([...tables].sort(), TOMBSTONES);
    for (const text of [markers.mine, markers.theirs, person.id]) {
      assert.equal(await system.queue.holds(text), false);
      assert.ok(!(await redis?.holds(text)));
    }
    for (const { log } of [...system.webs, ...system.workers]) assert.ok(!log.includes(markers.mine));
  });

  it('the erasure test calls every endpoint with the account that it erases', () => {
    const all = endpoints.map(({ method, path }) => `${method} ${path}`);
    assert.deepEqual([...person.used].sort(), all.sort());
  });
}

describe('erasure markers', () => {
  defineTests(async () => ({
    system: await startSystem({ workerEntry: WORKER, env: { RATE_LIMIT_RPS: '1000' } }),
  }));
});

describeWithRedis('erasure markers on Redis', () => {
  defineTests(async () => {
    const redis = await startRedisServer();
    const env = { RATE_LIMIT_RPS: '1000', REDIS_URL: redis.url };
    return { system: await startSystem({ workerEntry: WORKER, env }), redis };
  });
});
