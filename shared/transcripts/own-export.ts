import { isObject, tryParseObject } from './json.ts';

/** Says where an export of an account is taken: it holds memory too, which no transcript has. */
export const OWN_EXPORT =
  'it is an export of a Forecue account, which the server stores again: `admin import --user EMAIL FILE`';

/** Reports whether the first record of a file begins an export of an account: it is the account. */
export function beginsExport(record: string): boolean {
  const { type, data } = tryParseObject(record) ?? {};
  return type === 'account' && isObject(data) && 'email' in data;
}
