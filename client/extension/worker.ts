import { ForecueError } from '../src/errors.ts';
import { readJson, Transport } from '../src/transport.ts';
import { credentials } from './grants.ts';
import {
  type Answer,
  FRAME,
  type FromFrame,
  type FromPage,
  type FromWorker,
  type Question,
} from './messages.ts';
import { change, isOnAt, readSettings } from './settings.ts';
import { revoke, signIn } from './sign-in.ts';

/** The server reads no more. */
const DRAFT_CHARS_MAX = 8000;
const TIMEOUT_MS = 15_000;

/** Tells each frame whether it may suggest. */
const frames = new Set<() => Promise<void>>();

// The tokens are of no concern to the scripts in pages.
const isGuarded = chrome.storage.local.setAccessLevel({ accessLevel: 'TRUSTED_CONTEXTS' });

chrome.runtime.onConnect.addListener((port) => {
  if (!port.name.startsWith(FRAME)) return port.disconnect();
  const page = port.name.slice(FRAME.length);
  let running: { id: number; abort: AbortController } | undefined;
  const post = (message: FromWorker) => {
    if (frames.has(tell)) port.postMessage(message);
  };
  const tell = async () => post({ isOn: isOnAt(page, await readSettings()) });
  const leave = () => running?.abort.abort();
  const answer = async (question: Question) => {
    leave();
    const { id, text } = question;
    const abort = new AbortController();
    running = { id, abort };
    try {
      const settings = await readSettings();
      const isOn = isOnAt(page, settings);
      const answer = isOn ? await predict(settings.grant?.server, text, abort.signal) : ABSTAINED;
      if (!abort.signal.aborted) post({ id, answer });
    } catch (error) {
      if (abort.signal.aborted) return;
      const { code, status, retryAfter } =
        error instanceof ForecueError ? error : new ForecueError('network_error');
      post({ id, failure: { code, status, retryAfter } });
    }
  };
  port.onMessage.addListener((message: FromFrame) => {
    if ('ask' in message) void answer(message.ask);
    else if (running?.id === message.leave) leave();
  });
  port.onDisconnect.addListener(() => {
    frames.delete(tell);
    leave();
  });
  frames.add(tell);
  void tell();
});

const ABSTAINED: Answer = { status: 'abstained', completion: '', alternatives: [] };

/** Asks the account's own door. Nothing but the text before the caret leaves the browser. */
function predict(server: string | undefined, text: string, signal: AbortSignal): Promise<Answer> {
  const transport = new Transport({ baseUrl: server, timeoutMs: TIMEOUT_MS, retries: 0 }, credentials);
  const request = {
    method: 'POST',
    path: '/api/predictions/draft/',
    body: { draft: text.slice(-DRAFT_CHARS_MAX).toWellFormed() },
    repeatable: false,
  };
  return transport.send(request, { signal }, readJson<Answer>);
}

chrome.runtime.onMessage.addListener((message, { origin }, reply) => {
  if (`${origin}/` !== chrome.runtime.getURL('')) return undefined;
  const work = { 'sign-in': enter, 'sign-out': leaveServer }[message as FromPage];
  work().then(
    () => reply(''),
    (error: unknown) => reply(String(error instanceof Error ? error.message : error)),
  );
  return true;
});

async function enter(): Promise<void> {
  await isGuarded;
  const { server } = await readSettings();
  await change({ grant: await signIn(server) });
}

async function leaveServer(): Promise<void> {
  const { grant } = await readSettings();
  await change({ grant: null });
  if (grant !== null) await revoke(grant);
}

async function showState(): Promise<void> {
  const { grant } = await readSettings();
  await chrome.action.setBadgeText({ text: grant === null ? '!' : '' });
}

chrome.storage.onChanged.addListener(() => {
  void showState();
  for (const tell of frames) void tell();
});
void showState();
