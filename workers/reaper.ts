import type { Ending } from '../shared/db/stores/predictions/end.ts';
import type { Doomed, Requeued } from '../shared/db/stores/predictions/reap.ts';
import type { WakeUps } from '../shared/jobs/wake-ups.ts';
import type { Log } from '../shared/log.ts';

const REAP_EVERY_MS = 1000;
const FORGET_EVERY_MS = 60_000;

export interface ReaperSteps {
  takeOver(): Promise<Requeued[]>;
  forgotten(): Promise<Requeued[]>;
  doomed(): Promise<Doomed[]>;
  end(ending: Ending): Promise<boolean>;
  eraseTexts(): Promise<number>;
  forget(): Promise<number>;
  dispatch(prediction: Requeued): Promise<void>;
  wakeUps: Pick<WakeUps, 'send'>;
  log: Log;
}

/**
 * Makes right, once a second, what a process that died or a message that was lost left behind. Any number of
 * copies may run: each step is one statement that skips what another copy has in hand.
 */
export class Reaper {
  readonly #steps: ReaperSteps;
  readonly #timer: NodeJS.Timeout;
  #round: Promise<void> | undefined;
  #forgotAt = Number.NEGATIVE_INFINITY;

  constructor(steps: ReaperSteps) {
    this.#steps = steps;
    this.#timer = setInterval(() => {
      this.#round ??= this.#reap().finally(() => {
        this.#round = undefined;
      });
    }, REAP_EVERY_MS);
  }

  async close(): Promise<void> {
    clearInterval(this.#timer);
    await this.#round;
  }

  async #reap(): Promise<void> {
    await this.#try('end what is over', () => this.#endDoomed());
    await this.#try('take over', async () => this.#queue('taken over', await this.#steps.takeOver()));
    await this.#try('queue again', async () => this.#queue('queued again', await this.#steps.forgotten()));
    await this.#try('erase', () => this.#steps.eraseTexts());
    if (performance.now() - this.#forgotAt < FORGET_EVERY_MS) return;
    this.#forgotAt = performance.now();
    await this.#try('forget', () => this.#steps.forget());
  }

  /** One step's failure does not keep the others from their work; the next round tries it again. */
  async #try(name: string, step: () => Promise<unknown>): Promise<void> {
    try {
      await step();
    } catch (error) {
      this.#steps.log.warn({ err: error, step: name }, 'reaper');
    }
  }

  async #endDoomed(): Promise<void> {
    const doomed = await this.#steps.doomed();
    const ended = await Promise.all(doomed.map((one) => this.#steps.end({ ...one, ...endOf(one) })));
    const ids = doomed.filter((_, place) => ended[place]).map(({ id }) => id);
    if (ids.length === 0) return;
    this.#steps.wakeUps.send('ended', ids);
    this.#steps.wakeUps.send('cancel', ids);
  }

  async #queue(what: string, predictions: Requeued[]): Promise<void> {
    if (predictions.length === 0) return;
    this.#steps.log.info({ count: predictions.length }, what);
    await Promise.all(predictions.map((one) => this.#steps.dispatch(one)));
  }
}

function endOf({ guard }: Doomed) {
  switch (guard) {
    case 'overdue':
      return { state: 'failed', code: 'prediction_timeout' } as const;
    case 'abandoned':
      return { state: 'failed', code: 'abandoned' } as const;
    case 'detached':
      return { state: 'cancelled', code: 'prediction_cancelled' } as const;
  }
}
