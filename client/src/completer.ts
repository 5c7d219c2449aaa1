import { ForecueError } from './errors.ts';
import type { AppClient, PredictionInput, PredictionResponse } from './v1.ts';

/** Fields of a call besides the draft. */
export type CompleterContext = Partial<
  Pick<
    PredictionInput,
    'artifact' | 'connection_id' | 'context_revision' | 'language' | 'messages' | 'user_preferences'
  >
>;

/** Predicts and takes reports: a client of a relay, in a browser; or what stands in for one. */
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
  /** Person that the app calls for. A relay sets it by itself. */
  userId: string;
  /** Drafts of one session supersede each other; one for each completer by default. */
  sessionId?: string;
  /** Read at each call: the messages before the draft, what it is about. */
  context?: () => CompleterContext;
  /** Text to show after the caret; empty for nothing. */
  onSuggestion?: (suggestion: string) => void;
  onError?: (error: unknown) => void;
  /** Milliseconds of quiet before a call: half of the usual latency, within these bounds; 75 and 400. */
  minDelayMs?: number;
  maxDelayMs?: number;
}

/** Suggests how a text goes on while a person types it. The latest keystroke wins. */
export interface Completer {
  /** Text shown after the caret. */
  readonly suggestion: string;
  /** The text before the caret has changed. Null: nothing is to be suggested here. */
  update(text: string | null): void;
  /** Takes the suggestion over. Returns what to insert. */
  accept(): string;
  /** Takes its next word over. Returns what to insert. */
  acceptWord(): string;
  /** Hides the suggestion until the text changes. */
  dismiss(): void;
  /** The person has sent the text. The next one begins empty. */
  submit(): void;
  close(): void;
}

/** A call under way, for this text. */
interface Flight {
  text: string;
  abort: AbortController;
}

/** A suggestion: `text` with it would be `whole`. */
interface Shown {
  requestId: string;
  text: string;
  whole: string;
  /** A part of it was taken over. */
  isTaken: boolean;
}

const DRAFT_MAX = 8000;
const FIRST_LATENCY_MS = 300;
/** The weight of the latest call in the usual latency. */
const WEIGHT = 0.3;
const CALL_TIMEOUT_MS = 15_000;
/** Seconds without a call after an error: where trying again may help, and where it does not. */
const PAUSE_S = 1;
const LONG_PAUSE_S = 30;

/** Calls by itself when the person pauses, and reports what became of each suggestion. */
export function createCompleter(client: CompleterClient, options: CompleterOptions): Completer {
  return new PausingCompleter(client, options);
}

class PausingCompleter implements Completer {
  readonly #client: CompleterClient;
  readonly #options: CompleterOptions;
  readonly #sessionId: string;
  #text: string | null = null;
  #shown: Shown | undefined;
  #accepted: Shown | undefined;
  #flight: Flight | undefined;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #latencyMs = FIRST_LATENCY_MS;
  #revision = 0;
  #notBefore = 0;

  constructor(client: CompleterClient, options: CompleterOptions) {
    this.#client = client;
    this.#options = options;
    this.#sessionId = options.sessionId ?? crypto.randomUUID();
  }

  get suggestion(): string {
    return this.#shown?.whole.slice(this.#text?.length) ?? '';
  }

