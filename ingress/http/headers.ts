import Type, { type TSchema } from 'typebox';
import { oneOf } from '../../shared/schemas/build.ts';
import { Identifier, Name } from '../../shared/schemas/common.ts';

interface Header {
  description: string;
  schema: TSchema;
}

/** Headers that a caller may send; every endpoint reads `X-Request-Id`. */
export const REQUEST_HEADERS = {
  Accept: {
    description: '`text/event-stream`: what happens, as it happens.',
    schema: Type.String(),
  },
  'Forecue-Project': {
    description:
      'The project that this is about: a name, the path of a folder or the address of a repository, percent-encoded beyond ASCII. What the person said in other projects is left out.',
    schema: Type.String(),
  },
  'Forecue-Retained': {
    description:
      'With `submitted`: the share of the accepted completion that is still in the message, from 0 to 1, with up to three decimals.',
    schema: Type.Number({ minimum: 0, maximum: 1 }),
  },
  'Idempotency-Key': {
    description: 'Your key for this request. A repeat gets the same answer for a while.',
    schema: Name,
  },
  'Last-Event-ID': {
    description: 'The id of the last event that arrived, of a stream that was cut.',
    schema: Type.String(),
  },
  Prefer: {
    description:
      '`wait`: while the same request still runs, wait for its answer instead of 409 `request_in_flight`. `respond-async`, where the answer may be 202: do not wait. `alternatives=2`, on `/v1/predictions`: up to so many other completions, in `Forecue-Alternatives`.',
    schema: Type.String(),
  },
  'X-On-Disconnect': {
    description:
      "What becomes of the prediction when its caller disconnects; on `/v1` it overrides the app's setting.",
    schema: oneOf(['continue', 'cancel']),
  },
  'X-Request-Id': {
    description: 'Your id for this call. The answer carries it, or else an id of ours.',
    schema: Identifier,
  },
} satisfies Record<string, Header>;
export type RequestHeader = keyof typeof REQUEST_HEADERS;

export const RESPONSE_HEADERS = {
  'X-Request-Id': {
    description: 'The id of this call. Quote it when you ask us about an answer.',
    schema: Identifier,
  },
  'X-Error-Source': {
    description: 'Where the error comes from.',
    schema: oneOf(['ingress', 'worker', 'provider']),
  },
  'WWW-Authenticate': {
    description:
      'The scheme of the credential; on `/api` also where a program finds out how to log in (RFC 9728).',
    schema: Type.String({ pattern: '^Bearer' }),
  },
  'Retry-After': {
    description: 'Whole seconds after which to try again. Not with every code of this status.',
    schema: Type.Integer({ minimum: 1 }),
  },
  RateLimit: { description: 'What is left of the rate limit.', schema: Type.String() },
  'RateLimit-Policy': { description: 'The rate limit.', schema: Type.String() },
  Link: {
    description: 'The next page, where there is one: `<…>; rel="next"` (RFC 8288), relative to this address.',
    schema: Type.String(),
  },
  'Idempotency-Replayed': {
    description: 'An earlier call of the same request had started the work.',
    schema: oneOf(['true']),
  },
  'Preference-Applied': {
    description: 'The preference that the answer follows.',
    schema: oneOf(['respond-async']),
  },
  'Set-Cookie': {
    description: 'The refresh token, where no script can read it.',
    schema: Type.String(),
  },
  'Forecue-Alternatives': {
    description:
      'Other completions, the likeliest first, if the request preferred any: a Structured Field List of Display Strings (RFC 9651).',
    schema: Type.String(),
  },
  'Server-Timing': {
    description: 'Milliseconds in the queue, at the provider and in all.',
    schema: Type.String(),
  },
} satisfies Record<string, Header>;
export type ResponseHeader = keyof typeof RESPONSE_HEADERS;
