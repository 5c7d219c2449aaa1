import type { AccountClient, DeletionReceipt, FactResponse } from '../../src/api.ts';
import { moment, t } from '../strings/index.ts';
import { useSignedIn } from './context.ts';
import { useDraft } from './draft.ts';
import { submitHandler, useAction } from './hooks.ts';
import { Button, Card, ConfirmedAction, ErrorNote, Field, LongText } from './ui.tsx';
import { Why } from './why.tsx';

export type Tier = 'facts' | 'episodes' | 'raw';

/** A row of any tier, as it is displayed. */
export interface ShownRow {
  id: string;
  title?: string;
  text: string;
  at: string;
  /** Labels of the row, such as its kind, agent, source or state. */
  marks: string[];
  isPinned?: boolean;
}

interface Query {
  limit: number;
  cursor?: string;
  q?: string;
}

export function tierOf(client: AccountClient, tier: Tier) {
  const tiers = {
    facts: {
      async list(query: Query) {
        const { results, next } = await client.listFacts(query);
        return { rows: results.map(factRow), next };
      },
      forget: (id: string) => client.deleteFact(id),
    },
    episodes: {
      async list(query: Query) {
        const { results, next } = await client.listEpisodes(query);
        const rows = results.map(
          ({ id, title, summary, ended_at }): ShownRow => ({
            id,
            title,
            text: summary,
            at: ended_at,
            marks: [],
          }),
        );
        return { rows, next };
      },
      forget: (id: string) => client.deleteEpisode(id),
    },
    raw: {
      async list(query: Query) {
        const { results, next } = await client.listRawMemory(query);
        const rows = results.map(({ id, content, occurred_at, kind, agent, source, origin }): ShownRow => {
          const reported = origin === 'reported' ? t.memory.reported : null;
          const marks = [kind, agent, source, reported].filter((one) => one !== null);
          return { id, text: content, at: occurred_at, marks };
        });
        return { rows, next };
      },
      forget: (id: string) => client.deleteRawMemory(id, { purge_event: 'true' }),
    },
  };
  return tiers[tier];
}

function factRow({ id, text, recorded_at, kind, pinned, superseded_by }: FactResponse): ShownRow {
  const marks = [kind, pinned && t.memory.pinned, superseded_by && t.memory.superseded];
  return { id, text, at: recorded_at, isPinned: pinned, marks: marks.filter((one) => !!one) as string[] };
}

interface RowProps {
  tier: Tier;
  row: ShownRow;
  onChange(row: ShownRow): void;
  /** Called with a sentence that tells the person what else was deleted, and how many facts were restored. */
  onForgotten(receipt: string): void;
}

export function Row({ tier, row, onChange, onForgotten }: RowProps) {
  const { client } = useSignedIn();
  const forgetting = useAction(async () => onForgotten(receiptOf(await tierOf(client, tier).forget(row.id))));
  const [draft, setDraft] = useDraft(row.id);
  const changing = useAction(async (change: { text?: string; pinned?: boolean }) => {
    onChange(factRow(await client.changeFact(row.id, change)));
    // Keeps a correction that the person began while the row was being pinned.
    if (change.text !== undefined) setDraft(undefined);
  });
  return (
    <Card>
      {row.title && (
        <h2>
          <bdi>{row.title}</bdi>
        </h2>
      )}
      {draft === undefined ? (
        <LongText>{row.text}</LongText>
      ) : (
        <form onSubmit={submitHandler(() => changing.run({ text: draft }))}>
          <Field label={t.memory.correct} value={draft} onInput={setDraft} rows={2} required />
          <div class="row">
            <Button kind="primary">{t.memory.save}</Button>
            <Button onPress={() => setDraft(undefined)}>{t.cancel}</Button>
          </div>
        </form>
      )}
      <p class="quiet small">
        {moment(row.at)}
        {row.marks.map((mark) => (
          <>
            {' · '}
            <bdi>{mark}</bdi>
          </>
        ))}
      </p>
      {tier === 'facts' && <Why id={row.id} />}
      <div class="row">
        {tier === 'facts' && draft === undefined && (
          <>
            <Button kind="link" onPress={() => setDraft(row.text)}>
              {t.memory.correct}
            </Button>
            <Button kind="link" onPress={() => changing.run({ pinned: !row.isPinned })}>
              {row.isPinned ? t.memory.unpin : t.memory.pin}
            </Button>
          </>
        )}
        <ConfirmedAction
          label={t.memory.forget}
          of={row.text.slice(0, 80)}
          question={t.memory.forgetting}
          action={forgetting}
        />
      </div>
      <ErrorNote error={changing.error} />
    </Card>
  );
}

function receiptOf({ facts, episodes }: DeletionReceipt): string {
  const { receipt } = t.memory;
  const otherEffects = [
    episodes.deleted > 0 && receipt.episodes(episodes.deleted),
    facts.deleted > 0 && receipt.facts(facts.deleted),
    facts.restored > 0 && receipt.restored(facts.restored),
  ].filter((one) => one !== false);
  return t.memory.forgotten(otherEffects.length === 0 ? '' : receipt.with + otherEffects.join(', '));
}
