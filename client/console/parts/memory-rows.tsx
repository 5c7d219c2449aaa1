import { useState } from 'preact/hooks';
import { moment, t } from '../strings/index.ts';
import { ConfirmedAction, IconButton } from './actions.tsx';
import { tell } from './changes.ts';
import { useSignedIn } from './context.ts';
import { useDraft } from './draft.ts';
import { submitHandler, useSaves } from './hooks.ts';
import { Icon } from './icons.tsx';
import { Loading } from './loading.tsx';
import { type ShownMemory, useMemoryPages } from './memory-pages.ts';
import { Rows, type RowView } from './rows.tsx';
import { factRow, forgetRows, type ShownRow, type Tier } from './tiers.ts';
import { Button, EmptyNote, ErrorNote, Facts, Field, LongText, Toast } from './ui.tsx';
import { Why } from './why.tsx';

/** The rows of a tier, which load as one scrolls. */
export function MemoryRows(props: ShownMemory) {
  const { tier, q, project } = props;
  const { rows, first, further, hasMore, onView, loadAll, edit, drop } = useMemoryPages(props);
  const { receipt, forget, pinning, pin } = useMemoryActions(tier, edit, drop);
  return (
    <>
      {receipt !== undefined && <Toast>{receipt}</Toast>}
      <ErrorNote error={pinning.error} />
      <Loading of={first} lines={8} />
      <Rows
        label={t.memory.tiers[tier]}
        rows={first.value && rows}
        empty={
          <EmptyNote
            text={q || project ? t.memory.noMatch : t.memory.empty[tier]}
            {...(!q && !project && { href: '#/start', link: t.nav.start })}
          />
        }
        idOf={idOf}
        view={viewOf}
        headOf={({ head }) => head}
        hasMore={hasMore}
        onView={onView}
        loadAll={loadAll}
        actions={(row) => (
          <>
            {tier === 'facts' && <PinButton row={row} onPress={() => pin(row)} />}
            <Forget of={row.text} onForget={() => forget([row.id])} isSmall />
          </>
        )}
        bulk={(ids, clear) => (
          <>
            {tier === 'facts' && (
              <Button kind="link" onPress={() => pinning.run(ids.map((id) => ({ id, pinned: true })))}>
                {t.memory.pin}
              </Button>
            )}
            <Forget of="" count={ids.length} onForget={() => forget(ids).then(clear)} />
          </>
        )}
        detail={(row) => (
          <MemoryDetail
            key={row.id}
            tier={tier}
            row={row}
            onChange={edit}
            onPin={() => pin(row)}
            onForget={() => forget([row.id])}
          />
        )}
      />
      <ErrorNote error={further.error} again={() => further.run(1)} />
    </>
  );
}

function useMemoryActions(tier: Tier, edit: (row: ShownRow) => void, drop: (ids: readonly string[]) => void) {
  const { client } = useSignedIn();
  const [receipt, setReceipt] = useState<string>();
  const forget = async (ids: readonly string[]) => {
    setReceipt(undefined);
    setReceipt(await forgetRows(client, tier, ids, drop).finally(() => tell(['memory'])));
  };
  const pinning = useSaves(async (of: readonly { id: string; pinned: boolean }[]) => {
    for (const { id, pinned } of of) edit(factRow(await client.changeFact(id, { pinned })));
  });
  const pin = (row: ShownRow) => pinning.run([{ id: row.id, pinned: !row.isPinned }]);
  return { receipt, forget, pinning, pin };
}

const idOf = ({ id }: ShownRow) => id;

function viewOf({ title, text, marks, at, project, isPinned, isOwn }: ShownRow): RowView {
  return {
    title,
    // A title of the first words needs no repetition.
    note: text.startsWith(title.replace(/…$/, '')) ? undefined : text,
    lead: isPinned && (
      <span class="pinned">
        <Icon name="pin" />
        <span class="hidden">{t.memory.pinned}</span>
      </span>
    ),
    marks: [...marks, ...(project === null ? [] : [project])],
    at,
    look: isOwn === undefined ? undefined : isOwn ? 'strong' : 'quiet',
  };
}

function PinButton({ row, onPress }: { row: ShownRow; onPress(): void }) {
  const label = `${row.isPinned ? t.memory.unpin : t.memory.pin}: ${row.text.slice(0, 80)}`;
  return <IconButton icon="pin" label={label} onPress={onPress} />;
}

interface ForgetProps {
  of: string;
  count?: number;
  onForget(): Promise<unknown>;
  isSmall?: boolean;
}

function Forget({ of, count = 1, onForget, isSmall }: ForgetProps) {
  return (
    <ConfirmedAction
      label={t.memory.forget}
      of={of.slice(0, 80)}
      question={t.memory.forgetting(count)}
      act={onForget}
      {...(isSmall && { icon: 'forget' })}
    />
  );
}

interface MemoryDetailProps {
  tier: Tier;
  row: ShownRow;
  onChange(row: ShownRow): void;
  onPin(): void;
  onForget(): Promise<unknown>;
}

function MemoryDetail({ tier, row, onChange, onPin, onForget }: MemoryDetailProps) {
  const { client } = useSignedIn();
  const [draft, setDraft] = useDraft(row.id);
  const changing = useSaves(async (text: string) => {
    onChange(factRow(await client.changeFact(row.id, { text })));
    setDraft((latest) => (latest === text ? undefined : latest));
  });
  return (
    <>
      {draft === undefined ? (
        <>
          {tier === 'episodes' && (
            <h2>
              <bdi>{row.title}</bdi>
            </h2>
          )}
          <div class="whole">
            <LongText>{row.text}</LongText>
          </div>
        </>
      ) : (
        <form onSubmit={submitHandler(() => changing.run(draft))}>
          <Field label={t.memory.correct} value={draft} onInput={setDraft} rows={4} required />
          <div class="row">
            <Button kind="primary">{t.save}</Button>
            <Button onPress={() => setDraft(undefined)}>{t.cancel}</Button>
          </div>
        </form>
      )}
      <Facts of={[moment(row.at), ...row.marks, row.project, row.isPinned && t.memory.pinned]} />
      <div class="row">
        {tier === 'facts' && draft === undefined && (
          <>
            <Button kind="link" onPress={() => setDraft(row.text)}>
              {t.memory.correct}
            </Button>
            <Button kind="link" onPress={onPin}>
              {row.isPinned ? t.memory.unpin : t.memory.pin}
            </Button>
          </>
        )}
        <Forget of={row.text} onForget={onForget} />
      </div>
      <ErrorNote error={changing.error} />
      {tier === 'facts' && <Why id={row.id} />}
    </>
  );
}
