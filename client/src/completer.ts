import { ForecueError } from './errors.ts';
import type { AppClient, EventOptions, PredictionInput, PredictionResponse } from './v1.ts';
import { countWords, firstWordOf, retainedShare } from './words.ts';

/** Optional fields of a prediction request that describe what surrounds the draft. */
export type CompleterContext = Partial<
  Pick<PredictionInput, 'artifact' | 'connection_id' | 'language' | 'messages' | 'user_preferences'>
> & { context_revision?: string | undefined };

/** Client that predicts and records events: an `AppClient`, or a substitute for it. */
export interface CompleterClient {
  predict(
    ...given: Parameters<AppClient['predict']>
  ): Promise<
    | (Pick<PredictionResponse, 'request_id' | 'status' | 'completion'> & { alternatives?: string[] })
    | { status: 'cancelled' | 'superseded'; request_id: string }
  >;
  recordPredictionEvent(...given: Parameters<AppClient['recordPredictionEvent']>): Promise<unknown>;
}

/** A suggestion, as hooks get it. */
export interface Suggested {
  requestId: string;
  /** The whole suggestion, as it went on from the draft that was sent. */
  completion: string;
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
  /** Called with each suggestion that is shown, that is taken over in full, and that is hidden without. */
  onShown?: (suggested: Suggested) => void;
  onAccepted?: (suggested: Suggested) => void;
  onDismissed?: (suggested: Suggested) => void;
  /** Makes suggestions from the beginning; true by default. */
  enabled?: boolean;
  /** With `key`, a call is made only on `suggest`, which fields bind to Alt+\\. By default, whenever the person pauses. */
  trigger?: 'pause' | 'key';
  /** Number of other completions to ask for with each, 2 by default. */
  alternatives?: number;
  /** Limits of the pause before a call; 75 and 400 ms by default. The pause is half of the average latency. */
  minDelayMs?: number;
  maxDelayMs?: number;
}

/** Suggests how a text continues while a person types it. The latest keystroke wins. */
export interface Completer {
  /** Text shown after the caret. */
  readonly suggestion: string;
  /** Texts that can be shown there, the shown one among them, in a fixed order. */
  readonly choices: readonly string[];
  /** True while suggestions are made, as at first. Set it to false to hide what is shown, and to call no more. */
  enabled: boolean;
  /** Call it when the text before the caret has changed. Null means that nothing should be suggested. */
  update(text: string | null): void;
  /** Accepts the suggestion, or another of the choices. Returns the text to insert. */
  accept(choice?: string): string;
  /** Accepts the suggestion's next word. Returns the text to insert. */
  acceptWord(): string;
  /** Shows the next of the choices, or with -1 the one before. */
  next(step?: 1 | -1): void;
  /** Asks for a suggestion now. */
  suggest(): void;
  /** Hides the suggestion, and requests no other until the text changes. */
  dismiss(): void;
  /** Call it when the person has sent the text. The next text begins empty. */
  submit(): void;
  close(): void;
}

interface RunningCall {
  text: string;
  abort: AbortController;
  /** When it began, by `performance.now`. */
  since: number;
}

/** A suggestion that was shown: accepting it turns `text` into `whole`, one of `wholes`. */
interface ShownSuggestion {
  requestId: string;
  text: string;
  whole: string;
  wholes: readonly string[];
  /** True once the person has accepted a part of the suggestion. */
  isTaken: boolean;
  /** True once a longer one has been asked for, since nearly all of this one is typed. */
  isProlonged: boolean;
}

