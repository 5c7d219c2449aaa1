import type { ChildProcess } from 'node:child_process';
import { appendFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';

/** A folder where CI collects the kinds of answers that the tests got; unset elsewhere. */
const FOLDER = process.env['NOTED_ANSWERS'];

const noted = new Set<string>();

/** Writes down each kind of answer that the process gives, a line `POST /v1/predictions 409 request_in_flight` for each. */
export function noteAnswers({ stdout }: ChildProcess): void {
  if (!FOLDER || stdout === null) return;
  const file = join(FOLDER, `${process.pid}.txt`);
  createInterface({ input: stdout }).on('line', (line) => {
    if (!line.endsWith('"msg":"request"}')) return;
    const { method, route, status, errorCode } = JSON.parse(line);
    const answer = [method, route, status, errorCode].filter((part) => part !== undefined).join(' ');
    if (route === undefined || noted.has(answer)) return;
    noted.add(answer);
    appendFileSync(file, `${answer}\n`);
  });
}

/** Resolves when the ingress has logged all that it answered: it logs an answer just after it was sent. */
export async function untilLogged(url: string): Promise<void> {
  if (!FOLDER) return;
  // It may be dead or frozen.
  await fetch(`${url}/healthz`, { signal: AbortSignal.timeout(1000) }).catch(() => {});
}
