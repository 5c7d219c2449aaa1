import assert from 'node:assert/strict';
import type { ImportedEvent } from '../../../shared/transcripts/conversation.ts';
import { FileReport } from '../../../shared/transcripts/report.ts';
import { Transcript } from '../../../shared/transcripts/transcript.ts';
import { NOW, readTranscript } from '../../support/read-transcript.ts';
import {
  claudeCodeFile,
  claudeRecord,
  clineMessages,
  codexFile,
  geminiDocument,
  geminiFile,
  specStoryFile,
} from '../../support/transcripts.ts';

const read = (text: string, now = NOW) => readTranscript(text, { now });

const words = (events: ImportedEvent[]) =>
  events.map(({ type, prompt, reply, text }) => `${type}: ${prompt ?? reply ?? text ?? ''}`.trim());

describe('transcript reader', () => {
  it('the transcript reader recognises a format by the first line, even if that line ends beyond 16 MiB', () => {
    const transcript = new Transcript(new FileReport('test'), { now: NOW, modifiedMs: NOW });
    const [text = ''] = codexFile('c1').split('\n');
    transcript.read({ number: 1, bytes: 17 * 1024 * 1024, text });
    assert.equal(transcript.isUnknown, false);
  });

  it('the transcript reader gives up a file without a known format in its first 16 MiB', () => {
    const transcript = new Transcript(new FileReport('test'), { now: NOW, modifiedMs: NOW });
    transcript.read({ number: 1, bytes: 16 * 1024 * 1024, text: 'x' });
    assert.equal(transcript.isUnknown, true);
  });

  it('the transcript reader reads only the words of the person and of the agent from a Claude Code session', () => {
    const { report, events } = read(claudeCodeFile('s1'));
    assert.deepEqual(words(events), [
      'session.started:',
      'user.message: Add a test for the parser',
      'agent.message: Let me look at the parser.',
      'agent.prompt: Which runner shall I use?\n- mocha: as the other tests\n- node:test',
      'user.reply: mocha\nas everywhere',
      'agent.prompt: The test is there. Shall I commit it?',
      'user.reply: yes, but split it',
      'agent.message: Committing.',
      'user.message: sign it off first',
      'agent.message: I will sign it',
      'agent.message: I go on.',
      'user.message: in the margin',
      'user.message: use key [masked key]',
    ]);
    const { format, skipped, broken, problems } = report;
    assert.deepEqual(
      { format, skipped, broken, problems },
      { format: 'claude-code', skipped: 7, broken: 0, problems: [] },
    );
    const [started, first] = events;
    assert.deepEqual(started, {
      id: 'claude-code:s1:started',
      session_id: 'claude-code:s1',
      type: 'session.started',
      source: 'claude-code',
      occurred_at: '2026-05-01T10:03:00.000Z',
      source_detail: '/home/ada/engine',
    });
    assert.deepEqual(first, {
      id: 'claude-code:s1-3',
      session_id: 'claude-code:s1',
      type: 'user.message',
      source: 'claude-code',
      occurred_at: '2026-05-01T10:03:00.000Z',
      text: 'Add a test for the parser',
    });
  });

  it('the transcript reader reads the words of the person and of the agent from a Codex CLI rollout', () => {
    const { report, events } = read(codexFile('c1'));
    assert.deepEqual(words(events), [
      'session.started:',
      'user.message: Make it faster',
      'agent.message: I measure first.',
      'agent.prompt: Which database?',
      'user.reply: PostgreSQL',
      'agent.prompt: Twice as fast. Is that enough?',
    ]);
    assert.deepEqual([report.format, report.broken], ['codex', 0]);
  });

  it('the transcript reader reads no events from a Codex CLI rollout of a subagent', () => {
    const { report, events } = read(codexFile('c1').replace('"cwd"', '"thread_source":"subagent","cwd"'));
    assert.deepEqual([events, report.skipped > 0], [[], true]);
  });

  it('the transcript reader reads a SpecStory history without the output of tools', () => {
    const { report, events } = read(specStoryFile('p1'));
    assert.deepEqual(words(events), [
      'session.started:',
      'user.message: can we run all the tests\n\nand the linter?',
      'agent.message: Running them now.',
      'agent.prompt: All green.',
      'user.reply: then commit',
    ]);
    assert.deepEqual([report.format, report.skipped], ['specstory', 4]);
    assert.deepEqual(
      events.map(({ occurred_at }) => occurred_at),
      [
        ...Array(2).fill('2026-05-01T10:00:00Z'),
        ...Array(2).fill('2026-05-01T10:00:05Z'),
        '2026-05-01T12:05:00+02:00',
      ],
    );
    assert.equal(events[3]?.['agent'], 'claude-code');
  });

  it('the transcript reader reads the words of the person and of the agent from a Gemini CLI chat', () => {
    const { report, events } = read(geminiFile('g1'));
    assert.deepEqual(words(events), [
      'session.started:',
      'user.message: Explain @a.ts',
      'agent.message: It parses.',
      'agent.prompt: Shall I document it?',
      'user.reply: please do',
    ]);
    assert.deepEqual([report.format, report.skipped], ['gemini-cli', 1]);
  });

  it('the transcript reader gets the same events from the older and the current format of Gemini CLI', () => {
    const { report, events } = read(geminiDocument('g1'));
    assert.deepEqual(events, read(geminiFile('g1')).events);
    assert.deepEqual([report.format, report.broken], ['gemini-cli', 0]);
  });

  it('the transcript reader treats only the first message after a prompt as the reply to the prompt', () => {
    const asked = claudeCodeFile('s1').split('\n').slice(0, 11);
    const more = { type: 'user', message: { role: 'user', content: 'by the way' } };
    const { events } = read([...asked, JSON.stringify(claudeRecord('s1', 99, more))].join('\n'));
    assert.deepEqual(words(events.slice(-2)), [
      'user.reply: mocha\nas everywhere',
      'user.message: by the way',
    ]);
  });

  it('the transcript reader reads the words of the person and of the agent from a Cline task', () => {
    const { report, events } = read(JSON.stringify(clineMessages()));
    assert.deepEqual(words(events), [
      'session.started:',
      'user.message: Write a changelog',
      'agent.message: I read the commits.',
      'agent.prompt: Which version?\n- 1.0\n- 2.0',
      'user.reply: 2.0',
      'agent.prompt: Dated?\n- today',
      'user.reply: yes',
      'agent.prompt: Written.',
    ]);
    assert.equal(report.format, 'cline');
  });

  it("what an agent or a program wrote is nobody's own words: a pasted prompt, a headless run, a hook's refusal", () => {
    const brief = `Check each page of the console for its labels. ${'Report what is missing, by page. '.repeat(4)}`;
    const message = (role: string, content: unknown) => ({ type: role, message: { role, content } });
    const refusal = "The user doesn't want to proceed with this tool use. … the user said:\nnever force push";
    const result = [{ type: 'tool_result', tool_use_id: 't2', is_error: true, content: refusal }];
    const records = [
      message('assistant', [{ type: 'tool_use', id: 't1', name: 'Task', input: { prompt: brief } }]),
      message('user', brief.replaceAll('. ', '.\n')),
      message('user', `${brief} And by test.`),
      message('assistant', [{ type: 'text', text: `Paste this: ${brief}` }]),
      message('user', brief),
      { ...message('user', 'go on'), promptSource: 'sdk' },
      { ...message('user', result), permissionDecision: { decision: 'reject', source: 'hook' } },
    ];
    const { events } = read(
      records.map((record, i) => JSON.stringify(claudeRecord('s2', i + 1, record))).join('\n'),
    );
    assert.deepEqual(
      events.map(({ type, agent, origin }) => [type, agent, origin].filter(Boolean).join(' ')),
      [
        'session.started',
        'user.message agent',
        'user.message',
        'agent.prompt claude-code',
        'user.reply claude-code agent',
        'agent.message program',
      ],
    );
  });

  it('the transcript reader links each reply to the prompt before it', () => {
    for (const file of [claudeCodeFile('s1'), codexFile('c1'), specStoryFile('p1'), geminiFile('g1')]) {
      const { events } = read(file);
      const replies = events.filter(({ type }) => type === 'user.reply');
      assert.ok(replies.length > 0);
      for (const reply of replies) {
        const before = events.slice(0, events.indexOf(reply));
        const prompt = before.findLast(({ type }) => type === 'agent.prompt');
        assert.equal(reply['in_reply_to'], prompt?.id);
      }
    }
  });

  it('the transcript reader gives messages copied into a forked Codex session their original ids', () => {
    const original = read(codexFile('c1')).events.slice(1);
    const fork = read(codexFile('c2', { from: 'c1', more: ['try the other way'] })).events.slice(1);
    assert.deepEqual(
      fork.slice(0, -1).map(({ id }) => id),
      original.map(({ id }) => id),
    );
    assert.deepEqual(words(fork.slice(-1)), ['user.reply: try the other way']);
    assert.ok(fork.every(({ session_id }) => session_id === 'codex:c2'));
  });

  it('the transcript reader gives two messages with the same words different ids', () => {
    const { events } = read(codexFile('c1', { more: ['go on', 'go on'] }));
    assert.equal(new Set(events.map(({ id }) => id)).size, events.length);
    assert.deepEqual(words(events.slice(-2)), ['user.reply: go on', 'user.message: go on']);
  });

  it('the transcript reader ends a session that has had no message for a day', () => {
    const later = NOW + 48 * 60 * 60 * 1000;
    const { events } = read(geminiFile('g1'), later);
    const end = '2026-05-01T10:06:00.000Z';
    const { id, type, ...rest } = events.at(-1) ?? assert.fail();
    assert.deepEqual([id, type], [`gemini-cli:g1:stopped:${Date.parse(end)}`, 'session.stopped']);
    assert.equal(rest['occurred_at'], end);
  });

  it('the transcript reader reports a broken line by its number, without its text', () => {
    const [first = '', ...rest] = claudeCodeFile('s1').split('\n');
    const { report, events } = read([first, '{"type":"user", my secret', ...rest].join('\n'));
    assert.deepEqual([report.broken, report.problems], [1, ['line 2: is broken']]);
    assert.deepEqual(events, read(claudeCodeFile('s1')).events);
  });

  it('the transcript reader recognises no format in a text that is not a transcript', () => {
    for (const text of [
      '',
      'hello',
      '{}',
      '[{}]',
      '[{"ts":1}]',
      '{"type":"user"}',
      '{"sessionId":1}',
      '<!-- x -->',
    ]) {
      const { report, events } = read(text);
      assert.deepEqual([report.format, events], [null, []]);
    }
  });
});
