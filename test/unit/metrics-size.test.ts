import assert from 'node:assert/strict';
import { routes } from '../../ingress/routes/index.ts';
import { catalogue } from '../../shared/errors/catalogue.ts';
import { scrape } from '../../shared/metrics/registry.ts';
import { observeRequest } from '../../shared/metrics/requests.ts';

const SERIES_MAX = 10_000;

describe('metrics size', () => {
  it('the metrics have fewer than 10,000 series, even after every route has answered with every error code', async () => {
    const answered = { ms: 1 };
    for (const { method, path } of routes) {
      observeRequest({ ...answered, method, route: path, status: 200, code: undefined });
      for (const [code, { status }] of Object.entries(catalogue))
        observeRequest({ ...answered, method, route: path, status, code });
    }
    for (let n = 0; n < 100; n += 1)
      observeRequest({ ...answered, method: `M${n}`, route: undefined, status: 404, code: 'not_found' });
    const series = (await scrape()).split('\n').filter((line) => line !== '' && !line.startsWith('#'));
    assert.ok(series.length > routes.length * Object.keys(catalogue).length);
    assert.ok(series.length < SERIES_MAX, `${series.length} series`);
  });
});
