import { idsOf } from '../ids.ts';
import type { Artifact, Message, PredictionRequest } from '../schemas/predictions.ts';
import { changeStrings, codesIn, withoutCodes } from '../text/codes.ts';
import { codePointsIn } from '../text/cut.ts';
import { maskSensitive } from '../text/sensitive.ts';
import { TokenBudget } from '../text/tokens.ts';
import type { ContextBundle } from './context-bundle.ts';
import { datedTextOf, dayOf, shownContentOf, shownRow } from './shown-rows.ts';

/** The input of a prediction's model, cut to the context budget. It names no person, session or request. */
export interface PredictionTask {
  mode: PredictionRequest['mode'];
  /** The whole draft, or only its end if the whole draft exceeds the budget. */
  draft: string;
  /**
   * The beginning of the draft, if it was cut off `draft` and so is unknown to the model. A completion in the mode
   * `next_prompt` starts with it.
   */
  draftHead: string;
  /** Oldest first. */
  messages: readonly Message[];
  artifact: Pick<Artifact, 'kind' | 'selection' | 'summary'> | null;
  language: string;
  preferences: string;
  /** The memory of the connected account. */
  memory: Memory | null;
  /** Used only by the built-in predictor, as is the number of wanted alternatives. */
  local?: LocalHints;
  alternatives?: number;
}

export interface LocalHints {
  /** Places in the person's earlier texts whose preceding words match the end of the draft. */
  phrases: readonly RecalledPhrase[];
  minConfidence: number;
  /** Number of suggestions that the person recently accepted or edited in this app. */
  taken: number;
  /** Number of suggestions that the person recently dismissed in this app. */
  dismissed: number;
}

/** A place in the person's earlier texts: words that match the draft's end, and the text that follows them. */
export interface RecalledPhrase {
  following: string;
  /** True if it was cut after a word, so that nothing is known of what follows. */
  isCut?: boolean;
  /** Number of whole words before `following` that match the draft. */
  words: number;
  /** Number of matching places for which this one stands, because only a sample of them is read. */
  scale: number;
  /** Age in days. */
  days: number;
  /** Id of the raw row in which it was found. */
  source: string;
  /** Hash of the words of its line. */
  line: number;
  /** Hash of the session in which it was written. */
  occasion: number;
}

/** The part of a person's memory that a model is shown. Its texts are data, never instructions. */
export interface Memory {
  profile: { summary: string; data: Record<string, unknown> } | null;
  /** Lasting facts, each after its day: the same for every draft until memory changes. */
  facts: string[];
  /** The memory that is relevant to the end of the conversation. */
  recalled: {
    facts: string[];
    /** Newest first. */
    episodes: { on: string; title: string; summary: string }[];
    /** Raw rows, newest first. `own` is true if the person wrote the text. */
    said: { on: string; role: string | null; own: boolean; content: string }[];
  };
}

/** Ids of the rows that a prediction used, and whether it used the profile. */
export interface UsedRows {
  profile: boolean;
  facts: string[];
  episodes: string[];
  raw: string[];
}

type RequestTexts = Pick<PredictionRequest, 'draft' | 'messages' | 'artifact' | 'user_preferences'>;
type PredictionContext = RequestTexts & Pick<PredictionRequest, 'mode' | 'language'>;

/** Returns the total size of a request's texts in code points, which `CONTEXT_ENVELOPE_CHARS` limits. */
export function envelopeSize(request: RequestTexts): number {
  const { draft, artifact, messages, user_preferences } = request;
  const texts = [draft.text, artifact?.selection ?? '', artifact?.summary ?? '', user_preferences];
  for (const message of messages) texts.push(message.content);
  return texts.reduce((sum, text) => sum + codePointsIn(text), 0);
}

/** Limits of the text with which memory is searched: the ends of the draft and of messages, in UTF-16 units. */
const QUESTION_LIMITS = { draftLength: 1000, messageLength: 500, messageCount: 2 };

/** Number of the draft's first words in the question. It doubles as the draft grows. A shorter draft is left out. */
const FIRST_QUESTION_WORDS = 4;

/**
 * Returns the text with which memory is searched: the ends of the last messages, and the draft up to its 4th, 8th,
 * 16th, … word. Most keystrokes do not change this text. So they recall the same rows, and a provider's prompt cache
 * stays valid.
 */
export function questionOf({ draft, messages }: Pick<RequestTexts, 'draft' | 'messages'>): string {
  const messageEnds = messages
    .slice(-QUESTION_LIMITS.messageCount)
    .map(({ content }) => content.slice(-QUESTION_LIMITS.messageLength));
  const words = [...draft.text.matchAll(/(?<!\S)\S+\s+/g)];
  let wordCount = FIRST_QUESTION_WORDS;
  while (2 * wordCount <= words.length) wordCount *= 2;
  const lastWord = words[wordCount - 1];
  const draftPart = draft.text.slice(0, lastWord === undefined ? 0 : lastWord.index + lastWord[0].length);
  return [...messageEnds, draftPart.trimEnd().slice(-QUESTION_LIMITS.draftLength)].join('\n').toWellFormed();
}

const MEMORY_SHARE = 1 / 4;
const NO_ROWS: UsedRows = { profile: false, facts: [], episodes: [], raw: [] };
const NO_MEMORY = { memory: null, used: NO_ROWS, tokens: 0, reserved: 0 };
/** As the draft grows, the room for the older messages shrinks in steps of this share of the budget. */
const STEP_SHARE = 1 / 32;

