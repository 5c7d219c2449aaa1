import assert from 'node:assert/strict';
import { workerConfig } from '../../../shared/config/config.ts';
import { nextTick } from '../../../shared/config/recurrence.ts';

describe('SYNC_EVERY and PROMOTE_EVERY', () => {
  const recurrence = (values: NodeJS.ProcessEnv) =>
    workerConfig({ DATABASE_URL: 'postgres://db.example/forecue', ...values }).recurrence;

  it('SYNC_EVERY defaults to every 5 minutes, and PROMOTE_EVERY to every 30 minutes', () => {
    assert.deepEqual(recurrence({ SYNC_EVERY: '' }), { sync: '*/5 * * * *', promotion: '*/30 * * * *' });
  });

  it('SYNC_EVERY and PROMOTE_EVERY accept a cron pattern, with seconds or without, or off', () => {
    for (const pattern of ['0 4 * * mon-fri', '*/10 * * * * *', '0,30 8-18/2 1 JAN,JUL *', ' 5  4 * * * '])
      assert.equal(recurrence({ SYNC_EVERY: pattern }).sync, pattern.trim());
    assert.deepEqual(recurrence({ SYNC_EVERY: 'off', PROMOTE_EVERY: 'off' }), {
      sync: null,
      promotion: null,
    });
  });

  it('a PROMOTE_EVERY that is neither a cron pattern nor off stops the process with an error that names the setting', () => {
    const faulty = [
      '5',
      'never',
      '* * * *',
      '61 * * * *',
      '0 0 30 2 *',
      '* * * * * * *',
      'H * * * *',
      '@hourly',
      '*/0 * * * *',
    ];
    for (const pattern of faulty)
      assert.throws(() => recurrence({ PROMOTE_EVERY: pattern }), {
        message:
          'configuration: PROMOTE_EVERY must be a cron pattern of five fields, or six with seconds first, or off',
      });
  });

  it('cron patterns are evaluated in UTC', () => {
    const summer = Date.UTC(2026, 6, 1, 3, 59, 59, 999);
    assert.equal(nextTick('0 4 * * *', summer), summer + 1);
    assert.equal(nextTick('0 4 * * *', summer + 1), summer + 1 + 24 * 60 * 60 * 1000);
  });
});
