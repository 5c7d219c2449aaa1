import type { PasskeyCreation, PasskeyResponse } from '../../shared/schemas/passkeys.ts';
import type { UserClient } from './account.ts';
import { Authenticator } from './authenticator.ts';

/** Registers a passkey of an authenticator in software. */
export async function registerPasskey(
  person: UserClient,
  origin: string,
  { name = 'A laptop', authenticator = new Authenticator() } = {},
) {
  const { body: options } = await person.post<PasskeyCreation>('/api/auth/passkeys/options/');
  const credential = authenticator.create({ challenge: options.challenge, origin });
  const added = await person.post<PasskeyResponse>('/api/auth/passkeys/', { name, credential });
  if (added.status !== 201) throw new Error(`adding a passkey was answered ${added.status} ${added.text}`);
  return { authenticator, options, passkey: added.body };
}
