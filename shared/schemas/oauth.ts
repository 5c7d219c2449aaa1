import Type, { type Static } from 'typebox';
import { text } from './build.ts';

const CLIENT_NAME_MAX = 100;
const REDIRECT_URIS_MAX = 10;
const REDIRECT_URI_MAX = 500;

/** What we use of a program's metadata (RFC 7591, 2); programs send more. */
export const ClientMetadata = Type.Object({
  client_name: Type.Optional(text(CLIENT_NAME_MAX)),
  redirect_uris: Type.Array(text(REDIRECT_URI_MAX, 1), { minItems: 1, maxItems: REDIRECT_URIS_MAX }),
});
export type ClientMetadata = Static<typeof ClientMetadata>;