/**
 * Cuts a request and its memory to `budgetTokens`. Masks codes that only memory has, and in memory what is sensitive.
 * Texts are taken in this order: whole texts of memory up to its share, the draft's end, the last message, the
 * artifact's selection, the preferences, the artifact's summary, then the other messages from new to old. If not
 * everything fits, most keystrokes cut the older messages at the same place, so that a provider's prompt cache stays
 * valid. `truncated`: own text is left out.
 */
export function fitContext(
  request: PredictionContext,
  budgetTokens: number,
  bundle: ContextBundle | null = null,
): { task: PredictionTask; truncated: boolean; used: UsedRows } {
  const { memory, used, tokens, reserved } =
    bundle === null ? NO_MEMORY : fitMemory(bundle, budgetTokens * MEMORY_SHARE);
  const whole = fitTexts(request, new TokenBudget(budgetTokens - tokens), 0);
  const step = Math.max(1, Math.floor(budgetTokens * STEP_SHARE));
  const fitted = whole.truncated ? fitTexts(request, new TokenBudget(budgetTokens - reserved), step) : whole;
  const shown = memory && withoutCodes(changeStrings(memory, maskSensitive), codesIn(request));
  return { task: { ...fitted.task, memory: shown }, truncated: fitted.truncated, used };
}

/**
 * Gives the older messages the tokens that all other texts leave, after rounding the number for the other texts up to a
 * multiple of `step`.
 */
function fitTexts(request: PredictionContext, room: TokenBudget, step: number) {
  const { artifact, messages } = request;
  const draft = room.takeEnd(request.draft.text);
  const last = messages.slice(-1).flatMap((message) => fitMessage(room, message));
  const selection = room.takeBeginning(artifact?.selection ?? '');
  const preferences = room.takeBeginning(request.user_preferences);
  const summary = room.takeBeginning(artifact?.summary ?? '');
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
  const content = room.takeEnd(message.content);
  return content === '' && message.content !== '' ? [] : [{ ...message, content }];
}

/** The profile and the lasting facts get at most this share of the tokens for memory. */
const KNOWN_SHARE = 1 / 2;
/** The recalled facts get at most this share of the tokens that the profile and the lasting facts leave. */
const FACTS_SHARE = 1 / 4;
/** The episodes get at most this share of the tokens that are left after the recalled facts. Raw rows get the rest. */
const EPISODES_SHARE = 1 / 2;

/**
 * Takes whole texts, the most valuable first. `tokens` is the number of tokens taken. `reserved` is the number to set
 * aside for memory: all of `room` if any row is recalled, so that it does not depend on which rows these are.
 */
function fitMemory(
  bundle: ContextBundle,
  room: number,
): { memory: Memory; used: UsedRows; tokens: number; reserved: number } {
  const knownBudget = new TokenBudget(room * KNOWN_SHARE);
  const profile = bundle.profile && {
    summary: knownBudget.takeWhole(bundle.profile.summary) ? bundle.profile.summary : '',
    data: knownBudget.takeWhole(JSON.stringify(bundle.profile.data)) ? bundle.profile.data : {},
  };
  const facts = bundle.lasting.filter(({ text }) => knownBudget.takeWhole(text));
  const tokensLeft = room - knownBudget.taken;
  const lastingIds = new Set(idsOf(facts));
  const factsBudget = new TokenBudget(tokensLeft * FACTS_SHARE);
  const others = bundle.facts.filter(({ id }) => !lastingIds.has(id));
  const recalledFacts = pickFitting(factsBudget, others, bundle.byWorth.facts, ({ text }) => text);
  const episodesBudget = new TokenBudget((tokensLeft - factsBudget.taken) * EPISODES_SHARE);
  const episodes = pickFitting(
    episodesBudget,
    bundle.episodes,
    bundle.byWorth.episodes,
    (row) => row.title + row.summary,
  );
  const rawBudget = new TokenBudget(tokensLeft - factsBudget.taken - episodesBudget.taken);
  const rawRows = pickFitting(rawBudget, bundle.raw, bundle.byWorth.raw, shownContentOf);
  const memory = {
    profile,
    facts: facts.map(datedTextOf),
    recalled: {
      facts: recalledFacts.map(datedTextOf),
      episodes: episodes.map((row) => ({ on: dayOf(row), title: row.title, summary: row.summary })),
      said: rawRows.map(shownRow),
    },
  };
  const tokens = knownBudget.taken + factsBudget.taken + episodesBudget.taken + rawBudget.taken;
  const used = {
    profile: profile !== null,
    facts: idsOf([...facts, ...recalledFacts]),
    episodes: idsOf(episodes),
    raw: idsOf(rawRows),
  };
  return { memory, used, tokens, reserved: tokens > knownBudget.taken ? room : tokens };
}

/**
 * Takes rows in the order of `byWorth`, leaving out those that no longer fit. Returns the taken rows in the order of
 * `rows`.
 */
function pickFitting<Row extends { id: string }>(
  budget: TokenBudget,
  rows: readonly Row[],
  byWorth: readonly string[],
  textOf: (row: Row) => string,
): Row[] {
  const byId = new Map(rows.map((row) => [row.id, row]));
  const fitting = new Set(
    byWorth.filter((id) => {
      const row = byId.get(id);
      return row !== undefined && budget.takeWhole(textOf(row));
    }),
  );
  return rows.filter(({ id }) => fitting.has(id));
}
