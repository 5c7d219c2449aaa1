import { useEffect, useRef, useState } from 'preact/hooks';
import type { FeedbackRequest, ReplySummary } from '../../src/api.ts';
import { Batch } from '../parts/batch.tsx';
import { useSignedIn } from '../parts/context.ts';
import { Decide } from '../parts/decide.tsx';
import { Evidence } from '../parts/evidence.tsx';
import { useHeld } from '../parts/held.ts';
import { useLoad } from '../parts/hooks.ts';
import { Button, Card, EmptyNote, ErrorNote, LongText, Skeleton, Title } from '../parts/ui.tsx';
import { moment, percent, t } from '../strings/index.ts';

const PAGE_SIZE = 50;
const TYPING_FIELDS = 'input, textarea, select';
/** Keys that repeat while held down. If others did, they could decide on predictions that the person has not read. */
const REPEATING_KEYS = ['j', 'k'];

interface Decision {
  id: string;
  feedback: FeedbackRequest;
}

export function Inbox() {
  const { client } = useSignedIn();
  const [decidedIds, setDecidedIds] = useState<ReadonlySet<string>>(new Set());
  const [chosenId, setChosenId] = useState<string>();
  const sending = useDecisions(({ id }) => setDecidedIds(withoutId(decidedIds, id)));
  const { value, error, again } = useLoad(async () => {
    await sending.settle();
    return client.listReplies({ status: 'escalated', limit: PAGE_SIZE });
  }, []);
  const { held, hold, drop } = useHeld(sending);
  const root = useRef<HTMLElement>(null);

  const waiting = (value?.results ?? []).filter(({ id }) => !decidedIds.has(id));
  const at = Math.max(
    0,
    waiting.findIndex(({ id }) => id === chosenId),
  );
  const current = waiting[at];
  const hasMore = value !== undefined && value.total > value.results.length;
  const isOver = value !== undefined && current === undefined;
  useEffect(() => {
    if (isOver && hasMore) again();
  }, [isOver, value]);
  const move = (by: number) => setChosenId(waiting[Math.min(waiting.length - 1, Math.max(0, at + by))]?.id);
  useEffect(() => {
    // Keeps the current prediction in view when newer ones are loaded.
    setChosenId(current?.id);
    // Focuses this section, which handles the keys, because the pressed button may be gone.
    root.current?.focus({ preventScroll: true });
  }, [current?.id]);

  const decide = async (decision: Decision) => {
    hold(decision);
    setDecidedIds(new Set([...decidedIds, decision.id]));
    setChosenId((waiting[at + 1] ?? waiting[at - 1])?.id);
  };
  const undo = () => {
    const taken = drop();
    if (taken === undefined) return;
    setDecidedIds(withoutId(decidedIds, taken.id));
    setChosenId(taken.id);
  };
  return (
    <>
      <Title lead={t.inbox.lead}>{t.inbox.title}</Title>
      <ErrorNote error={error ?? sending.error} again={again} />
      {(value === undefined || (isOver && hasMore)) && error === undefined && <Skeleton lines={5} />}
      <section class="inbox" ref={root} tabIndex={-1} aria-label={t.inbox.listLabel} onKeyDown={pressByKey}>
        <div class="row">
          {current && (
            <>
              <Button shortcut="k" onPress={() => move(-1)}>
                {t.inbox.previous}
              </Button>
              <Button shortcut="j" onPress={() => move(1)}>
                {t.inbox.next}
              </Button>
            </>
          )}
          <span role="status">{held && t.inbox.held[held.feedback.status]}</span>
          {held && (
            <Button shortcut="u" onPress={undo}>
              {t.inbox.undo}
            </Button>
          )}
        </div>
        {isOver && !hasMore && <EmptyNote text={t.inbox.empty} href="#/try" link={t.nav.try} />}
        {current && (
          <div class="columns">
            <div>
              <WaitingList waiting={waiting} current={current.id} onChoose={setChosenId} />
              {hasMore && <p class="quiet">{t.inbox.more(value.total - value.results.length)}</p>}
              <p class="quiet small">{t.inbox.keys}</p>
            </div>
            <WaitingReply
              key={current.id}
              id={current.id}
              onDecide={(feedback) => decide({ id: current.id, feedback })}
            />
          </div>
        )}
      </section>
      <Batch onPredicted={again} />
    </>
  );
}

function useDecisions(onFailed: (decision: Decision) => void) {
  const { client } = useSignedIn();
  const [error, setError] = useState<unknown>();
  const latestOnFailed = useRef(onFailed);
  latestOnFailed.current = onFailed;
  const sending = useRef<Promise<unknown>>(Promise.resolve());
  const send = (decision: Decision) => {
    setError(undefined);
    const answered = client.giveFeedback(decision.id, decision.feedback).catch((reason: unknown) => {
      setError(reason);
      latestOnFailed.current(decision);
    });
    sending.current = Promise.all([sending.current, answered]);
  };
  return { send, error, settle: () => sending.current };
}

function withoutId(ids: ReadonlySet<string>, id: string): ReadonlySet<string> {
  return new Set([...ids].filter((one) => one !== id));
}

/** Handles single keys only while the focus is inside the inbox (WCAG 2.2, 2.1.4). */
function pressByKey(event: KeyboardEvent): void {
  const { key, repeat, ctrlKey, metaKey, altKey, target, currentTarget } = event;
  if (ctrlKey || metaKey || altKey || (target as Element).matches(TYPING_FIELDS)) return;
  if (repeat && !REPEATING_KEYS.includes(key)) return;
  const button = (currentTarget as Element).querySelector<HTMLElement>(
    `[aria-keyshortcuts="${CSS.escape(key)}"]`,
  );
  if (button === null) return;
  event.preventDefault();
  button.click();
}

/** Drops all clicks of a double click but the first, for the same reason as the repetitions of a key. */
function dropRepeatedClick(event: MouseEvent): void {
  if (event.detail <= 1) return;
  event.preventDefault();
  event.stopPropagation();
}

interface WaitingListProps {
  waiting: readonly ReplySummary[];
  current: string;
  onChoose(id: string): void;
}

function WaitingList({ waiting, current, onChoose }: WaitingListProps) {
  return (
    <ul class="waiting">
      {waiting.map(({ id, predicted_response, agent, created_at, confidence }) => (
        <li key={id}>
          <button type="button" aria-current={id === current} onClick={() => onChoose(id)}>
            <bdi>{predicted_response.slice(0, 200).toWellFormed() || t.overview.nothing}</bdi>
            <span class="quiet small">
              <bdi>{agent}</bdi> · {moment(created_at)} · {percent(confidence)}
            </span>
          </button>
        </li>
      ))}
    </ul>
  );
}

function WaitingReply({
  id,
  onDecide,
}: {
  id: string;
  onDecide(feedback: FeedbackRequest): Promise<unknown>;
}) {
  const { client } = useSignedIn();
  const { value, error, again } = useLoad(() => client.readReply(id), []);
  return (
    <div onClickCapture={dropRepeatedClick}>
      <ErrorNote error={error} again={again} />
      {value === undefined && error === undefined && <Skeleton lines={5} />}
      {value && (
        <>
          <Card>
            <blockquote>
              <LongText>{value.agent_input}</LongText>
            </blockquote>
            <Decide reply={value} onDecide={onDecide} hasKeys />
          </Card>
          <Evidence used={value.context} />
        </>
      )}
    </div>
  );
}
