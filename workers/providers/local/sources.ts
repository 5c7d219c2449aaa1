import type { PredictionTask } from '../../../shared/domain/context-envelope.ts';
import { normalForm } from '../../../shared/domain/normal-form.ts';
import type { Message } from '../../../shared/schemas/predictions.ts';
import type { DraftEnd } from './continuation.ts';
import { Corpus, type Token, tokenize } from './corpus.ts';

/** Tokens read, the most relevant texts first. Bounds the time of a prediction. */
const TOKENS_MAX = 8000;
const OWN_WEIGHT = 2;
const OTHER_WEIGHT = 1;

/** Whether a message is in the person's own words. An accepted prediction is not, or the predictor would learn from itself. */
export function isOwn(message: Message): boolean {
  return message.role === 'user' && (message.origin === 'human' || message.origin === 'unknown');
}

/** The texts of a task as a corpus, and how its draft ends. */
export function readTask(task: PredictionTask): { corpus: Corpus; end: DraftEnd } {
  const draft = tokenize(task.draft);
  const end = draftEnd(task.draft, draft);
  if (end.prefix !== '') draft.pop();
  const corpus = new Corpus();
  for (const { tokens, weight } of readTexts(task, TOKENS_MAX - draft.length)) {
    corpus.add(tokens, weight);
    corpus.endText();
  }
  corpus.add(draft, OWN_WEIGHT);
  return { corpus, end };
}

/** The tokens of the texts around the draft, the least relevant first, at most `room` of them. */
function readTexts(task: PredictionTask, room: number): { tokens: Token[]; weight: number }[] {
  const texts = [];
  for (const { text, weight } of rank(task)) {
    if (room <= 0) break;
    // A token has at least one UTF-16 unit.
    const tokens = tokenize(text.slice(-room));
    room -= tokens.length;
    texts.push({ tokens, weight });
  }
  return texts.reverse();
}

function rank({
  artifact,
  messages,
  preferences,
  memory,
}: PredictionTask): { text: string; weight: number }[] {
  const told = messages
    .filter(({ origin }) => origin !== 'accepted_prediction')
    .map((message) => ({ text: message.content, weight: isOwn(message) ? OWN_WEIGHT : OTHER_WEIGHT }));
  // Of what was said before, the person's own words alone: an agent's would make it speak like the agent.
  const own = (memory?.said ?? []).filter((row) => row.own);
  const wrote = own.map(({ content }) => ({ text: content, weight: OWN_WEIGHT }));
  const known = [...(memory?.facts ?? []), memory?.profile?.summary];
  const around = [artifact?.summary, preferences, ...known].map((text) => ({
    text: text ?? '',
    weight: OTHER_WEIGHT,
  }));
  return [{ text: artifact?.selection ?? '', weight: OTHER_WEIGHT }, ...told.reverse(), ...around, ...wrote];
}

const WORD = /^[\p{L}\p{M}\p{N}_]/u;

function draftEnd(draft: string, tokens: readonly Token[]): DraftEnd {
  const last = tokens.at(-1)?.text ?? '';
  const begun = WORD.test(last) && normalForm(draft, 'NFC').endsWith(last);
  return { prefix: begun ? last : '', spaced: draft === '' || /\s$/.test(draft) };
}
