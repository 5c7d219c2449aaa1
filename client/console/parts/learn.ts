import type { AccountClient, JobEvent } from '../../src/api.ts';
import { t } from '../strings/index.ts';

/** More than a person will ever have to wait for. */
const ROUNDS_MAX = 200;

/**
 * Runs a sync, and promotions until they find nothing left to consider. Says after each round what was learnt so far,
 * and returns it in a sentence.
 */
export async function learn(client: AccountClient, say: (step: string) => void): Promise<string> {
  const { steps, learnt, learning } = t.memory;
  const sum = { raw: 0, episodes: 0, facts: 0 };
  const report = (step: string) => say(`${learning(step)} ${learnt(sum.raw, sum.episodes, sum.facts)}`);
  const raw = await followJob(client.stream('syncMemory', {}), steps.sync, report);
  sum.raw += raw.created;
  for (let round = 0; round < ROUNDS_MAX; round += 1) {
    const episodes = await followJob(client.stream('promoteEpisodes', {}), steps.episodes, report);
    sum.episodes += episodes.created;
    const facts = await followJob(client.stream('promoteFacts', {}), steps.facts, report);
    sum.facts += facts.created;
    if (episodes.considered + facts.considered === 0) break;
  }
  return learnt(sum.raw, sum.episodes, sum.facts);
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
