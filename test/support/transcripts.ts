/** Transcripts in the formats of coding agents, made up for the tests. */

const jsonLines = (records: object[]) => records.map((record) => `${JSON.stringify(record)}\n`).join('');

const at = (minute: number) => `2026-05-01T10:${String(minute).padStart(2, '0')}:00.000Z`;

/** Builds a record of Claude Code, numbered within its session. */
export function claudeRecord(session: string, number: number, record: object): object {
  return {
    parentUuid: number > 1 ? `${session}-${number - 1}` : null,
    isSidechain: false,
    userType: 'external',
    cwd: '/home/ada/engine',
    sessionId: session,
    version: '2.1.0',
    uuid: `${session}-${number}`,
    timestamp: at(number),
    ...record,
  };
}

const person = (content: unknown, more = {}) => ({
  type: 'user',
  message: { role: 'user', content },
  ...more,
});
const agent = (content: object[], stop: string | null = null) => ({
  type: 'assistant',
  message: { role: 'assistant', model: 'some-model', content, stop_reason: stop },
});
const text = (words: string) => ({ type: 'text', text: words });
const tool = (name: string, input: object, id = 'toolu_1') => ({ type: 'tool_use', id, name, input });

const QUESTION = 'Which runner shall I use?';
const CHOICE = {
  question: QUESTION,
  header: 'Runner',
  options: [{ label: 'mocha', description: 'as the other tests' }, { label: 'node:test' }],
};

/** Builds a session of Claude Code, including records that are nobody's words. */
export function claudeCodeFile(session: string): string {
  const records = [
    person('<command-name>/clear</command-name>\n<command-message>clear</command-message>'),
    person('a skill, in full', { isMeta: true }),
    person('<system-reminder>be quick</system-reminder>Add a test for the parser'),
    agent([{ type: 'thinking', thinking: 'hm', signature: 'x' }]),
    agent([text('Let me look at the parser.')]),
    agent([tool('Read', { file_path: '/home/ada/engine/parser.ts' })], 'tool_use'),
    person([{ type: 'tool_result', tool_use_id: 'toolu_1', content: 'export …' }]),
    person('a subagent was asked this', { isSidechain: true }),
    agent([tool('AskUserQuestion', { questions: [CHOICE] }, 'toolu_2')], 'tool_use'),
    person([{ type: 'tool_result', tool_use_id: 'toolu_2', content: 'answered' }], {
      toolUseResult: {
        questions: [CHOICE],
        answers: { [QUESTION]: 'mocha' },
        annotations: { [QUESTION]: { notes: 'as everywhere' } },
      },
    }),
    agent([text('The test is there. Shall I commit it?')], 'end_turn'),
    person([text('yes, but split it')]),
    agent([text('Committing.'), tool('Bash', { command: 'git commit' }, 'toolu_3')], 'tool_use'),
    person([
      {
        type: 'tool_result',
        is_error: true,
        tool_use_id: 'toolu_3',
        content:
          "The user doesn't want to proceed with this tool use. The tool use was rejected. To tell you how to proceed, the user said:\nsign it off first",
      },
    ]),
    agent([text('I will sign it')]),
    person([text('[Request interrupted by user]')]),
    agent([text('I go on.')]),
    {
      type: 'attachment',
      attachment: { type: 'queued_command', prompt: 'in the margin', commandMode: 'prompt' },
    },
    {
      type: 'attachment',
      attachment: { type: 'queued_command', prompt: 'done', commandMode: 'task-notification' },
    },
    person('use key sk-proj-AbCdEf0123456789abcdef'),
    agent([text('Done.')]),
  ];
  const first = { type: 'file-history-snapshot', messageId: 'm', snapshot: {}, isSnapshotUpdate: false };
  return jsonLines([first, ...records.map((record, i) => claudeRecord(session, i + 1, record))]);
}

/** Builds a rollout of the Codex CLI. A fork (`from`) begins with a copy of the other session's messages. */
export function codexFile(
  session: string,
  { from, more = [] as string[] }: { from?: string; more?: string[] } = {},
): string {
  const meta = {
    id: session,
    cwd: '/home/ada/engine',
    git: { repository_url: 'git@example.com:acme/machine.git' },
    timestamp: at(0),
    ...(from && { forked_from_id: from }),
  };
  const context = '<environment_context>\n<cwd>/home/ada/engine</cwd>\n</environment_context>';
  const message = (role: string, words: string) => ({
    type: 'response_item',
    payload: {
      type: 'message',
      role,
      content: [{ type: role === 'user' ? 'input_text' : 'output_text', text: words }],
    },
  });
  const event = (type: string, payload: object) => ({ type: 'event_msg', payload: { type, ...payload } });
  const inputRequest = {
    questions: [{ id: 'db', header: 'Database', question: 'Which database?', options: [] }],
  };
  const records = [
    { type: 'session_meta', payload: meta },
    message('user', context),
    message('user', 'Make it faster'),
    event('user_message', {
      message: '# Context from my IDE setup:\n- a.ts\n\n## My request for Codex:\nMake it faster',
    }),
    event('agent_reasoning', { text: 'thinking' }),
    event('agent_message', { message: 'I measure first.' }),
    {
      type: 'response_item',
      payload: { type: 'function_call', name: 'exec_command', call_id: 'c1', arguments: '{}' },
    },
    { type: 'response_item', payload: { type: 'function_call_output', call_id: 'c1', output: '12 s' } },
    {
      type: 'response_item',
      payload: {
        type: 'function_call',
        name: 'request_user_input',
        call_id: 'c2',
        arguments: JSON.stringify(inputRequest),
      },
    },
    {
      type: 'response_item',
      payload: {
        type: 'function_call_output',
        call_id: 'c2',
        output: JSON.stringify({ answers: { db: { answers: ['PostgreSQL'] } } }),
      },
    },
    event('agent_message', { message: 'Twice as fast. Is that enough?' }),
    event('task_complete', { last_agent_message: 'Twice as fast. Is that enough?' }),
    ...more.map((words) => event('user_message', { message: words })),
  ];
  return jsonLines(records.map((record, i) => ({ timestamp: at(i), ...record })));
}

