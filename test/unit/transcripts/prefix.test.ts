import assert from 'node:assert/strict';
import fc from 'fast-check';
import { aiderFile, conversationFile, copilotFile, vscodeLog } from '../../support/more-transcripts.ts';
import { readTranscript } from '../../support/read-transcript.ts';
import {
  claudeCodeFile,
  claudeRecord,
  clineMessages,
  codexFile,
  geminiDocument,
  geminiFile,
  specStoryFile,
} from '../../support/transcripts.ts';

const eventsOf = (bytes: string) => readTranscript(bytes).events;

const words = fc.constantFrom('yes', 'no', 'go on', 'what now?', '<system-reminder>x</system-reminder>', '');
const claudeRecordPart = fc.oneof(
  words.map((content) => ({ type: 'user', message: { role: 'user', content } })),
  fc.record({ words, stop: fc.constantFrom(null, 'end_turn', 'tool_use') }).map(({ words: text, stop }) => ({
    type: 'assistant',
    message: { role: 'assistant', content: [{ type: 'text', text }], stop_reason: stop },
  })),
  fc.constant({
    type: 'assistant',
    message: { role: 'assistant', content: [{ type: 'tool_use', id: 't', name: 'Bash', input: {} }] },
  }),
  fc.constant({
    type: 'user',
    message: { content: [{ type: 'tool_result', tool_use_id: 't', content: 'x' }] },
  }),
);

/** Generates whole transcripts: samples, and Claude Code sessions of random turns. */
const transcripts = fc.oneof(
  fc.constantFrom(
    claudeCodeFile('s'),
    codexFile('c', { more: ['go on', 'go on'] }),
    specStoryFile('p'),
    geminiFile('g'),
    geminiDocument('g'),
    aiderFile(),
    copilotFile('i'),
    vscodeLog('v'),
    conversationFile('n'),
  ),
  fc
    .array(claudeRecordPart, { maxLength: 12 })
    .map((records) =>
      records.map((record, i) => `${JSON.stringify(claudeRecord('s', i + 1, record))}\n`).join(''),
    ),
);

describe('transcript that grows', () => {
  it('a transcript that is cut off at any character gives the first events of the whole transcript', () => {
    fc.assert(
      fc.property(transcripts, fc.double({ min: 0, max: 1, noNaN: true }), (whole, share) => {
        const part = eventsOf(whole.slice(0, Math.floor(whole.length * share)));
        assert.deepEqual(part, eventsOf(whole).slice(0, part.length));
      }),
    );
  });

  it('a transcript that is one JSON array keeps its first events when it is rewritten with more messages', () => {
    const whole = clineMessages();
    for (let count = 1; count <= whole.length; count += 1) {
      const part = eventsOf(JSON.stringify(whole.slice(0, count)));
      assert.deepEqual(part, eventsOf(JSON.stringify(whole)).slice(0, part.length));
    }
  });

  it("a transcript's events have unique ids, and each reply, but no other event, refers to a prompt", () => {
    fc.assert(
      fc.property(transcripts, (whole) => {
        const events = eventsOf(whole);
        assert.equal(new Set(events.map(({ id }) => id)).size, events.length);
        const prompts = events.filter(({ type }) => type === 'agent.prompt').map(({ id }) => id);
        for (const { type, in_reply_to: asked } of events)
          assert.equal(asked !== undefined && prompts.includes(asked), type === 'user.reply');
      }),
    );
  });
});
