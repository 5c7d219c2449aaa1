import { useContext, useEffect, useRef, useState } from 'preact/hooks';
import type { FeedbackRequest, ReplyDetail } from '../../src/api.ts';
import { Batch } from '../parts/batch.tsx';
import { useSignedIn, WaitingContext } from '../parts/context.ts';
import { Decide } from '../parts/decide.tsx';
import { Evidence } from '../parts/evidence.tsx';
import { useHeld } from '../parts/held.ts';
import { useLoad, useRoute } from '../parts/hooks.ts';
import { Loading, Skeleton } from '../parts/loading.tsx';
import { Button, EmptyNote, ErrorNote, LongText, Title } from '../parts/ui.tsx';
import { WaitingList } from '../parts/waiting-list.tsx';
import { t } from '../strings/index.ts';

const PAGE_SIZE = 50;
const TYPING_FIELDS = 'input, textarea, select';
/** Keys that repeat while held down. If others did, they could decide on predictions that the person has not read. */
const REPEATING_KEYS = ['j', 'k'];

interface Decision {
  id: string;
  feedback: FeedbackRequest;
  /** True if nothing was predicted: then there is nothing to be wrong about. */
  isAbstention: boolean;
}

export function Inbox() {
  const { client } = useSignedIn();
  const reportWaiting = useContext(WaitingContext);
  const [decidedIds, setDecidedIds] = useState<ReadonlySet<string>>(new Set());
  const [chosenId, setChosenId] = useState<string>();
  const sending = useDecisions(({ id }) => setDecidedIds(withoutId(decidedIds, id)));
  const { value, error, again } = useLoad(
    async () => {
      await sending.settle();
      return client.listReplies({ status: 'escalated', trial: 'false', limit: PAGE_SIZE });
    },
    [],
    ['predictions'],
  );
  const { rest: named } = useRoute();
  const { held, hold, drop } = useHeld(sending);
  const root = useRef<HTMLElement>(null);
  const read = useDetails();

  const waiting = (value?.results ?? []).filter(({ id }) => !decidedIds.has(id));
  const at = Math.max(
    0,
    waiting.findIndex(({ id }) => id === chosenId),
  );
  const current = waiting[at];
  const next = waiting[at + 1];
  const hasMore = value !== undefined && value.total > value.results.length;
  const isOver = value !== undefined && current === undefined;
  useEffect(() => {
    if (value) reportWaiting(value.total - value.results.length + waiting.length);
  }, [value, waiting.length]);
  useEffect(() => {
    if (isOver && hasMore) again();
  }, [isOver, value]);
  const move = (by: number) => setChosenId(waiting[Math.min(waiting.length - 1, Math.max(0, at + by))]?.id);
  useEffect(() => {
    // Keeps the current prediction in view when newer ones are loaded.
    setChosenId(current?.id);
    // This section handles the keys.
    root.current?.focus({ preventScroll: true });
  }, [current?.id]);

  useEffect(() => {
    // A notification names the one that the person wants to see.
    if (!waiting.some(({ id }) => id === named)) return;
    setChosenId(named);
    location.replace('#/inbox');
  }, [named, value]);

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
    <section class="inbox" ref={root} tabIndex={-1} aria-label={t.inbox.listLabel} onKeyDown={pressByKey}>
      <Title tools={<Tools held={held} onUndo={undo} onMove={current && move} />}>{t.nav.inbox}</Title>
      <ErrorNote error={error ?? sending.error} again={again} />
      {(value === undefined || (isOver && hasMore)) && error === undefined && <Skeleton lines={5} />}
      {isOver && !hasMore && <EmptyNote text={t.inbox.empty} href="#/try" link={t.nav.try} />}
      {current && (
        <div class="mail">
          <div>
            <WaitingList waiting={waiting} current={current.id} onChoose={setChosenId} />
            {hasMore && <p class="quiet small">{t.inbox.more(value.total - value.results.length)}</p>}
            <p class="quiet small by-keyboard">{t.inbox.keys}</p>
          </div>
          <WaitingReply
            key={current.id}
            read={() => read(current.id)}
            // The next one is there when the person comes to it.
            onShown={() => next && read(next.id)}
            onDecide={(feedback) =>
              decide({ id: current.id, feedback, isAbstention: current.candidates.length === 0 })
            }
          />
        </div>
      )}
      <Batch onPredicted={again} />
    </section>
  );
}

interface ToolsProps {
  held: Decision | undefined;
  onUndo(): void;
  onMove: ((by: number) => void) | undefined;
}

function Tools({ held, onUndo, onMove }: ToolsProps) {
  return (
    <div class="tools">
      <span role="status">{held && heldText(held)}</span>
      {held && (
        <Button shortcut="u" onPress={onUndo}>
          {t.inbox.undo}
        </Button>
      )}
      {onMove && (
        <>
          <Button shortcut="k" onPress={() => onMove(-1)}>
            {t.inbox.previous}
          </Button>
          <Button shortcut="j" onPress={() => onMove(1)}>
            {t.inbox.next}
          </Button>
        </>
      )}
    </div>
  );
}

const heldText = ({ feedback: { status }, isAbstention }: Decision) =>
  status === 'rejected' && isAbstention ? t.inbox.dismissed : t.inbox.held[status];

/** Reads each prediction once, with the memory behind it. */
function useDetails(): (id: string) => Promise<ReplyDetail> {
  const { client } = useSignedIn();
  const known = useRef(new Map<string, Promise<ReplyDetail>>());
  return (id) => {
    const reading = known.current.get(id) ?? client.readReply(id, { evidence: 'true' });
    known.current.set(id, reading);
    reading.catch(() => known.current.delete(id));
    return reading;
  };
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

interface WaitingReplyProps {
  read(): Promise<ReplyDetail>;
  onShown(): void;
  onDecide(feedback: FeedbackRequest): Promise<unknown>;
}

function WaitingReply({ read, onShown, onDecide }: WaitingReplyProps) {
  const detail = useLoad(read, []);
  useEffect(() => {
    if (detail.value) onShown();
  }, [detail.value]);
  return (
    <div class="letter" onClickCapture={dropRepeatedClick}>
      <Loading of={detail} lines={5} />
      {detail.value && (
        <>
          <div>
            <blockquote class="whole">
              <LongText>{detail.value.agent_input}</LongText>
            </blockquote>
            <Decide reply={detail.value} onDecide={onDecide} hasKeys />
          </div>
          <Evidence reply={detail.value} />
        </>
      )}
    </div>
  );
}
