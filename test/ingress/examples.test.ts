import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { DOCUMENT_FILE, type Examples, readExamples } from '../../ingress/openapi/committed.ts';
import { writtenDocument } from '../../ingress/openapi/write.ts';
import { endpoints } from '../../ingress/routes/index.ts';
import { approveAttempt } from '../../shared/db/stores/connections/attempts.ts';
import { createInvite } from '../../shared/db/stores/invites.ts';
import { challengeOf } from '../../shared/security/fingerprint.ts';
import { Authenticator } from '../support/authenticator.ts';
import { type AppClient, call, fetchPublished } from '../support/client.ts';
import { duringSuite } from '../support/during-suite.ts';
import { proposeFacts } from '../support/facts-promotion.ts';
import { bySchema, ok } from '../support/fake-provider.ts';
import { letProgramIn } from '../support/grant.ts';
import { startMailServer } from '../support/mail-server.ts';
import { permissionEvent, permissionRequest } from '../support/permissions.ts';
import { writeEpisode } from '../support/promotion.ts';
import { proposeReplies } from '../support/replies.ts';
import { useSystem } from '../support/system.ts';
import { until } from '../support/until.ts';

const TIME = '2026-11-20T10:00:00.000Z';
const SECOND = 1_795_169_400;
const JWT = 'eyJhbGciOiJFZERTQSJ9.eyJzdWIiOiIuLi4ifQ.c2lnbmF0dXJl';
const ADA = { email: 'ada@example.com', password: 'a horse with 9 staples' };
const VERIFIER = 'dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk';
const REDIRECT_URI = 'https://app.example/forecue/callback';
const PROMPT = 'Which package manager shall I use here, npm or pnpm?';

type Recorded = Record<string, Examples>;
interface Call {
  params?: Record<string, string>;
  body?: object;
  query?: string;
  headers?: Record<string, string>;
}
/** The fields of any answer of which the story makes a later request. */
interface Told {
  id: string;
  app_id: string;
  user: { id: string };
  access: string;
  refresh: string;
  key: string;
  request_id: string;
  connection_id: string;
  job_id: string;
  state: string;
  challenge: string;
  results: { id: string }[];
}

/**
 * Ada's story makes every call of the published interface once. `RECORD=1` makes the examples of the API document from
 * it: run `RECORD=1 npm test -- test/ingress/examples.test.ts`.
 */
