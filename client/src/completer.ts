import { ForecueError } from './errors.ts';
import type { AppClient, PredictionInput, PredictionResponse } from './v1.ts';

/** Optional fields of a prediction request that describe what surrounds the draft. */
export type CompleterContext = Partial<
  Pick<PredictionInput, 'artifact' | 'connection_id' | 'language' | 'messages' | 'user_preferences'>
> & { context_revision?: string | undefined };

/** Client that predicts and records events: an `AppClient`, or a substitute for it. */
export interface CompleterClient {
  predict(
    ...given: Parameters<AppClient['predict']>
  ): Promise<
    | Pick<PredictionResponse, 'request_id' | 'status' | 'completion'>
    | { status: 'cancelled' | 'superseded'; request_id: string }
  >;
  recordPredictionEvent(...given: Parameters<AppClient['recordPredictionEvent']>): Promise<unknown>;
}

export interface CompleterOptions {
  /** Id of the user for whom the app calls. A relay replaces it with that of the logged-in user. */
  userId: string;
  /** Session in which a newer draft supersedes the older one. By default each completer has a session of its own. */
  sessionId?: string;
  /** Called before each prediction. Returns optional fields of the request, such as the messages before the draft. */
  context?: () => CompleterContext;
  /** Called with the text to show after the caret; empty if there is no suggestion. */
  onSuggestion?: (suggestion: string) => void;
  onError?: (error: unknown) => void;
  /** Limits of the pause before a call; 75 and 400 ms by default. The pause is half of the average latency. */
  minDelayMs?: number;
  maxDelayMs?: number;
}

/** Suggests how a text continues while a person types it. The latest keystroke wins. */
export interface Completer {
  /** Text shown after the caret. */
  readonly suggestion: string;
  /** Call it when the text before the caret has changed. Null means that nothing should be suggested. */
  update(text: string | null): void;
  /** Accepts the suggestion. Returns the text to insert. */
  accept(): string;
  /** Accepts the suggestion's next word. Returns the text to insert. */
  acceptWord(): string;
  /** Hides the suggestion, and requests no other until the text changes. */
  dismiss(): void;
  /** Call it when the person has sent the text. The next text begins empty. */
  submit(): void;
  close(): void;
}

interface RunningCall {
  text: string;
  abort: AbortController;
}

/** A suggestion that was shown: accepting it turns `text` into `whole`. */
interface ShownSuggestion {
  requestId: string;
  text: string;
  whole: string;
  /** True once the person has accepted a part of the suggestion. */
  isTaken: boolean;
}

const DRAFT_CHARS_MAX = 8000;
const FIRST_LATENCY_MS = 300;
/** Weight of the latest call's latency in the moving average. */
const LATENCY_WEIGHT = 0.3;
const CALL_TIMEOUT_MS = 15_000;
/** Seconds to wait after an error without a Retry-After: short if a retry may help, otherwise long. */
const SHORT_PAUSE_S = 1;
const LONG_PAUSE_S = 30;

/** Creates a completer that asks for a suggestion when the person pauses, and reports what became of it. */
export function createCompleter(client: CompleterClient, options: CompleterOptions): Completer {
  return new PausingCompleter(client, options);
}

class PausingCompleter implements Completer {
  readonly #client: CompleterClient;
  readonly #options: CompleterOptions;
  readonly #sessionId: string;
  #text: string | null = null;
  /** Latest text other than null. With it `submit` judges a text whose field the person has left, to click a button. */
  #latestText = '';
  #shownSuggestion: ShownSuggestion | undefined;
  #acceptedSuggestion: ShownSuggestion | undefined;
  #runningCall: RunningCall | undefined;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #latencyMs = FIRST_LATENCY_MS;
  #revision = 0;
  #nextCallAtMs = 0;

  constructor(client: CompleterClient, options: CompleterOptions) {
    this.#client = client;
    this.#options = options;
    this.#sessionId = options.sessionId ?? crypto.randomUUID();
  }

  get suggestion(): string {
    return this.#shownSuggestion?.whole.slice(this.#text?.length) ?? '';
  }

