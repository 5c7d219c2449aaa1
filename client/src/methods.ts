import type { CallOptions } from './transport.ts';

export interface OperationCall {
  name: string;
  method: string;
  path: string;
  body?: unknown;
  /**
   * Any of `body`, `query`, `lines` (answers JSON Lines), `open` (needs no credential), `keyed` (takes an
   * `Idempotency-Key`) and `job` (starts a job).
   */
  flags: readonly string[];
  options: CallOptions;
}

/** Makes a method for each entry, such as `name: 'METHOD /path/{id}/ body'`; the last words are flags. */
export function methodsOf<Methods>(
  operations: Readonly<Record<string, string>>,
  perform: (call: OperationCall) => unknown,
): Methods {
  const methods = Object.keys(operations).map((name) => [
    name,
    (...given: unknown[]) => perform(callOf(operations, name, given)),
  ]);
  return Object.fromEntries(methods);
}

/** Throws a `TypeError` for an id that no path can carry. */
export function callOf(
  operations: Readonly<Record<string, string>>,
  name: string,
  given: unknown[],
): OperationCall {
  const [method = '', template = '', ...flags] = operations[name]?.split(' ') ?? [];
  const rest = [...given];
  const path = template.replace(/\{(\w+)\}/g, (_, parameter) => pathSegmentOf(parameter, rest.shift()));
  const isQuery = flags.includes('query');
  const isBody = flags.includes('body');
  const input = isBody || isQuery ? (rest.shift() ?? {}) : {};
  return {
    name,
    method,
    path: isQuery ? path + queryOf(input) : path,
    ...(isBody && { body: input }),
    flags,
    options: (rest.shift() ?? {}) as CallOptions,
  };
}

/** Refuses dot segments: `fetch` resolves "." and "..", so the path would address something else. */
function pathSegmentOf(parameter: string, id: unknown): string {
  if (typeof id === 'string' && !/^\.{0,2}$/.test(id)) return encodeURIComponent(id);
  throw new TypeError(`${parameter}: a text other than "", "." and ".." is needed`);
}

function queryOf(input: object): string {
  const set = Object.entries(input).filter(([, value]) => value !== undefined);
  return set.length === 0 ? '' : `?${new URLSearchParams(set.map(([name, value]) => [name, String(value)]))}`;
}
