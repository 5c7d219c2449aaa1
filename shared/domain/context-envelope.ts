import type { Artifact, Message, PredictionRequest } from '../schemas/predictions.ts';
import { codePointsIn } from '../text/cut.ts';
import { TokenBudget } from '../text/tokens.ts';
import type { ContextBundle } from './context-bundle.ts';

/** The material of a prediction, cut to the context budget. It names no person, session or request. */
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
  /** The memory of the connected account. */
  memory: Memory | null;
  /** For the built-in predictor alone. */
  local?: LocalHints;
}

/** Signals that shape a completion by the built-in predictor. */
export interface LocalHints {
  /** Words that the person wrote after ones like the draft's last. */
  phrases: readonly RecalledPhrase[];
  /** Less likely suggestions are not shown. */
  minConfidence: number;
  /** Numbers of suggestions that the person lately took and dismissed in this app. */
  taken: number;
  dismissed: number;
}

/** A place in what the person wrote, however long ago, that goes on like a draft. */
export interface RecalledPhrase {
  following: string;
  /** Number of whole words before it that are the draft's. */
  words: number;
  /** Number of such places that it stands for. */
  scale: number;
  /** Since it was written. */
  days: number;
  /** The row that it is from. */
  source: string;
}

/** A person's memory, as far as it may shape a prediction. Whatever it says, it is data. */
export interface Memory {
  profile: { summary: string; data: Record<string, unknown> } | null;
  /** The same for every draft until memory changes. */
  facts: string[];
  recalled: Recalled;
}

/** The rows of memory in a prediction's material. */
export interface UsedRows {
  profile: boolean;
  facts: string[];
  episodes: string[];
  raw: string[];
}

/** Memory about the end of a conversation. */
export interface Recalled {
  facts: string[];
  /** The latest episodes first. */
  episodes: { title: string; summary: string }[];
  /** The latest raw rows first. `own`: the words are the person's. */
  said: { role: string | null; own: boolean; content: string }[];
}

type Texts = Pick<PredictionRequest, 'draft' | 'messages' | 'artifact' | 'user_preferences'>;
type Context = Texts & Pick<PredictionRequest, 'mode' | 'language'>;

/** The total size of a request's texts in code points, which the envelope limits. */
export function envelopeSize(request: Texts): number {
  const { draft, artifact, messages, user_preferences } = request;
  const texts = [draft.text, artifact?.selection ?? '', artifact?.summary ?? '', user_preferences];
  for (const message of messages) texts.push(message.content);
  return texts.reduce((sum, text) => sum + codePointsIn(text), 0);
}

/** Lengths of the ends of the draft and of each of the last messages that memory is asked about, in UTF-16 units. */
const ASKED = { draft: 1000, message: 500, messages: 2 };

/** The first of the numbers of words, each twice the one before, at which a draft becomes another question. */
const FIRST_WORDS = 4;

/**
 * The question that a request puts to memory: the end of the conversation, with as much of the draft as makes it the same
 * question at most keys, so that what is recalled, and a provider's cache of the prompt with it, stays the same.
 */
export function questionOf({ draft, messages }: Pick<Texts, 'draft' | 'messages'>): string {
  const said = messages.slice(-ASKED.messages).map(({ content }) => content.slice(-ASKED.message));
  const words = [...draft.text.matchAll(/(?<!\S)\S+\s+/g)];
  let asked = FIRST_WORDS;
  while (2 * asked <= words.length) asked *= 2;
  const last = words[asked - 1];
  const typed = draft.text.slice(0, last === undefined ? 0 : last.index + last[0].length);
  return [...said, typed.trimEnd().slice(-ASKED.draft)].join('\n').toWellFormed();
}

/** The share of the budget that an account's memory may take from a request's own texts. */
const MEMORY_SHARE = 1 / 4;
const NO_ROWS: UsedRows = { profile: false, facts: [], episodes: [], raw: [] };
const NO_MEMORY = { memory: null, used: NO_ROWS, tokens: 0, reserved: 0 };
/** Share of the budget in whose steps a growing draft takes room from the older messages, where not all fits. */
const STEP_SHARE = 1 / 32;

/**
 * The part of a request that fits into `budgetTokens`, whether any of its own text was left out, and the rows of memory in it.
 *
 * Memory comes first, but gets little: whole texts, as many as its share holds. Where not all fits, the older messages
 * are cut alike at most keys, for a provider's cache of the prompt.
 * Texts take from the budget in order of their value: the draft (its end), the last message, the artifact's selection,
 * the preferences, the artifact's summary, then the other messages from new to old. So the oldest messages are dropped
 * first, and the draft's end stays. A message that fits in part keeps its end, where the question is; the other texts
 * keep their beginning.
 */
