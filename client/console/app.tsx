import { useCallback, useEffect, useState } from 'preact/hooks';
import type { AccountClient, UserResponse } from '../src/api.ts';
import { Inbox } from './pages/inbox.tsx';
import { Memory } from './pages/memory.tsx';
import { SignIn } from './pages/sign-in.tsx';
import { followChanges, onChange } from './parts/changes.ts';
import { SignedInContext, useSignedIn } from './parts/context.ts';
import { notifyOfEscalations } from './parts/escalations.ts';
import { useLoad, useRoute } from './parts/hooks.ts';
import { Loading, Skeleton } from './parts/loading.tsx';
import { type NamedPage, Shell } from './parts/shell.tsx';
import { ErrorNote } from './parts/ui.tsx';
import { loadPart, openClient, resume } from './session.ts';

/** Only the first pages that one meets are in the first file. */
const PAGES = {
  start: async () => (await import('./pages/start.tsx')).Start,
  try: async () => (await import('./pages/try.tsx')).Try,
  inbox: () => Inbox,
  decisions: async () => (await import('./pages/decisions.tsx')).Decisions,
  memory: () => Memory,
  overview: async () => (await import('./pages/overview.tsx')).Overview,
  connections: async () => (await import('./pages/connections.tsx')).Connections,
  keys: async () => (await import('./pages/keys.tsx')).Keys,
  apps: async () => (await import('./pages/apps.tsx')).Apps,
  account: async () => (await import('./pages/account.tsx')).Account,
} satisfies Record<NamedPage, () => unknown>;
type PageName = keyof typeof PAGES;

type State =
  | { is: 'opening' }
  | { is: 'failed'; error: unknown }
  | { is: 'out'; client: AccountClient; hasEnded: boolean }
  | { is: 'in'; client: AccountClient; user: UserResponse };

export function App() {
  const [state, setState] = useState<State>({ is: 'opening' });
  const [turn, setTurn] = useState(0);
  const restart = useCallback(() => setTurn((one) => one + 1), []);

  useEffect(() => {
    let openedClient: ReturnType<typeof openClient> | undefined;
    let isOver = false;
    const open = async () => {
      const resumed = await resume();
      if (isOver) return;
      openedClient = openClient(
        { onEnd: () => setState({ is: 'out', client, hasEnded: true }), onOther: restart },
        resumed?.access,
      );
      const { client } = openedClient;
      setState(resumed ? { is: 'in', client, user: resumed.user } : { is: 'out', client, hasEnded: false });
    };
    open().catch((error) => isOver || setState({ is: 'failed', error }));
    return () => {
      isOver = true;
      openedClient?.close();
    };
  }, [turn]);

  if (state.is === 'opening')
    return (
      <main class="alone">
        <Skeleton />
      </main>
    );
  if (state.is === 'failed')
    return (
      <main class="alone">
        <ErrorNote error={state.error} again={restart} />
      </main>
    );
  const { client } = state;
  if (state.is === 'out')
    return (
      <SignIn
        client={client}
        hasEnded={state.hasEnded}
        onEntered={(user, isNew) => {
          if (isNew) location.hash = '#/start';
          setState({ is: 'in', client, user });
        }}
        onResumable={restart}
      />
    );
  // An answer that comes after a log-out signs nobody in again.
  const setUser = (user: UserResponse) =>
    setState((now) => (now.is === 'in' && now.client === client ? { ...now, user } : now));
  return (
    <SignedInContext.Provider value={{ client, user: state.user, setUser }}>
      <Pages key={state.user.id} />
    </SignedInContext.Provider>
  );
}

/** Time after which the first page has what it needs. */
const LOAD_AHEAD_MS = 2000;

async function loadAhead(): Promise<void> {
  await Promise.allSettled(Object.values(PAGES).map(async (load) => load()));
}

/** The page that the address names. */
function Pages() {
  const { page } = useRoute();
  const name: PageName = Object.hasOwn(PAGES, page) ? (page as PageName) : 'inbox';
  const { client, setUser } = useSignedIn();
  useEffect(() => followChanges(client), []);
  useEffect(() => notifyOfEscalations(client), []);
  useEffect(() => onChange(['account'], () => void client.readAccount().then(setUser, () => {})), []);
  // So that another page opens at once, even while the server is away.
  useEffect(() => {
    const timer = setTimeout(loadAhead, LOAD_AHEAD_MS);
    return () => clearTimeout(timer);
  }, []);
  return (
    <Shell page={name}>
      <LoadedPage key={name} name={name} />
    </Shell>
  );
}

function LoadedPage({ name }: { name: PageName }) {
  // In an object, because a function would be called as an update of the state.
  const part = useLoad(async () => ({ Page: await loadPart(async () => PAGES[name]()) }), []);
  return part.value === undefined ? <Loading of={part} /> : <part.value.Page />;
}
