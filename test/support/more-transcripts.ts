export const SECRET = 'sk-proj-AbCdEf0123456789abcdef';

const SAID = {
  task: 'Add a test for the parser',
  note: 'Let me look at the parser.',
  question: 'Done. Shall I commit it?',
  reply: `yes, with key ${SECRET}`,
  end: 'Committed.',
};

const iso = (minute: number) => `2026-05-01T10:${String(minute).padStart(2, '0')}:00.000Z`;
const ms = (minute: number) => Date.parse(iso(minute));
const json = (value: unknown) => JSON.stringify(value, null, 2);
const lines = (records: object[]) => records.map((record) => `${JSON.stringify(record)}\n`).join('');

export function aiderFile(): string {
  const { task, note, question, reply, end } = SAID;
  return `
# aider chat started at 2026-05-01 10:00:00

> /usr/bin/aider --model m  
> Aider v0.86.1  

#### /add NOISE.ts  
> Added NOISE.ts to the chat  

#### ${task}  

<thinking-content-7bbeb8e1441453ad999a0bbba8a46d4b>
NOISE
</thinking-content-7bbeb8e1441453ad999a0bbba8a46d4b>

${note}

> Tokens: 1k sent, NOISE  
> Applied edit to NOISE.ts  

${question}

> NOISE.ts  

#### Add file to the chat? (Y)es/(N)o/(A)ll/(S)kip all NOISE [Yes]: all  

#### ${reply}  
> Commit 4ab3df9 NOISE  

${end}

> Tokens: 2k sent, NOISE  
`;
}

function cursorFile(): string {
  const { task, note, question, reply, end } = SAID;
  const turn = (who: string, text: string) => `---\n\n**${who}**\n\n${text}\n\n`;
  const asked = `${note}\n\n> **${question}**\n> - yes\n> - no\n>\n> Answer: ${reply}\n\n${end}`;
  return `# The parser\n_Exported on 1/5/2026 at 12:00:00 CEST from Cursor (2.6.20)_\n\n${turn('User', task)}${turn('Cursor', asked)}`;
}

export function opencodeSession(id: string, more = {}): object {
  const { task, note, question, reply, end } = SAID;
  const user = (name: string, minute: number, parts: object[]) => ({
    info: { id: name, sessionID: id, role: 'user', time: { created: ms(minute) } },
    parts: parts.map((part, place) => ({ id: `${name}-${place}`, messageID: name, ...part })),
  });
  const agent = (name: string, minute: number, finish: string, parts: object[]) => {
    const message = user(name, minute, parts);
    return { ...message, info: { ...message.info, role: 'assistant', finish } };
  };
  const text = (words: string, flags = {}) => ({ type: 'text', text: words, ...flags });
  const tool = { type: 'tool', tool: 'bash', state: { status: 'completed', output: 'NOISE' } };
  const reasoning = { type: 'reasoning', text: 'NOISE' };
  return {
    info: { id, directory: '/home/ada/engine', time: { created: ms(0) }, ...more },
    messages: [
      user('msg_1', 1, [text(task), text('NOISE', { synthetic: true })]),
      agent('msg_2', 2, 'tool-calls', [reasoning, text(note), tool]),
      agent('msg_3', 3, 'stop', [text(question)]),
      user('msg_4', 4, [text(reply), { type: 'file', url: 'data:NOISE' }]),
      agent('msg_5', 5, 'stop', [text(end)]),
    ],
  };
}

export function opencodeFile(id: string): string {
  return json(opencodeSession(id));
}

export function continueFile(id: string): string {
  const { task, note, question, reply, end } = SAID;
  const item = (role: string, content: unknown, more = {}, message = {}) => ({
    message: { role, content, ...message },
    contextItems: [{ content: 'NOISE' }],
    ...more,
  });
  const toolCalls = [{ id: 't', type: 'function', function: { name: 'ls', arguments: 'NOISE' } }];
  const image = { type: 'imageUrl', imageUrl: { url: 'data:NOISE' } };
  return json({
    sessionId: id,
    title: 'The parser',
    workspaceDirectory: '/home/ada/engine',
    history: [
      item('user', task, { editorState: 'NOISE' }),
      item('thinking', 'NOISE'),
      item('assistant', note, { toolCallStates: ['NOISE'], reasoning: { text: 'NOISE' } }, { toolCalls }),
      item('tool', 'NOISE'),
      item('assistant', question, { conversationSummary: 'NOISE' }),
      item('user', [{ type: 'text', text: reply }, image]),
      item('assistant', 'NOISE', { conversationSummary: 'NOISE' }),
      item('assistant', [{ type: 'text', text: end }], { promptLogs: [{ prompt: 'NOISE' }] }),
    ],
  });
}

