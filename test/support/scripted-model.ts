import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { json } from 'node:stream/consumers';

/** What the model does in one answer: says something, and calls a tool. */
export interface Step {
  say: string;
  call?: { name: string; args: object };
  /** What happens before it answers. */
  before?: () => unknown;
}

/** JSON as it arrives: any member may be missing. */
type Json = { [name: string]: Json | undefined } & Json[];
type Call = { id: string; name: string; args: object };
/** Data of a server-sent event, and the event's name. */
type Event = [data: object | string, event?: string];

interface Protocol {
  path: RegExp;
  /** Returns the texts of the tools' results so far. */
  results(body: Json): unknown[];
  /** Returns the names of the tools that the agent offers; after `::` within their namespace. */
  tools(body: Json): unknown[];
  answer(say: string, calls: Call[]): Event[];
}

const USAGE = { input_tokens: 1200, output_tokens: 20, total_tokens: 1220 };
const CHAT_USAGE = { prompt_tokens: 1200, completion_tokens: 20, total_tokens: 1220 };
const named = (type: string, part: object): Event => [{ type, ...part }, type];
const list = (value: Json | undefined): Json[] => (Array.isArray(value) ? value : []);
const matches = (value: unknown, pattern: RegExp) => pattern.test(String(value));

const anthropic: Protocol = {
  path: /\/messages$/,
  results: ({ messages }) =>
    list(messages)
      .flatMap(({ content }) => list(content))
      .filter(({ type }) => matches(type, /^tool_result$/)),
  tools: ({ tools }) => list(tools).map(({ name }) => name),
  answer(say, calls) {
    const message = {
      id: `msg_${Date.now()}`,
      type: 'message',
      role: 'assistant',
      model: 'scripted',
      usage: USAGE,
    };
    const blocks = [
      { start: { type: 'text', text: '' }, delta: { type: 'text_delta', text: say } },
      ...calls.map(({ id, name, args }) => ({
        start: { type: 'tool_use', id: `toolu_${id}`, name, input: {} },
        delta: { type: 'input_json_delta', partial_json: JSON.stringify(args) },
      })),
    ].flatMap(({ start, delta }, index) => [
      named('content_block_start', { index, content_block: start }),
      named('content_block_delta', { index, delta }),
      named('content_block_stop', { index }),
    ]);
    const stop_reason = calls.length > 0 ? 'tool_use' : 'end_turn';
    return [
      named('message_start', { message: { ...message, content: [], stop_reason: null } }),
      ...blocks,
      named('message_delta', { delta: { stop_reason, stop_sequence: null }, usage: USAGE }),
      named('message_stop', {}),
    ];
  },
};

const chat: Protocol = {
  path: /\/chat\/completions$/,
  results: ({ messages }) => list(messages).filter(({ role }) => matches(role, /^tool$/)),
  tools: ({ tools }) => list(tools).map((tool) => tool['function']?.['name']),
  answer(say, calls) {
    const base = { id: 'chatcmpl-1', object: 'chat.completion.chunk', created: 1, model: 'scripted' };
    const tool_calls = calls.map(({ id, name, args }, index) => {
      return { index, id, type: 'function', function: { name, arguments: JSON.stringify(args) } };
    });
    const delta = { role: 'assistant', content: say, ...(calls.length > 0 && { tool_calls }) };
    const finish_reason = calls.length > 0 ? 'tool_calls' : 'stop';
    return [
      [{ ...base, choices: [{ index: 0, delta, finish_reason: null }] }],
      [{ ...base, choices: [{ index: 0, delta: {}, finish_reason }] }],
      [{ ...base, choices: [], usage: CHAT_USAGE }],
      ['[DONE]'],
    ];
  },
};

const responses: Protocol = {
  path: /\/responses$/,
  results: ({ input }) =>
    list(input)
      .filter(({ type }) => matches(type, /_call_output$/))
      .map(({ output }) => output),
  tools: ({ tools }) =>
    list(tools).flatMap(({ name, tools: own }) =>
      own === undefined ? [String(name)] : list(own).map((one) => `${name}::${one['name']}`),
    ),
  answer(say, calls) {
    const response = { id: `resp_${Date.now()}`, object: 'response', created_at: 1, model: 'scripted' };
    const content = [{ type: 'output_text', text: say, annotations: [] }];
    const output = [
      { type: 'message', id: 'msg_1', status: 'completed', role: 'assistant', content },
      ...calls.map(({ id, name: full, args }) => {
        const [name, namespace] = full.split('::').reverse();
        const called = { name, ...(namespace && { namespace }), arguments: JSON.stringify(args) };
        return { type: 'function_call', id: `fc_${id}`, call_id: id, status: 'completed', ...called };
      }),
    ];
    return [
      named('response.created', { response: { ...response, status: 'in_progress', output: [] } }),
      ...output.flatMap((item, output_index) =>
        ['added', 'done'].map((state) => named(`response.output_item.${state}`, { output_index, item })),
      ),
      named('response.completed', { response: { ...response, status: 'completed', output, usage: USAGE } }),
    ];
  },
};