  update(text: string | null): void {
    if (text === this.#text) return;
    this.#text = text;
    clearTimeout(this.#timer);
    if (text !== null && this.#shown && continues(this.#shown, text)) {
      this.#announce();
      return;
    }
    this.#hide();
    if (text === null || (this.#flight && !text.startsWith(this.#flight.text))) this.#leave();
    this.#schedule();
  }

  accept(): string {
    return this.#take(this.suggestion);
  }

  acceptWord(): string {
    return this.#take(/^\s*(?:[\p{L}\p{N}_'’]+|[^\s\p{L}\p{N}]+|$)/u.exec(this.suggestion)?.[0] ?? '');
  }

  dismiss(): void {
    clearTimeout(this.#timer);
    this.#leave();
    this.#hide();
  }

  submit(): void {
    const { whole } = this.#accepted ?? {};
    if (whole !== undefined && !this.#text?.startsWith(whole)) this.#report(this.#accepted, 'edited');
    this.#report(this.#accepted, 'submitted');
    this.#accepted = undefined;
    this.dismiss();
    this.#text = null;
  }

  close(): void {
    this.dismiss();
    this.#text = null;
  }

  #take(part: string): string {
    const shown = this.#shown;
    if (shown === undefined || part === '') return '';
    shown.isTaken = true;
    this.#text += part;
    if (continues(shown, this.#text ?? '')) this.#announce();
    else {
      this.#shown = undefined;
      this.#accepted = shown;
      this.#report(shown, 'accepted');
      this.#announce();
      this.#schedule();
    }
    return part;
  }

  /** Calls after a pause. */
  #schedule(): void {
    const { minDelayMs = 75, maxDelayMs = 400 } = this.#options;
    clearTimeout(this.#timer);
    if (this.#text === null) return;
    const quiet = Math.min(maxDelayMs, Math.max(minDelayMs, this.#latencyMs / 2));
    this.#timer = setTimeout(() => this.#call(), Math.max(quiet, this.#notBefore - Date.now()));
  }

  async #call(): Promise<void> {
    const text = this.#text;
    const context = this.#options.context?.() ?? {};
    if (text === null || (text.trim() === '' && !context.messages?.length && !context.artifact)) return;
    const mode = text.trim() === '' ? 'next_prompt' : 'complete_draft';
    this.#leave();
    const flight: Flight = { text, abort: new AbortController() };
    this.#flight = flight;
    // A session may be older than this completer, and another tab may have it too.
    this.#revision = Math.max(this.#revision + 1, Date.now());
    const since = Date.now();
    try {
      const prediction = await this.#client.predict(
        {
          context_revision: '0',
          ...context,
          mode,
          user_id: this.#options.userId,
          session_id: this.#sessionId,
          draft: { text: endOf(text), revision: this.#revision },
        },
        { signal: flight.abort.signal, timeoutMs: CALL_TIMEOUT_MS },
      );
      if (prediction.status === 'suggested' || prediction.status === 'abstained')
        this.#latencyMs += WEIGHT * (Date.now() - since - this.#latencyMs);
      if (prediction.status !== 'suggested' || this.#flight !== flight) return;
      const { request_id: requestId, completion } = prediction;
      this.#show({ requestId, text, whole: text + completion, isTaken: false });
    } catch (error) {
      if (flight.abort.signal.aborted) return;
      const known = error instanceof ForecueError ? error : undefined;
      const seconds = known?.retryAfter ?? (known?.remedy === 'retry' ? PAUSE_S : LONG_PAUSE_S);
      this.#notBefore = Date.now() + seconds * 1000;
      this.#options.onError?.(error);
    } finally {
      if (this.#flight === flight) this.#flight = undefined;
    }
  }

  /** Shows a suggestion if the person has not typed anything else meanwhile. */
  #show(shown: Shown): void {
    if (this.#text === null || !continues(shown, this.#text)) return;
    clearTimeout(this.#timer);
    this.#shown = shown;
    this.#report(shown, 'presented');
    this.#announce();
  }

  #hide(): void {
    const shown = this.#shown;
    if (shown === undefined) return;
    this.#shown = undefined;
    // A person who typed all of it has neither accepted nor dismissed it.
    if (this.#text !== shown.whole) this.#report(shown, shown.isTaken ? 'edited' : 'dismissed');
    this.#announce();
  }

  #announce(): void {
    this.#options.onSuggestion?.(this.suggestion);
  }

  /** Gives a call up, on the server too. */
  #leave(): void {
    this.#flight?.abort.abort();
    this.#flight = undefined;
  }

  #report(
    shown: Shown | undefined,
    kind: 'presented' | 'accepted' | 'edited' | 'dismissed' | 'submitted',
  ): void {
    if (shown === undefined) return;
    const event = { request_id: shown.requestId, user_id: this.#options.userId, kind };
    this.#client.recordPredictionEvent(event).catch((error) => this.#options.onError?.(error));
  }
}

/** True if the text is on the way from the one to the other, and not there yet. */
function continues({ text, whole }: Shown, typed: string): boolean {
  return typed.length < whole.length && whole.startsWith(typed) && typed.startsWith(text);
}

/** The end of a text that is too long for a draft, not beginning within a character. */
function endOf(text: string): string {
  return text.slice(-DRAFT_MAX).replace(/^[\uDC00-\uDFFF]/, '');
}
