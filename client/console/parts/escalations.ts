import type { AccountClient, ReplySummary } from '../../src/api.ts';
import { t } from '../strings/index.ts';
import { onArrival } from './changes.ts';

/** Set in browsers whose person wants notifications. */
const ON_KEY = 'forecue.notify';
/** Name of the channel by which a tab tells the others what it asks itself. */
const ASKED = 'forecue.asked';
const READ_MAX = 50;
/** More that arrive at once are one notification. */
const SHOWN_MAX = 3;
const BODY_CHARS = 150;
/** After this time a list that is read has what has ended before. */
const ASKED_FOR_MS = 10_000;

export const notifications = {
  areSupported: () => 'Notification' in window,
  areDenied: () => notifications.areSupported() && Notification.permission === 'denied',
  areOn: () =>
    notifications.areSupported() &&
    Notification.permission === 'granted' &&
    localStorage.getItem(ON_KEY) !== null,
  /** Asks for the permission, if the person has not decided. Call it upon a click. */
  async turn(on: boolean): Promise<void> {
    if (on && (await Notification.requestPermission()) === 'granted') localStorage.setItem(ON_KEY, '1');
    else localStorage.removeItem(ON_KEY);
    dispatchEvent(new Event(ON_KEY));
  },
};

/** Questions that the person has typed in this browser, of which they need no notification. */
let asked: readonly string[] = [];
const channel = new BroadcastChannel(ASKED);
channel.onmessage = ({ data }: MessageEvent<string[]>) => {
  asked = data;
};

/** Notifies of none of these questions, which the person asks themselves, until `work` has ended. */
export async function askQuietly(questions: readonly string[], work: () => Promise<void>): Promise<void> {
  const tellAll = (told: readonly string[]) => {
    asked = told;
    channel.postMessage(told);
  };
  tellAll(questions);
  try {
    await work();
  } finally {
    setTimeout(tellAll, ASKED_FOR_MS, []);
  }
}

/** Content of a list that was read. Anything older than `floor` may have waited before without being in it. */
interface Known {
  ids: ReadonlySet<string>;
  floor: string;
}

/** Shows a notification of each prediction that is left to the person from now on, until the function is called. */
export function notifyOfEscalations(client: Pick<AccountClient, 'listReplies'>): () => void {
  const look = async (known: Known | undefined) => {
    if (!notifications.areOn()) return undefined;
    const { results } = await client.listReplies({ status: 'escalated', trial: 'false', limit: READ_MAX });
    if (known !== undefined)
      show(
        results.filter(
          ({ id, question }) => isNew(id, known) && !asked.some((one) => one.startsWith(question)),
        ),
      );
    const last = results.length < READ_MAX ? '' : (results.at(-1)?.id ?? '');
    return { ids: new Set(results.map(({ id }) => id)), floor: last };
  };
  let looking: Promise<Known | undefined> = Promise.resolve(undefined);
  const lookAgain = () => {
    // Without an answer the next change is compared with what was known before.
    looking = looking.then((known) => look(known).catch(() => known));
  };
  lookAgain();
  const stopHearing = onArrival('predictions', lookAgain);
  // Switched on or off: in this tab, or in another.
  const onSwitched = ({ key }: StorageEvent) => key === ON_KEY && lookAgain();
  addEventListener(ON_KEY, lookAgain);
  addEventListener('storage', onSwitched);
  return () => {
    stopHearing();
    removeEventListener(ON_KEY, lookAgain);
    removeEventListener('storage', onSwitched);
  };
}

/** Ids begin with the time, so that older ones are smaller. */
const isNew = (id: string, { ids, floor }: Known) => id > floor && !ids.has(id);

function show(replies: readonly ReplySummary[]): void {
  const [first] = replies;
  if (first === undefined) return;
  if (replies.length > SHOWN_MAX) notify(first, t.notify.many(replies.length));
  else for (const reply of replies) notify(reply, t.notify.one);
}

function notify({ id, agent, question }: ReplySummary, title: string): void {
  const body = `${agent}: ${question}`.replace(/[\p{Cc}\p{Cf}\p{Z}]+/gu, ' ');
  // Two tabs that show the same one show one, by its tag.
  const shown = new Notification(title, { body: [...body].slice(0, BODY_CHARS).join(''), tag: id });
  shown.onclick = () => {
    window.focus();
    location.hash = `#/inbox/${id}`;
    shown.close();
  };
}
