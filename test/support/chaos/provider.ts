import type { Random } from '../../../bench/memory/random.ts';
import {
  bySchema,
  delay,
  type FakeProvider,
  hang,
  ok,
  type ProviderCall,
  reset,
  type Step,
  status,
  structured,
  truncatedJson,
} from '../fake-provider.ts';
import { writeEpisode } from '../promotion.ts';
import { promptIn, proposeReplies } from '../replies.ts';

const SERVICE_MS = { least: 20, most: 120 };
/** Share of the calls that fail while nothing is wrong. */
export const FAILING = 0.02;
const SILENT = 0.03;
const FAILURES: Step[] = [
  status(500),
  status(429),
  hang(),
  reset(),
  truncatedJson(),
  delay(2500, status(500)),
];
/** Calls after which the fake forgets what it has kept of them. */
const KEPT_CALLS = 5000;

/**
 * A provider that fails as often as it is told to, and counts for itself: each suggestion ends with a number, by which
 * the stored answer is found to be that of this very call.
 */
export class CountingProvider {
  /** The mark in the question of each suggestion that was sent whole, by the number in it. */
  readonly suggestions = new Map<number, string>();
  /** The marks of questions that were answered without a suggestion. */
  readonly abstentions = new Set<string>();
  emptyAnswers = 0;
  calls = 0;
  /** Share of the calls that fail. */
  failing = FAILING;
  readonly #random: Random;

  constructor(provider: FakeProvider, random: Random) {
    this.#random = random;
    const step: Step = (response, call) => {
      if (provider.calls.length > KEPT_CALLS) {
        provider.reset();
        provider.respond(step);
      }
      return this.#answer(response, call);
    };
    provider.respond(step);
  }

  #answer(...[response, call]: Parameters<Step>): void | Promise<void> {
    this.calls += 1;
    const { least, most } = SERVICE_MS;
    const ms = least + (most - least) * this.#random.next();
    if (this.#random.next() < this.failing) return delay(ms, this.#random.pick(FAILURES))(response, call);
    return delay(ms, this.#step(call))(response, call);
  }

  #step(call: ProviderCall): Step {
    const number = this.calls;
    const mark = MARK.exec(questionIn(call))?.[1] ?? '';
    if (call.schema === 'prediction' && this.#random.next() < SILENT)
      return sent(ok({ continuation: '' }), () => {
        this.emptyAnswers += 1;
        this.abstentions.add(mark);
      });
    const suggestion = bySchema(
      {
        reply: proposeReplies([{ response: `Yes, as number ${number}` }]),
        episode: writeEpisode(),
        facts: structured({ facts: [] }),
      },
      ok({ continuation: ` the office as number ${number}` }),
    );
    return mark === '' ? suggestion : sent(suggestion, () => this.suggestions.set(number, mark));
  }
}

const MARK = /report (\d+)\b/;

/** Returns the number of the provider's call that made the text. */
export const numberIn = (text: string): number => Number(/as number (\d+)$/.exec(text)?.[1]);

function questionIn(call: ProviderCall): string {
  if (call.schema === 'prediction') return call.record.draft;
  return call.schema === 'reply' ? promptIn(call) : '';
}

/** Counts an answer once its last byte has been sent. */
const sent =
  (step: Step, count: () => unknown): Step =>
  (response, call) => {
    response.once('finish', count);
    return step(response, call);
  };
