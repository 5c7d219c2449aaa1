import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Message } from '../../../shared/schemas/predictions.ts';

export interface TypedMessage {
  agent: string;
  text: string;
  session: string;
}

/** Messages that one person typed, oldest first. */
export interface History {
  person: string;
  messages: TypedMessage[];
}

const SPEAKER = /^_\*\*(User|Human|Agent|Assistant)[^\n]*\*\*_$/m;
/** Matches messages that a program wrote in the person's name. */
const PROGRAM = /^<[a-z-]+>|^\[Request interrupted|^Caveat:|^This session is being continued|^# |^<!--/m;

/**
 * Reads chats with coding agents as SpecStory saves them: a folder per person, with Markdown files whose names begin
 * with their time. Leaves out repeated messages, since a resumed session saves its messages again. A short message
 * counts as repeated only if it also follows the same words of the agent.
 */
export async function readHistories(folder: string): Promise<History[]> {
  const people = await readdir(folder, { withFileTypes: true });
  return Promise.all(
    people
      .filter((entry) => entry.isDirectory())
      .map(async ({ name }) => ({ person: name, messages: await readPerson(join(folder, name)) })),
  );
}

async function readPerson(folder: string): Promise<TypedMessage[]> {
  const files = (await readdir(folder)).filter((file) => file.endsWith('.md')).sort();
  const seen = new Set<string>();
  const messages: TypedMessage[] = [];
  for (const session of files) {
    let agent = '';
    for (const { speaker, text } of turnsOf(await readFile(join(folder, session), 'utf8'))) {
      if (speaker !== 'User' && speaker !== 'Human') {
        agent = text;
        continue;
      }
      const key = `${text}\n${agent.slice(-100)}`;
      if (text === '' || PROGRAM.test(text) || seen.has(key) || (text.length > 40 && seen.has(text)))
        continue;
      seen.add(key).add(text);
      messages.push({ agent, text, session });
    }
  }
  return messages;
}

/** Matches the parts of an agent's message that are not addressed to the person: thoughts and tool uses. */
const UNSAID_PARTS = /<(tool-use|think|details)\b[\s\S]*?<\/\1>|^_\*\*.*\*\*_$/gm;
const MESSAGE_LENGTH_MIN = 20;

/** Reads the messages of agents, each once and without very short ones. The root has a folder per project. */
export async function readAgentMessages(root: string): Promise<{ name: string; messages: string[] }[]> {
  const projects = await readdir(root, { withFileTypes: true });
  return Promise.all(
    projects
      .filter((entry) => entry.isDirectory())
      .map(async ({ name }) => {
        const files = (await readdir(join(root, name))).filter((file) => file.endsWith('.md')).sort();
        const messages = new Set<string>();
        for (const file of files)
          for (const { speaker, text } of turnsOf(await readFile(join(root, name, file), 'utf8'))) {
            const message = text.replaceAll(UNSAID_PARTS, '').trim();
            const isAgent = speaker === 'Agent' || speaker === 'Assistant';
            if (isAgent && message.length >= MESSAGE_LENGTH_MIN) messages.add(message);
          }
        return { name, messages: [...messages] };
      }),
  );
}

function turnsOf(markdown: string): { speaker: string | undefined; text: string }[] {
  const [, ...parts] = markdown.split(new RegExp(SPEAKER, 'gm'));
  const turns = [];
  for (let i = 0; i + 1 < parts.length; i += 2)
    turns.push({ speaker: parts[i], text: (parts[i + 1] ?? '').replace(/\n---\s*$/, '').trim() });
  return turns;
}

const CONTENT_MAX = 4000;
const MESSAGES_MAX = 30;

/** Returns the conversation before a message, as an app sends it. */
export function conversationBefore(messages: readonly TypedMessage[], at: number): Message[] {
  const now = messages[at];
  const before = messages.slice(0, at).filter(({ session }) => session === now?.session);
  const turns = before.flatMap(({ agent, text }) => [messageOf('assistant', agent), messageOf('user', text)]);
  return [...turns, messageOf('assistant', now?.agent ?? '')].slice(-MESSAGES_MAX);
}

function messageOf(role: 'user' | 'assistant', content: string): Message {
  return { role, origin: role === 'user' ? 'human' : 'agent', content: content.slice(-CONTENT_MAX) };
}

const TYPED_LENGTH_MAX = 400;

/** Guesses whether a person typed a message by hand: it is one short line, neither code nor a log. */
export function looksTyped({ text }: TypedMessage): boolean {
  return (
    text.length <= TYPED_LENGTH_MAX &&
    text.length >= 8 &&
    !/```|[{}<>|]|https?:|^\s*(?:at|\$|>)\s|\n/m.test(text)
  );
}
