import { useEffect, useRef } from 'preact/hooks';
import type { FeedbackRequest, ReplyDetail } from '../../src/api.ts';
import { percent, t } from '../strings/index.ts';
import { useDraft } from './draft.ts';
import { submitHandler, useAction } from './hooks.ts';
import { Button, ErrorNote, Field, LongText, SuccessNote, sentenceOf } from './ui.tsx';

interface DecideProps {
  reply: ReplyDetail;
  onDecide(feedback: FeedbackRequest): Promise<unknown>;
  /** True if keys press the buttons: 1 to 5 accept, e edits, x rejects. */
  hasKeys?: boolean;
}

const KEYS_MAX = 5;

export function Decide({ reply, onDecide, hasKeys = false }: DecideProps) {
  const [draft, setDraft] = useDraft(reply.id);
  const form = useRef<HTMLFormElement>(null);
  const isEditing = draft !== undefined;
  useEffect(() => form.current?.querySelector('textarea')?.focus(), [isEditing]);
  // Does not discard the draft, because the decision may be undone or may not reach the server.
  const deciding = useAction(onDecide);
  const key = (name: string) => (hasKeys ? name : undefined);
  const decide = deciding.run;
  const { candidates, status, error, feedback_reported: isReported } = reply;
  const decidedText = isReported ? undefined : t.try.decided[status as keyof typeof t.try.decided];
  const hasAbstained = candidates.length === 0;
  // What supports a first candidate is known, but the candidate is not shown: the person is asked to check it blindly.
  const isCheck = hasAbstained && reply.context?.support != null;
  if (status === 'pending') return <p>{error === null ? t.try.running : sentenceOf(error)}</p>;
  return (
    <>
      {decidedText ? (
        <SuccessNote>
          {decidedText}
          {t.try.thanks}
        </SuccessNote>
      ) : isReported ? (
        <p>{t.try.reported}</p>
      ) : hasAbstained ? (
        <p>{isCheck ? t.try.check : t.try.abstained}</p>
      ) : (
        <p class={`badge ${status}`}>{status === 'auto' ? t.try.auto : t.try.escalated}</p>
      )}
      <ol class="candidates">
        {candidates.map(({ response, confidence, reasoning }, at) => (
          <li key={at}>
            <LongText>{response}</LongText>
            <p class="quiet small">
              {t.try.confidence(percent(confidence))} · <bdi>{reasoning}</bdi>
            </p>
            <div class="bar">
              <div style={{ width: `${100 * confidence}%` }} />
            </div>
            {!decidedText && (
              <Button
                label={`${t.try.accept}: ${response.slice(0, 80)}`}
                shortcut={at < KEYS_MAX ? key(String(at + 1)) : undefined}
                onPress={() =>
                  decide(at === 0 ? { status: 'accepted' } : { status: 'edited', actual_response: response })
                }
              >
                {t.try.accept}
              </Button>
            )}
          </li>
        ))}
      </ol>
      {!decidedText && draft === undefined && (
        <div class="row">
          <Button kind="link" shortcut={key('e')} onPress={() => setDraft(candidates[0]?.response ?? '')}>
            {t.try.edit}
          </Button>
          <Button kind="link" shortcut={key('x')} onPress={() => decide({ status: 'rejected' })}>
            {hasAbstained ? t.try.dismiss : t.try.reject}
          </Button>
        </div>
      )}
      {!decidedText && draft !== undefined && (
        <form
          ref={form}
          onKeyDown={(event) => {
            const { key, ctrlKey, metaKey } = event;
            if (key === 'Enter' && (ctrlKey || metaKey)) event.currentTarget.requestSubmit();
            if (key !== 'Escape') return;
            // Closes the editor only, and not what it is in.
            event.preventDefault();
            setDraft(undefined);
          }}
          onSubmit={submitHandler(() => decide({ status: 'edited', actual_response: draft }))}
        >
          <Field
            label={t.try.editLabel}
            hint={t.try.editHint}
            value={draft}
            onInput={setDraft}
            rows={2}
            required
          />
          <div class="row">
            <Button kind="primary" isBusy={deciding.isBusy}>
              {t.try.editSend}
            </Button>
            <Button onPress={() => setDraft(undefined)}>{t.cancel}</Button>
          </div>
        </form>
      )}
      <ErrorNote error={deciding.error} />
    </>
  );
}
