import { useCallback, useEffect, useRef, useState } from 'preact/hooks';
import type { AccountClient, UserResponse } from '../src/api.ts';
import { Account } from './pages/account.tsx';
import { Connections } from './pages/connections.tsx';
import { Inbox } from './pages/inbox.tsx';
import { Keys } from './pages/keys.tsx';
import { Memory } from './pages/memory.tsx';
import { Overview } from './pages/overview.tsx';
import { SignIn } from './pages/sign-in.tsx';
import { Start } from './pages/start.tsx';
import { Try } from './pages/try.tsx';
import { SignedInContext, useSignedIn } from './parts/context.ts';
import { DraftsContext } from './parts/draft.ts';
import { sendHeldDecisions } from './parts/held.ts';
import { useAction, useRoute } from './parts/hooks.ts';
import { Logo } from './parts/logo.tsx';
import { ErrorNote, Skeleton } from './parts/ui.tsx';
import { openClient, resume } from './session.ts';
import { t } from './strings/index.ts';

const PAGES = {
  start: Start,
  try: Try,
  inbox: Inbox,
  memory: Memory,
  overview: Overview,
  connections: Connections,
  keys: Keys,
  account: Account,
};
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
      const access = await resume();
      if (isOver) return;
      openedClient = openClient(
        { onEnd: () => setState({ is: 'out', client, hasEnded: true }), onOther: restart },
        access,
      );
      const { client } = openedClient;
      const user = access === undefined ? undefined : await client.readAccount();
      if (!isOver) setState(user ? { is: 'in', client, user } : { is: 'out', client, hasEnded: false });
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
      />
    );
  const setUser = (user: UserResponse) => setState({ is: 'in', client, user });
  return (
    <SignedInContext.Provider value={{ client, user: state.user, setUser }}>
      <Shell key={state.user.id} />
    </SignedInContext.Provider>
  );
}

function Shell() {
  const { client } = useSignedIn();
  const [named] = useRoute();
  const name: PageName = Object.hasOwn(PAGES, named) ? (named as PageName) : 'try';
  const Page = PAGES[name];
  useTitle(name);
  const drafts = useRef(new Map<string, string>());
  const leaving = useAction(async () => {
    await sendHeldDecisions();
    await client.logOut();
  });
  return (
    <div class="shell">
      {/* Uses a button: the fragment in the address names the page, and a link would replace it. */}
      <button type="button" class="skip" onClick={() => document.getElementById('content')?.focus()}>
        {t.skip}
      </button>
      <header>
        <a class="brand" href="#/try">
          <Logo /> Forecue
        </a>
        <nav aria-label={t.navigation}>
          {Object.entries(t.nav).map(([page, title]) => (
            <a key={page} href={`#/${page}`} aria-current={page === name ? 'page' : undefined}>
              {title}
            </a>
          ))}
        </nav>
        <div class="leave">
          <a href="../docs">{t.docs}</a>
          <button type="button" class="link" onClick={() => leaving.run()}>
            {t.signOut}
          </button>
        </div>
      </header>
      <main id="content" tabIndex={-1}>
        <ErrorNote error={leaving.error} />
        <DraftsContext.Provider value={drafts.current}>
          <Page key={name} />
        </DraftsContext.Provider>
      </main>
    </div>
  );
}

function useTitle(name: PageName): void {
  useEffect(() => {
    document.title = `${t.nav[name]} – Forecue`;
    scrollTo(0, 0);
    document.querySelector('header [aria-current]')?.scrollIntoView({ block: 'nearest', inline: 'center' });
  }, [name]);
}
