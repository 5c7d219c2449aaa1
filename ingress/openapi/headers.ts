import {
  REQUEST_HEADERS,
  RESPONSE_HEADERS,
  type RequestHeader,
  type ResponseHeader,
} from '../http/headers.ts';
import type { Components } from './components.ts';

export function sharedHeaders(components: Components): { parameters: object; headers: object } {
  const parameters = Object.entries(REQUEST_HEADERS).map(([name, { description, schema }]) => [
    name,
    { name, in: 'header', description, schema: components.refer(schema) },
  ]);
  return { parameters: Object.fromEntries(parameters), headers: RESPONSE_HEADERS };
}

export function headerParameters(names: readonly RequestHeader[]): object[] {
  return names.map((name) => ({ $ref: `#/components/parameters/${name}` }));
}

export function responseHeaders(names: readonly ResponseHeader[]): Record<string, object> {
  return Object.fromEntries(names.map((name) => [name, { $ref: `#/components/headers/${name}` }]));
}
