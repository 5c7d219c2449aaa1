import { createHash } from 'node:crypto';
import type { Position } from '../../shared/db/stores/memory/list.ts';
import { ValidationError } from '../../shared/schemas/validator.ts';

const DIGEST_LENGTH = 8;

/** Whose list of which tier: a cursor of another one is refused. */
interface ListName {
  accountId: string;
  tier: string;
}

/** Where the next page begins, opaque to clients: a position with a checksum over it and its list. */
export function tokenOf({ at, id }: Position, list: ListName): string {
  const place = `${at.getTime().toString(36)}-${id.replaceAll('-', '')}`;
  return `${place}-${checksum(place, list)}`;
}

/** Throws a `ValidationError` for anything that `tokenOf` did not make for this list. */
export function positionOf(token: string, list: ListName): Position {
  const place = token.slice(0, -DIGEST_LENGTH - 1);
  if (`${place}-${checksum(place, list)}` !== token) throw new ValidationError([FAULT]);
  const [at = '', hex = ''] = place.split('-');
  return {
    at: new Date(Number.parseInt(at, 36)),
    id: hex.replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-'),
  };
}

const FAULT = {
  loc: ['query', 'cursor'],
  type: 'value_error' as const,
  msg: 'Input should be the cursor that the page before ended with',
};

/** No secret: a forged cursor leads nowhere but into the account's own list. */
function checksum(place: string, { accountId, tier }: ListName): string {
  return createHash('sha256')
    .update(`${accountId} ${tier} ${place}`)
    .digest('base64url')
    .slice(0, DIGEST_LENGTH);
}