const DRAFT_CHARS_MAX = 8000;
const MIN_DELAY_MS = 75;
const FIRST_LATENCY_MS = 300;
/** Weight of the latest call's latency in the moving average. */
const LATENCY_WEIGHT = 0.3;
const CALL_TIMEOUT_MS = 15_000;
const ALTERNATIVES = 2;
/** From so few words that are left of a suggestion on, a longer one is asked for. */
const FEW_WORDS = 1;
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
  /** True while a call waits for the end of the running one. */
  #isDue = false;
  #latencyMs = FIRST_LATENCY_MS;
  #revision = 0;
  #nextCallAtMs = 0;
  /** True once the call for the present text has been repeated after a failure. */
  #isRetried = false;
  #isEnabled: boolean;

  constructor(client: CompleterClient, options: CompleterOptions) {
    this.#client = client;
    this.#options = options;
    this.#sessionId = options.sessionId ?? crypto.randomUUID();
    this.#isEnabled = options.enabled ?? true;
  }

  get suggestion(): string {
    return this.#shownSuggestion?.whole.slice(this.#text?.length) ?? '';
  }

  get choices(): readonly string[] {
    const typed = this.#text;
    const { wholes = [] } = this.#shownSuggestion ?? {};
    if (typed === null) return [];
    return wholes.flatMap((whole) => (isBefore(typed, whole) ? whole.slice(typed.length) : []));
  }

  get enabled(): boolean {
    return this.#isEnabled;
  }

  set enabled(enabled: boolean) {
    this.#isEnabled = enabled;
    if (!enabled) this.dismiss();
  }

  update(text: string | null): void {
    if (text === this.#text) return;
    this.#text = text;
    this.#latestText = text ?? this.#latestText;
    this.#isRetried = false;
    this.#unschedule();
    if (text !== null && this.#shownSuggestion && continues(this.#shownSuggestion, text)) {
      this.#prolong();
      this.#announce();
      return;
    }
    this.#hide();
    if (text === null || (this.#runningCall && !text.startsWith(this.#runningCall.text))) this.#abortCall();
    this.#schedule();
  }

  accept(choice: string = this.suggestion): string {
    if (this.#shownSuggestion && this.#text !== null && this.choices.includes(choice))
      this.#shownSuggestion.whole = this.#text + choice;
    return this.#take(this.suggestion);
  }

  acceptWord(): string {
    return this.#take(firstWordOf(this.suggestion));
  }

  next(step: 1 | -1 = 1): void {
    const { choices } = this;
    if (this.#shownSuggestion === undefined || this.#text === null || choices.length < 2) return;
    const at = choices.indexOf(this.suggestion) + step + choices.length;
    this.#shownSuggestion.whole = this.#text + choices[at % choices.length];
    this.#announce();
  }

  suggest(): void {
    this.#callNow();
  }

  dismiss(): void {
    this.#unschedule();
    this.#abortCall();
    this.#hide();
  }

  submit(): void {
    const accepted = this.#acceptedSuggestion;
    if (accepted !== undefined) {
      const { text, whole } = accepted;
      if (!this.#latestText.startsWith(whole)) this.#report(accepted, 'edited');
      // A suggestion may begin within a word.
      const begun = /^\S/.test(whole.slice(text.length)) ? (/\S*$/.exec(text)?.[0].length ?? 0) : 0;
      const completed = whole.slice(text.length - begun);
      this.#report(accepted, 'submitted', { retained: retainedShare(completed, this.#latestText) });
      this.#acceptedSuggestion = undefined;
    }
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
    if (!isBefore(this.#text, suggestion.whole)) {
      this.#shownSuggestion = undefined;
      this.#noteAccepted(suggestion);
      this.#schedule();
    } else this.#prolong();
    this.#announce();
    return part;
  }

  #schedule(): void {
    const { minDelayMs = MIN_DELAY_MS, maxDelayMs = 400 } = this.#options;
    this.#unschedule();
    if (this.#text === null || this.#options.trigger === 'key') return;
    const quiet = Math.min(maxDelayMs, Math.max(minDelayMs, this.#latencyMs / 2));
    const waitMs = Math.max(quiet, this.#nextCallAtMs - performance.now());
    this.#timer = setTimeout(() => this.#callWhenFree(), waitMs);
  }

  #unschedule(): void {
    clearTimeout(this.#timer);
    this.#isDue = false;
  }

  /** Lets a running call that is about to end do so first, since its answer may go on from what is typed by now. */
  #callWhenFree(): void {
    const { minDelayMs = MIN_DELAY_MS } = this.#options;
    const since = this.#runningCall?.since ?? Number.NEGATIVE_INFINITY;
    const leftMs = since + this.#latencyMs + minDelayMs - performance.now();
    this.#isDue = leftMs > 0 && leftMs <= 2 * minDelayMs;
    if (this.#isDue) this.#timer = setTimeout(() => this.#callNow(), leftMs);
    else this.#callNow();
  }

  /** Asks for a longer suggestion when the person pauses with nearly all of this one typed. */
  #prolong(): void {
    const suggestion = this.#shownSuggestion;
    if (!suggestion || suggestion.isProlonged || countWords(this.suggestion) > FEW_WORDS) return;
    this.#schedule();
  }

  #callNow(): void {
    this.#unschedule();
    if (this.#isEnabled) this.#call().catch((error) => this.#options.onError?.(error));
  }

  async #call(): Promise<void> {
    const text = this.#text;
    if (this.#shownSuggestion) this.#shownSuggestion.isProlonged = true;
    const context = this.#options.context?.() ?? {};
    if (text === null || (text.trim() === '' && !context.messages?.length && !context.artifact)) return;
    const mode = text.trim() === '' ? 'next_prompt' : 'complete_draft';
    this.#abortCall();
    const since = performance.now();
    const runningCall: RunningCall = { text, abort: new AbortController(), since };
    this.#runningCall = runningCall;
    // Uses the clock, so that revisions also rise in a session that another completer or tab has used.
    this.#revision = Math.max(this.#revision + 1, Date.now());
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
        {
          signal: runningCall.abort.signal,
          timeoutMs: CALL_TIMEOUT_MS,
          alternatives: this.#options.alternatives ?? ALTERNATIVES,
        },
      );
      if (prediction.status === 'suggested' || prediction.status === 'abstained')
        this.#latencyMs += LATENCY_WEIGHT * (performance.now() - since - this.#latencyMs);
      if (prediction.status !== 'suggested' || this.#runningCall !== runningCall) return;
      const { request_id: requestId, completion, alternatives = [] } = prediction;
      const wholes = [...new Set([completion, ...alternatives])].map((one) => text + one);
      const shared = { requestId, text, isTaken: false, isProlonged: false };
      this.#show({ ...shared, whole: text + completion, wholes });
    } catch (error) {
      if (runningCall.abort.signal.aborted) return;
      const known = error instanceof ForecueError ? error : undefined;
      const seconds = known?.retryAfter ?? (known?.remedy === 'retry' ? SHORT_PAUSE_S : LONG_PAUSE_S);
      this.#nextCallAtMs = performance.now() + seconds * 1000;
      this.#options.onError?.(error);
      if (this.#isDue) this.#schedule();
      else if (known?.remedy === 'retry' && !this.#isRetried) {
        this.#isRetried = true;
        this.#schedule();
      }
    } finally {
      if (this.#runningCall === runningCall) {
        this.#runningCall = undefined;
        if (this.#isDue) this.#callNow();
      }
    }
  }

  #show(suggestion: ShownSuggestion): void {
    if (this.#text === null || !continues(suggestion, this.#text)) return;
    // Keeps what the person is about to type, unless the new suggestion goes on from it.
    const shown = this.#shownSuggestion;
    if (shown !== undefined && !isBefore(shown.whole, suggestion.whole)) return;
    this.#unschedule();
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
    suggestion: ShownSuggestion,
    kind: 'presented' | 'accepted' | 'edited' | 'dismissed' | 'submitted',
    options: EventOptions = {},
  ): void {
    const { requestId, text, whole } = suggestion;
    const { onShown, onAccepted, onDismissed } = this.#options;
    const hooks: Record<string, typeof onShown> = {
      presented: onShown,
      accepted: onAccepted,
      dismissed: onDismissed,
    };
    hooks[kind]?.({ requestId, completion: whole.slice(text.length) });
    const event = { request_id: suggestion.requestId, user_id: this.#options.userId, kind };
    this.#client.recordPredictionEvent(event, options).catch((error) => this.#options.onError?.(error));
  }
}

/** Reports whether a text leads to a suggestion. Turns the suggestion to the choice that the person types. */
function continues(suggestion: ShownSuggestion, typed: string): boolean {
  if (!typed.startsWith(suggestion.text)) return false;
  if (isBefore(typed, suggestion.whole)) return true;
  const other = suggestion.wholes.find((whole) => isBefore(typed, whole));
  suggestion.whole = other ?? suggestion.whole;
  return other !== undefined;
}

function isBefore(text: string, whole: string): boolean {
  return text.length < whole.length && whole.startsWith(text);
}

/** Cuts off the beginning of a text that is too long, without splitting a surrogate pair. */
function draftEndOf(text: string): string {
  return text.slice(-DRAFT_CHARS_MAX).replace(/^[\uDC00-\uDFFF]/, '');
}
