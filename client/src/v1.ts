import { abortable } from './abortable.ts';
import { alternativesIn } from './alternatives.ts';
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
  /** Key of the app, `fc_…`. Leave it out if the address is a relay of yours, as you must in a browser. */
  appKey?: string | undefined;
}

/** Request for a prediction; its id is generated unless you provide one. */
export type PredictionInput = Omit<PredictionRequest, 'request_id'> & { request_id?: string | undefined };

/** Outcome of a prediction that did not fail: a failure is a `ForecueError`. */
export type Prediction =
  | (PredictionResponse & {
      /** Other completions, best first, if they were asked for and there are any. They come in a header of the answer. */
      alternatives?: string[];
    })
  | { status: 'cancelled' | 'superseded'; request_id: string };

export interface PredictOptions extends CallOptions {
  /** Number of other completions to ask for, 0 by default. They cost no unit. */
  alternatives?: number;
}

/** Event that reports what became of a prediction. The event's id is generated unless you provide one. */
export type PredictionEventInput = Omit<PredictionEventRequest, 'event_id'> & {
  event_id?: string | undefined;
};

export interface EventOptions extends CallOptions {
  /** With `submitted`: the share of the accepted completion that is still in the message, from 0 to 1. */
  retained?: number;
}

/** Client for an app (`/v1`), on behalf of its users. */
export interface AppClient extends Omit<V1Methods, 'predict' | 'recordPredictionEvent'> {
  /**
   * Predicts what the person will type next. However often the client has to send the call, it is one prediction, and
   * costs at most one unit. Aborting the call also cancels the prediction on the server.
   */
  predict(prediction: PredictionInput, options?: PredictOptions): Promise<Prediction>;
  recordPredictionEvent(
    event: PredictionEventInput,
    options?: EventOptions,
  ): Promise<PredictionEventResponse>;
}

/** Calls that do their work again if they are sent twice. All other calls carry an id, or change nothing. */
const UNREPEATABLE_CALLS: readonly string[] = ['startConnection'] satisfies (keyof V1Methods)[];
/** Calls that are sent even while the page is closing. */
const KEEPALIVE_CALLS: readonly string[] = [
  'cancelPrediction',
  'recordPredictionEvent',
] satisfies (keyof V1Methods)[];
/** Pauses between attempts to cancel: a cancellation may reach the server before its prediction does. */
const CANCEL_RETRY_PAUSES_MS = [100, 200, 400, 800, 1600];

/** Creates a client for an app. Throws a `TypeError` for an invalid address or key, and for any key in a browser. */
export function createAppClient(options: AppClientOptions): AppClient {
  const { appKey } = options;
  if (appKey !== undefined && 'document' in globalThis)
    throw new TypeError('appKey: an app key belongs on a server; in a browser use a relay (forecue/connect)');
  if (appKey !== undefined) checkCredential('appKey', appKey);
  const headers: Record<string, string> = appKey === undefined ? {} : { authorization: `Bearer ${appKey}` };
  const transport = new Transport(options, { headers: () => headers });
  const send = <T>({ name, method, path, body, options }: OperationCall, extra = {}) => {
    const repeatable = !UNREPEATABLE_CALLS.includes(name);
    const keepalive = KEEPALIVE_CALLS.includes(name) && 'document' in globalThis;
    const request = { method, path, body, repeatable, keepalive, headers: extra };
    return transport.send<T>(request, options, readJson);
  };
  const methods = methodsOf<V1Methods>(v1Operations, send);

  return {
    ...methods,
    recordPredictionEvent: (event, { retained, ...options } = {}) => {
      const body = { ...event, event_id: event.event_id ?? crypto.randomUUID() };
      const call = callOf(v1Operations, 'recordPredictionEvent', [body, options]);
      return send(call, retained === undefined ? {} : { 'forecue-retained': `${retained}` });
    },
    async predict(prediction, { signal, alternatives: asked = 0, ...options } = {}) {
      signal?.throwIfAborted();
      let alternatives: string[] = [];
      const onResponse = (response: Response) => {
        alternatives = alternativesIn(response.headers);
        options.onResponse?.(response);
      };
      const body = { ...prediction, request_id: prediction.request_id ?? crypto.randomUUID() };
      const disconnect = new AbortController();
      const call = callOf(v1Operations, 'predict', [
        body,
        { ...options, onResponse, signal: disconnect.signal },
      ]);
      // If the connection breaks, the prediction may still run. `wait` makes a retry wait for its answer.
      const prefer = asked > 0 ? `wait, alternatives=${asked}` : 'wait';
      const outcome = send<PredictionResponse>(call, { prefer }).then(
        (answer) => (alternatives.length > 0 ? { ...answer, alternatives } : answer),
        (error) => outcomeOfError(error, body.request_id),
      );
      if (signal === undefined) return outcome;
      return abortable(outcome, signal, async () => {
        await cancel(methods, body, outcome).catch(() => {});
        disconnect.abort();
      });
    },
  };
}

function outcomeOfError(error: unknown, request_id: string): Prediction {
  const code = error instanceof ForecueError ? error.code : undefined;
  if (code === 'prediction_cancelled') return { status: 'cancelled', request_id };
  if (code === 'prediction_superseded') return { status: 'superseded', request_id };
  throw error;
}

/** Cancels a prediction. Tries a few times, until the server knows the prediction or the request for it has ended. */
async function cancel(
  { cancelPrediction }: V1Methods,
  { request_id, user_id }: PredictionRequest,
  outcome: Promise<unknown>,
): Promise<void> {
  let isOver = false;
  const settled = outcome.then(
    () => true,
    () => true,
  );
  for (const pause of CANCEL_RETRY_PAUSES_MS) {
    const isUnknown = await cancelPrediction(request_id, { user_id }).then(
      () => false,
      (error) => error instanceof ForecueError && error.code === 'not_found',
    );
    if (!isUnknown || isOver) return;
    isOver = await Promise.race([settled, sleep(pause).then(() => false)]);
  }
}
