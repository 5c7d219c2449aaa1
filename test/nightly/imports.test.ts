import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { mkdtemp, rm, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { signUp, type UserClient } from '../support/account.ts';
import { runAdmin } from '../support/admin.ts';
import { eventsOfSample, SAMPLES, SECRET } from '../support/more-transcripts.ts';
import { recording } from '../support/recording.ts';
import { useSystem } from '../support/system.ts';

interface Case {
  /** Types and words of all that is said. */
  events?: [type: string, words: string][];
  /** Replies, and the prompts that they answer. */
  pairs?: Record<string, string>;
  never?: string[];
  noHuman?: boolean;
}

/** Small files with the same faults as those of public bug reports. */
const FIELD = new URL('field/', import.meta.url);
const CASES: Record<string, Case> = JSON.parse(readFileSync(new URL('expected.json', FIELD), 'utf8'));

const wordsOf = (event?: Record<string, unknown>) => event?.['prompt'] ?? event?.['reply'] ?? event?.['text'];

/** A conversation of ChatGPT in which the person and the agent take turns. */
function conversationOf(id: string, messages: number): object {
  const nodes = Array.from({ length: messages }, (_, n) => {
    const role = n % 2 === 0 ? 'user' : 'assistant';
    const content = {
      content_type: 'text',
      parts: [`Message ${n} of ${id} about ${'some plans '.repeat(20)}`],
    };
    const said = {
      author: { role },
      content,
      recipient: 'all',
      end_turn: role === 'assistant',
      metadata: {},
    };
    const message = { ...said, id: `${id}-${n}`, create_time: 1_772_359_200 + n };
    return [`${id}-${n}`, { parent: n === 0 ? null : `${id}-${n - 1}`, message }] as const;
  });
  return {
    conversation_id: id,
    title: id,
    mapping: Object.fromEntries(nodes),
    current_node: nodes.at(-1)?.[0],
  };
}

describe('import command', () => {
  const system = useSystem({ workers: 0 });
  let path: string;
  let person: UserClient;
  beforeEach(async () => {
    person = await signUp(system);
    path = join(await mkdtemp(join(tmpdir(), 'forecue-imports-')), 'transcript');
  });
  afterEach(() => rm(join(path, '..'), { recursive: true }));

  /** Imports the file, and returns the report, and what is recorded of each event and of what it answers. */
  async function imported() {
    const args = ['import', '--user', person.email, '--json', path];
    const { code, stdout } = await runAdmin(args, { DATABASE_URL: system.database.url });
    const { results: sessions } = (await recording.sessions(person)).body;
    const pages = await Promise.all(
      sessions.map(({ session_id }) => recording.sessionEvents(person, session_id)),
    );
    const events = pages.flatMap(({ body }) => body.results);
    const answered = events.map((event) => wordsOf(events.find(({ id }) => id === event['in_reply_to'])));
    return { code, report: JSON.parse(stdout).files[0], sessions, events, answered };
  }

  it('20,000 messages of a ChatGPT export are recorded in 60 s', async () => {
    const conversations = Array.from({ length: 200 }, (_, n) => conversationOf(`${person.id}-${n}`, 100));
    await writeFile(path, JSON.stringify(conversations));
    const args = ['import', '--user', person.email, '--json', path];
    const start = performance.now();
    const { stdout } = await runAdmin(args, { DATABASE_URL: system.database.url });
    const tookMs = performance.now() - start;
    // Each session has a start and an end.
    assert.equal(JSON.parse(stdout).files[0].stored, 20_000 + 2 * 200);
    assert.ok(tookMs < 60_000, `it took ${Math.round(tookMs)} ms`);
  });

  for (const [format, [text, session, agent, detail, times, skipped]] of Object.entries(SAMPLES))
    it(`an import of ${format} records who said what, when, in answer to what, without the secret, and once`, async () => {
      await writeFile(path, text);
      // What is rewritten as a whole gives its last words once it has rested for a day.
      await utimes(path, 0, new Date('2026-05-01T10:00:00Z'));
      const { code, report, sessions, events, answered } = await imported();
      assert.deepEqual([code, report.problems, report.skipped], [0, [], skipped]);
      const shown = events.map((event) => [event['type'], wordsOf(event)].filter(Boolean).join(': '));
      assert.deepEqual(shown, eventsOfSample(format));
      assert.deepEqual(
        events.map((event) => event['occurred_at']),
        [times[0], ...times, times.at(-1)],
      );
      const [, , note, question] = events;
      assert.equal(note?.['agent'], agent);
      assert.deepEqual(
        answered,
        events.map((_, place) => (place === 4 ? wordsOf(question) : undefined)),
      );
      assert.ok(sessions[0]?.session_id.startsWith(session));
      assert.equal(sessions[0]?.source_detail ?? undefined, detail);
      assert.ok(!JSON.stringify(events).includes(SECRET));

      const again = await imported();
      assert.deepEqual([again.report.stored, again.report.duplicates], [0, events.length]);
      assert.deepEqual(again.events, events);
    });

  for (const [name, { events: expected, pairs = {}, never = [], noHuman = false }] of Object.entries(CASES))
    it(`an import reads a file as people reported it: ${name}`, async () => {
      await writeFile(path, readFileSync(new URL(name, FIELD)));
      const { events, answered } = await imported();
      const said = events.filter(({ type }) => !String(type).startsWith('session.'));
      if (expected)
        assert.deepEqual(
          said.map((event) => [event['type'], wordsOf(event)]),
          expected,
        );
      for (const [reply, prompt] of Object.entries(pairs))
        assert.equal(answered[events.findIndex((event) => wordsOf(event) === reply)], prompt);
      for (const words of never) assert.ok(!JSON.stringify(events).includes(words), words);
      assert.ok(said.length > 0 && !(noHuman && said.some(({ type }) => String(type).startsWith('user.'))));
    });
});
