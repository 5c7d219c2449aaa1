/** The members of Node's `IncomingMessage` and of Express's `Request` that `nodeHandler` uses. */
interface IncomingRequest extends AsyncIterable<Uint8Array> {
  method?: string | undefined;
  url?: string | undefined;
  originalUrl?: string;
  headers: Record<string, string | string[] | undefined>;
  /** Body parsed earlier, for example by `express.json()`. */
  body?: unknown;
}

/** The members of Node's `ServerResponse` that `nodeHandler` uses. */
interface OutgoingResponse {
  statusCode: number;
  headersSent: boolean;
  writableFinished: boolean;
  setHeader(name: string, value: string): unknown;
  appendHeader(name: string, value: string): unknown;
  write(chunk: Uint8Array): unknown;
  end(): unknown;
  destroy(): unknown;
  on(event: 'close', listener: () => void): unknown;
}

const BODY_BYTES_MAX = 1024 * 1024;

/**
 * Adapts a handler to Node: `app.use(nodeHandler(handler))` in Express, `nodeHandler(handler)(ctx.req, ctx.res)` in
 * Koa. If the handler fails, passes the error to `next`; without `next`, logs it and answers with a 500.
 */
export function nodeHandler(
  handler: (request: Request) => Promise<Response>,
): (request: IncomingRequest, response: OutgoingResponse, next?: (error: unknown) => void) => Promise<void> {
  return async (incoming, outgoing, next = (error) => answerWith500(outgoing, error)) => {
    const left = new AbortController();
    outgoing.on('close', () => outgoing.writableFinished || left.abort());
    try {
      const request = await requestOf(incoming, left.signal);
      const answer = request instanceof Response ? request : await handler(request);
      outgoing.statusCode = answer.status;
      // Sets headers one by one: `writeHead` with pairs fails once a framework has set a header. Appends cookies, so
      // that the framework's own cookies stay.
      for (const [name, value] of answer.headers)
        if (name === 'set-cookie') outgoing.appendHeader(name, value);
        else outgoing.setHeader(name, value);
      for await (const chunk of chunksOf(answer)) outgoing.write(chunk);
      outgoing.end();
    } catch (error) {
      if (left.signal.aborted) return;
      // Once headers are sent, the only way to report the error is to cut the connection.
      if (outgoing.headersSent) outgoing.destroy();
      else next(error);
    }
  };
}

function answerWith500(outgoing: OutgoingResponse, error: unknown): void {
  // biome-ignore lint/suspicious/noConsole: nobody else can report it
  console.error(error);
  outgoing.statusCode = 500;
  outgoing.end();
}

/** Returns the request, or an error response: 413 if the body is too large, 400 if `Request` refuses its arguments. */
async function requestOf(incoming: IncomingRequest, signal: AbortSignal): Promise<Request | Response> {
  const body = await bodyOf(incoming);
  if (body === undefined) return new Response(null, { status: 413 });
  const { method = 'GET', headers } = incoming;
  const path = incoming.originalUrl ?? incoming.url ?? '/';
  const headerPairs = Object.entries(headers).flatMap(([name, value]) =>
    [value ?? []].flat().map((one) => [name, one] as [string, string]),
  );
  try {
    return new Request(new URL(path, `http://${headers['host'] ?? 'localhost'}`), {
      method,
      headers: headerPairs.filter(([name]) => !name.startsWith(':')),
      signal,
      ...(body !== '' && method !== 'GET' && method !== 'HEAD' && { body }),
    });
  } catch {
    return new Response(null, { status: 400 });
  }
}

/** Returns undefined if the body is too large. */
async function bodyOf(incoming: IncomingRequest): Promise<string | undefined> {
  if (incoming.body !== undefined)
    return typeof incoming.body === 'string' ? incoming.body : JSON.stringify(incoming.body);
  const decoder = new TextDecoder();
  let size = 0;
  let text = '';
  for await (const chunk of incoming) {
    size += chunk.length;
    if (size > BODY_BYTES_MAX) return undefined;
    text += decoder.decode(chunk, { stream: true });
  }
  return text + decoder.decode();
}

async function* chunksOf({ body }: Response): AsyncGenerator<Uint8Array> {
  const reader = body?.getReader();
  for (;;) {
    const { done, value } = (await reader?.read()) ?? { done: true };
    if (done || value === undefined) return;
    yield value;
  }
}