export function copilotFile(id: string): string {
  const { task, note, question, reply, end } = SAID;
  const event = (name: string, minute: number, type: string, data: object, more = {}) => ({
    type,
    data,
    id: name,
    timestamp: iso(minute),
    parentId: null,
    ...more,
  });
  const call = { toolCallId: 't1', name: 'bash', arguments: { command: 'ls' } };
  return lines([
    event('e0', 0, 'session.start', {
      sessionId: id,
      version: 1,
      producer: 'copilot-agent',
      context: { cwd: '/home/ada/engine' },
    }),
    event('e1', 1, 'user.message', { content: task, transformedContent: `NOISE ${task}` }),
    event('e2', 2, 'assistant.message', { content: note, toolRequests: [call], reasoningText: 'NOISE' }),
    event('e3', 2, 'tool.execution_complete', { toolCallId: 't1', result: { content: 'NOISE' } }),
    event('e4', 2, 'assistant.message', { content: 'NOISE', parentToolCallId: 't1' }),
    event('e5', 2, 'user.message', { content: 'NOISE', source: 'skill-pdf' }),
    event('e6', 3, 'assistant.message', { content: question, toolRequests: [] }),
    event('e7', 3, 'assistant.turn_end', { turnId: '0' }),
    event('e8', 4, 'user.message', { content: reply }),
    event('e9', 5, 'assistant.message', { content: end, toolRequests: [] }),
    event('e10', 5, 'assistant.turn_end', { turnId: '1' }),
  ]);
}

const chatRequest = (id: string, minute: number, text: string, response: object[], more = {}) => ({
  requestId: id,
  timestamp: ms(minute),
  message: { text, parts: [] },
  variableData: { variables: ['NOISE'] },
  response,
  result: { metadata: { toolCallResults: 'NOISE' } },
  modelState: { value: 1, completedAt: ms(minute + 1) },
  ...more,
});

function chatSession(id: string, requests: object[]) {
  return {
    version: 3,
    responderUsername: 'GitHub Copilot',
    sessionId: id,
    customTitle: 'The parser',
    requests,
  };
}

function chatRequests(): object[] {
  const { task, note, question, reply, end } = SAID;
  const [before = '', after = ''] = question.split('commit');
  const tool = { kind: 'toolInvocationSerialized', invocationMessage: 'NOISE' };
  const asked = [
    { value: note },
    tool,
    { kind: 'thinking', value: 'NOISE' },
    { value: before },
    { value: `commit${after}` },
    { value: '\n```\n' },
    { kind: 'textEditGroup', edits: ['NOISE'] },
    { value: '\n```\n' },
  ];
  return [
    chatRequest('r1', 1, task, asked, { modelState: { value: 1, completedAt: ms(3) } }),
    chatRequest('r2', 3, 'NOISE', [], { isSystemInitiated: true }),
    chatRequest('r3', 4, reply, [{ value: end }]),
  ];
}

export function vscodeFile(id: string): string {
  return json(chatSession(id, chatRequests()));
}

/** The log of the same chat. A request that the person took back is in it. */
export function vscodeLog(id: string): string {
  const [first = {}, ...rest] = chatRequests();
  const { response, modelState, ...begun } = { response: [], modelState: {}, ...first };
  return lines([
    { kind: 0, v: chatSession(id, []) },
    { kind: 2, k: ['requests'], v: [{ ...begun, response: [] }] },
    { kind: 2, k: ['requests', 0, 'response'], v: response.slice(0, 2) },
    { kind: 1, k: ['inputState', 'inputText'], v: 'NOISE' },
    { kind: 2, k: ['requests', 0, 'response'], v: [{ value: 'NOISE' }] },
    { kind: 2, k: ['requests', 0, 'response'], v: response.slice(2), i: 2 },
    { kind: 1, k: ['requests', 0, 'modelState'], v: modelState },
    { kind: 2, k: ['requests'], v: [chatRequest('r0', 2, 'NOISE', [{ value: 'NOISE' }])] },
    { kind: 2, k: ['requests'], v: [chatRequest('r00', 2, 'NOISE', [])] },
    { kind: 2, k: ['requests'], v: rest, i: 1 },
  ]);
}

export function chatgptConversation(id: string): object {
  const { task, note, question, reply, end } = SAID;
  type Node = { parent: string | null; role?: string; minute?: number; text?: string; more?: object };
  const nodes: Record<string, Node> = {
    root: { parent: null },
    system: { parent: 'root', role: 'system', text: '' },
    profile: {
      parent: 'system',
      role: 'user',
      text: 'NOISE',
      more: { metadata: { is_visually_hidden_from_conversation: true } },
    },
    edited: { parent: 'profile', role: 'user', minute: 1, text: 'NOISE, before it was edited' },
    answer: { parent: 'edited', role: 'assistant', minute: 1, text: 'NOISE' },
    m1: { parent: 'profile', role: 'user', minute: 1, text: task },
    m2: { parent: 'm1', role: 'assistant', minute: 2, text: note },
    call: { parent: 'm2', role: 'assistant', minute: 2, text: 'NOISE', more: { recipient: 'python' } },
    output: { parent: 'call', role: 'tool', minute: 2, text: 'NOISE' },
    old: { parent: 'output', role: 'assistant', minute: 3, text: 'NOISE, regenerated' },
    m3: { parent: 'output', role: 'assistant', minute: 3, text: question, more: { end_turn: true } },
    m4: { parent: 'm3', role: 'user', minute: 4, text: reply },
    m5: { parent: 'm4', role: 'assistant', minute: 5, text: end, more: { end_turn: true } },
  };
  const mapping = Object.entries(nodes).map(([name, { parent, role, minute, text, more }]) => {
    const message = role && {
      id: name,
      author: { role, name: null },
      create_time: minute === undefined ? null : ms(minute) / 1000,
      content: { content_type: 'text', parts: [text] },
      recipient: 'all',
      metadata: { attachments: ['NOISE'] },
      ...more,
    };
    return [name, { id: name, parent, children: [], message: message ?? null }];
  });
  return {
    title: 'The parser',
    conversation_id: id,
    current_node: 'm5',
    mapping: Object.fromEntries(mapping),
  };
}

