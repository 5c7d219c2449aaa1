import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { type AppClient, fetchPublished, predictionBody } from '../support/client.ts';
import { hang, ok, raw, reset, status } from '../support/fake-provider.ts';
import { rowOf } from '../support/rows.ts';
import { useSystem } from '../support/system.ts';
import { tablesWith } from '../support/tables-with.ts';
import { expire, whileFrozen } from '../support/time-travel.ts';
import { until } from '../support/until.ts';

const MAX_LOG_CHARS = 100_000;

const newMarker = () => `secret-${randomBytes(8).toString('hex')}`;

function markedRequest(marker: string) {
  return predictionBody({
    draft: { text: `Draft ${marker} and `, revision: 1 },
    messages: [
      { role: 'user', content: `Message ${marker}`, origin: 'human' },
      { role: 'assistant', content: `Reply ${marker}` },
    ],
    artifact: {
      kind: 'slides',
      id: 'a-1',
      revision: '1',
      selection: `Selection ${marker}`,
      summary: `Summary ${marker}`,
    },
    user_preferences: `Preference ${marker}`,
  });
}

describe('privacy', () => {
  const system = useSystem({ env: { LOG_LEVEL: 'trace' } });
  beforeEach(() => system.provider.reset());

  const assertNotLogged = (text: string) => {
    for (const { log } of [...system.webs, ...system.workers]) {
      assert.ok(log.length < MAX_LOG_CHARS, 'the beginning of a log is lost');
      const lines = log.split('\n').filter((line) => line.includes(text));
      assert.deepEqual(lines, []);
    }
  };

  it('the input of a prediction is erased when it is answered, and its answer within 10 s after the recovery window #erased-texts', async () => {
    const app = await system.app();
    const [asked, answered] = [newMarker(), newMarker()];
    system.provider.respond(ok({ continuation: answered }));
    const body = markedRequest(asked);
    assert.equal((await app.predict(body)).body.completion, answered);
    assert.deepEqual(await tablesWith(system, asked), []);
    assert.deepEqual(await tablesWith(system, answered), ['public.answers']);
    await expire(system, body);
    await until(async () => (await tablesWith(system, answered)).length === 0, 10_000);
    assert.equal((await app.predict(body)).code, 'recovery_window_expired');
  });

  it('no table has the texts of a failed or cancelled prediction once it has ended', async () => {
    const app = await system.app();
    const marker = newMarker();
    const [failed, cancelled] = [markedRequest(marker), markedRequest(marker)];
    system.provider.next(status(500), hang());
    assert.equal((await app.predict(failed)).status, 502);
    const waiting = app.predict(cancelled);
    await system.provider.called(2);
    assert.deepEqual(await tablesWith(system, marker), ['public.work']);
    await app.cancel(cancelled.request_id, cancelled.user_id);
    await waiting;
    assert.deepEqual(await tablesWith(system, marker), []);
  });

  it('the queue never gets a text, user_id, request_id or session_id of a request #queue-privacy', async () => {
    const app = await system.app();
    const [marker, user] = [newMarker(), newMarker()];
    const body = {
      ...markedRequest(marker),
      request_id: newMarker(),
      session_id: newMarker(),
      user_id: user,
    };
    const assertNotQueued = async () => {
      for (const text of [marker, user, body.request_id, body.session_id]) {
        assert.equal(await system.queue.holds(text), false);
      }
    };
    await system.queue.listen();
    let reply: ReturnType<AppClient['predict']> | undefined;
    await whileFrozen(system.workers, async () => {
      reply = app.predict(body);
      // The work is queued, and no worker takes it.
      const { id } = await until(() => rowOf(system, body).catch(() => undefined));
      await until(() => system.queue.holds(id));
      await assertNotQueued();
    });
    assert.equal((await reply)?.status, 200);
    await assertNotQueued();
  });

  it('the logs contain no text of a request, whether it succeeds, fails or is refused', async () => {
    const app = await system.app();
    const marker = newMarker();
    const post = (body: object) => app.request('POST', '/v1/predictions', body);
    const statuses: number[] = [];
    const rejection = status(400, {}, marker);
    const failures = [
      status(500, {}, marker),
      rejection,
      status(401, {}, marker),
      status(429, { 'retry-after': '0' }, marker),
      raw(`{"${marker}": `),
      raw(marker, 'text/html'),
      reset(),
    ];
    let unlucky = '';
    for (const failure of failures) {
      // A rejected request is sent once more, without the optional parameters.
      system.provider.next(...(failure === rejection ? [rejection, rejection] : [failure]));
      const body = markedRequest(marker);
      statuses.push((await post(body)).status);
      unlucky = (await rowOf(system, body)).id;
    }
    const body = markedRequest(marker);
    const bad = { ...body, request_id: 'other', draft: { text: body.draft.text, revision: marker } };
    statuses.push(
      (await post(body)).status,
      (await post({ ...body, user_preferences: `${marker} again` })).status,
      (await post(bad)).status,
      (await post({ ...body, [marker]: marker })).status,
      (await post({ ...body, request_id: `${marker} is no id` })).status,
      (await post({ ...body, request_id: 'long', messages: tooLongMessages(marker) })).status,
      (await post({ ...body, user_preferences: `${marker}\0` })).status,
      (await app.request('GET', `/v1/${marker}`)).status,
      (await app.cancel(marker, marker)).status,
      (await sendInvalid(app, `{"draft": "${marker}`)).status,
    );
    assert.deepEqual(statuses.slice(0, failures.length), [502, 502, 503, 503, 502, 502, 502]);
    assert.deepEqual(statuses.slice(failures.length), [200, 409, 422, 422, 422, 413, 422, 404, 404, 400]);
    assertNotLogged(marker);
    // Both the ingress and the worker have logged something about these requests.
    assert.ok(system.webs[0]?.log.includes(app.id));
    assert.ok(system.workers[0]?.log.includes(unlucky));
  });

  it('no log contains an app key, and no table contains more than the first characters of one', async () => {
    const app = await system.app();
    assert.equal((await app.predict(predictionBody())).status, 200);
    const wrong = `${app.key.slice(0, -1)}_`;
    for (const authorization of [`Bearer ${wrong}`, `Basic ${app.key}`, app.key]) {
      const reply = await app.request('GET', '/v1/usage', undefined, { headers: { authorization } });
      assert.equal(reply.status, 401);
    }
    // Searches for the key without its checksum, which could be recomputed.
    const secret = app.key.slice('fc_'.length, -'checks'.length);
    assert.deepEqual(await tablesWith(system, secret), []);
    assert.deepEqual(await tablesWith(system, app.key.slice(0, 'fc_'.length + 6)), ['public.app_keys']);
    assertNotLogged(secret);
    assertNotLogged(wrong);
  });
});

/** Makes messages that are allowed one by one but too long together. */
function tooLongMessages(text: string) {
  return Array.from({ length: 30 }, () => ({ role: 'user', content: text.padEnd(8000, '.') }));
}

async function sendInvalid(app: AppClient, body: string): Promise<Response> {
  const headers = { authorization: `Bearer ${app.key}`, 'content-type': 'application/json' };
  return fetchPublished(`${app.url}/v1/predictions`, { method: 'POST', headers, body });
}
