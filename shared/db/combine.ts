import { isUnavailable } from './faults.ts';

interface Waiting<In, Out> {
  item: In;
  resolve: (out: Out) => void;
  reject: (error: unknown) => void;
}

/**
 * Lets requests that arrive while a statement is in flight share the next one. A lone caller is not delayed:
 * its statement starts at once.
 *
 * `run` takes up to `most` items and gives one output for each, in the same order. When a shared statement fails,
 * each of its items is tried alone, so that one caller's fault is never another's; unless the database is away, which
 * is everybody's.
 */
export function combine<In, Out>(
  run: (items: In[]) => Promise<Out[]>,
  { most, lanes = 1 }: { most: number; lanes?: number },
): (item: In) => Promise<Out> {
  let waiting: Waiting<In, Out>[] = [];
  let inFlight = 0;

  async function attempt(batch: Waiting<In, Out>[]): Promise<void> {
    try {
      const outputs = await run(batch.map(({ item }) => item));
      for (const [place, { resolve }] of batch.entries()) resolve(outputs[place] as Out);
    } catch (error) {
      if (batch.length === 1 || isUnavailable(error)) for (const { reject } of batch) reject(error);
      else for (const one of batch) await attempt([one]);
    }
  }

  async function drain(): Promise<void> {
    inFlight += 1;
    while (waiting.length > 0) {
      const batch = waiting.slice(0, most);
      waiting = waiting.slice(most);
      await attempt(batch);
    }
    inFlight -= 1;
  }

  return (item) =>
    new Promise((resolve, reject) => {
      waiting.push({ item, resolve, reject });
      if (inFlight < lanes) void drain();
    });
}
