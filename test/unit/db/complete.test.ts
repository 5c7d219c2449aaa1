import assert from 'node:assert/strict';
import { admit } from '../../../shared/db/stores/work/admit.ts';
import { complete } from '../../../shared/db/stores/work/complete.ts';
import { requestKey } from '../../../shared/domain/work.ts';
import { newId } from '../../../shared/ids.ts';
import { admissionTerms } from '../../../shared/work/admission.ts';
import { predict } from '../../../shared/work/kinds.ts';
import { signUp } from '../../support/account.ts';
import { type System, useSystem } from '../../support/system.ts';

const FEW_PIECES = 500;
const MANY_PIECES = 8 * FEW_PIECES;
const ROUNDS = 3;

describe('batch completion', function () {
  this.timeout(60_000);
  const system = useSystem({ workers: 0 });

  it('completing 4,000 pieces of work in one statement takes less than twenty times as long as completing 500', async () => {
    const { id: party } = await signUp(system);
    const timed = async (size: number) => {
      const ids = await admitPieces(system, party, size);
      const end = { kind: predict.name, party, month: null, guard: 'live', state: 'cancelled' } as const;
      const since = performance.now();
      const ended = await complete(
        system.database.pool,
        ids.map((id) => ({ ...end, id })),
        600,
      );
      const ms = performance.now() - since;
      assert.ok(ended.every(Boolean));
      return ms;
    };
    const quickest = { few: Number.POSITIVE_INFINITY, many: Number.POSITIVE_INFINITY };
    for (let round = 0; round < ROUNDS; round += 1) {
      quickest.few = Math.min(quickest.few, await timed(FEW_PIECES));
      quickest.many = Math.min(quickest.many, await timed(MANY_PIECES));
    }
    // Linear time takes 8 times as long; comparing every pair of pieces would take over 40 times as long.
    assert.ok(quickest.many < 20 * quickest.few, `${quickest.few} ms, then ${quickest.many} ms`);
  });
});

async function admitPieces({ database: { pool } }: System, party: string, size: number): Promise<string[]> {
  const units = { sandboxUnits: 0, unitPriceMicrocents: null };
  const terms = admissionTerms(predict, {
    process: newId(),
    timeoutMs: 600_000,
    recoveryWindowS: 600,
    units,
  });
  const ids = Array.from({ length: size }, newId);
  const admissions = ids.map((id) => ({
    id,
    party,
    key: requestKey(predict.name, party, id),
    fingerprint: Buffer.from(id),
    userId: '',
    connectionId: null,
    line: null,
    wait: false,
    cancelOnDisconnect: false,
    facts: {},
    input: '{}',
  }));
  await admit(pool, admissions, terms);
  return ids;
}
