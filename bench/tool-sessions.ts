import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import type { ReadyMessage } from '../shared/process/lifecycle.ts';
import { newServiceKey } from '../shared/security/keys.ts';
import { listen } from '../test/support/listening.ts';

/**
 * Measures how much memory a tool server uses for many sessions, before and after a garbage collection: for sessions
 * that stay idle, and for sessions that have ended.
 */
const SESSIONS = 1000;
const SESSIONS_PER_KEY = 50;
const SETTLE_MS = 5_000;
const COLLECT_ON_SIGNAL = 'data:text/javascript,process.on("SIGUSR2", () => gc({ flavor: "last-resort" }))';

const upstream = await listen(createServer((_, response) => response.end('{}')));
for (const endsSessions of [false, true]) {
  const { idleMb, loadedMb, collectedMb } = await measure(endsSessions);
  process.stdout.write(
    `idle ${idleMb.toFixed(0)} MB; ${SESSIONS} sessions ${endsSessions ? 'that ended' : 'that stay'}: ` +
      `${(loadedMb - idleMb).toFixed(0)} MB above, ${(collectedMb - idleMb).toFixed(0)} MB when collected\n`,
  );
}
await upstream.close();

async function measure(
  endsSessions: boolean,
): Promise<{ idleMb: number; loadedMb: number; collectedMb: number }> {
  const child = fork(fileURLToPath(new URL('../ingress/mcp/main.ts', import.meta.url)), [], {
    execArgv: ['--expose-gc', '--import', COLLECT_ON_SIGNAL],
    env: {
      ...process.env,
      MCP_PORT: '0',
      OPERATOR_PORT: '0',
      LOG_LEVEL: 'warn',
      MCP_UPSTREAM_URL: upstream.url,
    },
  });
  const [{ url = '' }] = (await once(child, 'message')) as [ReadyMessage];
  const settledMb = async (collected: boolean) => {
    if (collected) child.kill('SIGUSR2');
    await sleep(SETTLE_MS);
    return residentMb(child);
  };
  // The first sessions allocate memory that stays for good, so they belong to the idle server.
  await openSessions(url, SESSIONS_PER_KEY, endsSessions);
  const idleMb = await settledMb(true);
  for (let opened = 0; opened < SESSIONS; opened += SESSIONS_PER_KEY)
    await openSessions(url, SESSIONS_PER_KEY, endsSessions);
  const loadedMb = await settledMb(false);
  const collectedMb = await settledMb(true);
  child.kill('SIGTERM');
  return { idleMb, loadedMb, collectedMb };
}

async function openSessions(url: string, count: number, endsSessions: boolean): Promise<void> {
  const { key } = newServiceKey();
  const params = {
    protocolVersion: '2025-11-25',
    capabilities: {},
    clientInfo: { name: 'bench', version: '1' },
  };
  for (let opened = 0; opened < count; opened += 1) {
    const session = await post(url, key, { id: 1, method: 'initialize', params });
    await post(url, key, { method: 'notifications/initialized' }, session);
    await post(url, key, { id: 2, method: 'tools/list', params: {} }, session);
    if (endsSessions) await fetch(url, { method: 'DELETE', headers: headersOf(key, session) });
  }
}

function headersOf(key: string, session?: string): Record<string, string> {
  return {
    'content-type': 'application/json',
    accept: 'application/json, text/event-stream',
    'x-service-api-key': key,
    ...(session !== undefined && { 'mcp-session-id': session }),
  };
}

async function post(url: string, key: string, message: object, session?: string): Promise<string> {
  const answer = await fetch(url, {
    method: 'POST',
    headers: headersOf(key, session),
    body: JSON.stringify({ jsonrpc: '2.0', ...message }),
  });
  await answer.text();
  if (!answer.ok) throw new Error(`answered ${answer.status}`);
  return answer.headers.get('mcp-session-id') ?? '';
}

function residentMb({ pid }: ChildProcess): number {
  const [, kilobytes] = /^VmRSS:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? [];
  return Number(kilobytes) / 1024;
}
