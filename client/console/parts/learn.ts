import type { AccountClient, JobEvent } from '../../src/api.ts';
import { t } from '../strings/index.ts';

/**
 * Runs a sync and both promotions. Returns a sentence with the numbers of rows created and considered: a promotion
 * considers at most 100, and leaves the rest for later.
 */
export async function learn(client: AccountClient, say: (step: string) => void): Promise<string> {
  const { steps, learnt } = t.memory;
  const raw = await followJob(client.stream('syncMemory', {}), steps.sync, say);
  const episodes = await followJob(client.stream('promoteEpisodes', {}), steps.episodes, say);
  const facts = await followJob(client.stream('promoteFacts', {}), steps.facts, say);
  return learnt(raw.created, episodes.created, facts.created, episodes.considered, facts.considered);
}

async function followJob(
  events: AsyncIterable<JobEvent<{ created: number; considered?: number }>>,
  name: string,
  say: (step: string) => void,
) {
  say(name);
  let counts = { created: 0, considered: 0 };
  for await (const event of events) {
    if (event.type === 'progress' && event.total > 0) say(`${name} ${event.done}/${event.total}`);
    if (event.type === 'done') counts = { ...counts, ...event.result };
  }
  return counts;
}
