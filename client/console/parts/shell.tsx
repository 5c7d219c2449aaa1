import type { ComponentChildren } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { number, t } from '../strings/index.ts';
import { onChange } from './changes.ts';
import { Check } from './check.tsx';
import { useSignedIn, WaitingContext } from './context.ts';
import { sendHeldDecisions } from './held.ts';
import { useAction } from './hooks.ts';
import { singleKeys, useHotkeys } from './hotkeys.ts';
import { Icon } from './icons.tsx';
import { Logo } from './logo.tsx';
import { type Command, Palette } from './palette.tsx';
import { Pane } from './pane.tsx';
import { ErrorNote } from './ui.tsx';

/** Pages by group, in the order of the navigation. Each has an icon and a name of this key. */
const GROUPS = {
  work: ['inbox', 'memory', 'decisions'],
  look: ['overview', 'try'],
  yours: ['connections', 'apps', 'keys', 'account'],
} as const;
type GroupName = keyof typeof GROUPS;
export type NamedPage = (typeof GROUPS)[GroupName][number] | 'start';

const GROUP_NAMES = Object.keys(GROUPS) as GroupName[];
const PAGE_NAMES: NamedPage[] = [...GROUP_NAMES.flatMap((group) => GROUPS[group]), 'start'];
const SEARCH_FIELD = 'main [role=search] input, main [role=combobox]';
const COMMAND_KEY = navigator.platform.startsWith('Mac') ? '⌘' : 'Ctrl';

const goTo = (page: string) => () => {
  location.hash = `#/${page}`;
};

export function Shell({ page, children }: { page: NamedPage; children: ComponentChildren }) {
  const { client } = useSignedIn();
  const [over, setOver] = useState<'palette' | 'keys' | 'more'>();
  const [waiting, setWaiting] = useState<number>();
  const leaving = useAction(async () => {
    await sendHeldDecisions();
    await client.logOut();
  });
  useTitle(page);
  useEffect(() => setOver(undefined), [page]);
  const count = () => {
    // The inbox reports its own number.
    if (page === 'inbox') return;
    client.listReplies({ status: 'escalated', trial: 'false', limit: 1 }).then(
      ({ total }) => setWaiting(total),
      () => {},
    );
  };
  const latestCount = useRef(count);
  latestCount.current = count;
  useEffect(() => {
    count();
    return onChange(['predictions'], () => latestCount.current());
  }, []);
  const search = () => {
    const field = document.querySelector<HTMLElement>(SEARCH_FIELD);
    field ? field.focus() : setOver('palette');
  };
  useHotkeys({
    'mod k': () => setOver('palette'),
    '/': search,
    '?': () => setOver('keys'),
    ...Object.fromEntries(Object.entries(t.keysOf).map(([name, key]) => [`g ${key}`, goTo(name)])),
  });
  const commands: Command[] = [
    ...PAGE_NAMES.map((name) => ({
      name: t.nav[name],
      icon: name,
      run: goTo(name),
      ...(name in t.keysOf && { keys: `g ${t.keysOf[name as keyof typeof t.keysOf]}` }),
    })),
    { name: t.keyList.title, icon: 'keyboard', keys: '?', run: () => setOver('keys') },
    { name: t.docs, icon: 'docs', run: () => location.assign('../docs') },
    { name: t.signOut, icon: 'leave', run: () => leaving.run() },
  ];
  return (
    <WaitingContext.Provider value={setWaiting}>
      <div class="shell">
        {/* Uses a button: the fragment in the address names the page, and a link would replace it. */}
        <button type="button" class="skip" onClick={() => document.getElementById('content')?.focus()}>
          {t.skip}
        </button>
        <header>
          <a class="brand" href="#/inbox">
            <Logo /> Forecue
          </a>
          <button type="button" class="finder" onClick={() => setOver('palette')}>
            <Icon name="search" />
            <span>{t.palette.open}</span>
            <kbd>{COMMAND_KEY} K</kbd>
          </button>
          <nav aria-label={t.navigation}>
            {GROUP_NAMES.map((group) => (
              <PageLinks key={group} group={group} page={page} waiting={waiting} />
            ))}
            <button type="button" class="more" aria-haspopup="dialog" onClick={() => setOver('more')}>
              <Icon name="more" />
              {t.nav.more}
            </button>
          </nav>
          <Leave onLeave={() => leaving.run()} />
        </header>
        <main id="content" tabIndex={-1}>
          <ErrorNote error={leaving.error} />
          {children}
        </main>
        {over === 'palette' && <Palette commands={commands} onClose={() => setOver(undefined)} />}
        {over === 'keys' && <KeyList onClose={() => setOver(undefined)} />}
        {over === 'more' && (
          <Pane kind="sheet" label={t.nav.more} isModal onClose={() => setOver(undefined)}>
            <nav aria-label={t.nav.more}>
              <PageLinks group="work" page={page} waiting={waiting} />
              <PageLinks group="yours" page={page} waiting={undefined} />
            </nav>
            <Leave onLeave={() => leaving.run()} />
          </Pane>
        )}
      </div>
    </WaitingContext.Provider>
  );
}

interface PageLinksProps {
  group: GroupName;
  page: NamedPage;
  waiting: number | undefined;
}

function PageLinks({ group, page, waiting }: PageLinksProps) {
  return (
    <ul class={group} aria-label={t.groups[group]}>
      {GROUPS[group].map((name) => (
        <li key={name}>
          <a href={`#/${name}`} aria-current={name === page ? 'page' : undefined}>
            <Icon name={name} />
            {t.nav[name]}
            {name === 'inbox' && waiting !== undefined && waiting > 0 && (
              <span class="count">
                {number(waiting)}
                <span class="hidden"> {t.inbox.waiting}</span>
              </span>
            )}
          </a>
        </li>
      ))}
    </ul>
  );
}

function Leave({ onLeave }: { onLeave(): void }) {
  const { user } = useSignedIn();
  return (
    <div class="leave">
      <p class="who" title={user.email}>
        <span class="face" aria-hidden="true">
          {(user.name || user.email).slice(0, 1).toUpperCase()}
        </span>
        <span>
          <span class="hidden">{t.signedInAs} </span>
          {user.name && <bdi>{user.name}</bdi>}
          <bdi class="quiet">{user.email}</bdi>
        </span>
      </p>
      <a href="../docs">
        <Icon name="docs" />
        {t.docs}
      </a>
      <button type="button" onClick={onLeave}>
        <Icon name="leave" />
        {t.signOut}
      </button>
    </div>
  );
}

function KeyList({ onClose }: { onClose(): void }) {
  const [areOn, setOn] = useState(singleKeys.areOn());
  return (
    <Pane kind="sheet" label={t.keyList.title} isModal onClose={onClose}>
      <h2>{t.keyList.title}</h2>
      <dl class="keys">
        {t.keyList.rows(COMMAND_KEY).map(([keys, what]) => (
          <div key={keys}>
            <dt>
              {keys.split(', ').map((key) => (
                <kbd key={key}>{key}</kbd>
              ))}
            </dt>
            <dd>{what}</dd>
          </div>
        ))}
      </dl>
      <Check
        label={t.keyList.single}
        isOn={areOn}
        onChange={(isOn) => {
          singleKeys.turn(isOn);
          setOn(isOn);
        }}
      />
    </Pane>
  );
}

function useTitle(page: NamedPage): void {
  useEffect(() => {
    document.title = `${t.nav[page]} – Forecue`;
    scrollTo(0, 0);
  }, [page]);
}
