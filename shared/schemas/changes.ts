import Type, { type Static } from 'typebox';
import { closedObject, oneOf } from './build.ts';

/** Parts of an account's data. `account` is the account itself, with its log-ins. */
export const CHANGES = [
  'memory',
  'predictions',
  'connections',
  'keys',
  'apps',
  'webhooks',
  'account',
] as const;
export type Change = (typeof CHANGES)[number];

/** What may have changed since the last time. Everything at first. */
export const ChangesResponse = closedObject({ changed: Type.Array(oneOf(CHANGES)) });
export type ChangesResponse = Static<typeof ChangesResponse>;
