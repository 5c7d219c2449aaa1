import { useState } from 'preact/hooks';
import { useSignedIn } from '../parts/context.ts';
import { submitHandler, useAction, useLoad, useRoute } from '../parts/hooks.ts';
import { learn } from '../parts/learn.ts';
import { LongList } from '../parts/long-list.tsx';
import { Profile } from '../parts/profile.tsx';
import { Row, type ShownRow, type Tier, tierOf } from '../parts/row.tsx';
import { Timeline } from '../parts/timeline.tsx';
import { Button, Card, EmptyNote, ErrorNote, Field, Skeleton, SuccessNote, Title } from '../parts/ui.tsx';
import { number, t } from '../strings/index.ts';

type Tab = keyof typeof t.memory.tiers;
const TABS = Object.keys(t.memory.tiers) as Tab[];
const PAGE_SIZE = 100;

const isTier = (tab: Tab): tab is Tier => tab !== 'profile' && tab !== 'timeline';

export function Memory() {
  const { client } = useSignedIn();
  const [, rest] = useRoute();
  const tab = TABS.find((one) => one === rest) ?? 'facts';
  const stats = useLoad(() => client.readMemoryStats(), []);
  const [turn, setTurn] = useState(0);
  const reload = () => {
    stats.again();
    setTurn((one) => one + 1);
  };
  return (
    <>
      <Title lead={t.memory.lead}>{t.memory.title}</Title>
      <nav class="tabs" aria-label={t.memory.title}>
        {TABS.map((one) => (
          <a key={one} href={`#/memory/${one}`} aria-current={one === tab ? 'page' : undefined}>
            {t.memory.tiers[one]}
            {stats.value && isTier(one) && <span class="count">{number(stats.value[one].count)}</span>}
          </a>
        ))}
      </nav>
      <ErrorNote error={stats.error} again={stats.again} />
      <LearnButton onLearnt={reload} />
      {tab === 'profile' && <Profile />}
      {tab === 'timeline' && <Timeline key={turn} />}
      {isTier(tab) && <SearchableRows key={tab} tier={tab} turn={turn} onChange={stats.again} />}
    </>
  );
}

interface SearchableRowsProps {
  tier: Tier;
  /** Changes whenever the rows must be loaded again. */
  turn: number;
  onChange(): void;
}

function SearchableRows({ tier, turn, onChange }: SearchableRowsProps) {
  const [typed, setTyped] = useState('');
  const [q, setQ] = useState('');
  return (
    <>
      <form class="search" role="search" onSubmit={submitHandler(() => setQ(typed.trim()))}>
        <Field label={t.memory.searchHint} value={typed} onInput={setTyped} autocomplete="off" />
        <Button>{t.memory.search}</Button>
      </form>
      <FoundRows key={`${turn} ${q}`} tier={tier} q={q} onForgotten={onChange} />
    </>
  );
}

function FoundRows({ tier, q, onForgotten }: { tier: Tier; q: string; onForgotten(): void }) {
  const { client } = useSignedIn();
  const [older, setOlder] = useState<{ rows: ShownRow[]; next: string | null }>();
  const [receipt, setReceipt] = useState<string>();
  /** Rows that the person has changed since they were loaded; undefined for a forgotten row. */
  const [changedRows, setChangedRows] = useState<ReadonlyMap<string, ShownRow | undefined>>(new Map());
  const change = (id: string, row?: ShownRow) => setChangedRows((before) => new Map(before).set(id, row));
  const pageFrom = (cursor?: string) =>
    tierOf(client, tier).list({ limit: PAGE_SIZE, ...(q && { q }), ...(cursor && { cursor }) });
  const { value, error, again } = useLoad(() => pageFrom(), []);
  const next = older === undefined ? value?.next : older.next;
  const loadingMore = useAction(async () => {
    const page = await pageFrom(next ?? undefined);
    setOlder({ rows: [...(older?.rows ?? []), ...page.rows], next: page.next });
  });
  const rows = [...(value?.rows ?? []), ...(older?.rows ?? [])].flatMap((row) =>
    changedRows.has(row.id) ? (changedRows.get(row.id) ?? []) : row,
  );
  return (
    <>
      {receipt !== undefined && <SuccessNote>{receipt}</SuccessNote>}
      <ErrorNote error={error} again={again} />
      {value === undefined && error === undefined && <Skeleton lines={5} />}
      {value && rows.length === 0 && (
        <EmptyNote
          text={q ? t.memory.noMatch : t.memory.empty[tier]}
          {...(!q && { href: '#/start', link: t.nav.start })}
        />
      )}
      <LongList
        rows={rows}
        keyOf={idOf}
        hasMore={!!next}
        // A page that failed to load is requested again only when the person asks for it.
        onEnd={() => next && loadingMore.error === undefined && loadingMore.run()}
      >
        {(row) => (
          <Row
            tier={tier}
            row={row}
            onChange={(now) => change(row.id, now)}
            onForgotten={(newReceipt) => {
              setReceipt(newReceipt);
              change(row.id);
              onForgotten();
            }}
          />
        )}
      </LongList>
      <ErrorNote error={loadingMore.error} again={() => loadingMore.run()} />
    </>
  );
}

const idOf = ({ id }: ShownRow) => id;

function LearnButton({ onLearnt }: { onLearnt(): void }) {
  const { client } = useSignedIn();
  const [step, setStep] = useState('');
  const [learnt, setLearnt] = useState<string>();
  const learning = useAction(async () => {
    setLearnt(await learn(client, setStep));
    onLearnt();
  });
  return (
    <Card>
      <div class="item">
        <p class="quiet" role="status">
          {learning.isBusy && t.memory.learning(step)}
          {!learning.isBusy && (learnt ?? t.memory.learnLead)}
        </p>
        <Button action={learning}>{t.memory.learn}</Button>
      </div>
      <ErrorNote error={learning.error} />
    </Card>
  );
}
