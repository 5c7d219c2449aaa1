import { readFileSync } from 'node:fs';
import type { Schema } from './schema-types.ts';

export interface Operation {
  operationId: string;
  summary: string;
  security: object[];
  parameters: { name?: string; in?: string; $ref?: string; schema?: Schema }[];
  requestBody?: { content: { 'application/json': { schema: Schema } } };
  responses: Record<string, { content?: Record<string, { schema: Schema; examples?: object }> }>;
}

export interface PlacedOperation {
  path: string;
  method: string;
  operation: Operation;
}

interface Document {
  paths: Record<string, Record<string, Operation>>;
  components: { schemas: Record<string, Schema> };
}

const NDJSON = 'application/x-ndjson';

const { paths, components }: Document = JSON.parse(
  readFileSync(new URL('../docs/openapi.json', import.meta.url), 'utf8'),
);

export const schemas = components.schemas;

export function operationsOf(surface: 'v1' | 'api'): PlacedOperation[] {
  return Object.entries(paths)
    .filter(([path]) => path.startsWith(`/${surface}/`))
    .flatMap(([path, methods]) =>
      Object.entries(methods).map(([method, operation]) => ({ path, method, operation })),
    );
}

/** Returns what the client's table of operations says, such as `POST /v1/predictions body`. */
export function tableEntryOf({ path, method, operation }: PlacedOperation): string {
  const flags = [
    operation.requestBody && ' body',
    queryOf(operation) && ' query',
    returnsLines(operation) && ' lines',
    operation.security.length === 0 && ' open',
    takesIdempotencyKey(operation) && ' keyed',
    isJob(operation) && ' job',
  ];
  return `${method.toUpperCase()} ${path}${flags.filter(Boolean).join('')}`;
}

export function summaryOf({ summary }: Operation): string {
  return /[.?]$/.test(summary) ? summary : `${summary}.`;
}

export function errorCodesOf({ responses }: Operation): string {
  const codes = Object.values(responses).flatMap(({ content }) =>
    Object.keys(content?.['application/json']?.examples ?? {}),
  );
  return `Errors: ${codes.map((code) => `\`${code}\``).join(', ')}.`;
}

export function bodyOf({ requestBody }: Operation): Schema | undefined {
  return requestBody?.content['application/json'].schema;
}

export function pathParametersOf({ parameters }: Operation): string[] {
  return parameters.flatMap(({ in: place, name = '' }) => (place === 'path' ? name : []));
}

export function queryOf({ parameters }: Operation): Schema | undefined {
  const inQuery = parameters.filter((one) => one.in === 'query');
  if (inQuery.length === 0) return undefined;
  const properties = Object.fromEntries(inQuery.map(({ name = '', schema = {} }) => [name, schema]));
  return { type: 'object', properties, additionalProperties: false };
}

/** Returns undefined for an operation whose success has no content. With `lines`, the schema is that of a line. */
export function answerOf(operation: Operation): Schema | undefined {
  const content = successOf(operation);
  return content && (content[returnsLines(operation) ? NDJSON : 'application/json']?.schema ?? {});
}

export function isJob(operation: Operation): boolean {
  return takesIdempotencyKey(operation) && successOf(operation)?.['text/event-stream'] !== undefined;
}

export function returnsLines(operation: Operation): boolean {
  return successOf(operation)?.[NDJSON] !== undefined;
}

function alternativesOf(schema: Schema): Schema[] {
  return schema.anyOf ?? [schema];
}

/** Returns each form of an operation that takes and answers either one row or a list. */
export function formsOf(operation: Operation): [body: Schema, answer: Schema][] {
  const bodies = alternativesOf(bodyOf(operation) ?? {});
  const answers = alternativesOf(answerOf(operation) ?? {});
  if (bodies.length !== 2 || answers.length !== 2) return [];
  return bodies.map((body, at) => [body, answers[at] ?? {}]);
}

function takesIdempotencyKey({ parameters }: Operation): boolean {
  return parameters.some(({ $ref }) => $ref?.endsWith('/Idempotency-Key'));
}

function successOf({ responses }: Operation) {
  return (responses['200'] ?? responses['201'])?.content;
}
