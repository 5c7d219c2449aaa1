import { EmailChangeRequest } from '../../../shared/schemas/accounts.ts';
import { SMALL_BODY_BYTES_MAX } from '../../../shared/schemas/limits.ts';
import { endpoint } from '../../http/endpoint.ts';
import type { Parts } from '../parts.ts';

export const changeEmail = endpoint('user', {
  operationId: 'changeEmail',
  tag: 'Accounts',
  summary: 'Ask for another e-mail address of the account',
  description:
    'Mails a link to the new address, which confirms it within an hour, and a notice to the present one. Only the latest link works. Log-ins and keys go on. 404 `feature_disabled` where the server sends no mail. Needs an access token. A key is not enough.',
  login: 'any',
  scopes: [],
  inTurn: 'account',
  body: EmailChangeRequest,
  bodyLimit: SMALL_BODY_BYTES_MAX,
  errors: ['feature_disabled', 'email_taken', 'overloaded'],
  status: 204,
}).handle(async ({ user, body, address, signal }, { emailChanges }: Parts) => {
  const { email, current_password: currentPassword } = body;
  await emailChanges.ask(user, { email, currentPassword, address }, signal);
});