  update(text: string | null): void {
    if (text === this.#text) return;
    this.#text = text;
    this.#latestText = text ?? this.#latestText;
    clearTimeout(this.#timer);
    if (text !== null && this.#shownSuggestion && continues(this.#shownSuggestion, text)) {
      this.#announce();
      return;
    }
    this.#hide();
    if (text === null || (this.#runningCall && !text.startsWith(this.#runningCall.text))) this.#abortCall();
    this.#schedule();
  }

  accept(): string {
    return this.#take(this.suggestion);
  }

  acceptWord(): string {
    return this.#take(
      /^\s*(?:[\p{L}\p{M}\p{N}\p{Join_C}_'’]+|[^\s\p{L}\p{N}]+|$)/u.exec(this.suggestion)?.[0] ?? '',
    );
  }

  dismiss(): void {
    clearTimeout(this.#timer);
    this.#abortCall();
    this.#hide();
  }

  submit(): void {
    const { whole } = this.#acceptedSuggestion ?? {};
    if (whole !== undefined && !this.#latestText.startsWith(whole))
      this.#report(this.#acceptedSuggestion, 'edited');
    this.#report(this.#acceptedSuggestion, 'submitted');
    this.#acceptedSuggestion = undefined;
    this.dismiss();
    this.#text = null;
  }

  close(): void {
    this.dismiss();
    this.#text = null;
  }

  #take(part: string): string {
    const suggestion = this.#shownSuggestion;
    if (suggestion === undefined || part === '') return '';
    suggestion.isTaken = true;
    this.#latestText += part;
    this.#text = this.#latestText;
    if (!continues(suggestion, this.#text)) {
      this.#shownSuggestion = undefined;
      this.#noteAccepted(suggestion);
      this.#schedule();
    }
    this.#announce();
    return part;
  }

  #schedule(): void {
    const { minDelayMs = 75, maxDelayMs = 400 } = this.#options;
    clearTimeout(this.#timer);
    if (this.#text === null) return;
    const quiet = Math.min(maxDelayMs, Math.max(minDelayMs, this.#latencyMs / 2));
    const call = () => this.#call().catch((error) => this.#options.onError?.(error));
    this.#timer = setTimeout(call, Math.max(quiet, this.#nextCallAtMs - performance.now()));
  }

  async #call(): Promise<void> {
    const text = this.#text;
    const context = this.#options.context?.() ?? {};
    if (text === null || (text.trim() === '' && !context.messages?.length && !context.artifact)) return;
    const mode = text.trim() === '' ? 'next_prompt' : 'complete_draft';
    this.#abortCall();
    const runningCall: RunningCall = { text, abort: new AbortController() };
    this.#runningCall = runningCall;
    // Uses the clock, so that revisions also rise in a session that another completer or tab has used.
    this.#revision = Math.max(this.#revision + 1, Date.now());
    const since = performance.now();
    try {
      const prediction = await this.#client.predict(
        {
          ...context,
          context_revision: context.context_revision ?? '0',
          mode,
          user_id: this.#options.userId,
          session_id: this.#sessionId,
          draft: { text: draftEndOf(text), revision: this.#revision },
        },
        { signal: runningCall.abort.signal, timeoutMs: CALL_TIMEOUT_MS },
      );
      if (prediction.status === 'suggested' || prediction.status === 'abstained')
        this.#latencyMs += LATENCY_WEIGHT * (performance.now() - since - this.#latencyMs);
      if (prediction.status !== 'suggested' || this.#runningCall !== runningCall) return;
      const { request_id: requestId, completion } = prediction;
      this.#show({ requestId, text, whole: text + completion, isTaken: false });
    } catch (error) {
      if (runningCall.abort.signal.aborted) return;
      const known = error instanceof ForecueError ? error : undefined;
      const seconds = known?.retryAfter ?? (known?.remedy === 'retry' ? SHORT_PAUSE_S : LONG_PAUSE_S);
      this.#nextCallAtMs = performance.now() + seconds * 1000;
      this.#options.onError?.(error);
    } finally {
      if (this.#runningCall === runningCall) this.#runningCall = undefined;
    }
  }

  #show(suggestion: ShownSuggestion): void {
    if (this.#text === null || !continues(suggestion, this.#text)) return;
    clearTimeout(this.#timer);
    this.#shownSuggestion = suggestion;
    this.#report(suggestion, 'presented');
    this.#announce();
  }

  #hide(): void {
    const suggestion = this.#shownSuggestion;
    if (suggestion === undefined) return;
    this.#shownSuggestion = undefined;
    const isWhole = this.#text?.startsWith(suggestion.whole) ?? false;
    if (!isWhole) this.#report(suggestion, suggestion.isTaken ? 'edited' : 'dismissed');
    // A suggestion that the person typed in full is reported neither as accepted nor as dismissed.
    else if (suggestion.isTaken) this.#noteAccepted(suggestion);
    this.#announce();
  }

  #noteAccepted(suggestion: ShownSuggestion): void {
    this.#acceptedSuggestion = suggestion;
    this.#report(suggestion, 'accepted');
  }

  #announce(): void {
    this.#options.onSuggestion?.(this.suggestion);
  }

  #abortCall(): void {
    this.#runningCall?.abort.abort();
    this.#runningCall = undefined;
  }

  #report(
    suggestion: ShownSuggestion | undefined,
    kind: 'presented' | 'accepted' | 'edited' | 'dismissed' | 'submitted',
  ): void {
    if (suggestion === undefined) return;
    const event = { request_id: suggestion.requestId, user_id: this.#options.userId, kind };
    this.#client.recordPredictionEvent(event).catch((error) => this.#options.onError?.(error));
  }
}

function continues({ text, whole }: ShownSuggestion, typed: string): boolean {
  return typed.length < whole.length && whole.startsWith(typed) && typed.startsWith(text);
}

/** Cuts off the beginning of a text that is too long, without splitting a surrogate pair. */
function draftEndOf(text: string): string {
  return text.slice(-DRAFT_CHARS_MAX).replace(/^[\uDC00-\uDFFF]/, '');
}