export function chatgptFile(id: string): string {
  return JSON.stringify([chatgptConversation(id)]);
}

function claudeExportFile(id: string): string {
  const { task, note, question, reply, end } = SAID;
  const message = (uuid: string, parent: string, sender: string, minute: number, content: object[]) => ({
    uuid,
    parent_message_uuid: parent,
    sender,
    created_at: iso(minute),
    text: 'NOISE, in the words of another version',
    content,
    attachments: [{ file_name: 'paste.txt', extracted_content: 'NOISE' }],
  });
  const text = (words: string) => ({ type: 'text', text: words });
  const root = '00000000-0000-4000-8000-000000000000';
  const tool = [
    { type: 'tool_use', name: 'search', input: {} },
    { type: 'tool_result', content: [text('NOISE')] },
  ];
  const messages = [
    message('c0', root, 'human', 1, [text('NOISE, before it was edited')]),
    message('c9', 'c0', 'assistant', 1, [text('NOISE')]),
    message('c1', root, 'human', 1, [text(task)]),
    message('c2', 'c1', 'assistant', 2, [
      { type: 'thinking', thinking: 'NOISE' },
      text(note),
      ...tool,
      text(question),
    ]),
    message('c4', 'c2', 'human', 4, [text(reply)]),
    message('c5', 'c4', 'assistant', 5, [text(end)]),
  ];
  return json([{ uuid: id, name: 'The parser', account: { uuid: 'a' }, chat_messages: messages }]);
}

export function conversationFile(session: string): string {
  const { task, note, question, reply, end } = SAID;
  const line = (role: string, text: string, minute: number) => ({
    session,
    role,
    text,
    time: iso(minute),
    agent: 'zed',
  });
  return lines([
    { ...line('user', task, 1), folder: '/home/ada/engine' },
    line('agent', note, 2),
    line('tool', 'NOISE', 2),
    line('assistant', question, 3),
    line('system', 'NOISE', 3),
    line('user', reply, 4),
    line('agent', end, 5),
  ]);
}

const folder = '/home/ada/engine';
const title = 'The parser';
const times = [1, 2, 3, 4, 5].map(iso);
// The zone of the machine that imports.
const aiderStart = new Date('2026-05-01T10:00:00').toISOString();

/** A transcript of each format, the session's id, the agent, the detail, five times, and how many records are skipped. */
export const SAMPLES: Record<string, [string, string, string, string | undefined, string[], number]> = {
  aider: [aiderFile(), 'aider:2026-05-01T10:00:00:', 'aider', undefined, Array(5).fill(aiderStart), 1],
  cursor: [cursorFile(), 'cursor:', 'cursor', title, Array(5).fill(iso(0)), 0],
  opencode: [opencodeFile('id'), 'opencode:id', 'opencode', folder, times, 0],
  // Its file was written at ten o'clock.
  continue: [continueFile('id'), 'continue:id', 'continue', folder, Array(5).fill(iso(0)), 3],
  'copilot-cli': [copilotFile('id'), 'copilot-cli:id', 'copilot-cli', folder, times, 2],
  // VS Code has a time for each question and each complete answer.
  'vscode-chat': [vscodeFile('id'), 'vscode-chat:id', 'github-copilot', title, [1, 1, 3, 4, 5].map(iso), 1],
  chatgpt: [chatgptFile('id'), 'chatgpt:id', 'chatgpt', title, times, 4],
  claude: [claudeExportFile('id'), 'claude:id', 'claude', title, [1, 2, 2, 4, 5].map(iso), 2],
  conversation: [conversationFile('id'), 'conversation:id', 'zed', folder, times, 2],
};

/** Types and words of the events in a sample. Only Cursor asks with choices. */
export const eventsOfSample = (format: string) => [
  'session.started',
  `user.message: ${SAID.task}`,
  `agent.message: ${SAID.note}`,
  `agent.prompt: ${SAID.question}${format === 'cursor' ? '\n- yes\n- no' : ''}`,
  'user.reply: yes, with key [masked key]',
  `agent.prompt: ${SAID.end}`,
  'session.stopped',
];
