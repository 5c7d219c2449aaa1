import { createServer, type ServerResponse } from 'node:http';
import { json } from 'node:stream/consumers';
import { listen } from '../../test/support/listening.ts';
import { seededRandom, seedOf } from './random.ts';
import { episodeAnswer, factAnswers, type NumberedFact, type NumberedRow } from './scripted-model.ts';

/** Share of the questions whose first answer is not in the requested format. */
const MALFORMED_SHARE = 0.05;

interface ChatRequest {
  messages: { role: string; content: string }[];
  response_format: { json_schema: { name: string } };
}

export interface ScriptedProvider {
  /** Value for `OPENAI_BASE_URL`. */
  url: string;
  readonly asked: number;
  [Symbol.asyncDispose](): Promise<void>;
}

/** The model answers after `serviceMs`. Questions about facts are answered by `script.factAnswers`. */
export async function startScriptedProvider(
  serviceMs = 0,
  script = { factAnswers },
): Promise<ScriptedProvider> {
  let asked = 0;
  const server = createServer(async (request, response) => {
    const body = (await json(request).catch(() => undefined)) as ChatRequest | undefined;
    // The client disconnected while it was sending.
    if (body === undefined) return;
    asked += 1;
    setTimeout(() => send(response, contentFor(body, script), body), serviceMs);
  });
  const { url, close } = await listen(server);
  return {
    url: `${url}/v1`,
    get asked() {
      return asked;
    },
    [Symbol.asyncDispose]: close,
  };
}

/** Returns the model's answer. Occasionally only the answer to a repair is in the requested format. */
function contentFor(
  { messages, response_format }: ChatRequest,
  script: { factAnswers: typeof factAnswers },
): string {
  const questions = messages.filter(({ content }) => content.includes('<record>'));
  const question = questions.findLast(({ role }) => role === 'user')?.content ?? '';
  const isRepair = messages.at(-1)?.content !== question;
  if (!isRepair && seededRandom(seedOf(question)).next() < MALFORMED_SHARE)
    return 'Of course! Here is what I found: {';
  const record = recordOf(question);
  switch (response_format.json_schema.name) {
    case 'episode':
      return JSON.stringify(episodeAnswer(record.rows ?? []));
    case 'facts':
      return JSON.stringify({ facts: script.factAnswers(rowsOf(record), record.facts ?? []) });
    default:
      throw new Error(`no script for ${response_format.json_schema.name}`);
  }
}

interface PromptRecord {
  rows?: NumberedRow[];
  episodes?: { rows: NumberedRow[] }[];
  facts?: NumberedFact[];
}

const rowsOf = ({ episodes }: PromptRecord) => (episodes ?? []).flatMap(({ rows }) => rows);

function recordOf(question: string): PromptRecord {
  const [, text] = /<record>\n(.*)\n<\/record>/s.exec(question) ?? [];
  if (text === undefined) throw new Error('the prompt has no record');
  return JSON.parse(text);
}

function send(response: ServerResponse, content: string, { messages }: ChatRequest): void {
  const asked = messages.reduce((length, message) => length + message.content.length, 0);
  const body = {
    id: 'chatcmpl-scripted',
    object: 'chat.completion',
    created: 1_700_000_000,
    model: 'scripted',
    choices: [{ index: 0, message: { role: 'assistant', content }, finish_reason: 'stop' }],
    usage: { prompt_tokens: Math.ceil(asked / 4), completion_tokens: Math.ceil(content.length / 4) },
  };
  response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(body));
}
