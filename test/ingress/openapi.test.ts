import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { Validator as OpenApiValidator } from '@seriousme/openapi-schema-validator';
import { Ajv2020 } from 'ajv/dist/2020.js';
import formats from 'ajv-formats';
import { DOCUMENT_FILE, readExamples } from '../../ingress/openapi/committed.ts';
import { writtenDocument } from '../../ingress/openapi/write.ts';
import { endpoints } from '../../ingress/routes/index.ts';
import { compile } from '../../shared/schemas/validator.ts';

interface Media {
  schema: object;
  example?: unknown;
  examples?: Record<string, { value: unknown }>;
}

interface Operation {
  operationId: string;
  tags: string[];
  summary: string;
  parameters: object[];
  requestBody?: { content: Record<string, Media> };
  responses: Record<
    string,
    { $ref?: string; headers?: Record<string, object>; content?: Record<string, Media> }
  >;
  security: object[];
}

interface Document {
  openapi: string;
  info: { title: string; version: string };
  servers: { url: string }[];
  tags: { name: string }[];
  paths: Record<string, Record<string, Operation>>;
  components: {
    securitySchemes: Record<string, object>;
    responses: Record<string, { content: Record<string, Media> }>;
  };
}

const LOG_IN_OPERATIONS = [
  'POST /api/auth/email/',
  'POST /api/auth/keys/',
  'POST /api/auth/passkeys/',
  'POST /api/auth/passkeys/options/',
  'DELETE /api/auth/log-ins/',
  'DELETE /api/auth/log-ins/{id}/',
  'DELETE /api/auth/me/',
];

const text = writtenDocument();
const document: Document = JSON.parse(text);
const operations = Object.entries(document.paths).flatMap(([path, methods]) =>
  Object.entries(methods).map(([method, operation]) => ({
    name: `${method.toUpperCase()} ${path}`,
    ...operation,
  })),
);

describe('published document', () => {
  it('docs/openapi.json is exactly the OpenAPI document that the endpoints declare', () => {
    const committed = readFileSync(DOCUMENT_FILE, 'utf8');
    assert.ok(
      committed === text,
      'docs/openapi.json is not what the endpoints declare: run `npm run openapi`',
    );
  });

  it('the OpenAPI document is valid OpenAPI 3.1', async () => {
    const validator = new OpenApiValidator();
    const { valid, errors } = await validator.validate(JSON.parse(text));
    assert.ok(valid, JSON.stringify(errors));
    assert.equal(validator.version, '3.1');
  });

  it('the OpenAPI document describes exactly the declared endpoints', () => {
    const declared = endpoints.map(({ method, path }) => `${method} ${path.replaceAll(/:(\w+)/g, '{$1}')}`);
    assert.deepEqual(operations.map(({ name }) => name).sort(), declared.sort());
  });

  it('the OpenAPI document gives each operation a unique operationId and a listed tag', () => {
    const names = operations.map(({ operationId }) => operationId);
    assert.deepEqual([...new Set(names)], names);
    const sections = document.tags.map(({ name }) => name);
    for (const { name, tags } of operations) for (const tag of tags) assert.ok(sections.includes(tag), name);
  });

  it("the OpenAPI document's schemas compile in a strict validator, and accept their examples", () => {
    const ajv = new Ajv2020({ strict: true, allowUnionTypes: true, allErrors: true });
    formats.default(ajv);
    ajv.addSchema({ $id: 'document', components: document.components }, undefined, false, false);
    ajv.addVocabulary(['components']);
    const media = [
      ...operations.flatMap(({ name, requestBody, responses }) =>
        [requestBody, ...Object.values(responses)].flatMap((one) =>
          Object.values(one?.content ?? {}).map((content) => ({ name, content })),
        ),
      ),
      ...Object.entries(document.components.responses).flatMap(([name, { content }]) =>
        Object.values(content).map((one) => ({ name, content: one })),
      ),
    ];
    for (const { name, content } of media) {
      const absolute = JSON.parse(JSON.stringify(content.schema).replaceAll('"#/', '"document#/'));
      const validate = ajv.compile(absolute);
      const examples = [content.example, ...Object.values(content.examples ?? {}).map(({ value }) => value)];
      const given = examples.filter((one) => one !== undefined);
      assert.notEqual(given.length, 0, `${name} has a body without an example`);
      for (const one of given) assert.ok(validate(one), `${name}: ${JSON.stringify(validate.errors)}`);
    }
  });

  it("the OpenAPI document's examples pass the endpoints' own validators", () => {
    const examples = readExamples();
    for (const { operationId, body, status, response } of endpoints) {
      for (const [name, schema] of [
        ['request', body],
        [status, response],
      ] as const) {
        if (schema === undefined) continue;
        const checked = compile(schema)(structuredClone(examples[operationId]?.[name]));
        assert.ok(checked.ok, `${operationId}, ${name}: ${JSON.stringify(checked)}`);
      }
    }
  });

  it('the OpenAPI document names the schema of every body except lists and streams', () => {
    for (const { name, requestBody, responses } of operations) {
      const contents = [requestBody, responses['200'], responses['201']].flatMap((one) =>
        Object.values(one?.content ?? {}),
      );
      // A body may be one row or a list, and a stream is a string.
      const either = contents.flatMap(({ schema }) =>
        'anyOf' in schema ? (schema.anyOf as object[]) : schema,
      );
      for (const schema of either)
        assert.ok('$ref' in schema || ['array', 'string'].includes(String(schemaType(schema))), name);
    }
  });

  it('the OpenAPI document names the kinds of credentials that each operation accepts', () => {
    for (const { name, security } of operations) {
      // A key is listed once for each sufficient scope.
      const schemes = [...new Set(security.flatMap((one) => Object.keys(one)))];
      for (const scheme of schemes) assert.ok(scheme in document.components.securitySchemes, name);
      if (name.includes(' /v1/')) assert.deepEqual(schemes, ['appKey'], name);
      else if (LOG_IN_OPERATIONS.includes(name)) assert.deepEqual(schemes, ['accessToken'], name);
      else if (schemes.length > 0) assert.deepEqual(schemes, ['accessToken', 'serviceKey'], name);
    }
  });

  it('the OpenAPI document lists WWW-Authenticate, Retry-After and Idempotency-Replayed for POST /v1/predictions', () => {
    const { responses } = document.paths['/v1/predictions']?.['post'] ?? assert.fail();
    const headersOf = (status: number) => Object.keys(responses[status]?.headers ?? {});
    assert.ok(headersOf(401).includes('WWW-Authenticate'));
    for (const status of [409, 429, 503])
      assert.ok(headersOf(status).includes('Retry-After'), String(status));
    assert.ok(headersOf(200).includes('Idempotency-Replayed'));
  });
});

function schemaType(schema: object): unknown {
  return (schema as { type?: unknown }).type;
}
