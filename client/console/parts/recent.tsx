import { useState } from 'preact/hooks';
import type { ReplySummary } from '../../src/api.ts';
import { percent, t } from '../strings/index.ts';
import { Choices } from './choices.tsx';
import { useSignedIn } from './context.ts';
import { Decide } from './decide.tsx';
import { useLoad } from './hooks.ts';
import { Loading } from './loading.tsx';
import { Rows } from './rows.tsx';
import { Button, EmptyNote, LongText } from './ui.tsx';

const PAGE_SIZE = 20;

export function Recent({ onDecided }: { onDecided(): void }) {
  const { client } = useSignedIn();
  const [filter, setFilter] = useState<'all' | 'escalated'>('all');
  const [limit, setLimit] = useState(PAGE_SIZE);
  const replies = useLoad(
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
      <Loading of={replies} lines={5} />
      <Rows
        label={t.overview.latest}
        rows={replies.value?.results}
        empty={
          <EmptyNote
            text={filter === 'all' ? t.overview.none : t.inbox.empty}
            href="#/try"
            link={t.nav.try}
          />
        }
        idOf={({ id }) => id}
        view={(reply) => ({
          lead: <StatusBadge of={reply} />,
          title: reply.predicted_response || t.overview.nothing,
          marks: [reply.agent, percent(reply.confidence)],
          at: reply.created_at,
        })}
        detail={(reply) => <Prediction key={reply.id} id={reply.id} onDecided={onDecided} />}
      />
      {replies.value && replies.value.results.length < replies.value.total && limit < 200 && (
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
  const reply = useLoad(() => client.readReply(id), [id]);
  return (
    <>
      <Loading of={reply} />
      {reply.value && (
        <>
          <StatusBadge of={reply.value} />
          <blockquote>
            <LongText>{reply.value.agent_input}</LongText>
          </blockquote>
          <Decide
            reply={reply.value}
            onDecide={async (feedback) => {
              reply.put(await client.giveFeedback(id, feedback));
              onDecided();
            }}
          />
        </>
      )}
    </>
  );
}
