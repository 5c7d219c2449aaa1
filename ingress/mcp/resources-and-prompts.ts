import { ProtocolError, ProtocolErrorCode, ResourceNotFoundError } from '@modelcontextprotocol/server';
import type { AccountClient } from '../../client/src/api.ts';
import { ForecueError } from '../../client/src/errors.ts';
import { explain } from './call-tool.ts';
import { rowsOf } from './tools/recall.ts';
import { DATA_WARNING } from './tools/tool.ts';

interface ReadingContext {
  account: AccountClient;
  signal: AbortSignal;
}

const JSON_TYPE = 'application/json';

const RESOURCE_READERS: Record<
  string,
  { name: string; description: string; read(from: ReadingContext): Promise<object> }
> = {
  'forecue://profile': {
    name: 'profile',
    description: 'What the person has said of themselves.',
    read: ({ account, signal }) => account.readProfile({ signal }).catch(orEmptyProfile),
  },
  'forecue://sessions': {
    name: 'sessions',
    description: 'The 50 most recent recorded sessions.',
    read: ({ account, signal }) => account.listSessions({ signal }),
  },
};

/** Returns an empty profile for a person without a profile, since the resource is listed for everybody. */
function orEmptyProfile(error: unknown): object {
  if (error instanceof ForecueError && error.code === 'not_found') return { summary: null };
  throw error;
}

export const resources = Object.entries(RESOURCE_READERS).map(([uri, { name, description }]) => ({
  uri,
  name,
  description,
  mimeType: JSON_TYPE,
}));

export async function readResource(uri: string, from: ReadingContext) {
  const reader = Object.hasOwn(RESOURCE_READERS, uri) ? RESOURCE_READERS[uri] : undefined;
  if (reader === undefined) throw new ResourceNotFoundError(uri);
  const content = await orProtocolError(() => reader.read(from));
  return {
    contents: [{ uri, mimeType: JSON_TYPE, text: JSON.stringify({ note: DATA_WARNING, ...content }) }],
  };
}

const TASK_CHARS_MAX = 2000;

export const prompts = [
  {
    name: 'work-like-me',
    description: 'Work as the person would, and ask them only what cannot be predicted.',
    arguments: [{ name: 'task', description: 'What you are about to do', required: false }],
  },
];

/**
 * Returns a prompt that tells the model to work as the person would. The prompt contains the person's profile and
 * facts. If a task is given, the facts are chosen for the task.
 */
export async function getPrompt(
  name: string,
  args: Record<string, string>,
  { account, signal }: ReadingContext,
) {
  if (name !== prompts[0]?.name) throw invalidParams(`no prompt is named ${JSON.stringify(name)}`);
  const { task = '' } = args;
  if (task.length > TASK_CHARS_MAX) throw invalidParams(`task: at most ${TASK_CHARS_MAX} characters`);
  const contextQuery = task === '' ? {} : { query: task, recency_minutes: null };
  const context = await orProtocolError(() =>
    account.assembleContext({ ...contextQuery, max_raw: 1 }, { signal }),
  );
  const [facts] = rowsOf(context);
  const knowledge = { profile: context.profile?.summary ?? null, facts: facts.map(({ text }) => text) };
  const text = [
    `Work as I would${task === '' ? '' : ` on this: ${task}`}.`,
    'Before you ask me anything, call predict_reply. "auto": go on as if I had answered that. "escalated": ask me.',
    'Then call send_feedback with what I said. When I state a lasting preference, call remember.',
    `What is known of me. ${DATA_WARNING}`,
    JSON.stringify(knowledge),
  ].join('\n');
  return { messages: [{ role: 'user' as const, content: { type: 'text' as const, text } }] };
}

function invalidParams(message: string): ProtocolError {
  return new ProtocolError(ProtocolErrorCode.InvalidParams, message);
}

/** Throws an error of `/api` as a protocol error, for requests whose answers have no field for errors. */
async function orProtocolError<T>(read: () => Promise<T>): Promise<T> {
  try {
    return await read();
  } catch (error) {
    if (!(error instanceof ForecueError)) throw error;
    const failure = explain(error);
    throw new ProtocolError(ProtocolErrorCode.InternalError, `${failure.code}: ${failure.message}`, failure);
  }
}
