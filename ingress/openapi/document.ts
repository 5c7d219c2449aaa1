import packageJson from '../../package.json' with { type: 'json' };
import { type Endpoint, TAGS } from '../http/endpoint.ts';
import { documentPath, type Examples } from './committed.ts';
import { Components } from './components.ts';
import { sharedResponses } from './errors.ts';
import { sharedHeaders } from './headers.ts';
import { operationOf } from './operation.ts';

const DESCRIPTION = `Predicts what a person will type next.

- Every body is \`application/json\` in UTF-8, plain or compressed with gzip. Its bounds hold unpacked; one that unpacks to
  more than 256 KiB may have at most 100 times its packed size. A body costs the rate limit a point for each 512 KiB.
- An address that is no endpoint is 404 \`not_found\`, a method that it does not take 405 \`method_not_allowed\` with
  \`Allow\`. HEAD answers like GET, without a body.
- \`/api\` accepts its paths with and without the trailing slash.
- What HTTP itself refuses, at any address: 400 \`invalid_request\` (two \`Host\` headers, or none in HTTP/1.1; a version
  that is neither 1.0 nor 1.1), 408 \`request_timeout\` (bodies over 30 s, or 5 s and one more for each 32 KiB sent;
  headers over 10 s, which only the code tells, on \`/api\` too), 414 \`uri_too_long\` and 431 \`headers_too_large\` (URL
  and headers together over 16 KiB), 417 \`expectation_failed\`.
- A defect of ours is 500 \`internal_error\`, with any operation.`;

const SECURITY_SCHEMES = {
  appKey: {
    type: 'http',
    scheme: 'bearer',
    description: 'The key of an app. It belongs on servers, never in a browser.',
  },
  accessToken: {
    type: 'http',
    scheme: 'bearer',
    bearerFormat: 'JWT',
    description:
      'An access token, which logging in returns. Valid for an hour. It is checked as RFC8725 asks: algorithm, type, issuer, audience.',
  },
  serviceKey: {
    type: 'apiKey',
    in: 'header',
    name: 'X-Service-API-Key',
    description:
      'A key of an account, `service_…`. Valid until it is revoked. A key with scopes needs one of the scopes that the operation names: `read`, `predict`, `write`, `forget`, `decide` or `record`; else, and where it names none, 403 `access_denied`.',
  },
};

/** Returns the OpenAPI 3.1 document of the endpoints. `examples` are by operation. */
export function describeEndpoints(
  endpoints: readonly Endpoint[],
  examples: Record<string, Examples>,
): object {
  const components = new Components();
  const paths: Record<string, Record<string, object>> = {};
  for (const endpoint of endpoints) {
    const path = documentPath(endpoint);
    const operation = operationOf(endpoint, components, examples[endpoint.operationId] ?? {});
    paths[path] = { ...paths[path], [endpoint.method.toLowerCase()]: operation };
  }
  return {
    openapi: '3.1.0',
    info: {
      title: 'Forecue',
      version: packageJson.version,
      description: DESCRIPTION,
      contact: { name: packageJson.author },
      license: { name: packageJson.license, identifier: packageJson.license },
    },
    servers: [{ url: 'http://localhost:8080' }],
    tags: Object.entries(TAGS)
      .filter(([name]) => endpoints.some(({ tag }) => tag === name))
      .map(([name, description]) => ({ name, description })),
    paths,
    components: {
      securitySchemes: SECURITY_SCHEMES,
      ...sharedHeaders(components),
      responses: sharedResponses(components),
      // Comes last, because the parts above add the schemas that they refer to.
      schemas: components.all(),
    },
  };
}
