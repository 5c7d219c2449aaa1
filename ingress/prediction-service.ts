import { setTimeout as sleep } from 'node:timers/promises';
import type { Admission, Admitted } from '../shared/db/stores/predictions/admit.ts';
import type { Ending } from '../shared/db/stores/predictions/end.ts';
import { isEnded, type Outcome } from '../shared/domain/prediction.ts';
import { AppError } from '../shared/errors/app-error.ts';
import type { Dispatched } from '../shared/jobs/dispatch.ts';
import type { WakeUps } from '../shared/jobs/wake-ups.ts';
import type { Log } from '../shared/log.ts';
import type { WaitingRoom } from './waiting-room.ts';

/** The statements and messages that a prediction's way through the ingress is made of; each shares its round trips. */
export interface PredictionSteps {
  admit(admission: Admission): Promise<Admitted>;
  dispatch(admitted: Dispatched): Promise<void>;
  end(ending: Ending): Promise<boolean>;
  detach(id: string): Promise<{ id: string; appId: string; month: string } | undefined>;
  find(appId: string, requestId: string): Promise<Outcome | undefined>;
  room: WaitingRoom;
  wakeUps: Pick<WakeUps, 'send'>;
  log: Log;
}

/** A prediction's way through the ingress: admit, queue, wait; and what a caller may do to one that is under way. */
export class PredictionService {
  readonly #steps: PredictionSteps;

  constructor(steps: PredictionSteps) {
    this.#steps = steps;
  }

  /**
   * Runs a request, or joins the run that it repeats, and resolves with its outcome when the row has ended.
   * `replayed` says that this call did not start the work. Rejects with the code of whatever refused it.
   */
  async predict(admission: Admission, gone: AbortSignal): Promise<{ outcome: Outcome; replayed: boolean }> {
    const { outcome: decision, predictionId: id, ...admitted } = await this.#steps.admit(admission);
    this.#announce(admitted.superseded);
    switch (decision) {
      case 'ended':
        return { outcome: await this.#find(admission), replayed: true };
      case 'attached':
        return { outcome: await this.#wait(id, admission, admitted.leftMs, gone), replayed: true };
      case 'admitted':
        return { outcome: await this.#run(id, admission, admitted, gone), replayed: false };
      default:
        throw new AppError(decision);
    }
  }

  /** Cancels what still runs; resolves with what has become of the prediction, cancelled or ended before. */
  async cancel(appId: string, requestId: string, userId: string): Promise<Outcome> {
    const found = await this.#steps.find(appId, requestId);
    if (found === undefined) throw new AppError('not_found');
    if (found.userId !== userId) throw new AppError('access_denied');
    if (isEnded(found)) return found;
    await this.#cancelLive(found);
    // Whoever ended it first, the row says so now.
    return this.cancel(appId, requestId, userId);
  }

  async #run(
    id: string,
    admission: Admission,
    admitted: Pick<Admitted, 'attempt' | 'leftMs'>,
    gone: AbortSignal,
  ) {
    const waiting = this.#wait(id, admission, admitted.leftMs, gone);
    void this.#queue(id, admission, admitted.attempt);
    return waiting;
  }

  /** The outcome, as soon as the row has one; at the deadline by ending it. A caller who goes away leaves word. */
  async #wait(id: string, admission: Admission, leftMs: number, gone: AbortSignal): Promise<Outcome> {
    const place = this.#steps.room.enter(id);
    const done = new AbortController();
    let ended = false;
    try {
      const outcome = await Promise.race([
        place.ended,
        this.#atDeadline(admission, leftMs, done.signal),
        aborted(gone, done.signal),
      ]);
      ended = true;
      return outcome;
    } finally {
      done.abort();
      if (place.leave() && !ended) this.#detach(id);
    }
  }

  async #atDeadline(admission: Admission, leftMs: number, done: AbortSignal): Promise<Outcome> {
    await sleep(Math.max(0, leftMs), undefined, { signal: done });
    for (;;) {
      const found = await this.#find(admission);
      if (isEnded(found)) return found;
      // The database's clock decides; by ours it may still have a moment.
      if (
        await this.#steps.end({ ...found, guard: 'overdue', state: 'failed', code: 'prediction_timeout' })
      ) {
        this.#announce([found.id]);
      } else {
        await sleep(50, undefined, { signal: done });
      }
    }
  }

  /** A queue that takes no job ends the prediction now, instead of letting its caller wait for the deadline. */
  async #queue(id: string, admission: Admission, attempt: number): Promise<void> {
    try {
      await this.#steps.dispatch({ id, appId: admission.appId });
    } catch (error) {
      this.#steps.log.warn({ err: error, prediction: id }, 'queue out of reach');
      await this.#refuse(id, admission, attempt);
    }
  }

  async #refuse(id: string, admission: Admission, attempt: number): Promise<void> {
    try {
      const found = await this.#find(admission);
      const ending = { guard: 'queued', attempt, state: 'failed', code: 'service_unavailable' } as const;
      if (await this.#steps.end({ ...found, ...ending })) this.#announce([id]);
    } catch (error) {
      this.#steps.log.warn({ err: error, prediction: id }, 'the reaper will queue or end it');
    }
  }

  #detach(id: string): void {
    this.#steps
      .detach(id)
      .then((left) => left && this.#cancelLive(left))
      .catch((error: unknown) => this.#steps.log.warn({ err: error, prediction: id }, 'could not detach'));
  }

  async #cancelLive(live: { id: string; appId: string; month: string }): Promise<void> {
    const { id, appId, month } = live;
    const ending = { guard: 'live', state: 'cancelled', code: 'prediction_cancelled' } as const;
    if (await this.#steps.end({ id, appId, month, ...ending })) this.#announce([id]);
  }

  /** Tells everybody who may wait for these rows, or run them, to look at them. */
  #announce(ids: readonly string[]): void {
    if (ids.length === 0) return;
    this.#steps.room.wake(ids);
    this.#steps.wakeUps.send('ended', ids);
    this.#steps.wakeUps.send('cancel', ids);
  }

  async #find({ appId, requestId }: Admission): Promise<Outcome> {
    const found = await this.#steps.find(appId, requestId);
    // Only a tombstone's end, 35 days on, takes a row away.
    if (found === undefined) throw new AppError('recovery_window_expired');
    return found;
  }
}

function aborted(gone: AbortSignal, done: AbortSignal): Promise<never> {
  const { promise, reject } = Promise.withResolvers<never>();
  const leave = () => reject(new AppError('prediction_cancelled', { cause: 'the caller went away' }));
  if (gone.aborted) leave();
  else gone.addEventListener('abort', leave, { once: true, signal: done });
  return promise;
}