describe('examples', () => {
  const mail = duringSuite(startMailServer);
  const system = useSystem(() => ({
    workerEntry: ['workers/main.ts', 'all'],
    env: { PUBLIC_URL: 'https://forecue.example', SMTP_URL: mail.url, MAIL_FROM: 'forecue@example.com' },
  }));
  const recorded: Recorded = {};
  let app: AppClient;
  let credential: string;

  async function tell(operationId: string, { params = {}, body, query = '', headers = {} }: Call = {}) {
    const endpoint = endpoints.find((one) => one.operationId === operationId);
    assert.ok(endpoint, operationId);
    const path = endpoint.path.replaceAll(/:(\w+)/g, (_, name: string) => params[name] ?? '');
    const authorization = { app: `Bearer ${app.key}`, user: `Bearer ${credential}`, none: '' }[
      endpoint.credential
    ];
    const reply = await fetchPublished(app.url + path + query, {
      method: endpoint.method,
      headers: {
        ...(authorization && { authorization }),
        ...(body && { 'content-type': 'application/json' }),
        ...headers,
      },
      ...(body && { body: JSON.stringify(body) }),
    });
    const text = await reply.text();
    assert.ok(reply.ok, `${operationId}: ${reply.status} ${text}`);
    const [line = ''] = text.split('\n', 1);
    const told = line === '' ? undefined : JSON.parse(line);
    recorded[operationId] = {
      ...recorded[operationId],
      ...(told && { [reply.status]: told }),
      ...(endpoint.body && { request: body }),
    };
    return { headers: reply.headers, body: told as Told };
  }

  /** Has a job done in the background, and waits for its end. */
  async function tellLater(operationId: string, body: object): Promise<string> {
    const { job_id } = (await tell(operationId, { body, headers: { prefer: 'respond-async' } })).body;
    await until(async () => (await tell('readJob', { params: { job_id } })).body.state === 'succeeded');
    return job_id;
  }

  before(async () => {
    app = await system.app({ name: 'Notebook', redirectUris: [REDIRECT_URI] });
    system.provider.respond(
      bySchema({
        episode: writeEpisode({
          title: 'Choosing tools',
          summary: 'The person chose pnpm.',
          tags: ['tools'],
        }),
        facts: proposeFacts({ text: 'Uses pnpm, not npm.', quote: 'Use pnpm here, not npm.' }),
        prediction: ok({ continuation: 'erly sales report' }),
        reply: proposeReplies([
          { response: 'pnpm', reasoning: 'The person said so of this project.' },
          { response: 'npm is fine', likelihood: 'unlikely', reasoning: 'It is installed.' },
        ]),
      }),
    );
  });

  it('one story makes every published call, and its answers have the fields of the examples', async () => {
    const person = (await tell('signUp', { body: { ...ADA, name: 'Ada' } })).body;
    credential = person.access;
    const { refresh } = (await tell('logIn', { body: ADA })).body;
    await tell('refreshToken', { body: { refresh } });
    const code = await createInvite(system.em());
    await tell('validateInvite', { body: { code } });
    await tell('joinWaitlist', { body: { email: ADA.email } });
    await tell('readAccount');
    await tell('changeAccount', { body: { name: 'Ada L.' } });
    const authenticator = new Authenticator();
    const origin = 'https://forecue.example';
    const { challenge } = (await tell('startPasskey')).body;
    const passkey = { name: 'A laptop', credential: authenticator.create({ challenge, origin }) };
    const { id } = (await tell('addPasskey', { body: passkey })).body;
    await tell('listPasskeys');
    const toLogIn = (await tell('startPasskeyLogIn')).body;
    const assertion = authenticator.get({ challenge: toLogIn.challenge, origin });
    await tell('logInWithPasskey', { body: { credential: assertion } });
    await tell('renamePasskey', { params: { id }, body: { name: 'A phone' } });
    await tell('removePasskey', { params: { id } });
    await tell('changeEmail', { body: { email: 'ada.l@example.com', current_password: ADA.password } });
    const key = (await tell('issueKey', { body: { label: 'recorder' } })).body;
    await tell('listKeys');
    await tell('readKey', { params: { key_id: key.id } });
    const [latest] = (await tell('listOwnLogIns')).body.results;
    await tell('endOneLogIn', { params: { id: latest?.id ?? '' } });
    await tell('endAllOtherLogIns');
    const grant = { params: { id: await letProgramIn(system, person.user.id) } };
    const own = {
      params: { app_id: (await tell('createApp', { body: { name: 'Own notes' } })).body.app_id },
    };
    await tell('listApps');
    await tell('changeApp', { ...own, body: { redirect_uris: ['http://127.0.0.1/callback'], native: true } });
    await tell('rotateAppKey', { ...own, body: { grace_s: 3600 } });
    await tell('readApp', own);
    await tell('deleteApp', own);
    await tell('listOwnGrants');
    await tell('narrowOwnGrant', { ...grant, body: { scopes: ['read', 'predict'] } });
    await tell('revokeOwnGrant', grant);

    const url = 'https://receiver.example/forecue';
    const hears = { url, events: ['prediction.escalated', 'job.finished'] };
    const webhook = { params: { webhook_id: (await tell('createWebhook', { body: hears })).body.id } };
    await tell('listWebhooks');
    await tell('readWebhook', webhook);
    await tell('changeWebhook', { ...webhook, body: { active: true } });
    await tell('rotateWebhookSecret', { ...webhook, body: { grace_s: 3600 } });

    const event = {
      id: 'event-0001',
      session_id: 'session-3',
      occurred_at: TIME,
      source: 'terminal',
      type: 'agent.prompt',
      agent: 'coder',
      prompt: PROMPT,
    };
    for (const _ of [201, 200]) await tell('recordEvents', { body: [event] });
    await tell('readEvent', { params: { id: event.id } });
    await tell('listSessions');
    await tell('listSessionEvents', { params: { id: event.session_id } });
    await tell('syncMemory', { body: { session_id: event.session_id } });
    await tellLater('syncMemory', { session_id: event.session_id });
    await tell('listWebhookDeliveries', { ...webhook, query: '?limit=1' });
    await tell('replayWebhookDeliveries', { ...webhook, body: {} });
    await tell('removeWebhook', webhook);

    const reply = {
      content: 'Use pnpm here, not npm.',
      kind: 'reply',
      agent: 'coder',
      session_id: 'session-3',
    };
    const row = (await tell('addRawMemory', { body: { ...reply, tags: ['tools'] } })).body;
    await tell('listRawMemory', { query: '?kind=reply' });
    await tell('readRawMemory', { params: { id: row.id } });
    for (const operationId of ['promoteEpisodes', 'promoteFacts']) {
      await tell(operationId, { body: { force: true, limit: 100 } });
      await tellLater(operationId, { force: true, limit: 100 });
    }
    const summary = 'The build was moved to pnpm.';
    const times = { started_at: TIME, ended_at: TIME };
    const episode = (
      await tell('addEpisodes', {
        body: { title: 'Setting up the build', summary, ...times, raw_ids: [row.id] },
      })
    ).body;
    await tell('listEpisodes', { query: '?limit=1' });
    await tell('readEpisode', { params: { id: episode.id } });
    await tell('changeEpisode', { params: { id: episode.id }, body: { status: 'final' } });
    const fact = (
      await tell('addFacts', {
        body: { text: 'Uses pnpm, not npm.', kind: 'preference', episode_ids: [episode.id], tags: ['tools'] },
      })
    ).body;
    await tell('listFacts', { query: '?limit=1' });
    await tell('readFact', { params: { id: fact.id } });
    await tell('changeFact', { params: { id: fact.id }, body: { pinned: true } });
    for (const summary of ['Writes short mails.', 'Writes short mails, in English.'])
      await tell('writeProfile', { body: { summary, data: { editor: 'vim' } } });
    await tell('readProfile');
    await tell('assembleContext', {
      body: { query: 'Which package manager do I use?', max_facts: 20, max_episodes: 10, max_raw: 20 },
    });
    await tell('readMemoryStats');
    await tell('readChanges');
    await until(async () => (await tell('listAccesses', { query: '?tier=profile' })).body.results.length > 0);

    const asked = { agent: 'coder', agent_input: PROMPT, session_id: 'session-3' };
    const answer = (await tell('predictReply', { body: { ...asked, k: 2, threshold: 0.8 } })).body;
    const prompts = [asked, { agent: 'coder', agent_input: 'Shall I go on with the tests?' }];
    await tell('predictReplies', { body: { prompts, k: 2, threshold: 0.8 } });
    const job_id = await tellLater('predictReplies', { prompts, k: 2, threshold: 0.8 });
    await tell('cancelJob', { params: { job_id } });
    await tell('predictDraft', { body: { draft: 'Please summarise the quart', language: 'en' } });
    const approvals = ['npm test', 'npm test'].map((command) => permissionEvent(command));
    await call('POST', `${app.url}/api/recording/events/`, approvals, {
      headers: { authorization: `Bearer ${credential}` },
    });
    const permission = await tell('predictPermission', { body: permissionRequest('npm test -- --watch') });
    await tell('listDecisions', { query: '?limit=1' });
    await tell('objectToDecision', { params: { id: permission.body.id } });
    await tell('readDecisionSettings');
    await tell('changeDecisionSettings', { body: { automatic: false } });
    await tell('listReplies', { query: '?limit=1' });
    await tell('readReply', { params: { id: answer.id } });
    await tell('giveFeedback', { params: { id: answer.id }, body: { status: 'accepted' } });
    await tell('readReplyStats');
    await tell('readReplyCalibration');
    await tell('readActivity', { query: '?days=1' });

    const user_id = 'user-17';
    const connecting = { user_id, redirect_uri: REDIRECT_URI, state: VERIFIER.slice(0, 32) };
    const attempt = await tell('startConnection', {
      body: { ...connecting, code_challenge: challengeOf(VERIFIER) },
    });
    const { request_id } = attempt.body;
    const agreed = await approveAttempt(system.em(), request_id, person.user.id);
    const exchange = {
      request_id,
      user_id,
      code: agreed,
      code_verifier: VERIFIER,
      redirect_uri: REDIRECT_URI,
    };
    const { connection_id } = (await tell('exchangeConnection', { body: exchange })).body;
    const prediction = {
      request_id: 'req-2026-11-20-0001',
      user_id,
      session_id: 'session-3',
      mode: 'complete_draft',
      draft: { text: 'Please summarise the quart', revision: 7 },
      context_revision: 'c-12',
      connection_id,
      messages: [{ role: 'user', content: 'Hello', origin: 'human' }],
    };
    await tell('predict', { body: prediction });
    const shown = { event_id: 'event-1', request_id: prediction.request_id, user_id, kind: 'accepted' };
    await tell('recordPredictionEvent', { body: shown });
    await tell('cancelPrediction', { params: { request_id: prediction.request_id }, body: { user_id } });
    await tell('readUsage');
    await tell('listOwnConnections');
    await tell('readOwnConnection', { params: { id: connection_id } });
    await tell('changeOwnConnection', {
      params: { id: connection_id },
      body: { scope: { memory: 'facts' }, ends_at: null },
    });
    await tell('revokeOwnConnection', { params: { id: connection_id } });
    await tell('revokeConnection', { params: { connection_id }, body: { user_id } });

    await tell('deleteFact', { params: { id: fact.id } });
    const wrong = (await tell('addFacts', { body: { text: 'Uses npm.', tags: ['tools'] } })).body;
    await tell('forgetMemory', { body: { tier: 'facts', ids: [wrong.id] } });
    await tell('deleteEpisode', { params: { id: episode.id } });
    await tell('deleteRawMemory', { params: { id: row.id } });
    await tell('deleteProfile');
    await tell('revokeKey', { params: { key_id: key.id } });
    await tell('exportAccount');
    await tell('logInToConsole', { body: ADA });
    await tell('logOut', { body: { refresh } });
    await tell('eraseAccount');
    const signedUp = await tell('signUpToConsole', { body: { ...ADA, email: 'grace@example.com' } });
    credential = signedUp.body.access;
    const cookie = signedUp.headers.get('set-cookie')?.split(';')[0] ?? '';
    await tell('refreshConsole', { body: { refresh: 'cookie' }, headers: { cookie } });
    await tell('logOutOfConsole', { body: { refresh: 'cookie' }, headers: { cookie } });
    await tell('checkHealth');
    await tell('checkReadiness');

    const told = Object.fromEntries(endpoints.map(({ operationId }) => [operationId, recorded[operationId]]));
    const examples: Recorded = JSON.parse(tidy(told));
    if (process.env['RECORD']) writeFileSync(DOCUMENT_FILE, writtenDocument(examples));
    const published: Recorded = JSON.parse(JSON.stringify(readExamples()));
    for (const { operationId } of endpoints)
      assert.deepEqual(fieldsIn(published[operationId]), fieldsIn(examples[operationId]), operationId);
  });
});

