import { STATUS_CODES } from 'node:http';
import Type, { type TSchema } from 'typebox';
import { Identifier, Name } from '../../shared/schemas/common.ts';
import { BODY_BYTES_MAX, BODY_DEPTH_MAX, BODY_VALUES_MAX, KIB, MIB } from '../../shared/schemas/limits.ts';
import { mayOmitBody } from '../guards/bodies.ts';
import type { Endpoint, ParamKind } from '../http/endpoint.ts';
import { scopesOf } from '../http/scopes.ts';
import type { Examples } from './committed.ts';
import type { Components } from './components.ts';
import { errorResponses } from './errors.ts';
import { headerParameters, responseHeaders } from './headers.ts';

const PARAM_SCHEMAS: Record<ParamKind, TSchema> = {
  identifier: Identifier,
  uuid: Type.String({ format: 'uuid' }),
  text: Name,
};

export function operationOf(endpoint: Endpoint, components: Components, examples: Examples): object {
  const { operationId, tag, summary, description, body } = endpoint;
  return {
    operationId,
    tags: [tag],
    summary,
    description,
    security: securityOf(endpoint),
    parameters: [
      ...pathParameters(endpoint, components),
      ...queryParameters(endpoint, components),
      ...headerParameters([...(endpoint.requestHeaders ?? []), 'X-Request-Id']),
    ],
    requestBody: body && {
      description: boundsOf(endpoint),
      required: !mayOmitBody(endpoint),
      content: {
        'application/json': {
          schema: bodySchema(endpoint, components),
          example: examples.request,
        },
      },
    },
    responses: { ...successResponses(endpoint, components, examples), ...errorResponses(endpoint) },
  };
}

function securityOf(endpoint: Endpoint): object[] {
  const { credential, login } = endpoint;
  if (credential === 'none') return [];
  if (credential === 'app') return [{ appKey: [] }];
  const scopes = scopesOf(endpoint);
  // An operation that names no scope is for keys without scopes.
  const keys = scopes.length === 0 ? [{ serviceKey: [] }] : scopes.map((scope) => ({ serviceKey: [scope] }));
  return [{ accessToken: [] }, ...(login === undefined ? keys : [])];
}

function pathParameters({ path, params }: Endpoint, components: Components): object[] {
  const names = [...path.matchAll(/:(\w+)/g)].map(([, name = '']) => name);
  return names.map((name) => ({
    name,
    in: 'path',
    required: true,
    schema: components.refer(PARAM_SCHEMAS[params[name] ?? 'identifier']),
  }));
}

function queryParameters({ query }: Endpoint, components: Components): object[] {
  const parameters = Object.entries<TSchema>(query?.properties ?? {});
  return parameters.map(([name, schema]) => ({ name, in: 'query', schema: components.refer(schema) }));
}

function successResponses(
  endpoint: Endpoint,
  components: Components,
  examples: Examples,
): Record<string, object> {
  const { status, otherStatus = status, response, responseType = 'application/json' } = endpoint;
  const { otherResponse = response } = endpoint;
  const success = (statusCode: number, body: TSchema | undefined) => ({
    description: STATUS_CODES[statusCode],
    headers: responseHeaders([
      ...(endpoint.responseHeaders ?? []),
      'X-Request-Id',
      ...(endpoint.unlimited ? [] : (['RateLimit', 'RateLimit-Policy'] as const)),
    ]),
    content: body && {
      [responseType]: { schema: components.refer(body), example: examples[statusCode] },
      ...(endpoint.streams &&
        statusCode === status && {
          'text/event-stream': {
            schema: Type.String(),
            example: `event: ${endpoint.streams}\ndata: ${JSON.stringify(examples[statusCode])}\n\n`,
          },
        }),
    },
  });
  return {
    [otherStatus]: success(otherStatus, otherResponse),
    [status]: success(status, response),
    ...(endpoint.showsStored && {
      204: { ...success(204, undefined), description: 'Done. For a key without the scope `read`.' },
    }),
  };
}

function bodySchema({ body = {}, rows }: Endpoint, components: Components): object {
  // A `oneOrMany` schema has `then` and `else`, which client generators do not know. They know `anyOf`.
  if ('then' in body && 'else' in body) return components.refer({ anyOf: [body.else, body.then] });
  return components.refer(rows === undefined ? body : { ...body, items: rows });
}

function boundsOf({ bodyLimit = BODY_BYTES_MAX, bodyValues = BODY_VALUES_MAX }: Endpoint): string {
  const values = bodyValues.toLocaleString('en');
  return `At most ${formatBytes(bodyLimit)}, ${values} values and names, nested ${BODY_DEPTH_MAX} deep.`;
}

function formatBytes(bytes: number): string {
  return bytes < MIB ? `${bytes / KIB} KiB` : `${bytes / MIB} MiB`;
}
