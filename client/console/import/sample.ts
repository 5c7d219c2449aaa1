import type { AccountClient } from '../../src/api.ts';

const AGENT = 'coder';
/** Source and project of the sample's rows: lists show the project, and filter by it. */
const SOURCE = 'sample';
const DAY_MS = 24 * 60 * 60 * 1000;
/** Questions of an agent, and the sample person's replies on each of eight days. */
const SAMPLE_DAYS: [question: string, reply: string][][] = [
  ['yes, I always want coverage', 'rebase, I never want merge commits'],
  ['yes, I always want coverage', 'rebase, please'],
  ['no, not today', 'rebase, I never want merge commits'],
  ['yes, I always want coverage', 'rebase, I never want merge commits'],
  ['yes, I always want coverage', 'rebase, please'],
  ['no, not today', 'rebase, I never want merge commits'],
  ['yes, I always want coverage', 'rebase, I never want merge commits'],
  ['yes, I always want coverage', 'rebase, I never want merge commits'],
].map(([tests = '', history = '']) => [
  ['Shall I run the tests with coverage?', tests],
  ['Shall I merge or rebase this branch?', history],
]);

/** Contains the user's id, because a session id belongs to one account: events of other accounts are refused. */
const sessionIdOf = (userId: string, day: number) => `${SOURCE}-${userId}-${day}`;

/** Records the sample conversations, one per day up to yesterday. Does nothing if they are already recorded. */
export async function loadSample(client: AccountClient, userId: string): Promise<void> {
  if (await isRecorded(client, userId)) return;
  const firstDayMs = Date.now() - SAMPLE_DAYS.length * DAY_MS;
  const events = SAMPLE_DAYS.flatMap((questions, day) =>
    questions.flatMap(([prompt, reply], at) => {
      const session_id = sessionIdOf(userId, day);
      const id = `${session_id}-${at}-${crypto.randomUUID()}`;
      const time = (ms: number) => new Date(firstDayMs + day * DAY_MS + at * 60_000 + ms).toISOString();
      const shared = { session_id, agent: AGENT, source: SOURCE, project: SOURCE };
      return [
        { ...shared, id, type: 'agent.prompt' as const, prompt, occurred_at: time(0) },
        {
          ...shared,
          id: `${id}-r`,
          type: 'user.reply' as const,
          reply,
          in_reply_to: id,
          occurred_at: time(30_000),
        },
      ];
    }),
  );
  await client.recordEvents(events);
}

/** Reports whether the sample person's events are recorded; they may not be in memory yet. */
async function isRecorded(client: AccountClient, userId: string): Promise<boolean> {
  const id = sessionIdOf(userId, 0);
  const { results: sessions } = await client.listSessions();
  // Asking for the events of an unknown session would log a refusal in the browser's console.
  if (!sessions.some(({ session_id }) => session_id === id)) return false;
  return (await client.listSessionEvents(id, { limit: 1 })).results.length > 0;
}

/** Deletes the sample's memory rows, their events, and all memory derived only from them. The sessions stay. */
export async function removeSample(client: AccountClient, userId: string): Promise<void> {
  for (const row of await sampleRowsOf(client, userId))
    await client.deleteRawMemory(row.id, { purge_event: 'true' });
}

export async function hasSample(client: AccountClient, userId: string): Promise<boolean> {
  return (await sampleRowsOf(client, userId)).length > 0;
}

async function sampleRowsOf(client: AccountClient, userId: string) {
  const pages = await Promise.all(
    SAMPLE_DAYS.map((_, day) => client.listRawMemory({ session_id: sessionIdOf(userId, day), limit: 50 })),
  );
  return pages.flatMap(({ results }) => results);
}
