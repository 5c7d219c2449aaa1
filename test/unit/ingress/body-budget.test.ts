import assert from 'node:assert/strict';
import { BodyBudget } from '../../../ingress/guards/budgets.ts';
import { MIB } from '../../../shared/schemas/limits.ts';

const ROOM = 16 * MIB;

describe('body budget', () => {
  const here = new AbortController().signal;

  async function assertAllFree(budget: BodyBudget): Promise<void> {
    const share = budget.open('another', here);
    await share.reserve(ROOM);
    share.free();
  }

  it('a request body whose share of the body budget was freed cannot reserve more of the budget', async () => {
    const budget = new BodyBudget(ROOM);
    for (const before of [0, MIB]) {
      const share = budget.open('one', here);
      await share.reserve(before);
      share.free();
      await assert.rejects(share.reserve(2 * MIB), { code: 'overloaded' });
      await assertAllFree(budget);
    }
  });

  it('room in the body budget that a request gets after its share was freed is given back at once', async () => {
    const budget = new BodyBudget(ROOM);
    const holding = budget.open('other', here);
    await holding.reserve(ROOM);
    const share = budget.open('one', here);
    const waiting = share.reserve(2 * MIB);
    share.free();
    holding.free();
    await waiting;
    await assertAllFree(budget);
  });
});
