import { useState } from 'preact/hooks';
import type { ReplyDetail, ReplySummary } from '../../src/api.ts';
import { percent, t } from '../strings/index.ts';
import { Choices } from './choices.tsx';
import { useSignedIn } from './context.ts';
import { Decide } from './decide.tsx';
import { useLoad } from './hooks.ts';
import { Rows } from './rows.tsx';
import { Button, EmptyNote, ErrorNote, LongText, Skeleton } from './ui.tsx';

const PAGE_SIZE = 20;

export function Recent({ onDecided }: { onDecided(): void }) {
  const { client } = useSignedIn();
  const [filter, setFilter] = useState<'all' | 'escalated'>('all');
  const [limit, setLimit] = useState(PAGE_SIZE);
  const { value, error, again } = useLoad(
    () => client.listReplies({ limit, ...(filter === 'escalated' && { status: filter }) }),
    [filter, limit],
    ['predictions'],
  );
  return (
    <section>
      <h2>{t.overview.latest}</h2>
      <Choices
        label={t.overview.latest}
        options={(['all', 'escalated'] as const).map((value) => ({
          value,
          name: t.overview.filter[value],
        }))}
        chosen={filter}
        onChoose={(value) => setFilter(value)}
      />
      <ErrorNote error={error} again={again} />
      {value === undefined && error === undefined && <Skeleton lines={5} />}
      {value?.results.length === 0 && (
        <EmptyNote text={filter === 'all' ? t.overview.none : t.inbox.empty} href="#/try" link={t.nav.try} />
      )}
      {value && value.results.length > 0 && (
        <Rows
          label={t.overview.latest}
          rows={value.results}
          idOf={({ id }) => id}
          view={(reply) => ({
            lead: <StatusBadge of={reply} />,
            title: reply.predicted_response || t.overview.nothing,
            marks: [reply.agent, percent(reply.confidence)],
            at: reply.created_at,
          })}
          detail={(reply) => <Prediction key={reply.id} id={reply.id} onDecided={onDecided} />}
        />
      )}
      {value && value.results.length < value.total && limit < 200 && (
        <Button onPress={() => setLimit(Math.min(200, limit + PAGE_SIZE))}>{t.more}</Button>
      )}
    </section>
  );
}

function StatusBadge({ of: { status, error } }: { of: ReplySummary }) {
  const hasFailed = status === 'pending' && error !== null;
  return <span class={`badge ${status}`}>{hasFailed ? t.overview.failed : t.overview.status[status]}</span>;
}

function Prediction({ id, onDecided }: { id: string; onDecided(): void }) {
  const { client } = useSignedIn();
  const [decided, setDecided] = useState<ReplyDetail>();
  const { value, error, again } = useLoad(() => client.readReply(id), [id]);
  const detail = decided ?? value;
  return (
    <>
      <ErrorNote error={error} again={again} />
      {detail === undefined && error === undefined && <Skeleton />}
      {detail && (
        <>
          <StatusBadge of={detail} />
          <blockquote>
            <LongText>{detail.agent_input}</LongText>
          </blockquote>
          <Decide
            reply={detail}
            onDecide={async (feedback) => {
              setDecided(await client.giveFeedback(id, feedback));
              onDecided();
            }}
          />
        </>
      )}
    </>
  );
}
