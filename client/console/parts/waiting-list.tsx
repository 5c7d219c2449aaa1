import { Fragment } from 'preact';
import { useState } from 'preact/hooks';
import type { ReplySummary } from '../../src/api.ts';
import { percent, shortMoment, t } from '../strings/index.ts';
import { Button } from './ui.tsx';

interface WaitingListProps {
  waiting: readonly ReplySummary[];
  current: string;
  onChoose(id: string): void;
}

/** Number of predictions of one batch from which it is folded: it shows its first one, or the current one. */
const FOLDED_FROM = 3;

export function WaitingList({ waiting, current, onChoose }: WaitingListProps) {
  const [unfolded, setUnfolded] = useState<ReadonlySet<string>>(new Set());
  // The predictions of a batch are made in one transaction, so their times are equal.
  const batches = [...Map.groupBy(waiting, ({ created_at }) => created_at)];
  return (
    <ul class="waiting">
      {batches.map(([time, batch]) => {
        const isFolded = batch.length >= FOLDED_FROM && !unfolded.has(time);
        const shown = isFolded ? [batch.find(({ id }) => id === current) ?? batch[0]] : batch;
        return (
          <Fragment key={time}>
            {shown.map((reply) => reply && <WaitingItem key={reply.id} {...{ reply, current, onChoose }} />)}
            {isFolded && (
              <li>
                <Button kind="link" onPress={() => setUnfolded(new Set([...unfolded, time]))}>
                  {t.inbox.batch(batch.length - 1)}
                </Button>
              </li>
            )}
          </Fragment>
        );
      })}
    </ul>
  );
}

interface WaitingItemProps extends Pick<WaitingListProps, 'current' | 'onChoose'> {
  reply: ReplySummary;
}

function WaitingItem({ reply, current, onChoose }: WaitingItemProps) {
  const { id, question, predicted_response, agent, created_at, confidence } = reply;
  return (
    <li>
      <button type="button" aria-current={id === current} onClick={() => onChoose(id)}>
        <bdi class="name">{question}</bdi>
        <bdi class="quiet">{predicted_response.slice(0, 200).toWellFormed() || t.overview.nothing}</bdi>
        <span class="quiet small">
          <bdi>{agent}</bdi> · {shortMoment(created_at)}
          {predicted_response && ` · ${percent(confidence)}`}
        </span>
      </button>
    </li>
  );
}
