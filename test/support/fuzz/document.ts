import { readFileSync } from 'node:fs';
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import formats from 'ajv-formats';
import { DOCUMENT_FILE } from '../../../ingress/openapi/committed.ts';

export interface Schema {
  $ref?: string;
  anyOf?: Schema[];
  const?: Json;
  enum?: Json[];
  type?: string | string[];
  properties?: Record<string, Schema>;
  required?: string[];
  items?: Schema;
  minItems?: number;
  maxItems?: number;
  minLength?: number;
  maxLength?: number;
  minimum?: number;
  maximum?: number;
  pattern?: string;
  format?: string;
}

export type Json = null | boolean | number | string | Json[] | { [name: string]: Json };

interface Parameter {
  name: string;
  in: 'path' | 'query' | 'header';
  schema: Schema;
}

interface PublishedOperation {
  operationId: string;
  security: Record<string, unknown>[];
  parameters: (Parameter | { $ref: string })[];
  requestBody?: { content: Record<string, { schema: Schema }> };
}

interface Document {
  paths: Record<string, Record<string, PublishedOperation>>;
  components: { parameters: Record<string, Parameter>; schemas: Record<string, Schema> };
}

export type CredentialKind = 'app' | 'user' | 'none';

export interface Operation {
  id: string;
  name: string;
  method: string;
  path: string;
  credential: CredentialKind;
  parameters: readonly Parameter[];
  body: Schema | undefined;
  /** Reports whether the document allows this body; always true for an operation without one. */
  allows: (body: unknown) => boolean;
}

const document: Document = JSON.parse(readFileSync(DOCUMENT_FILE, 'utf8'));
const ajv = new Ajv2020({ strict: false });
formats.default(ajv);
// The product ignores white space around an e-mail address, which no format can say.
ajv.addFormat('email', true);
ajv.addSchema({ $id: 'document', components: document.components });

export const operations: readonly Operation[] = Object.entries(document.paths).flatMap(([path, methods]) =>
  Object.entries(methods).map(([method, published]) => operationOf(path, method.toUpperCase(), published)),
);

export function resolveSchema(schema: Schema): Schema {
  if (schema.$ref === undefined) return schema;
  return document.components.schemas[schema.$ref.split('/').at(-1) ?? ''] ?? {};
}

function operationOf(path: string, method: string, published: PublishedOperation): Operation {
  const body = published.requestBody?.content['application/json']?.schema;
  const schemes = published.security.flatMap((one) => Object.keys(one));
  const validate = body && compile(body);
  return {
    id: published.operationId,
    name: `${method} ${path}`,
    method,
    path,
    credential: schemes.length === 0 ? 'none' : schemes.includes('appKey') ? 'app' : 'user',
    parameters: published.parameters.map((one) =>
      '$ref' in one ? (document.components.parameters[one.$ref.split('/').at(-1) ?? ''] as Parameter) : one,
    ),
    body,
    allows: (value) => validate === undefined || validate(value),
  };
}

function compile(schema: Schema): ValidateFunction {
  return ajv.compile(JSON.parse(JSON.stringify(schema).replaceAll('"#/', '"document#/')));
}
