import { setTimeout as sleep } from 'node:timers/promises';
import type { Admission, Admitted } from '../shared/db/stores/predictions/admit.ts';
import type { Ending } from '../shared/db/stores/predictions/end.ts';
import { isEnded, type Outcome } from '../shared/domain/prediction.ts';
import { AppError } from '../shared/errors/app-error.ts';
import type { Dispatched } from '../shared/jobs/dispatch.ts';
import type { WakeUps } from '../shared/jobs/wake-ups.ts';
import type { Log } from '../shared/log.ts';
import { CallersByRequest } from './callers.ts';
import type { LoadMonitor } from './load-monitor.ts';
import type { Place, WaitingRoom } from './waiting-room.ts';

/** How soon the database is asked again whether a deadline is over. */
const CLOCK_GRACE_MS = 50;

/** The statements and messages that a prediction's way through the ingress is made of; each shares its round trips. */
export interface PredictionSteps {
  admit(admission: Admission): Promise<Admitted>;
  load: Pick<LoadMonitor, 'admitted' | 'queueAway' | 'served' | 'retryAfterS'>;
  dispatch(admitted: Dispatched): Promise<void>;
  end(ending: Ending): Promise<boolean>;
  detach(id: string): Promise<{ id: string; appId: string; month: string } | undefined>;
  find(appId: string, requestId: string): Promise<Outcome | undefined>;
  room: WaitingRoom;
  wakeUps: Pick<WakeUps, 'send'>;
  log: Log;
  /** When a caller is told that the service is away, should a database that has frozen tell nothing. */
  answerWithinMs: number;
}

/** A validated request, before anything is known of the load. */
export type PredictionCall = Omit<Admission, 'overloaded'>;

interface Answered {
  outcome: Outcome;
  replayed: boolean;
}

/** A prediction's way through the ingress: admit, queue, wait; and what a caller may do to one that is under way. */
export class PredictionService {
  readonly #steps: PredictionSteps;
  readonly #callers = new CallersByRequest();

  constructor(steps: PredictionSteps) {
    this.#steps = steps;
  }

  /**
   * Runs a request, or joins the run that it repeats, and resolves with its outcome when the row has ended.
   * `replayed` says that this call did not start the work. Rejects with the code of whatever refused it.
   */
  async predict(request: PredictionCall, gone: AbortSignal): Promise<Answered> {
    const name = nameOf(request);
    this.#callers.enter(name);
    const { promise: late, reject } = Promise.withResolvers<never>();
    const limit = setTimeout(() => reject(new AppError('service_unavailable')), this.#steps.answerWithinMs);
    try {
      return await Promise.race([this.#admitAndWait(request, gone), late]);
    } finally {
      clearTimeout(limit);
      const left = this.#callers.leave(name);
      if (left !== undefined) void this.#detach(left);
    }
  }

  async #admitAndWait(request: PredictionCall, gone: AbortSignal): Promise<Answered> {
    const retryAfterS = this.#steps.load.retryAfterS(request.appId);
    const admission = { ...request, overloaded: retryAfterS !== undefined };
    const { outcome: decision, predictionId: id, ...admitted } = await this.#steps.admit(admission);
    this.announce(admitted.superseded);
    switch (decision) {
      case 'ended':
        return { outcome: await this.#find(admission), replayed: true };
      case 'attached':
        return { outcome: await this.#wait(id, admission, admitted.leftMs, gone), replayed: true };
      case 'admitted':
        return { outcome: await this.#run(id, admission, admitted, gone), replayed: false };
      case 'overloaded':
        throw new AppError(decision, { retryAfterS: retryAfterS ?? 1 });
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
    admitted: Pick<Admitted, 'attempt' | 'leftMs' | 'turn'>,
    gone: AbortSignal,
  ): Promise<Outcome> {
    const waiting = this.#wait(id, admission, admitted.leftMs, gone);
    this.#steps.load.admitted(admission.appId);
    void this.#queue(id, admission, admitted);
    const outcome = await waiting;
    this.#steps.load.served(outcome.providerMs);
    return outcome;
  }

  /** The outcome, as soon as the row has one; at the deadline by ending it. A caller who goes away leaves word. */
  async #wait(id: string, admission: Admission, leftMs: number, gone: AbortSignal): Promise<Outcome> {
    const place = this.#steps.room.enter(id);
    const deadline = setTimeout(() => void this.#expire(place, admission), Math.max(0, leftMs));
    const leave = () => place.fail(new AppError('prediction_cancelled', { cause: 'the caller went away' }));
    gone.addEventListener('abort', leave);
    if (gone.aborted) leave();
    let ended = false;
    try {
      const outcome = await place.ended;
      ended = true;
      return outcome;
    } finally {
      clearTimeout(deadline);
      gone.removeEventListener('abort', leave);
      place.leave();
      if (!ended) this.#callers.giveUp(nameOf(admission), id);
    }
  }

  /** The deadline is over: ends the row, unless somebody ended it before, and tells the caller what it says. */
  async #expire(place: Place, admission: Admission): Promise<void> {
    try {
      for (let found = await this.#find(admission); ; found = await this.#find(admission)) {
        if (isEnded(found)) return place.tell(found);
        const ending = { guard: 'overdue', state: 'failed', code: 'prediction_timeout' } as const;
        // The database's clock decides; by ours it may still have a moment.
        if (await this.#steps.end({ ...found, ...ending })) this.announce([found.id]);
        else await sleep(CLOCK_GRACE_MS);
      }
    } catch (error) {
      place.fail(error);
    }
  }

  /** A queue that takes no job ends the prediction now, instead of letting its caller wait for the deadline. */
  async #queue(
    id: string,
    admission: Admission,
    { attempt, turn }: Pick<Admitted, 'attempt' | 'turn'>,
  ): Promise<void> {
    try {
      await this.#steps.dispatch({ id, appId: admission.appId, turn });
    } catch (error) {
      this.#steps.log.warn({ err: error, prediction: id }, 'queue out of reach');
      this.#steps.load.queueAway();
      await this.#refuse(id, admission, attempt);
    }
  }

  async #refuse(id: string, admission: Admission, attempt: number): Promise<void> {
    try {
      const found = await this.#find(admission);
      const ending = { guard: 'queued', attempt, state: 'failed', code: 'service_unavailable' } as const;
      if (await this.#steps.end({ ...found, ...ending })) this.announce([id]);
    } catch (error) {
      this.#steps.log.warn({ err: error, prediction: id }, 'the reaper will queue or end it');
    }
  }

  async #detach(id: string): Promise<void> {
    try {
      const unwanted = await this.#steps.detach(id);
      if (unwanted !== undefined) await this.#cancelLive(unwanted);
    } catch (error) {
      this.#steps.log.warn({ err: error, prediction: id }, 'could not detach');
    }
  }

  async #cancelLive(live: { id: string; appId: string; month: string }): Promise<void> {
    const { id, appId, month } = live;
    const ending = { guard: 'live', state: 'cancelled', code: 'prediction_cancelled' } as const;
    if (await this.#steps.end({ id, appId, month, ...ending })) this.announce([id]);
  }

  /** Tells everybody who may wait for these rows, or run them, to look at them: somebody else ended them. */
  announce(ids: readonly string[]): void {
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

/** A request's name among those of all apps; no id has a space. */
function nameOf({ appId, requestId }: PredictionCall): string {
  return `${appId} ${requestId}`;
}
