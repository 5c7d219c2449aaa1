import { fork } from 'node:child_process';
import { once } from 'node:events';
import type { StoreConfig } from '../../shared/config/config.ts';
import { messageOf } from '../../shared/errors/message-of.ts';
import type { Installation } from '../../shared/process/migrate.ts';

/** Work of `npm start` on the database. */
type Task =
  | { name: 'migrate'; installation: Omit<Installation, 'signal'> }
  | { name: 'sandboxKey'; file: string; callback: string; config: StoreConfig };

interface Answer {
  result?: string;
  error?: string;
}

/**
 * Runs a task in a process of its own. It loads the ORM and BullMQ, which would stay in the memory of `npm start` for as
 * long as that runs. Aborting `signal` ends the waits of the task.
 */
export async function runTask(task: Task, signal?: AbortSignal): Promise<string> {
  const child = fork(import.meta.filename, { detached: true });
  const stop = () => child.kill('SIGTERM');
  signal?.addEventListener('abort', stop);
  let answer: Answer = {};
  child.on('message', (message: Answer) => {
    answer = message;
  });
  const exited = once(child, 'exit');
  child.send(task);
  const [code, by] = (await exited) as [number | null, string | null];
  signal?.removeEventListener('abort', stop);
  if (answer.result === undefined)
    throw new Error(answer.error ?? `the task ${task.name} ended (${by ?? `exit code ${code}`})`);
  return answer.result;
}

async function perform(task: Task, signal: AbortSignal): Promise<string> {
  if (task.name === 'sandboxKey') {
    const { sandboxKey } = await import('./sandbox.ts');
    return sandboxKey(task.file, task.callback, task.config);
  }
  const { migrate } = await import('../../shared/process/migrate.ts');
  await migrate({ ...task.installation, signal });
  return '';
}

if (import.meta.main) {
  const stopping = new AbortController();
  for (const end of ['SIGTERM', 'disconnect']) process.on(end, () => stopping.abort(new Error('stopped')));
  process.once('message', async (task: Task) => {
    const answer: Answer = await perform(task, stopping.signal).then(
      (result) => ({ result }),
      (error: unknown) => ({ error: messageOf(error) }),
    );
    process.send?.(answer, () => process.exit());
  });
}
