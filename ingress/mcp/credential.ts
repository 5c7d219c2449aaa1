import type { IncomingMessage } from 'node:http';
import { AppError } from '../../shared/errors/app-error.ts';
import { hashKey, isServiceKeyShaped, looksLikeServiceKey } from '../../shared/security/keys.ts';

/** The characters of a token that can be in a header. */
const TOKEN = /^[\w.~+/=-]+$/;

/**
 * The credential of a request: a key or an access token, in either header, since many clients can set only one of them. Throws
 * `invalid_request` for two, and `not_authenticated` for none or a malformed one.
 */
export function credentialOf({ headersDistinct }: Pick<IncomingMessage, 'headersDistinct'>): string {
  const { authorization = [], 'x-service-api-key': keys = [] } = headersDistinct;
  const bearers = authorization.map((value) => value.match(/^Bearer +(\S+)$/i)?.[1] ?? '');
  const [credential = '', ...others] = [...bearers, ...keys];
  if (others.length > 0) throw new AppError('invalid_request');
  const isPossible = isServiceKeyShaped(credential)
    ? looksLikeServiceKey(credential)
    : TOKEN.test(credential);
  if (!isPossible) throw new AppError('not_authenticated');
  return credential;
}

/** Stands for a credential: a session keeps no other trace of it. */
export function traceOf(credential: string): string {
  return hashKey(credential).toString('base64');
}
