import { createHmac, randomUUID } from 'node:crypto';
import { AppError } from '../../shared/errors/app-error.ts';

/** Details of the `initialize` that opened a session, for its later requests. */
export interface Session {
  /** Name that the agent gave itself. */
  agent?: string;
  /** True if the client asked for the revision of the protocol that has batches. */
  allowsBatches: boolean;
}

const ID_PATTERN = /^([\w-]{36}\.(b?)\.([\w-]*))\.([\w-]{43})$/;
const OTHER_CREDENTIAL = 'The session was opened with another credential. Initialize again with this one.';

/**
 * Returns the id of a new session. It contains the session, signed with its owner, a key, grant or log-in: so any process
 * can serve the session at any time, and none has to keep it.
 */
export function newSessionId({ agent = '', allowsBatches }: Session, owner: string): string {
  const facts = [randomUUID(), allowsBatches ? 'b' : '', Buffer.from(agent).toString('base64url')].join('.');
  return `${facts}.${signatureOf(facts, owner)}`;
}

/**
 * Throws `access_denied` for the session of another owner. An id of another form is served as a session of which
 * nothing is known, because common clients do not recover from a 404.
 */
export function readSessionId(id: string, owner: string): Session {
  const [, facts, batches, agent = '', signature] = ID_PATTERN.exec(id) ?? [];
  if (facts === undefined) return { allowsBatches: false };
  if (signature !== signatureOf(facts, owner))
    throw new AppError('access_denied', { explanation: OTHER_CREDENTIAL });
  return { agent: Buffer.from(agent, 'base64url').toString(), allowsBatches: batches === 'b' };
}

function signatureOf(facts: string, owner: string): string {
  return createHmac('sha256', owner).update(facts).digest('base64url');
}
