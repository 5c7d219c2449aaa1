import { Readable } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import type { JobResponse } from '../../shared/schemas/jobs.ts';
import type { JobItem } from './service.ts';

const LOOK_EVERY_MS = 500;
/** After so many looks without an event the stream has a comment: a silent connection counts as dead on its way. */
const QUIET_LOOKS = 20;
const COMMENT = ':\n\n';

/** The parts of the result that are ready, but for those that were shown before. */
type ReadyItems = (shown: ReadonlySet<number>) => Promise<JobItem[]>;

/**
 * A job as server-sent events (HTML Living Standard, 9.2): `progress` whenever it has come on, `result` for each part that
 * is ready, then `done` with the whole result, or `error`. Ends early when the caller is gone; the job runs on.
 */
export function streamJob(
  look: () => Promise<JobResponse>,
  gone: AbortSignal,
  { everyMs = LOOK_EVERY_MS, items = async () => [] }: { everyMs?: number; items?: ReadyItems } = {},
): Readable {
  return Readable.from(eventsOf(look, gone, { everyMs, items }), { objectMode: false });
}

async function* eventsOf(
  look: () => Promise<JobResponse>,
  gone: AbortSignal,
  { everyMs, items }: { everyMs: number; items: ReadyItems },
): AsyncGenerator<string> {
  const ready = new Set<number>();
  let shown = '';
  let quiet = 0;
  while (!gone.aborted) {
    const { progress, result, error } = await look();
    const now = JSON.stringify(progress);
    quiet += 1;
    if (now !== shown) yield eventOf('progress', progress);
    else if (quiet === QUIET_LOOKS) yield COMMENT;
    if (now !== shown || quiet === QUIET_LOOKS) quiet = 0;
    shown = now;
    for (const item of await items(ready)) {
      ready.add(item.index);
      yield eventOf('result', item);
    }
    if (result !== null) return yield eventOf('done', result);
    if (error !== null) return yield eventOf('error', { detail: error });
    await sleep(everyMs, undefined, { signal: gone }).catch(() => {});
  }
}

function eventOf(name: string, data: object): string {
  return `event: ${name}\ndata: ${JSON.stringify(data)}\n\n`;
}
