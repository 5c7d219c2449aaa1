import type { ServerContext } from '@modelcontextprotocol/server';

const EVERY_MS = 1000;

/** Reports each second, to a caller that asked for progress, how long its call has run, so that it does not give up. */
export async function withProgress<T>({ mcpReq }: ServerContext, call: Promise<T>): Promise<T> {
  const { progressToken } = mcpReq._meta ?? {};
  if (progressToken === undefined) return call;
  const since = performance.now();
  const timer = setInterval(() => {
    const progress = Math.round((performance.now() - since) / 1000);
    const params = { progressToken, progress, message: 'Seconds of waiting for Forecue' };
    // A caller that is gone needs none.
    mcpReq.notify({ method: 'notifications/progress', params }).catch(() => {});
  }, EVERY_MS);
  return call.finally(() => clearInterval(timer));
}
