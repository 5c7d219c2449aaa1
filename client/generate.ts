import { readFileSync, writeFileSync } from 'node:fs';
import { catalogue } from '../shared/errors/catalogue.ts';
import { type Schema, typeOf } from './schema-types.ts';

interface Operation {
  operationId: string;
  summary: string;
  security: object[];
  parameters: { name?: string; in?: string; $ref?: string; schema?: Schema }[];
  requestBody?: { content: { 'application/json': { schema: Schema } } };
  responses: Record<string, { content?: Record<string, { schema: Schema; examples?: object }> }>;
}

interface Document {
  paths: Record<string, Record<string, Operation>>;
  components: { schemas: Record<string, Schema> };
}

const GENERATED_NOTE = '/** Generated from docs/openapi.json by client/generate.ts: `npm run openapi`. */\n';
const NDJSON = 'application/x-ndjson';

const { paths, components }: Document = JSON.parse(
  readFileSync(new URL('../docs/openapi.json', import.meta.url), 'utf8'),
);

/** Returns the files of `client/src/generated` by name. */
export function generatedFiles(): Record<string, string> {
  const operations = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ path, method, operation })),
  );
  const operationsOf = (surface: string) => operations.filter(({ path }) => path.startsWith(`/${surface}/`));
  return {
    'schemas.ts': GENERATED_NOTE + Object.entries(components.schemas).map(declarationOf).join(''),
    'errors.ts': GENERATED_NOTE + errorsOf(),
    'v1.ts': GENERATED_NOTE + methodsOf('V1', operationsOf('v1')),
    'api.ts': GENERATED_NOTE + methodsOf('Api', operationsOf('api')),
  };
}

function declarationOf([name, schema]: [string, Schema]): string {
  return `export type ${name} = ${typeOf(schema)};\n`;
}

/** Lists all codes, each with a sentence for people, since `/v1` answers with the code only. */
function errorsOf(): string {
  const messages = Object.entries(catalogue).map(
    ([code, { message }]) => `  ${code}: ${JSON.stringify(message)},\n`,
  );
  return `export const messages = {\n${messages.join('')}} as const;\n`;
}

/** Writes a table of an API's operations, and the type of the methods that the client makes from it. */
function methodsOf(
  surface: string,
  operations: { path: string; method: string; operation: Operation }[],
): string {
  const table = operations.map(({ path, method, operation }) => {
    const flags = [
      operation.requestBody && ' body',
      queryOf(operation) && ' query',
      returnsLines(operation) && ' lines',
      operation.security.length === 0 && ' open',
      takesIdempotencyKey(operation) && ' keyed',
      isJob(operation) && ' job',
    ];
    const text = `${method.toUpperCase()} ${path}${flags.filter(Boolean).join('')}`;
    return `  ${operation.operationId}: '${text}',\n`;
  });
  const methods = operations.map(({ operation }) => signaturesOf(operation));
  const jobs = operations
    .filter(({ operation }) => isJob(operation))
    .map(({ operation }) => jobTypeOf(operation));
  return [
    "import type { CallOptions } from '../transport.ts';\n",
    "import type * as schemas from './schemas.ts';\n\n",
    `export interface ${surface}Methods {\n${methods.join('')}}\n\n`,
    jobs.length > 0 ? `export interface ${surface}Jobs {\n${jobs.join('')}}\n\n` : '',
    `export const ${surface.toLowerCase()}Operations = {\n${table.join('')}} as const;\n`,
  ].join('');
}

/** A method takes the path's parameters, then the body or the query, then options. */
function signaturesOf(operation: Operation): string {
  const { operationId, summary, parameters, requestBody } = operation;
  const codes = Object.values(operation.responses).flatMap(({ content }) =>
    Object.keys(content?.['application/json']?.examples ?? {}),
  );
  const pathParameters = parameters.filter((one) => one.in === 'path').map(({ name }) => `${name}: string, `);
  const signature = (input: string, output: string) =>
    `  ${operationId}(${pathParameters.join('')}${input}options?: CallOptions): ${output};\n`;
  const sentence = /[.?]$/.test(summary) ? summary : `${summary}.`;
  const doc = `  /** ${sentence} Errors: ${codes.map((code) => `\`${code}\``).join(', ')}. */\n`;
  if (requestBody === undefined) return doc + signature(queryOf(operation) ?? '', returnTypeOf(operation));
  const bodies = alternativesOf(requestBody.content['application/json'].schema);
  const answers = alternativesOf(successOf(operation)?.['application/json']?.schema ?? {});
  // Writes a signature for each form of an operation that takes and answers either one row or a list.
  if (bodies.length === 2 && answers.length === 2)
    return bodies
      .map(
        (body, at) =>
          doc + signature(`body: ${typeReference(body)}, `, `Promise<${typeReference(answers[at] ?? {})}>`),
      )
      .join('');
  const body = requestBody.content['application/json'].schema;
  const name =
    components.schemas[body.$ref?.split('/').at(-1) ?? '']?.required === undefined && body.$ref
      ? 'body?'
      : 'body';
  return doc + signature(`${name}: ${typeReference(body)}, `, returnTypeOf(operation));
}

function jobTypeOf(operation: Operation): string {
  const body = typeReference(operation.requestBody?.content['application/json'].schema ?? {});
  const result = typeReference(successOf(operation)?.['application/json']?.schema ?? {});
  return `  ${operation.operationId}: { body: ${body}; result: ${result} };\n`;
}

function isJob(operation: Operation): boolean {
  return takesIdempotencyKey(operation) && successOf(operation)?.['text/event-stream'] !== undefined;
}

function takesIdempotencyKey({ parameters }: Operation): boolean {
  return parameters.some(({ $ref }) => $ref?.endsWith('/Idempotency-Key'));
}

function queryOf({ parameters }: Operation): string | undefined {
  const inQuery = parameters.filter((one) => one.in === 'query');
  if (inQuery.length === 0) return undefined;
  const properties = Object.fromEntries(inQuery.map(({ name = '', schema = {} }) => [name, schema]));
  return `query?: ${typeReference({ type: 'object', properties, additionalProperties: false })}, `;
}

function returnTypeOf(operation: Operation): string {
  const content = successOf(operation);
  if (content === undefined) return 'Promise<void>';
  if (returnsLines(operation)) return `AsyncGenerator<${typeReference(content[NDJSON]?.schema ?? {})}>`;
  return `Promise<${typeReference(content['application/json']?.schema ?? {})}>`;
}

function successOf({ responses }: Operation) {
  return (responses['200'] ?? responses['201'])?.content;
}

function returnsLines(operation: Operation): boolean {
  return successOf(operation)?.[NDJSON] !== undefined;
}

function alternativesOf(schema: Schema): Schema[] {
  return schema.anyOf ?? [schema];
}

function typeReference(schema: Schema): string {
  return typeOf(schema, 'schemas.');
}

if (import.meta.main)
  for (const [name, text] of Object.entries(generatedFiles()))
    writeFileSync(new URL(`src/generated/${name}`, import.meta.url), text);