const gemini: Protocol = {
  path: /:(stream)?generateContent$/i,
  results: ({ contents }) =>
    list(contents)
      .flatMap(({ parts }) => list(parts))
      .flatMap((part) => part['functionResponse'] ?? []),
  tools: ({ tools }) =>
    list(tools)
      .flatMap((tool) => list(tool['functionDeclarations']))
      .map(({ name }) => name),
  answer(say, calls) {
    const parts = [{ text: say }, ...calls.map(({ name, args }) => ({ functionCall: { name, args } }))];
    const candidates = [{ content: { role: 'model', parts }, finishReason: 'STOP', index: 0 }];
    return [[{ candidates, usageMetadata: { promptTokenCount: 1200, candidatesTokenCount: 20 } }]];
  },
};

/** An id in the text of a tool's result. */
const ID = /(?:(?:fact|episode|raw):)?[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}/;

/** A model that follows a script, in the protocols of Anthropic, OpenAI (both) and Google. */
export class ScriptedModel {
  /** A tool whose agents' requests are answered by the script; others want a title. */
  readonly #tool: string;
  #steps: readonly Step[] = [];
  /** Count of results when the script began. */
  #begun: number | undefined;
  /** Texts of the tools' results in the latest request that offered the tools. */
  results: string[] = [];
  readonly server = createServer((request, answer) => void this.#serve(request, answer));

  constructor(tool = 'predict_reply') {
    this.#tool = tool;
  }

  /** Begins a script for the next agent, or for the next turn of the same. */
  follow(steps: readonly Step[]): void {
    this.#steps = steps;
    this.#begun = undefined;
    this.results = [];
  }

  async #serve(request: IncomingMessage, answer: ServerResponse): Promise<void> {
    const { pathname } = new URL(request.url ?? '', 'http://x');
    const body = request.method === 'POST' ? ((await json(request)) as Json) : ([] as unknown as Json);
    const protocol = [anthropic, chat, responses, gemini].find(({ path }) => path.test(pathname));
    const isStream = String(body['stream']) === 'true' || pathname.includes('stream');
    if (protocol === undefined || !isStream) {
      answer.setHeader('content-type', 'application/json');
      answer.end(JSON.stringify(WHOLE_ANSWER));
      return;
    }
    answer.setHeader('content-type', 'text/event-stream');
    const { say, calls } = await this.#next(protocol.results(body), protocol.tools(body).map(String));
    for (const [data, event] of protocol.answer(say, calls)) {
      const text = typeof data === 'string' ? data : JSON.stringify(data);
      answer.write(`${event === undefined ? '' : `event: ${event}\n`}data: ${text}\n\n`);
    }
    answer.end();
  }

  /** Each step calls one tool, so the results count the steps. */
  async #next(results: unknown[], tools: readonly string[]): Promise<{ say: string; calls: Call[] }> {
    if (!tools.some((tool) => tool.endsWith(this.#tool))) return { say: 'A title', calls: [] };
    this.results = results.map((result) => JSON.stringify(result));
    this.#begun ??= results.length;
    const { say, call, before } = this.#steps[results.length - this.#begun] ?? { say: 'Nothing more.' };
    await before?.();
    const prefixed = tools.filter((tool) => tool.includes('forecue'));
    const name = (prefixed.length > 0 ? prefixed : tools).find((tool) => tool.endsWith(call?.name ?? '?'));
    if (call === undefined || name === undefined) return { say, calls: [] };
    const id = this.results.at(-1)?.match(ID)?.[0] ?? '';
    const args = JSON.parse(JSON.stringify(call.args).replaceAll('$LAST_ID', id));
    return { say, calls: [{ id: `call_${results.length}`, name, args }] };
  }
}

/** Answer to whatever is not streamed: a title, a list of models, a count of tokens. */
const WHOLE_ANSWER = {
  content: [{ type: 'text', text: 'A title' }],
  stop_reason: 'end_turn',
  usage: USAGE,
  choices: [{ index: 0, message: { role: 'assistant', content: 'A title' }, finish_reason: 'stop' }],
  candidates: [{ content: { role: 'model', parts: [{ text: 'A title' }] }, finishReason: 'STOP' }],
  data: [{ id: 'scripted' }],
};
