import { spawn } from 'node:child_process';
import { once } from 'node:events';

const OPEN_LOOP = 'bench/open-snapshot.ts --service 300 --minutes 1 --window 20'.split(' ');

/** Commands that take minutes, by what they measure. Each can also be run alone. */
const LONG: Record<string, string[]> = {
  'a replay against a health check': ['bench/replay.ts'],
  'ten thousand callers that wait': ['bench/waiting.ts'],
  'events posted against a bare insert': ['bench/ingest.ts'],
  'an escalated reply with a webhook for it, and without': ['bench/webhooks.ts'],
  'an open loop on PostgreSQL': OPEN_LOOP,
  'an open loop on Redis': [...OPEN_LOOP, '--queue', 'redis'],
  'one, two and four workers': ['bench/scaling.ts', '--seconds', '8'],
  'a completion by statement and by entities': ['bench/entities.ts'],
  'growth with the parties': ['bench/many-parties.ts'],
  'growth with the history': ['bench/long-history.ts'],
};

export async function measureLong(): Promise<void> {
  for (const [what, command] of Object.entries(LONG)) {
    process.stdout.write(`\n${what}: bin/node ${command.join(' ')}\n`);
    const child = spawn(process.execPath, command, { stdio: ['ignore', 'inherit', 'inherit'] });
    const [code] = await once(child, 'exit');
    if (code !== 0) process.stdout.write(`missed its limit, or failed: exit ${code}\n`);
  }
}
