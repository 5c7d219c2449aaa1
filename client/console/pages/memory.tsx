import { useEffect, useRef, useState } from 'preact/hooks';
import { tell } from '../parts/changes.ts';
import { useSignedIn } from '../parts/context.ts';
import { submitHandler, useAction, useLoad, useParameter, useRoute } from '../parts/hooks.ts';
import { Icon } from '../parts/icons.tsx';
import { learn } from '../parts/learn.ts';
import { MemoryRows } from '../parts/memory-rows.tsx';
import { Pane } from '../parts/pane.tsx';
import { Profile } from '../parts/profile.tsx';
import { ProjectFilter } from '../parts/project-filter.tsx';
import { listTier, TIERS, type Tier } from '../parts/tiers.ts';
import { Timeline } from '../parts/timeline.tsx';
import { Button, ErrorNote, Field, Title } from '../parts/ui.tsx';
import { number, t } from '../strings/index.ts';

type Tab = keyof typeof t.memory.tiers;
const TABS = Object.keys(t.memory.tiers) as Tab[];
/** Hits that are counted of each tier. */
const HITS_MAX = 50;

const isTier = (tab: Tab): tab is Tier => (TIERS as readonly Tab[]).includes(tab);

export function Memory() {
  const { client } = useSignedIn();
  const { rest, query } = useRoute();
  const tab = TABS.find((one) => one === rest) ?? 'facts';
  const q = query.get('q') ?? '';
  const project = query.get('project') ?? '';
  const stats = useLoad(() => client.readMemoryStats(), [], ['memory']);
  const hits = useLoad(() => countHits(client, q, project), [q, project], ['memory']);
  const [projects, setProjects] = useState<ReadonlySet<string>>(new Set());
  const [isAdding, setAdding] = useState(false);
  const countOf = (one: Tab) => {
    if (!isTier(one)) return undefined;
    return q === '' ? stats.value && number(stats.value[one].count) : hits.value?.[one];
  };
  const filters = new URLSearchParams({ ...(q && { q }), ...(project && { project }) });
  const tabs = useRef<HTMLElement>(null);
  // A phone is too narrow for all tabs, which grow when their counts arrive. The page itself must not scroll.
  useEffect(() => {
    const nav = tabs.current;
    const open = nav?.querySelector<HTMLElement>('[aria-current]');
    if (nav && open)
      nav.scrollLeft = open.offsetLeft - nav.offsetLeft - (nav.clientWidth - open.offsetWidth) / 2;
  }, [tab, stats.value, hits.value]);
  return (
    <>
      <Title tools={<Tools onAdd={() => setAdding(true)} />}>{t.nav.memory}</Title>
      <div class="tabs">
        <nav ref={tabs} aria-label={t.nav.memory}>
          {TABS.map((one) => (
            <a
              key={one}
              href={`#/memory/${one}${filters.size > 0 ? `?${filters}` : ''}`}
              aria-current={one === tab ? 'page' : undefined}
            >
              {t.memory.tiers[one]}
              {countOf(one) !== undefined && <span class="count">{countOf(one)}</span>}
            </a>
          ))}
        </nav>
        {isTier(tab) && <ProjectFilter projects={[...projects]} />}
      </div>
      <ErrorNote error={stats.error} again={stats.again} />
      {tab === 'profile' && <Profile />}
      {tab === 'timeline' && <Timeline />}
      {isTier(tab) && (
        <MemoryRows
          key={`${tab} ${project} ${q}`}
          tier={tab}
          q={q}
          project={project}
          onProjects={(names) =>
            setProjects((before) =>
              names.every((name) => before.has(name)) ? before : new Set([...before, ...names]),
            )
          }
        />
      )}
      {isAdding && <AddFact onClose={() => setAdding(false)} />}
    </>
  );
}

/** Names how many rows of each tier match, so that the person sees where else to look. */
async function countHits(client: ReturnType<typeof useSignedIn>['client'], q: string, project: string) {
  if (q === '') return undefined;
  const query = { limit: HITS_MAX, q, ...(project && { project }) };
  const pages = await Promise.all(TIERS.map((tier) => listTier(client, tier, query)));
  return Object.fromEntries(
    pages.map(({ rows, next }, at) => [TIERS[at], `${number(rows.length)}${next === null ? '' : '+'}`]),
  );
}

function Tools({ onAdd }: { onAdd(): void }) {
  const { client } = useSignedIn();
  const [q, setQ] = useParameter('q');
  const [typed, setTyped] = useState(q);
  // The palette, Back and links change the search as well.
  useEffect(() => setTyped(q), [q]);
  const [step, setStep] = useState('');
  const learning = useAction(async () => {
    setStep(await learn(client, setStep));
    tell(['memory']);
  });
  return (
    <div class="tools">
      <form class="search" role="search" onSubmit={submitHandler(() => setQ(typed.trim()))}>
        <Icon name="search" />
        <input
          type="search"
          aria-label={t.memory.searchHint}
          placeholder={t.memory.searchHint}
          autocomplete="off"
          value={typed}
          onInput={({ currentTarget: { value } }) => {
            setTyped(value);
            if (value === '') setQ('');
          }}
        />
        <kbd>/</kbd>
      </form>
      <Button onPress={onAdd}>{t.memory.add}</Button>
      <Button action={learning}>{t.memory.learn}</Button>
      <a class="button secondary" href="#/start">
        {t.nav.start}
      </a>
      <p class="quiet small" role="status">
        {step}
      </p>
      <ErrorNote error={learning.error} />
    </div>
  );
}

function AddFact({ onClose }: { onClose(): void }) {
  const { client } = useSignedIn();
  const [text, setText] = useState('');
  const adding = useAction(async () => {
    await client.addFacts({ text: text.trim(), origin: 'human' });
    tell(['memory']);
    onClose();
  });
  return (
    <Pane kind="sheet" label={t.memory.add} isModal onClose={onClose}>
      <h2>{t.memory.add}</h2>
      <form onSubmit={submitHandler(() => adding.run())}>
        <Field
          label={t.memory.addLabel}
          hint={t.memory.addHint}
          value={text}
          onInput={setText}
          rows={3}
          required
        />
        <Button kind="primary" isBusy={adding.isBusy}>
          {t.save}
        </Button>
      </form>
      <ErrorNote error={adding.error} />
    </Pane>
  );
}
