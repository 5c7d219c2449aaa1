import { CHANGES, ChangesResponse } from '../../../shared/schemas/changes.ts';
import { endpoint } from '../../http/endpoint.ts';
import { EVENT_STREAM, UNBUFFERED } from '../../jobs/answer.ts';
import { accepts } from '../../request/headers.ts';
import type { Parts } from '../parts.ts';

export const readChanges = endpoint('user', {
  operationId: 'readChanges',
  tag: 'Accounts',
  summary: 'What has changed of the account',
  description: `\`Accept: text/event-stream\`: a \`changed\` event with everything, then one with what has changed, at most once a second,
by whoever changed it. It names parts of the data, to be read again, and nothing of it. The stream ends after five
minutes, and when the log-ins may have ended: open another. Without that header: everything, at once.`,
  requestHeaders: ['Accept'],
  streams: 'changed',
  errors: ['overloaded'],
  response: ChangesResponse,
}).handle(async ({ user, address, headers, signal }, { changes, authenticate }: Parts) => {
  if (!accepts(headers, EVENT_STREAM)) return { body: { changed: [...CHANGES] } };
  const follower = { accountId: user.id, authenticate: () => authenticate(headers, address), gone: signal };
  return { body: await changes.open(follower), type: EVENT_STREAM, headers: UNBUFFERED };
});