/** Replaces what differs from run to run: ids, times, durations, secrets and the model's prompt. */
function tidy(told: object): string {
  const ids = new Map<string, string>();
  const idOf = (id: string) => {
    const replacement = ids.get(id) ?? `019a9fd0-5a11-7e3c-b0a4-${String(ids.size + 1).padStart(12, '0')}`;
    ids.set(id, replacement);
    return replacement;
  };
  return JSON.stringify(told, (name, value: unknown) => {
    if (name === 'expires_at' && typeof value === 'number') return SECOND;
    if (name.endsWith('_ms')) return 100;
    if (name === 'model' && value === 'fake-model') return 'gpt-5-mini';
    if (typeof value !== 'string') return value;
    if (value.startsWith('eyJ')) return JWT;
    return value.length > 300 ? `${value.slice(0, 200)}…` : value;
  })
    .replaceAll(/\b[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\b/g, idOf)
    .replaceAll(/\b20\d\d-\d\d-\d\dT[\d:.]+Z/g, TIME)
    .replaceAll(/\b20\d\d-\d\d-\d\d(?=")/g, TIME.slice(0, 10))
    .replaceAll(/"whsec_[\w+/=]+"/g, `"whsec_${'x'.repeat(43)}="`)
    .replaceAll(/"service_[\w-]{40,}"/g, `"service_${'x'.repeat(48)}"`);
}

/** Lists the paths of a value's fields, whose items of an array have one path. */
function fieldsIn(value: unknown, path = ''): string[] {
  if (typeof value !== 'object' || value === null) return [path];
  const parts = Array.isArray(value)
    ? value.flatMap((item) => fieldsIn(item, `${path}[]`))
    : Object.entries(value).flatMap(([name, part]) => fieldsIn(part, `${path}.${name}`));
  return [...new Set([path, ...parts])].sort();
}
