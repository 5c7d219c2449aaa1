import { setTimeout as sleep } from 'node:timers/promises';
import { Backoff, whenAfter } from './backoff.ts';
import type { PostgresServer } from './postgres-server.ts';
import { seconds } from './seconds.ts';

/** After so many starts in a row that failed a person has to look. */
const PATIENCE = 4;

/**
 * Starts the server again, at the same port over the same data, whenever it ends; `say` reports that to a person.
 * Returns what stops it for good.
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
      if (failures === PATIENCE) say(`${fault}\nForecue keeps trying to start it, every few seconds …`);
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
