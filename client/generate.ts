import { writeFileSync } from 'node:fs';
import { catalogue } from '../shared/errors/catalogue.ts';
import { generatedPythonFiles } from './generate-python.ts';
import {
  answerOf,
  bodyOf,
  errorCodesOf,
  formsOf,
  isJob,
  type Operation,
  operationsOf,
  type PlacedOperation,
  pathParametersOf,
  queryOf,
  returnsLines,
  schemas,
  summaryOf,
  tableEntryOf,
} from './openapi-document.ts';
import { type Schema, typeOf } from './schema-types.ts';

const GENERATED_NOTE = '/** Generated from docs/openapi.json by client/generate.ts: `npm run openapi`. */\n';

/** Returns the generated files of a client, by name. `folder` is relative to `client`. */
export const generatedFiles = {
  typescript: {
    folder: 'src/generated/',
    files: (): Record<string, string> => ({
      'schemas.ts': GENERATED_NOTE + Object.entries(schemas).map(declarationOf).join(''),
      'errors.ts': GENERATED_NOTE + errorsOf(),
      'v1.ts': GENERATED_NOTE + methodsOf('V1', operationsOf('v1')),
      'api.ts': GENERATED_NOTE + methodsOf('Api', operationsOf('api')),
    }),
  },
  python: { folder: 'python/forecue/_generated/', files: generatedPythonFiles },
};

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
function methodsOf(surface: string, operations: PlacedOperation[]): string {
  const table = operations.map((placed) => `  ${placed.operation.operationId}: '${tableEntryOf(placed)}',\n`);
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
  const pathParameters = pathParametersOf(operation).map((name) => `${name}: string, `);
  const signature = (input: string, output: string) =>
    `  ${operation.operationId}(${pathParameters.join('')}${input}options?: CallOptions): ${output};\n`;
  const doc = `  /** ${summaryOf(operation)} ${errorCodesOf(operation)} */\n`;
  const body = bodyOf(operation);
  if (body === undefined) {
    const query = queryOf(operation);
    const input = query ? `query?: ${typeReference(query)}, ` : '';
    return doc + signature(input, returnTypeOf(operation));
  }
  const forms = formsOf(operation);
  if (forms.length > 0)
    return forms
      .map(
        ([body, answer]) =>
          doc + signature(`body: ${typeReference(body)}, `, `Promise<${typeReference(answer)}>`),
      )
      .join('');
  const name =
    schemas[body.$ref?.split('/').at(-1) ?? '']?.required === undefined && body.$ref ? 'body?' : 'body';
  return doc + signature(`${name}: ${typeReference(body)}, `, returnTypeOf(operation));
}

function jobTypeOf(operation: Operation): string {
  const body = typeReference(bodyOf(operation) ?? {});
  const result = typeReference(answerOf(operation) ?? {});
  return `  ${operation.operationId}: { body: ${body}; result: ${result} };\n`;
}

function returnTypeOf(operation: Operation): string {
  const answer = answerOf(operation);
  if (answer === undefined) return 'Promise<void>';
  return `${returnsLines(operation) ? 'AsyncGenerator' : 'Promise'}<${typeReference(answer)}>`;
}

function typeReference(schema: Schema): string {
  return typeOf(schema, 'schemas.');
}

if (import.meta.main)
  for (const { folder, files } of Object.values(generatedFiles))
    for (const [name, text] of Object.entries(files()))
      writeFileSync(new URL(folder + name, import.meta.url), text);
