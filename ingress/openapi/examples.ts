import type { Endpoint } from '../http/endpoint.ts';
import recorded from './examples.json' with { type: 'json' };

const EXAMPLES: Record<string, Record<string, unknown>> = recorded;

/** Returns the example of an endpoint's request, or of its answer with a status. A test records them. */
export function exampleOf({ operationId }: Pick<Endpoint, 'operationId'>, body: 'request' | number): unknown {
  return EXAMPLES[operationId]?.[body];
}
