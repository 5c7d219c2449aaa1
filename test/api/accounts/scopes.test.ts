import assert from 'node:assert/strict';
import type { Endpoint } from '../../../ingress/http/endpoint.ts';
import { endpoints } from '../../../ingress/routes/index.ts';
import { SCOPES, type Scope } from '../../../shared/schemas/accounts.ts';
import { issueKey, signUp, type UserClient } from '../../support/account.ts';
import { fetchPublished } from '../../support/client.ts';
import { proposeFacts } from '../../support/facts-promotion.ts';
import { bySchema } from '../../support/fake-provider.ts';
import { at, createRows, exampleBody, MARK, prefixOf } from '../../support/owned-rows.ts';
import { writeEpisode } from '../../support/promotion.ts';
import { proposeReplies } from '../../support/replies.ts';
import { useSystem } from '../../support/system.ts';

/** The scopes that suffice, where the method does not decide: none for settings and for what needs a log-in. */
const EXCEPTIONS: Record<string, readonly Scope[]> = {
  eraseAccount: [],
  issueKey: [],
  changeAccount: [],
  revokeKey: [],
  changeEmail: [],
  startPasskey: [],
  addPasskey: [],
  renamePasskey: [],
  removePasskey: [],
  endOneLogIn: [],
  endAllOtherLogIns: [],
  changeOwnConnection: [],
  revokeOwnConnection: [],
  narrowOwnGrant: [],
  revokeOwnGrant: [],
  createApp: [],
  changeApp: [],
  deleteApp: [],
  rotateAppKey: [],
  createWebhook: [],
  changeWebhook: [],
  removeWebhook: [],
  rotateWebhookSecret: [],
  replayWebhookDeliveries: [],
  assembleContext: ['read'],
  forgetMemory: ['forget'],
  predictReply: ['predict'],
  predictReplies: ['predict'],
  predictDraft: ['predict'],
  giveFeedback: ['predict', 'write', 'decide'],
  recordEvents: ['write', 'record'],
  addRawMemory: ['write', 'record'],
  predictPermission: ['predict'],
  objectToDecision: ['decide'],
  changeDecisionSettings: ['predict', 'decide'],
  readJob: ['read', 'write'],
  cancelJob: ['write'],
};
const BY_METHOD = { GET: 'read', POST: 'write', PUT: 'write', PATCH: 'write', DELETE: 'forget' } as const;
/** Answers that have nothing of what was written. */
const WITHOUT_TEXTS = ['readJob', 'listWebhookDeliveries'];
/** Calls that may change nothing, so that an answer has what is stored. */
const EMPTY_CHANGES = ['changeEpisode', 'changeFact', 'writeProfile'];

/** `forget` is last, because it deletes what the others read. */
const SETS: readonly (readonly Scope[])[] = [
  ['read'],
  ['predict'],
  ['write'],
  ['decide', 'record'],
  SCOPES,
  ['forget'],
];

describe('scopes of keys', () => {
  const system = useSystem({ workerEntry: ['workers/main.ts', 'all'], env: { RATE_LIMIT_RPS: '1000' } });
  let owner: UserClient;
  let ids: Map<string, string>;
  const keys = new Map<readonly Scope[], string>();

  before(async () => {
    const reply = proposeReplies([{ response: 'Blue' }]);
    system.provider.respond(bySchema({ reply, episode: writeEpisode(), facts: proposeFacts() }));
    owner = await signUp(system, { name: MARK });
    ids = await createRows(system, owner);
    for (const scopes of SETS) keys.set(scopes, await issueKey(owner, scopes));
  });

  const call = (endpoint: Endpoint, scopes: readonly Scope[]) => {
    const path = at(endpoint.path, ids.get(prefixOf(endpoint)) ?? '');
    const body = EMPTY_CHANGES.includes(endpoint.operationId) ? '{}' : exampleBody(endpoint);
    const headers = { 'x-service-api-key': keys.get(scopes) ?? '', 'content-type': 'application/json' };
    return fetchPublished(owner.url + path, { method: endpoint.method, headers, ...(body && { body }) });
  };

  for (const scopes of SETS)
    it(`a key with the scope ${scopes.join(', ')} may do just that, and shows what is stored only with \`read\``, async () => {
      const keyed = endpoints.filter(({ credential, surface }) => credential === 'user' && surface === 'api');
      for (const endpoint of keyed) {
        const { method, operationId, path } = endpoint;
        const enough = EXCEPTIONS[operationId] ?? [BY_METHOD[method]];
        // The key with every scope is tried only at what no scope covers.
        if (scopes === SCOPES && enough.length > 0) continue;
        const answer = await call(endpoint, scopes);
        const [status, text] = [answer.status, await answer.text()];
        const cell = `${method} ${path} ${status} ${text}`;
        if (enough.some((scope) => scopes.includes(scope))) assert.ok(status < 300, cell);
        else {
          assert.ok(status === 403 && text.includes('access_denied'), cell);
          for (const scope of enough) assert.match(text, new RegExp(`the scope .*${scope}.*; this one has`));
        }
        if (!scopes.includes('read')) assert.ok(!text.includes(MARK), cell);
        else if (method === 'GET' && path.includes(':') && !WITHOUT_TEXTS.includes(operationId))
          assert.ok(text.includes(MARK) || text.includes(ids.get(prefixOf(endpoint)) ?? MARK), cell);
      }
    });
});
