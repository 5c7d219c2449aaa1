import fc from 'fast-check';
import { type Json, type Operation, operations, type Schema } from './document.ts';
import { forms, isPage, pages } from './pages.ts';
import { fromPool } from './references.ts';
import { type Twist, twistsFor } from './twists.ts';
import { valuesOf } from './values.ts';

/** A request that is not yet tied to an installation: plain JSON, so that it can be printed and replayed. */
export interface Plan {
  operation: string;
  /** Number of 16 bits that chooses the calling app or person, and the network. */
  caller: number;
  params: Record<string, Json>;
  query: Record<string, Json>;
  headers: Record<string, string>;
  body: Json;
  twists: Twist[];
}

/** Relative frequency of operations that cost much, end an account, or create rows. Others have `USUAL_WEIGHT`. */
const WEIGHTS: Record<string, number> = {
  predict: 40,
  recordEvents: 40,
  signUp: 3,
  logIn: 3,
  changeAccount: 6,
  eraseAccount: 1,
  exportAccount: 2,
  addRawMemory: 40,
  addEpisodes: 40,
  addFacts: 40,
  predictReply: 40,
  deleteRawMemory: 5,
  deleteEpisode: 5,
  deleteFact: 5,
  forgetMemory: 5,
};
const USUAL_WEIGHT = 20;

const EARLIER_BODY_WEIGHT = 4;

/** Values of documented headers that change what a call does. */
const HEADERS: Record<string, readonly string[]> = {
  Prefer: ['respond-async'],
  Accept: ['application/json', 'text/event-stream'],
  'Idempotency-Key': ['k-1', 'k-2', 'k-3', 'k-4', 'k-5', 'k-6'],
  'X-On-Disconnect': ['cancel', 'continue'],
};
const WITH_HEADERS_WEIGHT = 1;
const WITHOUT_HEADERS_WEIGHT = 5;

export const plans: fc.Arbitrary<Plan> = fc.oneof(
  ...[...operations, ...pages].map((operation) => ({
    weight: WEIGHTS[operation.id] ?? USUAL_WEIGHT,
    arbitrary: plansOf(operation),
  })),
);

function plansOf(operation: Operation): fc.Arbitrary<Plan> {
  const { name, body } = operation;
  return fc.record({
    operation: fc.constant(name),
    caller: fc.nat(0xffff),
    params: fc.record(parametersOf(operation, 'path')),
    query: fc.record(parametersOf(operation, 'query'), { requiredKeys: [] }) as fc.Arbitrary<
      Record<string, Json>
    >,
    headers: headersOf(operation),
    body: body === undefined ? fc.constant(null) : bodiesOf(operation, body),
    twists: twistsFor({ hasBody: body !== undefined }),
  });
}

function bodiesOf(operation: Operation, schema: Schema): fc.Arbitrary<Json> {
  if (isPage(operation)) return forms;
  return fc.oneof(
    { weight: 10, arbitrary: valuesOf(schema, 'valid') },
    { weight: 4, arbitrary: valuesOf(schema, 'loose') },
    {
      weight: EARLIER_BODY_WEIGHT,
      arbitrary: fromPool(`body of ${operation.id}`),
    },
    { weight: 1, arbitrary: fc.jsonValue({ maxDepth: 2 }) as fc.Arbitrary<Json> },
  );
}

function parametersOf(
  { path, parameters }: Operation,
  place: 'path' | 'query',
): Record<string, fc.Arbitrary<Json>> {
  const own = parameters.filter((one) => one.in === place);
  return Object.fromEntries(
    own.map(({ name, schema }) => {
      const any = valuesOf(schema, 'valid');
      const known = fromPool(`${name} of ${path}`);
      return [
        name,
        place === 'path' ? fc.oneof({ weight: 3, arbitrary: known }, { weight: 1, arbitrary: any }) : any,
      ];
    }),
  );
}

function headersOf({ parameters }: Operation): fc.Arbitrary<Record<string, string>> {
  const values = parameters.flatMap(({ name, in: place }) =>
    place === 'header' && HEADERS[name] !== undefined
      ? [[name, fc.constantFrom(...HEADERS[name])] as const]
      : [],
  );
  const some = fc.record(Object.fromEntries(values), { requiredKeys: [], noNullPrototype: true });
  return fc.oneof(
    { weight: WITHOUT_HEADERS_WEIGHT, arbitrary: fc.constant({}) },
    { weight: WITH_HEADERS_WEIGHT, arbitrary: some as fc.Arbitrary<Record<string, string>> },
  );
}
