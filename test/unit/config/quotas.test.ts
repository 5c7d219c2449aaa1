import assert from 'node:assert/strict';
import { ingressConfig } from '../../../shared/config/config.ts';

describe('account quotas', () => {
  const quotas = (values: NodeJS.ProcessEnv) =>
    ingressConfig({
      DATABASE_URL: 'postgres://db.example/forecue',
      JWT_SECRET: 'secret',
      ADMIN_TOKEN: 'token',
      ...values,
    }).quotas;

  it('each account quota has a default, which its own environment variable overrides', () => {
    const defaults = { sessions: 100_000, events: 5_000_000, bytes: 5 * 1024 ** 3 };
    assert.deepEqual(quotas({}), defaults);
    assert.deepEqual(quotas({ QUOTA_BYTES: '', QUOTA_EVENTS: '7' }), { ...defaults, events: 7 });
  });

  it('an account quota of 0 sets no limit, and a negative account quota is refused', () => {
    assert.deepEqual(quotas({ QUOTA_BYTES: '0', QUOTA_EVENTS: '0' }), { sessions: 100_000 });
    assert.throws(() => quotas({ QUOTA_EVENTS: '-1' }), /QUOTA_EVENTS/);
  });
});
