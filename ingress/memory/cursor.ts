import { createHash } from 'node:crypto';
import type { Position } from '../../shared/db/stores/memory/list.ts';
import { ValidationError } from '../../shared/schemas/validator.ts';

const DIGEST_LENGTH = 8;
/** Milliseconds since 1970 in base 36, and the digits of a UUID. */
const PLACE = /^([0-9a-z]{1,9})-([0-9a-f]{8})([0-9a-f]{4})([0-9a-f]{4})([0-9a-f]{4})([0-9a-f]{12})$/;

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

/** Throws a `ValidationError` for anything that `tokenOf` could not have made for this list. */
export function positionOf(token: string, list: ListName): Position {
  const place = token.slice(0, -DIGEST_LENGTH - 1);
  const [, at = '', ...id] = PLACE.exec(place) ?? [];
  if (at === '' || `${place}-${checksum(place, list)}` !== token) throw new ValidationError([FAULT]);
  return { at: new Date(Number.parseInt(at, 36)), id: id.join('-') };
}

const FAULT = {
  loc: ['query', 'cursor'],
  type: 'value_error' as const,
  msg: 'Input should be the cursor that the page before ended with',
};

/** No secret: who forges a cursor gets nowhere but into their own list. */
function checksum(place: string, { accountId, tier }: ListName): string {
  return createHash('sha256')
    .update(`${accountId} ${tier} ${place}`)
    .digest('base64url')
    .slice(0, DIGEST_LENGTH);
}
