import type { WorkerConfig } from '../../shared/config/config.ts';
import { retryUntil } from '../../shared/db/retries.ts';
import type { ConnectedContext } from '../../shared/db/stores/memory/context.ts';
import { NO_VERDICTS, type Verdicts } from '../../shared/db/stores/prediction-events.ts';
import { fitContext, questionOf, type RecalledPhrase } from '../../shared/domain/context-envelope.ts';
import { isDisplayable } from '../../shared/domain/model-text.ts';
import type { PredictionFacts, PredictionReport } from '../../shared/domain/prediction.ts';
import { LOCAL_MODEL } from '../../shared/domain/provider-call.ts';
import type { End } from '../../shared/domain/work.ts';
import { COMPLETION_MAX } from '../../shared/schemas/limits.ts';
import type { PredictionInput, PredictionRequest } from '../../shared/schemas/predictions.ts';
import { fingerprint, pseudonym } from '../../shared/security/fingerprint.ts';
import { draftEndOf } from '../../shared/text/phrases.ts';
import { normalForm, UNSPACED_SCRIPTS } from '../../shared/text/words.ts';
import { predict } from '../../shared/work/kinds.ts';
import { type Provider, providerFailureEnd, retryAfterTimeouts } from '../providers/provider.ts';
import type { AttemptContext, Handler } from '../work/handler.ts';
import type { Reader } from '../work/reads.ts';

export type PredictionSettings = Pick<WorkerConfig, 'tabModel' | 'providerTimeoutMs' | 'contextBudgetTokens'>;

/**
 * A request with its search terms for memory: `question` is a text, and `tails` are ends of the draft, to look up
 * phrases that continue them.
 */
export interface MemoryRequest<Request = Pick<PredictionInput, 'draft' | 'messages' | 'project'>> {
  request: Request;
  question: string;
  tails: readonly string[];
}

interface RememberedContext extends ConnectedContext {
  phrases: readonly RecalledPhrase[];
  verdicts: Verdicts;
}

type ReadMemory = (reader: Reader, request: MemoryRequest<PredictionInput>) => Promise<RememberedContext>;

const NOTHING_REMEMBERED: RememberedContext = {
  bundle: null,
  phrases: [],
  verdicts: NO_VERDICTS,
  profileRevision: 'none',
  grantRevision: 0,
};

export function createPredictHandler(
  provider: Provider,
  readMemory: ReadMemory,
  settings: PredictionSettings,
): Handler<typeof predict, AttemptContext> {
  return async ({ id, party, attempt, input, facts, connectionId, latest }, { signal, leftMs, log }) => {
    const request = input.take();
    const { bundle, phrases, verdicts, ...revisions } =
      connectionId === null
        ? NOTHING_REMEMBERED
        : await retryUntil(
            () => readMemory({ party, memory: connectionId, gone: signal }, toMemoryRequest(request)),
            performance.now() + leftMs(),
          );
    if (hasNothingToWorkOn(request))
      return { state: 'abstained', report: { ...revisions, contextTruncated: false, providerMs: null } };
    const continued =
      latest === null
        ? undefined
        : continueAnswer(parseAnswer(latest), request, facts, { ...revisions, verdicts });
    if (continued !== undefined) return continued;
    const { minConfidence } = facts;
    const { task: fittedTask, truncated } = fitContext(request, settings.contextBudgetTokens, bundle);
    const { refused, ...counts } = verdicts;
    const task = { ...fittedTask, local: { phrases, minConfidence, ...counts } };
    const since = performance.now();
    const report = () => ({
      ...revisions,
      contextTruncated: truncated,
      providerMs: Math.round(performance.now() - since),
    });
    try {
      const charge = { accountId: null, appId: party, workId: id, attempt, kind: 'predict' };
      const cacheKey = pseudonym(party, request.user_id, request.session_id);
      const { tabModel: model, providerTimeoutMs } = settings;
      const guess = await retryAfterTimeouts(leftMs, providerTimeoutMs, (timeoutMs) =>
        provider.predict(task, { model, signal, timeoutMs, charge, cacheKey }),
      );
      const { state, completion } = decideCompletion(guess, request, minConfidence, refused);
      if (state === 'suggested') return { state, settle: true, answer: completion, report: report() };
      // The built-in predictor costs nothing, so it may be asked again at the next key.
      const isRemembered = guess.model !== LOCAL_MODEL && facts.mode === 'complete_draft';
      return { state, ...(isRemembered && { answer: completion }), report: report() };
    } catch (error) {
      return { ...providerFailureEnd(error, predict, log), report: report() };
    }
  };
}

/** A completion that was shown to the person, or an empty one if a model had none, with its prediction. */
export interface EarlierAnswer {
  id: string;
  answer: string;
  facts: PredictionFacts;
  report: PredictionReport;
  /** Returns the fingerprint of a draft, to compare with `draftHash` in the facts. */
  hashOf(draft: string): string;
  dismissed: boolean;
}

/** Parses the latest earlier answer for the same app, user and session. */
function parseAnswer(latest: string): EarlierAnswer {
  const { fingerprintKey, ...last } = JSON.parse(latest) as Omit<EarlierAnswer, 'hashOf'> & {
    fingerprintKey: string;
  };
  const key = Buffer.from(fingerprintKey, 'base64');
  return { ...last, hashOf: (draft) => fingerprint(key, draft).toString('base64url') };
}

/**
 * Ends a prediction without asking a model or charging a unit: with the rest of the suggestion that the person is
 * typing, or with an abstention until the person begins another word. Returns undefined if the earlier answer no longer
 * applies, was dismissed, or memory has changed since.
 */
