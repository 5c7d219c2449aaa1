import type { ServerResponse } from 'node:http';
import {
  type AuthInfo,
  type Server,
  WebStandardStreamableHTTPServerTransport,
} from '@modelcontextprotocol/server';

/** Error of a cancelled request, as in the Language Server Protocol; JSON-RPC has no code for it. */
const CANCELLED_ERROR = { code: -32800, message: 'Request cancelled' };

interface Circumstances {
  authInfo: AuthInfo;
  /** A message, or a batch. */
  parsedBody: unknown;
  /** Names the session, differently for each credential. */
  session: string;
  /** Id of the session that the request opens. */
  newId?: string;
  /** If it closes before the answer, the calls are cancelled. */
  res: ServerResponse;
  /** False if the client accepts only a whole answer. */
  isStreamed: boolean;
}

/**
 * Answers the requests of sessions, each by a server of its own. A client cancels a call by its id, in another request.
 */
export class RunningCalls {
  readonly #cancellers = new Map<string, () => void>();

  async answer(
    server: Server,
    request: Request,
    { session, newId, res, isStreamed, ...options }: Circumstances,
  ): Promise<Response> {
    const transport = new WebStandardStreamableHTTPServerTransport({
      ...(newId !== undefined && { sessionIdGenerator: () => newId }),
      enableJsonResponse: !isStreamed,
    });
    await server.connect(transport);
    const canEndStream = isStreamed && !Array.isArray(options.parsedBody);
    const cancellers = new Map<string, () => void>();
    for (const message of [options.parsedBody].flat() as (Message | null)[]) {
      const { id, method, params } = message ?? {};
      if (method === 'notifications/cancelled') this.#cancellers.get(nameOf(session, params?.requestId))?.();
      else if (typeof id === 'string' || typeof id === 'number')
        cancellers.set(nameOf(session, id), () => cancelCall(transport, id, canEndStream));
    }
    this.#keepUntilClosed(cancellers, res);
    return transport.handleRequest(request, options);
  }

  #keepUntilClosed(cancellers: ReadonlyMap<string, () => void>, res: ServerResponse): void {
    for (const [name, cancel] of cancellers) this.#cancellers.set(name, cancel);
    res.once('close', () => {
      for (const [name, cancel] of cancellers) {
        if (this.#cancellers.get(name) === cancel) this.#cancellers.delete(name);
        // Does nothing if the call was answered.
        cancel();
      }
    });
  }
}

interface Message {
  id?: unknown;
  method?: unknown;
  params?: { requestId?: unknown };
}

function nameOf(session: string, id: unknown): string {
  return JSON.stringify([session, id]);
}

/** Aborts the call, and ends its answer, which the SDK leaves open: without a message if `canEndStream`. */
function cancelCall(
  transport: WebStandardStreamableHTTPServerTransport,
  requestId: string | number,
  canEndStream: boolean,
): void {
  transport.onmessage?.({ jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId } });
  if (canEndStream) transport.closeSSEStream(requestId);
  // Fails if the call was answered.
  else transport.send({ jsonrpc: '2.0', id: requestId, error: CANCELLED_ERROR }).catch(() => {});
}
