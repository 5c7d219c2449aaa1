import assert from 'node:assert/strict';
import { endpoint, endpointsOn } from '../../ingress/http/endpoint.ts';
import { surfaceOf } from '../../ingress/http/request-context.ts';
import { routes } from '../../ingress/routes/index.ts';

describe('route table', () => {
  it('each route declares the surface of its path: v1, api, connect or site', () => {
    for (const { path, surface } of routes) assert.equal(surfaceOf(path), surface, path);
  });

  it('the route table has each pair of method and path only once', () => {
    const names = routes.map(({ method, path }) => `${method} ${path}`);
    assert.deepEqual([...new Set(names)], names);
  });

  it("a route that contradicts its handler's declaration does not compile", () => {
    const v1 = endpointsOn('v1');
    const details = { operationId: 'x', tag: 'Health', summary: '', errors: [], status: 200 } as const;
    const declared = endpoint('app', { ...details, params: { id: 'uuid' } }).handle(async () => ({}));
    v1('GET', '/v1/things/:id', 'app', declared);
    // @ts-expect-error Another credential.
    v1('GET', '/v1/things/:id', 'user', declared);
    // @ts-expect-error Another parameter.
    v1('GET', '/v1/things/:name', 'app', declared);
    // @ts-expect-error Another surface.
    v1('GET', '/api/things/:id/', 'app', declared);
  });
});