function continueAnswer(
  { id, report, ...last }: EarlierAnswer,
  request: PredictionRequest,
  facts: PredictionFacts,
  memory: Pick<RememberedContext, 'profileRevision' | 'grantRevision' | 'verdicts'>,
): End<PredictionReport> | undefined {
  const isCurrent =
    report.profileRevision === memory.profileRevision && report.grantRevision === memory.grantRevision;
  const typed = typedSince(last, request.draft.text, facts);
  if (!isCurrent || typed === undefined) return undefined;
  if (last.answer === '') {
    const isSameWord = facts.minConfidence >= last.facts.minConfidence && !beginsWord(typed);
    return isSameWord ? { state: 'abstained', report: { ...report, providerMs: null } } : undefined;
  }
  const rest = remainingSuggestion(last, typed.text, facts);
  const { refused } = memory.verdicts;
  const { state } = decideCompletion({ completion: rest, confidence: 1 }, request, 0, refused);
  if (state !== 'suggested') return undefined;
  const continues = report.continues ?? id;
  return { state, answer: rest, report: { ...report, providerMs: null, continues } };
}

interface Typed {
  text: string;
  /** Character before the text, if any. */
  before: string;
}

type LineAnswer = Omit<EarlierAnswer, 'id' | 'report'>;

/** Returns what was typed since an answer; undefined if the answer does not apply to this draft any more. */
function typedSince(
  { facts: last, hashOf }: LineAnswer,
  draft: string,
  facts: PredictionFacts,
): Typed | undefined {
  const { draftLength, draftHash } = last;
  const isSameRequest =
    facts.mode === 'complete_draft' &&
    last.mode === 'complete_draft' &&
    last.contextHash === facts.contextHash &&
    last.draftRevision < facts.draftRevision;
  if (!isSameRequest || hashOf(draft.slice(0, draftLength)) !== draftHash) return undefined;
  return { text: draft.slice(draftLength), before: draft.slice(0, draftLength).slice(-1) };
}

/** Returns the rest of a suggestion that the person is typing; empty if it does not apply or nothing of it was typed. */
function remainingSuggestion(last: LineAnswer, typed: string, { minConfidence }: PredictionFacts): string {
  const applies = !last.dismissed && last.facts.minConfidence >= minConfidence;
  return applies && typed !== '' && last.answer.startsWith(typed) ? last.answer.slice(typed.length) : '';
}

/** In scripts without spaces, so many characters count as a word. */
const WORD_BEGIN = new RegExp(`\\s\\S|[${UNSPACED_SCRIPTS}]{5}`, 'u');

function beginsWord({ before, text }: Typed): boolean {
  return WORD_BEGIN.test(before + text);
}

/** Returns true if the request has too little input, for its mode, to ask a model. */
export function hasNothingToWorkOn(
  request: Pick<PredictionRequest, 'mode' | 'draft' | 'messages' | 'artifact'>,
): boolean {
  const { mode, draft, messages, artifact } = request;
  if (!isBlank(draft.text)) return false;
  return mode === 'complete_draft' || (messages.length === 0 && artifact === null);
}

/**
 * Decides whether a guess is shown, and cuts it to `COMPLETION_MAX`. Abstains on a guess with undisplayable characters
 * instead of throwing, because these characters may come from the draft.
 */
export function decideCompletion(
  guess: { completion: string; confidence: number },
  request: Pick<PredictionRequest, 'draft' | 'messages'>,
  minConfidence: number,
  refused: readonly string[] = [],
): { state: 'suggested' | 'abstained'; completion: string } {
  const completion = cutAtWord(guess.completion);
  const shownTexts = [request.draft.text, request.messages.at(-1)?.content ?? ''].map(foldCase);
  const isSure = guess.confidence >= minConfidence;
  if (
    !isSure ||
    isBlank(completion) ||
    !isDisplayable(completion) ||
    shownTexts.includes(foldCase(guess.completion)) ||
    (completion !== guess.completion && request.draft.text.startsWith(completion)) ||
    refused.includes(completion)
  )
    return { state: 'abstained', completion: '' };
  return { state: 'suggested', completion };
}

/** Treats control and formatting characters as blank. */
function isBlank(text: string): boolean {
  return !/[^\s\p{Cc}\p{Cf}]/u.test(text);
}

/** Upper case makes ß and ss equal, and the forms of sigma (σ, ς). Lower case makes ϴ and Θ equal. */
function foldCase(text: string): string {
  return normalForm(text.trim(), 'NFC').toUpperCase().toLowerCase();
}

/** Cuts at the end of a word if possible. The limit counts code points. */
function cutAtWord(text: string): string {
  // A code point has at most two UTF-16 units, so these units suffice.
  const points = [...text.slice(0, 2 * COMPLETION_MAX + 2)];
  if (points.length <= COMPLETION_MAX) return text;
  const longest = points.slice(0, COMPLETION_MAX).join('');
  const word = WORD_SEGMENTER.segment(points.join('')).containing(longest.length);
  return text.slice(0, word?.index || longest.length).trimEnd();
}

/** Finds word boundaries, also in scripts without spaces. */
const WORD_SEGMENTER = new Intl.Segmenter('und', { granularity: 'word' });

export function toMemoryRequest<Request extends MemoryRequest['request']>(
  request: Request,
): MemoryRequest<Request> {
  return { request, question: questionOf(request), tails: draftEndOf(request.draft.text).tails };
}