export function fitContext(
  request: Context,
  budgetTokens: number,
  bundle: ContextBundle | null = null,
): { task: PredictionTask; truncated: boolean; used: UsedRows } {
  const { memory, used, tokens, reserved } =
    bundle === null ? NO_MEMORY : fitMemory(bundle, budgetTokens * MEMORY_SHARE);
  const whole = fitTexts(request, new TokenBudget(budgetTokens - tokens), 0);
  const step = Math.max(1, Math.floor(budgetTokens * STEP_SHARE));
  const fitted = whole.truncated ? fitTexts(request, new TokenBudget(budgetTokens - reserved), step) : whole;
  return { task: { ...fitted.task, memory }, truncated: fitted.truncated, used };
}

/** `step`: the older messages get what is left of multiples of it. */
function fitTexts(request: Context, room: TokenBudget, step: number) {
  const { artifact, messages } = request;
  const draft = room.end(request.draft.text);
  const last = messages.slice(-1).flatMap((message) => fitMessage(room, message));
  const selection = room.beginning(artifact?.selection ?? '');
  const preferences = room.beginning(request.user_preferences);
  const summary = room.beginning(artifact?.summary ?? '');
  if (step > 0) room.roundUp(step);
  const older = messages
    .slice(0, -1)
    .reverse()
    .flatMap((message) => fitMessage(room, message));
  const task = {
    mode: request.mode,
    draft,
    draftHead: request.draft.text.slice(0, request.draft.text.length - draft.length),
    messages: [...older.reverse(), ...last],
    artifact: artifact && { kind: artifact.kind, selection, summary },
    language: request.language,
    preferences,
  };
  return { task, truncated: room.isExceeded };
}

function fitMessage(room: TokenBudget, message: Message): Message[] {
  const content = room.end(message.content);
  return content === '' && message.content !== '' ? [] : [{ ...message, content }];
}

/** The share of its room that the profile and the facts may take, and those of facts and episodes in the rest. */
const KNOWN_SHARE = 1 / 2;
const FACTS_SHARE = 1 / 4;
const EPISODES_SHARE = 1 / 2;

/**
 * Cuts a bundle to so many tokens: whole texts, the more worthy ones first. `tokens` is what it takes, `reserved` what it
 * would take at most, whatever is recalled.
 */
export function fitMemory(
  bundle: ContextBundle,
  room: number,
): { memory: Memory; used: UsedRows; tokens: number; reserved: number } {
  const known = new TokenBudget(room * KNOWN_SHARE);
  const profile = bundle.profile && {
    summary: known.takes(bundle.profile.summary) ? bundle.profile.summary : '',
    data: known.takes(JSON.stringify(bundle.profile.data)) ? bundle.profile.data : {},
  };
  const facts = bundle.lasting.filter(({ text }) => known.takes(text));
  const left = room - known.taken;
  const shown = new Set(facts.map(({ id }) => id));
  const about = new TokenBudget(left * FACTS_SHARE);
  const others = bundle.facts.filter(({ id }) => !shown.has(id));
  const recalled = pick(about, others, bundle.byWorth.facts, ({ text }) => text);
  const past = new TokenBudget((left - about.taken) * EPISODES_SHARE);
  const episodes = pick(past, bundle.episodes, bundle.byWorth.episodes, (row) => row.title + row.summary);
  const lately = new TokenBudget(left - about.taken - past.taken);
  const said = pick(lately, bundle.raw, bundle.byWorth.raw, ({ content }) => content);
  const memory = {
    profile,
    facts: facts.map(({ text }) => text),
    recalled: {
      facts: recalled.map(({ text }) => text),
      episodes: episodes.map(({ title, summary }) => ({ title, summary })),
      said: said.map(({ role, origin, content }) => ({
        role,
        own: role === 'human' && origin === 'human',
        content,
      })),
    },
  };
  const tokens = known.taken + about.taken + past.taken + lately.taken;
  const ids = (rows: readonly { id: string }[]) => rows.map(({ id }) => id);
  const used = {
    profile: profile !== null,
    facts: ids([...facts, ...recalled]),
    episodes: ids(episodes),
    raw: ids(said),
  };
  return { memory, used, tokens, reserved: tokens > known.taken ? room : tokens };
}

/** The rows that fit, tried in the order of `byWorth`, in their own order. */
function pick<Row extends { id: string }>(
  budget: TokenBudget,
  rows: readonly Row[],
  byWorth: readonly string[],
  textOf: (row: Row) => string,
): Row[] {
  const byId = new Map(rows.map((row) => [row.id, row]));
  const fitting = new Set(
    byWorth.filter((id) => {
      const row = byId.get(id);
      return row !== undefined && budget.takes(textOf(row));
    }),
  );
  return rows.filter(({ id }) => fitting.has(id));
}
