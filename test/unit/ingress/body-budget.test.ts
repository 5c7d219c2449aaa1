import assert from 'node:assert/strict';
import { BodyBudget } from '../../../ingress/guards/budgets.ts';
import { MIB } from '../../../shared/schemas/limits.ts';

const ROOM = 16 * MIB;

describe('budget of bodies', () => {
  const here = new AbortController().signal;

  /** Fails when any of the room is held. */
  async function assertAllFree(budget: BodyBudget): Promise<void> {
    const share = budget.open('another', here);
    await share.reserve(ROOM);
    share.free();
  }

  it('a body that was given up takes no more room of the budget', async () => {
    const budget = new BodyBudget(ROOM);
    for (const before of [0, MIB]) {
      const share = budget.open('one', here);
      await share.reserve(before);
      share.free();
      await assert.rejects(share.reserve(2 * MIB), { code: 'overloaded' });
      await assertAllFree(budget);
    }
  });

  it('a body that was given up while it waited for room returns what it gets', async () => {
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
