import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { SCALE } from '../support/scale.ts';

/** Runs a measurement, which prints what it finds, and exits with 1 if that exceeds its limit. */
async function measure(script: string, ...args: string[]): Promise<void> {
  const [code] = await once(
    spawn(process.execPath, [`bench/${script}.ts`, ...args], { stdio: 'inherit' }),
    'exit',
  );
  assert.equal(code, 0);
}

describe('growth', function () {
  this.timeout(600_000 * SCALE);

  it('admissions, claims and reads of the queue take at most twice as long with 10,000 waiting parties as with ten #many-parties', () =>
    measure('many-parties', '--parties', '10,10000', '--parts', `${100_000 * SCALE}`));

  it('the hot path takes at most 1.3 times as long with a million rows of history, and erasing reads at most twice what it deletes', () =>
    measure('long-history', '--rows', `${1_000_000 * SCALE}`));
});
