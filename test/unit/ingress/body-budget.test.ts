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

  it('a request body cannot reserve room in the memory budget after its share has been freed', async () => {
    const budget = new BodyBudget(ROOM);
    for (const before of [0, MIB]) {
      const share = budget.open('one', here);
      await share.reserve(before);
      share.free();
      await assert.rejects(share.reserve(2 * MIB), { code: 'overloaded' });
      await assertAllFree(budget);
    }
  });

  it('a request body that gets room in the memory budget after its share was freed gives the room back at once', async () => {
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
