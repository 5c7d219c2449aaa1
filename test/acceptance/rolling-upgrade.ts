import { parseArgs } from 'node:util';
import { mochaGlobalSetup, mochaGlobalTeardown } from '../setup.ts';
import { createDatabase } from '../support/database.ts';
import { CONTRACT, EXPAND, FILL, rollingUpgrade } from '../support/rolling-upgrade.ts';
import { interruptionsIn } from '../support/under-load.ts';
import { thisVersion, type Version, versionOf, versionWithReleases } from '../support/version.ts';

/**
 * By hand: ten times, at 100 requests a second, rolling upgrades take an installation from the version of an earlier
 * commit to this checkout, then through three later releases that expand, migrate and contract tables of the hot path.
 * Exits with 1 if a caller noticed an upgrade, an answer was lost or charged twice, or a process ended with an error.
 */
const { values: options } = parseArgs({
  options: {
    old: { type: 'string', default: 'HEAD~1' },
    times: { type: 'string', default: '10' },
    'per-second': { type: 'string', default: '100' },
  },
});

await mochaGlobalSetup();
const versions: [Version, ...Version[]] = [
  await versionOf(options.old),
  thisVersion(),
  await versionWithReleases([EXPAND]),
  await versionWithReleases([EXPAND, FILL]),
  await versionWithReleases([EXPAND, FILL, CONTRACT]),
];
try {
  for (let time = 1; time <= Number(options.times); time += 1) {
    const database = await createDatabase({ empty: true });
    const run = await rollingUpgrade(versions, {
      databaseUrl: database.url,
      perSecond: Number(options['per-second']),
    });
    await database.drop();
    const broken = interruptionsIn(run);
    if (broken.length > 0 || run.exits.some((code) => code !== 0)) process.exitCode = 1;
    console.log(JSON.stringify({ time, ...run, exits: run.exits.join(), broken }));
  }
} finally {
  for (const version of versions) await version.remove();
  await mochaGlobalTeardown();
}
