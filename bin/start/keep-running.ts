import { setTimeout as sleep } from 'node:timers/promises';
import { Backoff, whenAfter } from './backoff.ts';
import type { PostgresServer } from './postgres-server.ts';
import { seconds } from './seconds.ts';

/** After this many failed starts in a row the terminal shows why. */
const FAILURES_BEFORE_REPORT = 4;

/**
 * Restarts the server, on the same port and data, whenever it ends; `say` reports that to the terminal. Returns a
 * function that stops it for good.
 */
export function keepRunning(server: PostgresServer, say: (line: string) => void): () => Promise<void> {
  const stopping = new AbortController();
  const watching = watch(server, say, stopping.signal);
  return async () => {
    stopping.abort();
    await server.stop();
    await watching;
  };
}

async function watch(
  server: PostgresServer,
  say: (line: string) => void,
  stopping: AbortSignal,
): Promise<void> {
  const backoff = new Backoff();
  for (;;) {
    const upSince = performance.now();
    const how = await server.ended;
    if (stopping.aborted) return;
    const downSince = performance.now();
    const delayMs = backoff.next(downSince - upSince);
    say(`PostgreSQL stopped unexpectedly (${how}); starting it again ${whenAfter(delayMs)} …`);
    for (let wait = delayMs, failures = 0; ; wait = backoff.next(0)) {
      await sleep(wait, undefined, { signal: stopping }).catch(() => undefined);
      const fault = stopping.aborted ? undefined : await faultOf(server.start());
      if (stopping.aborted) return;
      if (fault === undefined) break;
      failures += 1;
      if (failures === FAILURES_BEFORE_REPORT)
        say(`${fault}\nForecue keeps trying to start it, every few seconds …`);
    }
    say(`PostgreSQL is back after ${seconds(performance.now() - downSince)}`);
  }
}

function faultOf(start: Promise<void>): Promise<string | undefined> {
  return start.then(
    () => undefined,
    (error: unknown) => (error instanceof Error ? error.message : String(error)),
  );
}
