import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';

/** A conversation over many sessions, and questions with the turns that answer them. */
export interface Conversation {
  name: string;
  turns: { id: string; session: string; speaker: string; text: string }[];
  /** The speaker whose memory the conversation is stored in. */
  owner: string;
  questions: { text: string; evidence: string[] }[];
}

type LocomoTurn = { dia_id: string; speaker: string; text?: string; clean_text?: string };
type LocomoFile = Record<string, unknown> & { qa?: { question: string; evidence?: unknown[] }[] };

/**
 * Reads the conversations in a folder of JSON files in LoCoMo's format (arXiv 2402.17753): each file is a conversation
 * or a list of them. LoCoMo's licence keeps it out of this repository. Questions without evidence are left out.
 */
export async function readConversations(folder: string): Promise<Conversation[]> {
  const files = (await readdir(folder, { recursive: true })).filter((name) => name.endsWith('.json')).sort();
  const read = await Promise.all(
    files.map(async (name) => {
      const content = JSON.parse(await readFile(join(folder, name), 'utf8')) as LocomoFile | LocomoFile[];
      return [content].flat().map((one, place) => conversationOf(one, `${name} ${place}`));
    }),
  );
  return read.flat();
}

function conversationOf(file: LocomoFile, name: string): Conversation {
  const sessions = (file['conversation'] ?? file) as Record<string, LocomoTurn[]>;
  const names = Object.keys(sessions)
    .filter((key) => /^session_\d+$/.test(key))
    .sort((a, b) => Number(a.slice(8)) - Number(b.slice(8)));
  const turns = names.flatMap((session) =>
    (sessions[session] ?? []).map(({ dia_id: id, speaker, text, clean_text: clean }) => ({
      id,
      session,
      speaker,
      text: (text ?? clean ?? '').trim() || '…',
    })),
  );
  const known = new Set(turns.map(({ id }) => id));
  const questions = (file.qa ?? []).map(({ question, evidence = [] }) => {
    const namedIds = evidence.flatMap((one) => String(one).match(/D\d+:\d+/g) ?? []);
    return { text: question, evidence: [...new Set(namedIds)].filter((id) => known.has(id)) };
  });
  const owner = String(file['speaker_a'] ?? sessions['speaker_a'] ?? turns[0]?.speaker);
  return { name, owner, turns, questions: questions.filter(({ evidence }) => evidence.length > 0) };
}
