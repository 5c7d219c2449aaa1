import Type, { type Static } from 'typebox';
import { closedObject, nullable, text } from './build.ts';
import { Id, Name, Timestamp } from './common.ts';
import { PASSKEYS_MAX } from './limits.ts';

/** Base64url, as WebAuthn's JSON has it. What is none is merely wrong. */
const Encoded = (max: number) => text(max, 1);
const CREDENTIAL_ID_MAX = 1400;
const ANSWER_MAX = 8000;

const transports = Type.Array(text(32), { maxItems: 10 });
const keyType = Type.Literal('public-key');

/** Options for `navigator.credentials.create()` (WebAuthn 3, 5.4), as JSON. */
export const PasskeyCreation = closedObject({
  rp: closedObject({ name: Type.String(), id: Type.String() }),
  user: closedObject({ id: Type.String(), name: Type.String(), displayName: Type.String() }),
  challenge: Type.String(),
  pubKeyCredParams: Type.Array(closedObject({ alg: Type.Integer(), type: keyType })),
  timeout: Type.Integer(),
  attestation: Type.Literal('none'),
  /** The account's passkeys, none of which is made again. */
  excludeCredentials: Type.Array(
    closedObject({ id: Type.String(), type: keyType, transports: Type.Array(Type.String()) }),
    { maxItems: PASSKEYS_MAX },
  ),
  authenticatorSelection: closedObject({
    residentKey: Type.Literal('required'),
    requireResidentKey: Type.Literal(true),
    userVerification: Type.Literal('required'),
  }),
});
export type PasskeyCreation = Static<typeof PasskeyCreation>;

/** Options for `navigator.credentials.get()` (WebAuthn 3, 5.5), as JSON. */
export const PasskeyRequest = closedObject({
  challenge: Type.String(),
  rpId: Type.String(),
  timeout: Type.Integer(),
  userVerification: Type.Literal('required'),
});
export type PasskeyRequest = Static<typeof PasskeyRequest>;

/** What every answer of an authenticator has. Properties that are not named here are ignored. */
const answerFields = { id: Encoded(CREDENTIAL_ID_MAX), rawId: Encoded(CREDENTIAL_ID_MAX), type: keyType };

/** Answer of `navigator.credentials.create()`, as JSON. */
export const PasskeyAttestation = Type.Object({
  ...answerFields,
  response: Type.Object({
    clientDataJSON: Encoded(ANSWER_MAX),
    attestationObject: Encoded(ANSWER_MAX),
    transports: Type.Optional(transports),
  }),
});
export type PasskeyAttestation = Static<typeof PasskeyAttestation>;

/** Answer of `navigator.credentials.get()`, as JSON. */
export const PasskeyAssertion = Type.Object({
  ...answerFields,
  response: Type.Object({
    clientDataJSON: Encoded(ANSWER_MAX),
    authenticatorData: Encoded(ANSWER_MAX),
    signature: Encoded(ANSWER_MAX),
  }),
});
export type PasskeyAssertion = Static<typeof PasskeyAssertion>;

export const NewPasskeyRequest = closedObject({ name: Name, credential: PasskeyAttestation });

export const PasskeyLogInRequest = closedObject({ credential: PasskeyAssertion });

export const PasskeyChange = closedObject({ name: Name });

export const PasskeyResponse = closedObject({
  id: Id,
  name: Type.String(),
  /** True if its provider keeps a copy, so that it outlives the device. */
  backed_up: Type.Boolean(),
  created_at: Timestamp,
  last_used_at: nullable(Timestamp),
});
export type PasskeyResponse = Static<typeof PasskeyResponse>;

export const PasskeyList = closedObject({ results: Type.Array(PasskeyResponse) });
export type PasskeyList = Static<typeof PasskeyList>;
