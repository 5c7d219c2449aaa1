import type { CompleterClient } from '../src/completer.ts';
import { ForecueError } from '../src/errors.ts';
import { type Answer, FRAME, type FromFrame, type FromWorker } from './messages.ts';

interface Pending {
  resolve(answer: Answer): void;
  reject(error: Error): void;
}

/** Connects a frame to the worker, which has the tokens and makes the calls. */
export class Link implements CompleterClient {
  readonly #onSwitch: (isOn: boolean) => void;
  readonly #onGone: () => void;
  readonly #pending = new Map<number, Pending>();
  #port: chrome.runtime.Port | undefined;
  #questions = 0;

  /** `onGone` is called once the extension has been reloaded or removed, and this script is left over. */
  constructor({ onSwitch, onGone }: { onSwitch(isOn: boolean): void; onGone(): void }) {
    this.#onSwitch = onSwitch;
    this.#onGone = onGone;
  }

  /** Connects again if the worker has ended meanwhile. It then says whether suggestions are on. */
  open(): chrome.runtime.Port | undefined {
    if (this.#port !== undefined) return this.#port;
    try {
      // A frame belongs to the site that the person sees in the address bar.
      const { ancestorOrigins, origin } = location;
      const page = ancestorOrigins[ancestorOrigins.length - 1] ?? origin;
      this.#port = chrome.runtime.connect({ name: FRAME + page });
    } catch {
      this.#onGone();
      return undefined;
    }
    this.#port.onMessage.addListener((message: FromWorker) => this.#receive(message));
    this.#port.onDisconnect.addListener(() => {
      this.#port = undefined;
      for (const { reject } of this.#pending.values()) reject(new ForecueError('network_error'));
      this.#pending.clear();
    });
    return this.#port;
  }

  async predict(...[{ draft }, { signal, alternatives = 0 } = {}]: Parameters<CompleterClient['predict']>) {
    this.#questions += 1;
    const id = this.#questions;
    const question: FromFrame = { ask: { id, text: draft.text } };
    const answer = await new Promise<Answer>((resolve, reject) => {
      signal?.addEventListener('abort', () => {
        if (this.#pending.delete(id)) this.#port?.postMessage({ leave: id } satisfies FromFrame);
        reject(signal.reason);
      });
      const port = this.open();
      if (port === undefined) return reject(new ForecueError('network_error'));
      this.#pending.set(id, { resolve, reject });
      port.postMessage(question);
    });
    return {
      request_id: String(id),
      status: answer.status,
      completion: answer.completion,
      alternatives: answer.alternatives.slice(0, alternatives),
    };
  }

  /** The account's own door takes no reports. */
  async recordPredictionEvent(): Promise<void> {}

  #receive(message: FromWorker): void {
    if ('isOn' in message) {
      this.#onSwitch(message.isOn);
      return;
    }
    const pending = this.#pending.get(message.id);
    this.#pending.delete(message.id);
    if ('answer' in message) pending?.resolve(message.answer);
    else pending?.reject(new ForecueError(message.failure.code, message.failure));
  }
}
