import assert from 'node:assert/strict';
import fc from 'fast-check';
import { bundleOf } from '../../../shared/domain/context-bundle.ts';
import { fitMemory } from '../../../shared/domain/context-envelope.ts';
import type { RawRow, WithRelevance } from '../../../shared/domain/context-rows.ts';

const NOW = new Date('2026-11-20T10:00:00.000Z');

function bundle(texts: string[]) {
  const raw = texts.map(
    (content, n): WithRelevance<RawRow> => ({
      id: `019a9fd5-10c2-7a41-8f6b-${String(n).padStart(12, '0')}`,
      content,
      kind: 'reply',
      role: n % 2 === 0 ? 'human' : 'agent',
      origin: n % 2 === 0 ? 'human' : 'agent',
      agent: null,
      sessionId: null,
      source: 'test',
      eventId: null,
      occurredAt: NOW,
      tags: [],
      metadata: {},
      promotedAt: null,
      createdAt: NOW,
      relevance: 0,
    }),
  );
  const none = { rows: [], matched: 0, whole: true };
  const offer = {
    revision: 1,
    generatedAt: NOW,
    since: NOW,
    profile: { summary: 'short', data: { a: 1 }, revision: 1, createdAt: NOW, updatedAt: NOW },
    facts: { ...none, superseded: 0, stale: 0, expired: 0, notYetValid: 0 },
    episodes: { ...none, stale: 0 },
    raw: { rows: raw, matched: raw.length, whole: true, predicted: 0 },
    backlog: { raw: 0, episodes: 0 },
    timedOut: false,
  };
  return bundleOf(offer, { recencyMinutes: 60, maxFacts: 20, maxEpisodes: 10, maxRaw: 50 });
}

describe('memory in a prompt', () => {
  it("memory in a prompt marks the person's own words", async () => {
    const { memory } = fitMemory(await bundle(['mine', 'an agent said']), 100);
    assert.deepEqual(memory.recalled.said, [
      { role: 'agent', own: false, content: 'an agent said' },
      { role: 'human', own: true, content: 'mine' },
    ]);
    assert.deepEqual(memory.profile, { summary: 'short', data: { a: 1 } });
  });

  it('memory in a prompt leaves out the rows of the lowest worth, and keeps the others in their order', async () => {
    // The person's own words, at even indexes, are worth more.
    const { memory } = fitMemory(await bundle(['aaaa', 'bbbb', 'cccc', 'dddd']), 4);
    assert.deepEqual(
      memory.recalled.said.map(({ content }) => content),
      ['cccc', 'aaaa'],
    );
  });

  it('memory in a prompt leaves out a text that is too long, but not the texts after it', async () => {
    const { memory } = fitMemory(await bundle(['short', 'b', 'x'.repeat(4000)]), 100);
    assert.deepEqual(
      memory.recalled.said.map(({ content }) => content),
      ['b', 'short'],
    );
  });

  it('memory in a prompt never exceeds its budget and never cuts a text', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(fc.string({ unit: 'binary' })), fc.nat(60), async (texts, room) => {
        const { memory, tokens } = fitMemory(await bundle(texts), room);
        assert.ok(tokens <= room);
        for (const { content } of memory.recalled.said) assert.ok(texts.includes(content));
      }),
    );
  });
});
