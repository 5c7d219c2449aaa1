import type { Artifact, Message, PredictionRequest } from '../schemas/predictions.ts';
import type { ContextBundle } from './context-bundle.ts';
import { fitMemory, type Memory } from './memory.ts';
import { quarterTokens } from './tokens.ts';

/** What to predict from, cut to the context budget. It names no person, session or request. */
export interface PredictionTask {
  mode: PredictionRequest['mode'];
  /** The part of the draft that the model sees: all of it, or its end if it alone exceeds the budget. */
  draft: string;
  /** The draft's beginning, which the model does not see. A standalone answer starts with it. */
  draftHead: string;
  /** Oldest first. */
  messages: readonly Message[];
  artifact: Pick<Artifact, 'kind' | 'selection' | 'summary'> | null;
  language: string;
  preferences: string;
  /** What is known about the person from their connected account. */
  memory: Memory | null;
}

type Texts = Pick<PredictionRequest, 'draft' | 'messages' | 'artifact' | 'user_preferences'>;
type Context = Texts & Pick<PredictionRequest, 'mode' | 'language'>;

/** The total size of a request's texts in code points, which the envelope limits. */
export function envelopeSize(request: Texts): number {
  const { draft, artifact, messages, user_preferences } = request;
  const texts = [draft.text, artifact?.selection ?? '', artifact?.summary ?? '', user_preferences];
  for (const message of messages) texts.push(message.content);
  return texts.reduce((sum, text) => sum + codePoints(text), 0);
}

/** How much of the draft's end, and of that of each of the last messages, memory is asked about, in UTF-16 units. */
const ASKED = { draft: 1000, message: 500, messages: 2 };

/** What memory is asked about for a request: the end of the conversation. */
export function questionOf({ draft, messages }: Pick<Texts, 'draft' | 'messages'>): string {
  const said = messages.slice(-ASKED.messages).map(({ content }) => content.slice(-ASKED.message));
  return [...said, draft.text.slice(-ASKED.draft)].join('\n').toWellFormed();
}

/** The share of the budget that an account's memory may take from a request's own texts. */
const MEMORY_SHARE = 1 / 4;
const NO_MEMORY = { memory: null, tokens: 0 };

/**
 * The part of a request that fits into `budgetTokens`, and whether any of its own text was left out.
 *
 * Memory comes first, but gets little: whole texts, as many as its share holds.
 * Texts take from the budget in order of their value: the draft (its end), the last message, the artifact's selection,
 * the preferences, the artifact's summary, then the other messages from new to old. So the oldest messages are dropped
 * first, and the draft's end stays. A message that fits in part keeps its end, where the question is; the other texts
 * keep their beginning.
 */
export function fitContext(
  request: Context,
  budgetTokens: number,
  bundle: ContextBundle | null = null,
): { task: PredictionTask; truncated: boolean } {
  const { memory, tokens } = bundle === null ? NO_MEMORY : fitMemory(bundle, budgetTokens * MEMORY_SHARE);
  const room = new Room(budgetTokens - tokens);
  const { artifact, messages } = request;
  const draft = room.end(request.draft.text);
  const last = messages.slice(-1).flatMap((message) => fitMessage(room, message));
  const selection = room.beginning(artifact?.selection ?? '');
  const preferences = room.beginning(request.user_preferences);
  const summary = room.beginning(artifact?.summary ?? '');
  const older = messages
    .slice(0, -1)
    .reverse()
    .flatMap((message) => fitMessage(room, message));
  const task: PredictionTask = {
    mode: request.mode,
    draft,
    draftHead: request.draft.text.slice(0, request.draft.text.length - draft.length),
    messages: [...older.reverse(), ...last],
    artifact: artifact && { kind: artifact.kind, selection, summary },
    language: request.language,
    preferences,
    memory,
  };
  return { task, truncated: room.truncated };
}

function fitMessage(room: Room, message: Message): Message[] {
  const content = room.end(message.content);
  return content === '' && message.content !== '' ? [] : [{ ...message, content }];
}

/** What is left of the budget. After the first text that does not fit entirely, nothing else fits. */
export class Room {
  truncated = false;
  /** In quarters of a token, so that the sums stay whole. */
  #left: number;

  constructor(tokens: number) {
    this.#left = tokens * 4;
  }

  /** As much of the beginning of `text` as fits. */
  beginning(text: string): string {
    let at = 0;
    while (at < text.length) {
      const codePoint = text.codePointAt(at) ?? 0;
      if (!this.#take(codePoint)) break;
      at += codePoint > 0xffff ? 2 : 1;
    }
    return text.slice(0, at);
  }

  /** As much of the end of `text` as fits. */
  end(text: string): string {
    let at = text.length;
    while (at > 0) {
      const low = text.charCodeAt(at - 1);
      const width = isLowSurrogate(low) && at > 1 ? 2 : 1;
      if (!this.#take(text.codePointAt(at - width) ?? 0)) break;
      at -= width;
    }
    return text.slice(at);
  }

  #take(codePoint: number): boolean {
    const cost = quarterTokens(codePoint);
    this.truncated ||= cost > this.#left;
    this.#left -= cost;
    return !this.truncated;
  }
}

function codePoints(text: string): number {
  let count = text.length;
  for (let i = 0; i < text.length; i++) if (isLowSurrogate(text.charCodeAt(i))) count--;
  return count;
}

/** The second half of a surrogate pair; the request's schema admits only well-formed text. */
function isLowSurrogate(unit: number): boolean {
  return unit >= 0xdc00 && unit <= 0xdfff;
}
