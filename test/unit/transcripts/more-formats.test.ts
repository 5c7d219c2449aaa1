import assert from 'node:assert/strict';
import { mkdtemp, rm, truncate, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import type { ImportedEvent } from '../../../shared/transcripts/conversation.ts';
import { findFiles } from '../../../shared/transcripts/find-files.ts';
import { exportTime } from '../../../shared/transcripts/formats/cursor-time.ts';
import { eventsOf } from '../../../shared/transcripts/import-file.ts';
import { FileReport } from '../../../shared/transcripts/report.ts';
import {
  aiderFile,
  chatgptConversation,
  continueFile,
  eventsOfSample,
  opencodeFile,
  opencodeSession,
  SAMPLES,
  SECRET,
  vscodeFile,
  vscodeLog,
} from '../../support/more-transcripts.ts';
import { NOW, readTranscript } from '../../support/read-transcript.ts';

/** A time at which the sessions of the tests are over. */
const LATER = Date.parse('2026-05-03T20:00:00Z');

const read = (text: string, now = LATER) => readTranscript(text, { now, modifiedMs: Date.parse(minute(0)) });

async function readPath(path: string): Promise<{ report: FileReport; events: ImportedEvent[] }> {
  const report = new FileReport('test');
  const events: ImportedEvent[] = [];
  const options = { signal: new AbortController().signal, isOver: true };
  for await (const { event } of eventsOf(path, report, options)) events.push(event);
  return { report, events };
}

const wordsOf = ({ prompt, reply, text }: ImportedEvent) => prompt ?? reply ?? text;
const words = (events: ImportedEvent[]) =>
  events.map((event) => [event.type, wordsOf(event)].filter(Boolean).join(': '));

const WHOLE = eventsOfSample('');
const [start = '', stop = ''] = [WHOLE.at(0), WHOLE.at(-1)];

const minute = (count: number) => `2026-05-01T10:${String(count).padStart(2, '0')}:00.000Z`;

describe('transcripts of other tools', () => {
  for (const [format, [text, session, agent, detail, at, skipped]] of Object.entries(SAMPLES))
    it(`from a transcript of ${format} come who said what, when, in answer to what, and nothing else`, () => {
      const { report, events } = read(text);
      assert.deepEqual([report.format, report.problems, report.skipped], [format.split(' ')[0], [], skipped]);
      assert.deepEqual(words(events), eventsOfSample(format));
      const [started, ...said] = events.slice(0, -1);
      assert.equal(started?.['source_detail'], detail);
      assert.ok(started?.['session_id']?.startsWith(session));
      assert.deepEqual(
        said.map((event) => new Date(event['occurred_at'] ?? '').toISOString()),
        at,
      );
      const [task, note, question, reply] = said;
      assert.deepEqual([note?.['agent'], reply?.['in_reply_to']], [agent, question?.id]);
      assert.equal(task?.['agent'], undefined);
      assert.equal(new Set(events.map(({ id }) => id)).size, events.length);
      assert.ok(!JSON.stringify(events).includes(SECRET));
    });

  for (const [shown, expected] of [
    ['10/17/2025 at 01:05:09 GMT+4', '2025-10-16T21:05:09'],
    ['3/28/2026 at 10:44:59 PDT', '2026-03-28T17:44:59'],
    ['22/03/2026 at 14:23:05 GMT+4', '2026-03-22T10:23:05'],
    ['01/04/2026 at 23:26:26 GMT+8', '2026-04-01T15:26:26'],
    ['1/6/2025 at 18:34:02 CEST', '2025-06-01T16:34:02'],
    ['30.6.2025 at 20:14:22 MESZ', '2025-06-30T18:14:22'],
    ['2025-05-19 at 14:45:18 CEST', '2025-05-19T12:45:18'],
    ['2025/6/21 at GMT+8 14:10:15', '2025-06-21T06:10:15'],
    ['2025/10/15 at 11:28:00 [GMT+8]', '2025-10-15T03:28:00'],
    ['2025/6/23 at 14:20:28 JST', '2025-06-23T05:20:28'],
    ['2025. 7. 29. at 11시 50분 19초 GMT-7', '2025-07-29T18:50:19'],
    ['6/1/2025 at 9:00:00 GMT+5:30', '2025-06-01T03:30:00'],
    ['13/13/2025 at 01:05:09 UTC', undefined],
    ['today', undefined],
  ] as const)
    it(`the time of a Cursor export is read: ${shown}`, () => {
      assert.equal(exportTime(shown), expected && `${expected}.000Z`);
    });

  it("in aider's history only lines of its own mark a speaker, and nothing that it writes is the person's", () => {
    const text = `
# aider chat started at 2026-05-01 10:00:00

> Aider v0.86.1  

#### Plan it  
#### in steps  

#### Step 1

> not of the tool

> Tokens: 1k sent  

#### #### Step 1  
####   
#### > not of the tool  

Coded.

> The LLM did not conform to the edit format.  
> # 1 SEARCH/REPLACE block failed to match!

## NOISE
<<<<<<< SEARCH
NOISE
The other blocks were applied.  

Fixed.

> ^C again to exit  

#### why?  

#### # Fix any errors below, if possible. NOISE  
`;
    assert.deepEqual(words(read(text).events), [
      start,
      'user.message: Plan it\nin steps',
      'agent.message: #### Step 1\n\n> not of the tool',
      'agent.message: Coded.',
      'agent.message: Fixed.',
      'user.message: why?',
      stop,
    ]);
  });

  it('an aider history whose lines have lost their trailing spaces gives the same events', () => {
    assert.deepEqual(read(aiderFile().replaceAll(/ +$/gm, '')).events, read(aiderFile()).events);
  });

  it("what a program asks aider is recorded, but not as a person's words", () => {
    const text = aiderFile().replace('--model m', '--message x\n\nNOISE --yes');
    assert.deepEqual(words(read(text).events), [
      start,
      ...WHOLE.slice(1, -1).map((line) => line.replace(/^user\.\w+/, 'agent.message')),
      stop,
    ]);
    const programs = read(text).events.filter((event) => event['agent'] === 'program');
    assert.equal(programs.length, 2);
  });

  it('the last words of an aider history are taken once the file has rested for a day', () => {
    const { report, events } = readTranscript(aiderFile(), { now: LATER });
    assert.deepEqual(words(events), WHOLE.slice(0, -2));
    assert.equal(report.failed, null);
  });

  it("each chat of an aider history is a session, which ends with the agent's last words", () => {
    const { events } = read(aiderFile() + aiderFile().replace('10:00:00', '11:00:00'), NOW);
    assert.deepEqual(words(events), [...WHOLE.slice(0, -1), ...WHOLE.slice(0, -2)]);
    assert.equal(new Set(events.map((event) => event['session_id'])).size, 2);
  });

  it('a log of a VS Code chat gives what its last state gives, and pairs no reply with what was taken back', () => {
    const whole = read(vscodeFile('id')).events;
    const { events } = read(vscodeLog('id'));
    const taken = events.filter((event) => wordsOf(event)?.includes('NOISE'));
    assert.deepEqual(words(taken), ['user.reply: NOISE', 'agent.prompt: NOISE']);
    const rest = events.filter((event) => !taken.includes(event));
    assert.deepEqual(rest, whole);
  });

  it("questions that an agent asks by a tool are prompts, and the person's choices are replies", () => {
    const copilot = [
      {
        type: 'session.start',
        id: 'e0',
        timestamp: minute(0),
        data: { sessionId: 'id', producer: 'copilot-agent' },
      },
      {
        type: 'assistant.message',
        id: 'e1',
        timestamp: minute(1),
        data: {
          content: '',
          toolRequests: [
            { toolCallId: 't', name: 'ask_user', arguments: { question: 'Which?', choices: ['a', 'b'] } },
          ],
        },
      },
      {
        type: 'tool.execution_complete',
        id: 'e2',
        timestamp: minute(2),
        data: { toolCallId: 't', result: { content: 'User selected: b' } },
      },
    ].map((event) => JSON.stringify(event));
    const questions = [{ question: 'Which?', options: [{ label: 'a' }, { label: 'b' }] }];
    const state = {
      input: { questions },
      metadata: { answers: [['b']] },
      time: { start: Date.parse(minute(1)), end: Date.parse(minute(2)) },
    };
    const opencode = {
      info: { id: 'ses', directory: '/' },
      messages: [
        { info: { id: 'm', role: 'assistant' }, parts: [{ id: 'p', type: 'tool', tool: 'question', state }] },
      ],
    };
    const carousel = {
      kind: 'questionCarousel',
      questions: [
        {
          id: 'q',
          title: 'Which?',
          options: [
            { label: 'a', value: '1' },
            { label: 'b', value: '2' },
          ],
        },
      ],
      data: { q: { selectedValue: '2' } },
    };
    const request = {
      requestId: 'r',
      timestamp: Date.parse(minute(1)),
      message: '/init',
      response: [carousel],
    };
    const chat = { responderUsername: '', sessionId: 'id', requests: [request] };
    for (const text of [copilot.join('\n'), JSON.stringify(opencode), JSON.stringify(chat)]) {
      const { events } = read(text);
      assert.deepEqual(words(events), [start, 'agent.prompt: Which?\n- a\n- b', 'user.reply: b', stop]);
      assert.equal(events[2]?.['in_reply_to'], events[1]?.id);
    }
  });

  it("what is taken back in opencode, and what its subagents say, is nobody's", () => {
    const undone = read(JSON.stringify(opencodeSession('ses', { revert: { messageID: 'msg_4' } })));
    assert.deepEqual(words(undone.events), [...WHOLE.slice(0, 4), stop]);
    const subagents = read(JSON.stringify(opencodeSession('ses', { parentID: 'ses_0' })));
    assert.deepEqual([subagents.events, subagents.report.skipped], [[], 5]);
  });

  it("what `opencode run` is told is a program's, and without the quotes that it adds", () => {
    const session = JSON.stringify(
      opencodeSession('ses', { permission: [{ permission: 'question', action: 'deny', pattern: '*' }] }),
    );
    const quoted = session.replace(
      'Add a test for the parser',
      JSON.stringify(JSON.stringify('Say "hi" twice')).slice(1, -1),
    );
    const { events } = read(quoted);
    assert.deepEqual(words(events).slice(0, 2), [start, 'agent.message: Say "hi" twice']);
    assert.equal(events[1]?.['agent'], 'program');
  });

  it("the sessions of opencode's database are read as their exports are", async () => {
    const directory = await mkdtemp(join(tmpdir(), 'forecue-opencode-'));
    try {
      const database = new DatabaseSync(join(directory, 'opencode.db'));
      database.exec(`
        create table session (id text, parent_id text, directory text, revert text, permission text, time_created integer);
        create table message (id text, session_id text, time_created integer, data text);
        create table part (id text, message_id text, session_id text, data text);`);
      const { info, messages } = JSON.parse(opencodeFile('id'));
      database.prepare('insert into session values (?, null, ?, null, null, 1)').run(info.id, info.directory);
      for (const message of messages) {
        const { id, ...data } = message.info;
        database
          .prepare('insert into message values (?, ?, ?, ?)')
          .run(id, info.id, data.time.created, JSON.stringify(data));
        for (const { id: part, ...rest } of message.parts)
          database
            .prepare('insert into part values (?, ?, ?, ?)')
            .run(part, id, info.id, JSON.stringify(rest));
      }
      database.close();
      const [found, ...others] = await findFiles([directory]);
      assert.deepEqual(others, []);
      const { events } = await readPath(found?.path ?? '');
      assert.deepEqual(events, read(opencodeFile('id')).events);

      const broken = new DatabaseSync(join(directory, 'opencode.db'));
      broken.exec('drop table part');
      broken.close();
      const { report } = await readPath(found?.path ?? '');
      assert.match(report.failed ?? '', /opencode export/);
    } finally {
      await rm(directory, { recursive: true });
    }
  });

  it('a session of Continue has the time at which it began by the list beside it, or at which its file changed', async () => {
    const directory = await mkdtemp(join(tmpdir(), 'forecue-continue-'));
    try {
      const path = join(directory, 'id.json');
      await writeFile(path, continueFile('id'));
      await utimes(path, 0, new Date(minute(9)));
      const timesOf = async () => new Set((await readPath(path)).events.map((event) => event['occurred_at']));
      assert.deepEqual(await timesOf(), new Set([minute(9)]));
      const listed = [
        { sessionId: 'another', dateCreated: '1' },
        { sessionId: 'id', dateCreated: String(Date.parse(minute(1))) },
      ];
      await writeFile(join(directory, 'sessions.json'), JSON.stringify(listed));
      assert.deepEqual(await timesOf(), new Set([minute(1)]));
    } finally {
      await rm(directory, { recursive: true });
    }
  });

  it('a message in a form that is not known is a problem, in each format that has parts or blocks of types', () => {
    const unknown = {
      type: 'hologram',
      kind: 'hologram',
      content_type: 'hologram',
      value: 'NOISE',
      text: 'NOISE',
    };
    const message = { author: { role: 'user' }, content: unknown };
    for (const transcript of [
      { conversation_id: 'a', current_node: 'n', mapping: { n: { message, parent: null } } },
      { uuid: 'a', chat_messages: [{ sender: 'human', content: [unknown] }] },
      {
        sessionId: 'a',
        workspaceDirectory: '/',
        history: [{ message: { role: 'user', content: [unknown] } }],
      },
      { info: { id: 'a', directory: '/' }, messages: [{ info: { role: 'user' }, parts: [unknown] }] },
      {
        sessionId: 'a',
        responderUsername: '',
        requests: [{ requestId: 'r', message: '/x', response: [unknown] }],
      },
    ]) {
      const { report, events } = read(JSON.stringify([transcript]));
      assert.deepEqual([report.unread, events], [1, []]);
    }
  });

  it('a file that is one JSON object too large to read is refused with what to do', async () => {
    const directory = await mkdtemp(join(tmpdir(), 'forecue-large-'));
    try {
      const path = join(directory, 'chat.json');
      await writeFile(path, '{\n');
      await truncate(path, 65 * 1024 * 1024);
      const { report } = await readPath(path);
      assert.match(report.failed ?? '', /more than 64 MiB: import an export of fewer/);
    } finally {
      await rm(directory, { recursive: true });
    }
  });

  it('a ChatGPT export is read conversation by conversation, and a broken one is a problem', () => {
    const other = { ...chatgptConversation('b'), mapping: 7 };
    const nameless = { ...chatgptConversation(''), conversation_id: null };
    const { report, events } = read(
      JSON.stringify([chatgptConversation('a'), other, nameless, chatgptConversation('c')]),
    );
    assert.deepEqual(words(events.filter(({ type }) => type !== stop)), [
      ...WHOLE.slice(0, -1),
      ...WHOLE.slice(0, -1),
    ]);
    assert.equal(report.broken, 1);
  });

  it('exports of conversations are read with times in milliseconds, in text, or of the conversation alone', () => {
    const ms = Date.parse(minute(1));
    const times = (text: string) =>
      read(text).events.flatMap(({ type, occurred_at: at = '' }) =>
        type.startsWith('session.') ? [] : [new Date(at).toISOString()],
      );
    const chat = (created: unknown[], more: object) => {
      const mapping = created.map((create_time, place) => {
        const content = { content_type: 'text', parts: ['hi'] };
        const message = { id: `m${place}`, author: { role: 'user' }, create_time, content };
        return [`m${place}`, { parent: `m${place - 1}`, message }];
      });
      return JSON.stringify([{ id: 'a', current_node: 'm2', mapping: Object.fromEntries(mapping), ...more }]);
    };
    const three = [minute(1), minute(1), minute(2)];
    const [at, later] = [ms / 1000, Date.parse(minute(2)) / 1000];
    assert.deepEqual(times(chat([at, null, later], {})), three);
    assert.deepEqual(times(chat([ms, ms, later * 1000], {})), three);
    assert.deepEqual(times(chat([String(at), minute(1), minute(2)], {})), three);
    assert.deepEqual(times(chat([null, null, later], { create_time: at })), three);
    assert.deepEqual(times(chat([at, at, later], { current_node: undefined })), three);
    const claude = (created: unknown[], more: object) => {
      const chat_messages = created.map((created_at, place) => ({
        uuid: `m${place}`,
        sender: 'human',
        text: 'hi',
        created_at,
      }));
      return JSON.stringify([{ uuid: 'a', name: '', chat_messages, ...more }]);
    };
    assert.deepEqual(times(claude([ms, '2026-05-01 10:01:00', minute(2)], {})), three);
    assert.deepEqual(times(claude([null, undefined, minute(2)], { created_at: minute(1) })), three);
  });

  it('lines of the neutral form may have ids, and a role that is not known is a problem', () => {
    const line = (more: object) => JSON.stringify({ session: 's', text: 'hi', time: minute(1), ...more });
    const { report, events } = read(
      [
        line({ role: 'user', id: 'a' }),
        line({ role: 'user' }),
        line({ role: 'nurse' }),
        '{"role":"user"}',
      ].join('\n'),
    );
    assert.equal(events[1]?.id, 'conversation:s:a');
    assert.deepEqual(words(events), [start, 'user.message: hi', 'user.message: hi', stop]);
    assert.deepEqual([report.unread, report.broken, report.problems.length], [1, 1, 2]);
  });
});
