import assert from 'node:assert/strict';
import { signUp } from '../support/account.ts';
import { addEpisode, currentTexts, proposeFacts } from '../support/facts-promotion.ts';
import { startLossyDatabaseLink } from '../support/lost-commit.ts';
import { add } from '../support/memory.ts';
import { promote } from '../support/promotion.ts';
import { useSystem } from '../support/system.ts';

const PNPM = { text: 'Uses pnpm as package manager', quote: 'We use pnpm', slot: 'tool.package_manager' };

describe('lost answer to a commit', () => {
  const system = useSystem({ workers: 0, workerEntry: ['workers/main.ts', 'memory'] });

  for (const [name, known] of [
    ['', []],
    [', even if the new fact supersedes one that the model was shown', ['Uses npm as package manager']],
  ] as const)
    it(`when the answer to a promotion's commit is lost, each fact is counted once and no model is asked again${name} #promotion-crash`, async () => {
      const ann = await signUp(system);
      await addEpisode(ann, ['We use pnpm as package manager']);
      for (const text of known) await add(ann, 'facts', { text });
      await system.sql(`update facts set origin = 'model' where account_id = $1`, [ann.id]);
      system.provider.reset();
      system.provider.respond(proposeFacts(PNPM));
      await using link = await startLossyDatabaseLink(system.database.url, 'update work set progress');
      const worker = await system.startWorker({ DATABASE_URL: link.url });
      const { status, body } = await promote(ann, 'facts');
      await worker.stop();
      assert.ok(link.hasLost);
      assert.deepEqual(
        [status, body.created, body.updated, body.considered, body.skipped, system.provider.calls.length],
        [200, 1, known.length, 1, 0, 1],
      );
      assert.deepEqual(await currentTexts(ann), [PNPM.text]);
    });
});
