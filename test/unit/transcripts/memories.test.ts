import assert from 'node:assert/strict';
import { NOW, readTranscript } from '../../support/read-transcript.ts';

/** Returns who said what and when; messages of a session begin with the earliest. */
function said(text: string): string[] {
  const { report, events } = readTranscript(text);
  assert.deepEqual([report.failed, report.unread, report.problems], [null, 0, []]);
  return events.flatMap(({ type, occurred_at: at, agent, text: words, prompt, reply }) =>
    type.startsWith('session.') ? [] : [`${at} ${agent ?? 'person'}: ${words ?? prompt ?? reply}`],
  );
}

describe('memories of other systems', () => {
  const likes = {
    id: 'a1',
    memory: 'Likes hiking',
    user_id: 'ada',
    hash: 'h',
    metadata: { type: 'preference' },
    created_at: '2026-03-02T10:00:00.123456-08:00',
    updated_at: '2026-03-02T10:00:00.123456-08:00',
  };
  const asked = {
    ...likes,
    id: 'a2',
    memory: 'I moved to Oslo',
    role: 'user',
    created_at: '2026-03-01 09:00:00',
  };

  it('memories of mem0 keep their times; the person wrote only those that say so', () => {
    const expected = [
      '2026-03-01T09:00:00Z person: I moved to Oslo',
      '2026-03-02T10:00:00.123456-08:00 mem0: Likes hiking',
    ];
    assert.deepEqual(said(JSON.stringify({ count: 2, next: null, results: [likes, asked] })), expected);
    assert.deepEqual(said(JSON.stringify({ results: [likes, asked] }, null, 2)), expected);
    assert.deepEqual(said(JSON.stringify([asked, likes])), expected);
    assert.deepEqual(said(`${JSON.stringify(asked)}\n${JSON.stringify(likes)}\n`), expected);
    const openMemory = {
      user: { user_id: 'ada' },
      memories: [
        { id: 'b1', user_id: 'u', content: 'Uses pnpm', state: 'active', created_at: 1772359200 },
        { id: 'b2', user_id: 'u', content: 'Uses npm', state: 'deleted', created_at: 1772359100 },
      ],
      apps: [],
    };
    assert.deepEqual(said(JSON.stringify(openMemory)), ['2026-03-01T10:00:00.000Z mem0: Uses pnpm']);
  });

  it("documents of Supermemory are the person's notes, conversations the words of both, pages and extracts an agent's", () => {
    const common = {
      status: 'done',
      containerTags: ['ada'],
      metadata: {},
      createdAt: '2026-03-01T10:00:00.000Z',
    };
    const at = common.createdAt;
    const documents = [
      {
        ...common,
        id: 'd2',
        type: 'text',
        content: 'user: Which port?\nassistant: 8080\nor any other',
        createdAt: '2026-03-02T10:00:00.000Z',
      },
      { ...common, id: 'd1', type: 'text', content: 'I never deploy on Fridays' },
      { ...common, id: 'd3', type: 'webpage', content: 'A page about user: names' },
      { ...common, id: 'd4', type: 'text', content: '[{"role":"user","content":"hello"}]' },
      { ...common, id: 'd5', type: 'pdf', content: null, summary: null },
    ];
    const expected = [
      `${at} person: I never deploy on Fridays`,
      `${at} supermemory: A page about user: names`,
      `${at} person: hello`,
      '2026-03-02T10:00:00.000Z person: Which port?',
      '2026-03-02T10:00:00.000Z supermemory: 8080\nor any other',
    ];
    const pagination = { currentPage: 1, limit: 10, totalItems: 5, totalPages: 1 };
    assert.deepEqual(said(JSON.stringify({ memories: documents, pagination })), expected);
    const memoryEntries = [
      { id: 'e1', memory: 'Lives in Oslo', version: 1, isLatest: true, isForgotten: false, createdAt: at },
      { id: 'e2', memory: 'Lives in Rome', version: 1, isLatest: true, isForgotten: true, createdAt: at },
    ];
    assert.deepEqual(said(JSON.stringify({ memoryEntries, pagination })), [
      `${at} supermemory: Lives in Oslo`,
    ]);
  });

  it('memories are read beside those without a text, and have times in milliseconds, in text or of the file', () => {
    const at = '2026-03-01T10:00:00.123Z';
    const ms = Date.parse(at);
    const timeless = new Date(NOW).toISOString();
    const memory = (id: string, words: string | null, created: unknown) => ({
      id,
      memory: words,
      user_id: 'ada',
      created_at: created,
    });
    const seconds = String(Math.floor(ms / 1000));
    assert.deepEqual(
      said(
        JSON.stringify({
          results: [
            memory('a', '', ms),
            memory('b', 'Likes tea', ms),
            memory('c', 'Has a cat', seconds),
            memory('d', 'Has a dog', null),
          ],
        }),
      ),
      [`${timeless} mem0: Has a dog`, '2026-03-01T10:00:00.000Z mem0: Has a cat', `${at} mem0: Likes tea`],
    );
    const document = (id: string, content: string | null, createdAt: unknown) => ({
      id,
      type: 'text',
      content,
      createdAt,
    });
    assert.deepEqual(
      said(
        JSON.stringify({
          memories: [
            document('a', null, at),
            document('b', 'I like tea', ms),
            document('c', 'I have a dog', null),
          ],
        }),
      ),
      [`${timeless} person: I have a dog`, `${at} person: I like tea`],
    );
  });
});
