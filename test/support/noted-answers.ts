import type { ChildProcess } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { appendFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { until } from './until.ts';

/** Folder where CI collects the kinds of answers that tests received; unset elsewhere. */
const FOLDER = process.env['NOTED_ANSWERS'];

const notedAnswers = new Set<string>();

/** Records each kind of answer that a process logs, as a line `POST /v1/predictions 409 request_in_flight`. */
export function noteAnswers({ stdout }: ChildProcess): void {
  if (FOLDER && stdout !== null) createInterface({ input: stdout }).on('line', noteAnswer);
}

export function noteAnswer(line: string): void {
  if (!FOLDER || !line.endsWith('"msg":"request"}')) return;
  const { method, route, status, errorCode } = JSON.parse(line);
  const answer = [method, route, status, errorCode].filter((part) => part !== undefined).join(' ');
  if (route === undefined || notedAnswers.has(answer)) return;
  notedAnswers.add(answer);
  appendFileSync(join(FOLDER, `${process.pid}.txt`), `${answer}\n`);
}

/**
 * Waits at most 2 s until all answers of the ingress are recorded: lines that are unread when the file ends are lost.
 */
export async function untilNoted(url: string, log: () => string): Promise<void> {
  if (!FOLDER) return;
  const id = randomUUID();
  try {
    await fetch(`${url}/healthz`, { headers: { 'x-request-id': id }, signal: AbortSignal.timeout(1000) });
    await until(() => log().includes(id), 1000);
  } catch {
    // The ingress is dead or frozen, or logs no answers.
  }
}
