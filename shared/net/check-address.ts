import { Faults } from '../domain/faults.ts';
import { addressFault } from './guarded-fetch.ts';

/** Throws a `ValidationError` for the field `url` unless it may be called, as far as it is known before its name is resolved. */
export function checkAddress(value: string, allowsPrivate: boolean): void {
  const url = URL.parse(value);
  const faults = new Faults({ url: value });
  if (url === null || url.hash !== '' || /[\s\p{Cc}]/u.test(value))
    faults.add('url', 'Input should be an address');
  else {
    const fault = addressFault(url, allowsPrivate);
    if (fault !== undefined) faults.add('url', `Input should be a public https address: ${fault}`);
  }
  faults.throwIfAny();
}
