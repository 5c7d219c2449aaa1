import fc from 'fast-check';
import { type Json, type Operation, operations, type Schema } from './document.ts';
import { forms, isPage, pages } from './pages.ts';
import { refer } from './references.ts';
import { type Twist, twistsFor } from './twists.ts';
import { valuesOf } from './values.ts';

/** A request before it meets an installation: plain JSON, so that it can be printed and replayed. */
export interface Plan {
  /** The operation's name. */
  operation: string;
  /** Which of the apps or people calls, and from where: 16 bits. */
  caller: number;
  params: Record<string, Json>;
  query: Record<string, Json>;
  body: Json;
  twists: Twist[];
}

/**
 * How often an operation is called, where not as often as the others: passwords take 35 ms of a core each, an export reads
 * all that an account has, an erasure ends the account.
 */
const WEIGHTS: Record<string, number> = {
  predict: 40,
  recordEvents: 40,
  signUp: 3,
  logIn: 3,
  changeAccount: 6,
  eraseAccount: 1,
  exportAccount: 2,
};
const WEIGHT = 20;

const BODY_OF_BEFORE = 4;

/** Requests to every operation of the published document, and to the pages. */
export const plans: fc.Arbitrary<Plan> = fc.oneof(
  ...[...operations, ...pages].map((operation) => ({
    weight: WEIGHTS[operation.id] ?? WEIGHT,
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
    body: body === undefined ? fc.constant(null) : bodiesOf(operation, body),
    twists: twistsFor({ hasBody: body !== undefined }),
  });
}

function bodiesOf(operation: Operation, schema: Schema): fc.Arbitrary<Json> {
  if (isPage(operation)) return forms;
  return fc.oneof(
    { weight: 10, arbitrary: valuesOf(schema, 'valid') },
    { weight: 4, arbitrary: valuesOf(schema, 'loose') },
    { weight: BODY_OF_BEFORE, arbitrary: fc.nat(255).map((nth) => refer(`body of ${operation.id}`, nth)) },
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
      const known = fc.nat(255).map((nth) => refer(`${name} of ${path}`, nth));
      return [
        name,
        place === 'path' ? fc.oneof({ weight: 3, arbitrary: known }, { weight: 1, arbitrary: any }) : any,
      ];
    }),
  );
}
