import assert from 'node:assert/strict';
import type { CancelResponse, PredictionResponse } from '../../shared/schemas/predictions.ts';
import type { UsageResponse } from '../../shared/schemas/usage.ts';
import { assertPublished, type Received } from './client-contract.ts';
import { listFault } from './fuzz/answer-checks.ts';

export interface Reply<Body> {
  status: number;
  headers: Headers;
  text: string;
  body: Body;
  /** Error code; undefined on success and on 422. */
  code: string | undefined;
  tookMs: number;
}

export interface Options {
  headers?: Record<string, string>;
  /** The ingress to ask instead of the client's own. */
  at?: { url: string };
  signal?: AbortSignal | undefined;
}

/** Calls an ingress with a credential in `Authorization`. */
export class Client {
  readonly url: string;
  readonly #authorization: string;

  constructor(url: string, credential: string) {
    this.url = url;
    this.#authorization = `Bearer ${credential}`;
  }

  request<Body>(
    method: string,
    path: string,
    body?: object | string,
    { headers = {}, at = this, signal }: Options = {},
  ): Promise<Reply<Body>> {
    const all = { authorization: this.#authorization, ...headers };
    return call(method, at.url + path, body, { headers: all, signal });
  }

  get<Body>(path: string, options?: Options): Promise<Reply<Body>> {
    return this.request('GET', path, undefined, options);
  }

  post<Body>(path: string, body?: object | string, options?: Options): Promise<Reply<Body>> {
    return this.request('POST', path, body, options);
  }
}

export class AppClient extends Client {
  readonly id: string;
  readonly key: string;

  constructor(id: string, key: string, url: string) {
    super(url, key);
    this.id = id;
    this.key = key;
  }

  predict(body: object | string, options: Options = {}): Promise<Reply<PredictionResponse>> {
    return this.post('/v1/predictions', body, options);
  }

  cancel(requestId: string, userId: string, options: Options = {}): Promise<Reply<CancelResponse>> {
    return this.post(`/v1/predictions/${requestId}/cancel`, { user_id: userId }, options);
  }

  usage(month?: string): Promise<Reply<UsageResponse>> {
    return this.get(`/v1/usage${month === undefined ? '' : `?month=${month}`}`);
  }
}

/** Makes one HTTP call, whose answer must be as published. A text body is sent as it is. */
export async function call<Body>(
  method: string,
  url: string,
  body?: object | string,
  { headers = {}, signal }: Pick<Options, 'headers' | 'signal'> = {},
): Promise<Reply<Body>> {
  const since = performance.now();
  const response = await fetch(url, {
    method,
    headers: { 'content-type': 'application/json', ...headers },
    ...(body && { body: typeof body === 'object' ? JSON.stringify(body) : body }),
    ...(signal && { signal }),
  });
  const text = await response.text();
  const tookMs = performance.now() - since;
  assertPublished({ ...describeResponse(method, url, response), text });
  if (response.status === 422 && typeof body === 'object')
    assert.equal(listFault(JSON.parse(JSON.stringify(body)), text), undefined, text);
  const isStream = /^(text\/event-stream|application\/x-ndjson)/.test(
    response.headers.get('content-type') ?? '',
  );
  const parsed = text === '' || isStream ? undefined : JSON.parse(text);
  return {
    status: response.status,
    headers: response.headers,
    text,
    body: parsed,
    code: parsed?.detail?.code,
    tookMs,
  };
}

/** Works like `fetch`, but waits for the whole answer, and rejects if it is not as published. */
export async function fetchPublished(url: string, init: RequestInit = {}): Promise<Response> {
  const response = await fetch(url, init);
  assertPublished({
    ...describeResponse(init.method ?? 'GET', url, response),
    text: await response.clone().text(),
  });
  return response;
}

function describeResponse(
  method: string,
  url: string,
  { status, headers }: Response,
): Omit<Received, 'text'> {
  return { method, url: new URL(url).href, status, type: headers.get('content-type') };
}

let drafts = 0;

/** Builds a valid request that differs from all others, overridden by `part`. */
export function predictionBody<Part extends object>(part?: Part) {
  drafts += 1;
  return {
    request_id: `r-${process.pid}-${drafts}`,
    user_id: 'u-1',
    session_id: `s-${process.pid}-${drafts}`,
    mode: 'complete_draft',
    draft: { text: `Please send the report number ${drafts} to `, revision: 1 },
    context_revision: 'c-1',
    ...part,
  };
}
