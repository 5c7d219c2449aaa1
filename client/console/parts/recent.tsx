import { useState } from 'preact/hooks';
import type { ReplySummary } from '../../src/api.ts';
import { moment, percent, t } from '../strings/index.ts';
import { Choices } from './choices.tsx';
import { useSignedIn } from './context.ts';
import { Decide } from './decide.tsx';
import { useAction, useLoad } from './hooks.ts';
import { Button, Card, EmptyNote, ErrorNote, LongText, Skeleton } from './ui.tsx';

const PAGE_SIZE = 20;

export function Recent({ onDecided }: { onDecided(): void }) {
  const { client } = useSignedIn();
  const [filter, setFilter] = useState<'all' | 'escalated'>('all');
  const [limit, setLimit] = useState(PAGE_SIZE);
  const { value, error, again } = useLoad(
    () => client.listReplies({ limit, ...(filter === 'escalated' && { status: filter }) }),
    [filter, limit],
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
      {value?.results.map((reply) => (
        <Prediction key={reply.id} reply={reply} onDecided={onDecided} />
      ))}
      {value && value.results.length < value.total && limit < 200 && (
        <Button onPress={() => setLimit(Math.min(200, limit + PAGE_SIZE))}>{t.more}</Button>
      )}
    </section>
  );
}

function Prediction({ reply, onDecided }: { reply: ReplySummary; onDecided(): void }) {
  const { client } = useSignedIn();
  const [detail, setDetail] = useState<Awaited<ReturnType<typeof client.readReply>>>();
  const opening = useAction(async () => setDetail(await client.readReply(reply.id)));
  const { status, error } = detail ?? reply;
  return (
    <Card>
      <details onToggle={(event) => event.currentTarget.open && detail === undefined && opening.run()}>
        <summary>
          <span class={`badge ${status}`}>
            {status === 'pending' && error !== null ? t.overview.failed : t.overview.status[status]}
          </span>{' '}
          <bdi>{reply.predicted_response || t.overview.nothing}</bdi>
          <span class="quiet small">
            {moment(reply.created_at)} · <bdi>{reply.agent}</bdi> · {percent(reply.confidence)}
          </span>
        </summary>
        <ErrorNote error={opening.error} again={() => opening.run()} />
        {opening.isBusy && <Skeleton />}
        {detail && (
          <>
            <blockquote>
              <LongText>{detail.agent_input}</LongText>
            </blockquote>
            <Decide
              reply={detail}
              onDecide={async (feedback) => {
                setDetail(await client.giveFeedback(reply.id, feedback));
                onDecided();
              }}
            />
          </>
        )}
      </details>
    </Card>
  );
}
