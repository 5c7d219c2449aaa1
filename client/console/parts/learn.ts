import type { AccountClient } from '../../src/api.ts';
import { t } from '../strings/index.ts';

/** Number of new rows in each tier. */
export interface LearntCounts {
  raw: number;
  episodes: number;
  facts: number;
}

/**
 * Takes recorded events into memory, summarises them, and extracts facts; reports the current step and its progress.
 */
export async function learn(client: AccountClient, say: (step: string) => void): Promise<LearntCounts> {
  const { sync, episodes, facts } = t.memory.steps;
  return {
    raw: await follow(client, 'syncMemory', sync, say),
    episodes: await follow(client, 'promoteEpisodes', episodes, say),
    facts: await follow(client, 'promoteFacts', facts, say),
  };
}

async function follow(
  client: AccountClient,
  job: 'syncMemory' | 'promoteEpisodes' | 'promoteFacts',
  name: string,
  say: (step: string) => void,
): Promise<number> {
  say(name);
  let created = 0;
  for await (const event of client.stream(job, {})) {
    if (event.type === 'progress' && event.total > 0) say(`${name} ${event.done}/${event.total}`);
    if (event.type === 'done') created = event.result.created;
  }
  return created;
}
