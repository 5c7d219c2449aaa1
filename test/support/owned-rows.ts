import assert from 'node:assert/strict';
import type { Endpoint } from '../../ingress/http/endpoint.ts';
import { readExamples } from '../../ingress/openapi/committed.ts';
import { newId } from '../../shared/ids.ts';
import type { JobReceipt } from '../../shared/schemas/jobs.ts';
import { anonymously, type UserClient } from './account.ts';
import { connect, connectingApp } from './connection.ts';
import { letProgramIn } from './grant.ts';
import { addFact, setProfile } from './memory.ts';
import { registerPasskey } from './passkeys.ts';
import { event, post } from './recording.ts';
import { predictSuccessfully, proposeReplies } from './replies.ts';
import type { System } from './system.ts';

const examples = readExamples();

/** Word that every text written by the owner contains. */
export const MARK = 'a-word-of-the-owner-alone';

/** Functions that create a row of the owner and return its id, by the path before the id. */
export const ROW_CREATORS: Record<string, (system: System, owner: UserClient) => Promise<string>> = {
  '/api/auth/keys/': async (_, owner) => {
    const { body } = await owner.post<{ id: string }>('/api/auth/keys/', { label: MARK });
    return body.id;
  },
  '/api/auth/log-ins/': async (system, { email, password }) => {
    const headers = { 'user-agent': MARK };
    const login = { email, password };
    await anonymously(system, 'POST', '/api/auth/login/', login, { headers });
    const rows = await system.sql<{ id: string }>('select id from refresh_tokens where client = $1', [MARK]);
    return rows[0]?.id ?? '';
  },
  '/api/auth/passkeys/': async (system, owner) => {
    const origin = system.env['PUBLIC_URL'] ?? `http://localhost:${new URL(system.webs[0]?.url ?? '').port}`;
    return (await registerPasskey(owner, origin, { name: MARK })).passkey.id;
  },
  '/api/auth/grants/': (system, owner) => letProgramIn(system, owner.id),
  '/api/apps/': async (_, owner) => {
    const { body } = await owner.post<{ app_id: string }>('/api/apps/', { name: MARK });
    return body.app_id;
  },
  '/api/webhooks/': async (_, owner) => {
    const webhook = { url: `https://${MARK}.example/`, events: ['connection.revoked'] };
    const { body } = await owner.post<{ id: string }>('/api/webhooks/', webhook);
    return body.id;
  },
  '/api/connections/': async (system, owner) => {
    const connection = await connect(system, await connectingApp(system), owner);
    return connection.connection_id;
  },
  '/api/recording/events/': async (_, owner) => {
    const one = event({ prompt: MARK });
    await post(owner, [one]);
    return one.id;
  },
  '/api/recording/sessions/': async (_, owner) => {
    const one = event({ session_id: `session ${MARK} ${newId()}`, prompt: MARK });
    await post(owner, [one]);
    return one.session_id;
  },
  '/api/memory/raw/': addTo('raw', { content: MARK, session_id: MARK }),
  '/api/memory/episodes/': addTo('episodes', {
    title: MARK,
    summary: MARK,
    started_at: '2026-05-01T12:00:00Z',
    ended_at: '2026-05-01T12:00:00Z',
  }),
  '/api/memory/facts/': addTo('facts', { text: MARK }),
  '/api/predictions/': async (system, owner) => {
    system.provider.next(proposeReplies([{ response: MARK }]));
    return (await predictSuccessfully(owner, { agent_input: MARK, agent: MARK, session_id: MARK })).id;
  },
  '/api/decisions/': async (system, owner) => {
    system.provider.next(proposeReplies([{ response: MARK }]));
    return (await predictSuccessfully(owner, { agent_input: MARK, agent: MARK, threshold: 0 })).id;
  },
  '/api/jobs/': async (_, owner) => {
    const sync = (headers: Record<string, string>) =>
      owner.post<JobReceipt>('/api/memory/sync/', {}, { headers });
    const key = { 'idempotency-key': MARK };
    assert.equal((await sync(key)).status, 200);
    return (await sync({ ...key, prefer: 'respond-async' })).body.job_id;
  },
};

function addTo(tier: string, row: object) {
  return async (_: System, owner: UserClient) => {
    const { body } = await owner.post<{ id: string }>(`/api/memory/${tier}/`, row);
    return body.id;
  };
}

/** Creates rows of every kind, each with the mark. Returns their ids, by the path that precedes the id. */
export async function createRows(system: System, owner: UserClient): Promise<Map<string, string>> {
  await setProfile(system, owner, MARK, { mark: MARK });
  await addFact(system, owner, { text: MARK });
  const ids = new Map<string, string>();
  for (const [path, make] of Object.entries(ROW_CREATORS)) ids.set(path, await make(system, owner));
  return ids;
}

/** Returns the documented example of the endpoint's body, without ids of other rows; undefined if it has no body. */
export function exampleBody(endpoint: Endpoint): string | undefined {
  const { operationId, method, path, body } = endpoint;
  const example = body && examples[operationId]?.request;
  assert.ok(body === undefined || example !== undefined, `${method} ${path} has no example of its body`);
  return (
    body && JSON.stringify(example, (name, value) => (/^(raw|episode)_ids$/.test(name) ? undefined : value))
  );
}

export function prefixOf({ path }: Endpoint): string {
  return path.slice(0, path.indexOf(':'));
}

export function at(path: string, id: string): string {
  return path.replace(/:\w+/, encodeURIComponent(id));
}
