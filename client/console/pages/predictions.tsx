import { useState } from 'preact/hooks';
import type { ReplySummary } from '../../src/api.ts';
import { Calibration } from '../parts/calibration.tsx';
import { Choices } from '../parts/choices.tsx';
import { useSignedIn } from '../parts/context.ts';
import { Decide } from '../parts/decide.tsx';
import { Button, Card, Empty, ErrorNote, Skeleton, Title, Words } from '../parts/ui.tsx';
import { useAction, useLoad } from '../parts/work.ts';
import { moment, number, percent, t } from '../strings/index.ts';

/** How good the predictions are, and those that wait for the person. */
export function Predictions() {
  const { client } = useSignedIn();
  const { value, error, again } = useLoad(
    () => Promise.all([client.readReplyStats(), client.readReplyCalibration()]),
    [],
  );
  const [stats, calibration] = value ?? [];
  return (
    <>
      <Title lead={t.predictions.lead}>{t.predictions.title}</Title>
      <ErrorNote error={error} again={again} />
      {stats === undefined && error === undefined && <Skeleton />}
      {stats && calibration && (
        <>
          <dl class="figures">
            <Figure value={number(stats.total)} name={t.predictions.total} />
            <Figure value={shareOf(stats.automation_rate)} name={t.predictions.automatic} />
            <Figure value={shareOf(stats.precision)} name={t.predictions.precision} />
            <Figure value={number(calibration.feedback_count)} name={t.predictions.decided} />
          </dl>
          <Calibration calibration={calibration} />
        </>
      )}
      <Recent onDecided={again} />
    </>
  );
}

function Figure({ value, name }: { value: string; name: string }) {
  return (
    <div>
      <dt>{name}</dt>
      <dd>{value}</dd>
    </div>
  );
}

function shareOf(share: number | null): string {
  return share === null ? '–' : percent(share);
}

const PAGE = 20;

function Recent({ onDecided }: { onDecided(): void }) {
  const { client } = useSignedIn();
  const [filter, setFilter] = useState<'all' | 'escalated'>('all');
  const [limit, setLimit] = useState(PAGE);
  const { value, error, again } = useLoad(
    () => client.listReplies({ limit, ...(filter === 'escalated' && { status: filter }) }),
    [filter, limit],
  );
  return (
    <section>
      <Choices
        label={t.predictions.title}
        options={(['all', 'escalated'] as const).map((value) => ({
          value,
          name: t.predictions.filter[value],
        }))}
        chosen={filter}
        onChoose={(value) => setFilter(value)}
      />
      <ErrorNote error={error} again={again} />
      {value === undefined && error === undefined && <Skeleton lines={5} />}
      {value?.results.length === 0 && <Empty text={t.predictions.none} href="#/try" link={t.nav.try} />}
      {value?.results.map((reply) => (
        <Prediction key={reply.id} reply={reply} onDecided={onDecided} />
      ))}
      {value && value.results.length < value.total && limit < 200 && (
        <Button onPress={() => setLimit(Math.min(200, limit + PAGE))}>{t.more}</Button>
      )}
    </section>
  );
}

function Prediction({ reply, onDecided }: { reply: ReplySummary; onDecided(): void }) {
  const { client } = useSignedIn();
  const [detail, setDetail] = useState<Awaited<ReturnType<typeof client.readReply>>>();
  const opening = useAction(async () => setDetail(await client.readReply(reply.id)));
  const { status } = detail ?? reply;
  return (
    <Card>
      <details onToggle={(event) => event.currentTarget.open && detail === undefined && opening.run()}>
        <summary>
          <span class={`badge ${status}`}>{t.predictions.status[status]}</span>{' '}
          <bdi>{reply.predicted_response || t.predictions.nothing}</bdi>
          <span class="quiet small">
            {moment(reply.created_at)} · <bdi>{reply.agent}</bdi> · {percent(reply.confidence)}
          </span>
        </summary>
        <ErrorNote error={opening.error} again={() => opening.run()} />
        {opening.isBusy && <Skeleton />}
        {detail && (
          <>
            <blockquote>
              <Words>{detail.agent_input}</Words>
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
