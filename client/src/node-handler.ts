/** The parts of Node's `IncomingMessage`, with Express's additions, that are used. */
interface IncomingRequest extends AsyncIterable<Uint8Array> {
  method?: string | undefined;
  url?: string | undefined;
  originalUrl?: string;
  headers: Record<string, string | string[] | undefined>;
  /** Body parsed earlier, by `express.json()`. */
  body?: unknown;
}

/** The parts of Node's `ServerResponse` that are used. */
interface OutgoingResponse {
  statusCode: number;
  writableFinished: boolean;
  setHeader(name: string, value: string): unknown;
  appendHeader(name: string, value: string): unknown;
  write(chunk: Uint8Array): unknown;
  end(): unknown;
  on(event: 'close', listener: () => void): unknown;
}

const BODY_MAX = 1024 * 1024;

/**
 * Makes a handler usable in Node servers: `app.use(nodeHandler(handler))` in Express, `nodeHandler(handler)(ctx.req,
 * ctx.res)` in Koa.
 */
export function nodeHandler(
  handler: (request: Request) => Promise<Response>,
): (request: IncomingRequest, response: OutgoingResponse) => Promise<void> {
  return async (incoming, outgoing) => {
    const left = new AbortController();
    outgoing.on('close', () => outgoing.writableFinished || left.abort());
    const body = await bodyOf(incoming);
    const answer =
      body === undefined
        ? new Response(null, { status: 413 })
        : await handler(requestOf(incoming, body, left.signal));
    outgoing.statusCode = answer.status;
    // `writeHead` with pairs fails once a framework has set a header. Its cookies stay.
    for (const [name, value] of answer.headers)
      if (name === 'set-cookie') outgoing.appendHeader(name, value);
      else outgoing.setHeader(name, value);
    for await (const chunk of chunksOf(answer)) outgoing.write(chunk);
    outgoing.end();
  };
}

function requestOf(incoming: IncomingRequest, body: string, signal: AbortSignal): Request {
  const { method = 'GET', headers } = incoming;
  const path = incoming.originalUrl ?? incoming.url ?? '/';
  const listed = Object.entries(headers).flatMap(([name, value]) =>
    [value ?? []].flat().map((one) => [name, one] as [string, string]),
  );
  return new Request(new URL(path, `http://${headers['host'] ?? 'localhost'}`), {
    method,
    headers: listed.filter(([name]) => !name.startsWith(':')),
    signal,
    ...(body !== '' && method !== 'GET' && method !== 'HEAD' && { body }),
  });
}

/** Reads the body as text; undefined if it is too large. */
async function bodyOf(incoming: IncomingRequest): Promise<string | undefined> {
  if (incoming.body !== undefined)
    return typeof incoming.body === 'string' ? incoming.body : JSON.stringify(incoming.body);
  const decoder = new TextDecoder();
  let size = 0;
  let text = '';
  for await (const chunk of incoming) {
    size += chunk.length;
    if (size > BODY_MAX) return undefined;
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
