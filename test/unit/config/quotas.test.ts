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

  it('account quotas have defaults, which variables override one by one', () => {
    const defaults = { sessions: 100_000, events: 5_000_000, bytes: 5 * 1024 ** 3 };
    assert.deepEqual(quotas({}), defaults);
    assert.deepEqual(quotas({ QUOTA_BYTES: '', QUOTA_EVENTS: '7' }), { ...defaults, events: 7 });
  });

  it('account quotas are turned off by 0 and refused if negative', () => {
    assert.deepEqual(quotas({ QUOTA_BYTES: '0', QUOTA_EVENTS: '0' }), { sessions: 100_000 });
    assert.throws(() => quotas({ QUOTA_EVENTS: '-1' }), /QUOTA_EVENTS/);
  });
});
