import { abortable } from './abortable.ts';
import { ForecueError } from './errors.ts';
import type {
  PredictionEventRequest,
  PredictionEventResponse,
  PredictionRequest,
  PredictionResponse,
} from './generated/schemas.ts';
import { type V1Methods, v1Operations } from './generated/v1.ts';
import { callOf, methodsOf, type OperationCall } from './methods.ts';
import { checkCredential } from './session.ts';
import { type CallOptions, type ClientOptions, readJson, sleep, Transport } from './transport.ts';

export { type ErrorCode, type FieldFault, ForecueError, type Remedy } from './errors.ts';
export type * from './generated/schemas.ts';
export type { CallOptions, ClientOptions } from './transport.ts';

export interface AppClientOptions extends ClientOptions {
  /** The app's key, `fc_…`. Left out where the address is a relay of yours, as it must be in a browser. */
  appKey?: string;
}

/** A prediction as it is asked for: its id is made unless you bring one. */
export type PredictionInput = Omit<PredictionRequest, 'request_id'> & { request_id?: string };

/** Ending of a prediction that did not fail: a failure is a `ForecueError`. */
export type Prediction = PredictionResponse | { status: 'cancelled' | 'superseded'; request_id: string };

/** Fate of a prediction: its own id is made unless you bring one. */
export type PredictionEventInput = Omit<PredictionEventRequest, 'event_id'> & { event_id?: string };

/** The `/v1` interface: an app, on behalf of its users. */
export interface AppClient extends Omit<V1Methods, 'predict' | 'recordPredictionEvent'> {
  /**
   * Predicts what the person will type next. However often it is sent, it is one prediction, and costs one unit at most.
   * Aborted, it is cancelled on the server too.
   */
  predict(prediction: PredictionInput, options?: CallOptions): Promise<Prediction>;
  recordPredictionEvent(event: PredictionEventInput, options?: CallOptions): Promise<PredictionEventResponse>;
}

/** Repeated, it would begin another attempt. The server recognises all others by an id, or they change nothing. */
const NOT_REPEATABLE: readonly string[] = ['startConnection'] satisfies (keyof V1Methods)[];
/** Also sent by a page that goes away. */
const KEEPALIVE_CALLS: readonly string[] = [
  'cancelPrediction',
  'recordPredictionEvent',
] satisfies (keyof V1Methods)[];
/** A cancellation may overtake its prediction: then it is tried again after up to 1.6 s. */
const OVERTAKEN_PAUSES_MS = [100, 200, 400, 800, 1600];

/** Throws a `TypeError` for an address that cannot be one, and for a key in a browser. */
export function createAppClient(options: AppClientOptions): AppClient {
  const { appKey } = options;
  if (appKey !== undefined && 'document' in globalThis)
    throw new TypeError('appKey: an app key belongs on a server; in a browser use a relay (forecue/connect)');
  if (appKey !== undefined) checkCredential('appKey', appKey);
  const headers: Record<string, string> = appKey === undefined ? {} : { authorization: `Bearer ${appKey}` };
  const transport = new Transport(options, { headers: () => headers });
  const send = <T>({ name, method, path, body, options }: OperationCall, extra = {}) => {
    const repeatable = !NOT_REPEATABLE.includes(name);
    const keepalive = KEEPALIVE_CALLS.includes(name) && 'document' in globalThis;
    const request = { method, path, body, repeatable, keepalive, headers: extra };
    return transport.send<T>(request, options, readJson);
  };
  const methods = methodsOf<V1Methods>(v1Operations, send);

  return {
    ...methods,
    recordPredictionEvent: (event, options) =>
      methods.recordPredictionEvent({ event_id: crypto.randomUUID(), ...event }, options),
    async predict(prediction, { signal, ...options } = {}) {
      signal?.throwIfAborted();
      const body = { request_id: crypto.randomUUID(), ...prediction };
      const hangUp = new AbortController();
      const call = callOf(v1Operations, 'predict', [body, { ...options, signal: hangUp.signal }]);
      // An attempt whose answer was lost still runs: the next one waits for the same answer.
      const ended = send<PredictionResponse>(call, { prefer: 'wait' }).catch((error) =>
        endingOf(error, body.request_id),
      );
      if (signal === undefined) return ended;
      return abortable(ended, signal, async () => {
        await cancel(methods, body, ended);
        hangUp.abort();
      });
    },
  };
}

function endingOf(error: unknown, request_id: string): Prediction {
  const code = error instanceof ForecueError ? error.code : undefined;
  if (code === 'prediction_cancelled') return { status: 'cancelled', request_id };
  if (code === 'prediction_superseded') return { status: 'superseded', request_id };
  throw error;
}

/** Cancels a prediction whose request is under way, until one of both has reached the server. */
async function cancel(
  { cancelPrediction }: V1Methods,
  { request_id, user_id }: PredictionRequest,
  ended: Promise<unknown>,
): Promise<void> {
  let isOver = false;
  const over = ended.then(
    () => true,
    () => true,
  );
  for (const pause of OVERTAKEN_PAUSES_MS) {
    const unknown = await cancelPrediction(request_id, { user_id }).then(
      () => false,
      (error) => error instanceof ForecueError && error.code === 'not_found',
    );
    if (!unknown || isOver) return;
    isOver = await Promise.race([over, sleep(pause).then(() => false)]);
  }
}
