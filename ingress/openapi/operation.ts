import { STATUS_CODES } from 'node:http';
import Type, { type TSchema } from 'typebox';
import { Identifier, Name } from '../../shared/schemas/common.ts';
import { BODY_LIMIT, KIB, MIB } from '../../shared/schemas/limits.ts';
import type { EndpointSpec, ParamKind } from '../endpoint.ts';
import type { Components } from './components.ts';
import { refusalsOf } from './errors.ts';
import { exampleOf } from './examples.ts';
import { headerParameters, responseHeaders } from './headers.ts';

const SECURITY: Record<EndpointSpec['auth'], object[]> = {
  app: [{ appKey: [] }],
  user: [{ accessToken: [] }, { serviceKey: [] }],
  none: [],
};

const PARAMS: Record<ParamKind, TSchema> = {
  identifier: Identifier,
  uuid: Type.String({ format: 'uuid' }),
  text: Name,
};

/** An endpoint as an operation of the document. */
export function operationOf(endpoint: EndpointSpec, components: Components): object {
  const { operationId, tag, summary, description, auth, body } = endpoint;
  return {
    operationId,
    tags: [tag],
    summary,
    description,
    security: SECURITY[auth],
    parameters: [
      ...pathParameters(endpoint, components),
      ...queryParameters(endpoint, components),
      ...headerParameters([...(endpoint.requestHeaders ?? []), 'X-Request-Id']),
    ],
    requestBody: body && {
      description: `At most ${sizeOf(endpoint.bodyLimit ?? BODY_LIMIT)}.`,
      required: true,
      content: { 'application/json': { schema: bodySchema(endpoint, components), example: exampleOf(body) } },
    },
    responses: { ...successesOf(endpoint, components), ...refusalsOf(endpoint) },
  };
}

function pathParameters({ path, params = {} }: EndpointSpec, components: Components): object[] {
  const names = [...path.matchAll(/:(\w+)/g)].map(([, name = '']) => name);
  return names.map((name) => ({
    name,
    in: 'path',
    required: true,
    schema: components.refer(PARAMS[params[name] ?? 'identifier']),
  }));
}

function queryParameters({ query, ownQuery }: EndpointSpec, components: Components): object[] {
  const parameters = Object.entries<TSchema>((query ?? ownQuery)?.properties ?? {});
  return parameters.map(([name, schema]) => ({ name, in: 'query', schema: components.refer(schema) }));
}

function successesOf(endpoint: EndpointSpec, components: Components): Record<string, object> {
  const { status, otherStatus = status, response, responseType = 'application/json' } = endpoint;
  const success = (one: number) => ({
    description: STATUS_CODES[one],
    headers: responseHeaders([
      ...(endpoint.responseHeaders ?? []),
      'X-Request-Id',
      ...(endpoint.unlimited ? [] : (['RateLimit', 'RateLimit-Policy'] as const)),
    ]),
    content: response && {
      [responseType]: { schema: components.refer(response), example: exampleOf(response) },
    },
  });
  return { [status]: success(status), [otherStatus]: success(otherStatus) };
}

function bodySchema({ body = {}, rows }: EndpointSpec, components: Components): object {
  return components.refer(rows === undefined ? body : { ...body, items: rows });
}

function sizeOf(bytes: number): string {
  return bytes < MIB ? `${bytes / KIB} KiB` : `${bytes / MIB} MiB`;
}