export function specStoryFile(session: string): string {
  return `<!-- Generated by SpecStory, Markdown v2.1.0 -->

# 2026-05-01 10:00:00Z

<!-- Claude Code Session ${session} (2026-05-01 10:00:00Z) -->

_**User**_

can we run all the tests

and the linter?

---

_**Agent (some-model 2026-05-01 10:00:05Z)**_

<think><details><summary>Thought Process</summary>
They want the tests.
</details></think>

Running them now.

<tool-use data-tool-type="shell" data-tool-name="Bash"><details>
<summary>Tool use: **Bash**</summary>

\`\`\`text
_**User (2026-05-01 10:00:06Z)**_

what a tool printed
</details></tool-use>
\`\`\`
</details></tool-use>

All green.

---

_**User (2026-05-01 10:04:00Z)**_

<command-message>review</command-message>
<command-name>/review</command-name>

---

_**User (2026-05-01 10:04:00Z)**_

the text that the command stands for

---

_**User (2026-05-01 10:04:30Z)**_

<task-notification>
<tool-use data-tool-type="shell">
</task-notification>

---

_**User (2026-05-01 12:05:00+0200)**_

[Image #1] then commit

---

_**Agent - sidechain (some-model 2026-05-01 10:06:00Z)**_

a subagent's words

_**Agent (some-model 2026-05-01 10:07:00Z)**_

Committed.
`;
}

export function geminiFile(session: string): string {
  return jsonLines([
    { sessionId: session, projectHash: 'abc', startTime: at(0), lastUpdated: at(0), kind: 'main' },
    { id: 'g1', timestamp: at(1), type: 'user', content: [{ text: '/help' }] },
    {
      id: 'g2',
      timestamp: at(2),
      type: 'user',
      content: [{ text: 'Explain @a.ts' }, { text: '\n--- Content from referenced files ---\nfile' }],
    },
    { id: 'g3', timestamp: at(3), type: 'gemini', content: 'It parses.', model: 'gemini' },
    {
      id: 'g3',
      timestamp: at(3),
      type: 'gemini',
      content: 'It parses.',
      toolCalls: [{ id: 't', name: 'ls' }],
    },
    { $set: { lastUpdated: at(4) } },
    { id: 'g4', timestamp: at(4), type: 'gemini', content: 'Shall I document it?' },
    { id: 'g5', timestamp: at(5), type: 'info', content: 'Update available' },
    { id: 'g6', timestamp: at(6), type: 'user', content: 'please do' },
  ]);
}

/** Builds the chat of `geminiFile` in the format of an older Gemini CLI. */
export function geminiDocument(session: string): string {
  const [description = {}, ...records] = geminiFile(session)
    .trim()
    .split('\n')
    .map((line): Record<string, unknown> => JSON.parse(line));
  const messages = new Map(
    records.filter(({ id }) => id !== undefined).map((record) => [record['id'], record]),
  );
  return JSON.stringify({ ...description, messages: [...messages.values()] }, null, 2);
}

export function clineMessages(): object[] {
  const ts = Date.parse(at(0));
  return [
    { ts, type: 'say', say: 'task', text: 'Write a changelog' },
    { ts: ts + 1, type: 'say', say: 'api_req_started', text: '{"request":"…"}' },
    { ts: ts + 2, type: 'say', say: 'text', text: 'I read the commits.' },
    { ts: ts + 3, type: 'ask', ask: 'tool', text: '{"tool":"readFile"}' },
    {
      ts: ts + 4,
      type: 'ask',
      ask: 'followup',
      text: '{"question":"Which version?","options":["1.0","2.0"]}',
    },
    { ts: ts + 5, type: 'say', say: 'user_feedback', text: '2.0' },
    {
      ts: ts + 6,
      type: 'ask',
      ask: 'followup',
      text: '{"question":"Dated?","suggest":[{"answer":"today"}]}',
    },
    { ts: ts + 7, type: 'say', say: 'user_feedback', text: 'yes' },
    { ts: ts + 8, type: 'say', say: 'text', text: 'I wri', partial: true },
    { ts: ts + 9, type: 'say', say: 'completion_result', text: 'Written.' },
    { ts: ts + 10, type: 'ask', ask: 'completion_result', text: '' },
  ];
}
