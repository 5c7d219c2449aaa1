import assert from 'node:assert/strict';
import { usageReport } from '../../../shared/domain/usage.ts';

describe('usage report', () => {
  const app = { id: 'a', plan: 'paid', capCents: null } as const;

  it('the usage report rounds the invoice down to whole cents', () => {
    const counts = {
      reserved: 0,
      settled: 9,
      paidReserved: 0,
      paidSettled: 9,
      paidSettledMicrocents: 1_999_999,
    };
    assert.equal(usageReport(app, '2026-11', counts, 1000).invoice_cents, 1);
  });

  it('the sandbox remainder in the usage report excludes settled and reserved sandbox units, and is never negative', () => {
    const counts = { reserved: 5, settled: 12, paidReserved: 3, paidSettled: 4, paidSettledMicrocents: 0 };
    assert.equal(usageReport(app, '2026-11', counts, 100).sandbox_remaining, 90);
    assert.equal(usageReport(app, '2026-11', counts, 9).sandbox_remaining, 0);
  });
});
