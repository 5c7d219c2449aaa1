import type { ComponentChildren } from 'preact';
import { useEffect, useId, useRef, useState } from 'preact/hooks';
import type { AccountClient, DraftRequest, DraftResponse } from '../../src/api.ts';
import type { CompleterClient } from '../../src/completer.ts';
import { attachCompleter } from '../../src/textarea.ts';
import { number, percent, t } from '../strings/index.ts';
import { useSignedIn } from './context.ts';
import { NOTHING_USED, UsedRows } from './evidence.tsx';
import { Card, ErrorNote } from './ui.tsx';
import { Waterfall } from './waterfall.tsx';

/** Maximum length of a message in a `DraftRequest`. */
const MESSAGE_MAX = 8000;

interface TimedPrediction {
  request: DraftRequest;
  answer: DraftResponse;
  /** Milliseconds from the request to the answer, seen from this page. */
  tookMs: number;
}

interface TypingProps {
  question: string;
  /** Called with the request of what is in the field now. */
  onRequest(request: DraftRequest): void;
  children: ComponentChildren;
}

export function Typing({ question, onRequest, children }: TypingProps) {
  const { client } = useSignedIn();
  const id = useId();
  const field = useRef<HTMLTextAreaElement>(null);
  const [prediction, setPrediction] = useState<TimedPrediction>();
  const [error, setError] = useState<unknown>();
  const latestQuestion = useRef(question);
  latestQuestion.current = question;
  useEffect(() => {
    if (field.current === null) return;
    const report = (predicted: TimedPrediction) => {
      setError(undefined);
      setPrediction(predicted);
    };
    const completer = attachCompleter(field.current, completerClientOf(client, report), {
      userId: 'me',
      context: () => ({ messages: messagesOf(latestQuestion.current) }),
      onError: setError,
    });
    return () => completer.close();
  }, []);
  return (
    <Card title={t.try.typing}>
      {children}
      <div class="field ghost">
        <label for={id}>{t.try.draft}</label>
        <textarea
          id={id}
          ref={field}
          rows={3}
          aria-describedby={`${id}-note`}
          onInput={({ currentTarget: { value: draft } }) =>
            onRequest({ draft, mode: 'complete_draft', messages: messagesOf(question) })
          }
        />
      </div>
      <p id={`${id}-note`} class="quiet small">
        {t.try.draftHint}
      </p>
      <ErrorNote error={error} />
      {prediction && <PredictionDetails prediction={prediction} />}
    </Card>
  );
}

function messagesOf(question: string): DraftRequest['messages'] {
  const content = question.slice(-MESSAGE_MAX).toWellFormed();
  return content.trim() === '' ? [] : [{ role: 'assistant', content, origin: 'agent' }];
}

/** Adapts the account's client to the interface of an app's client, which the completer expects. */
function completerClientOf(
  client: AccountClient,
  report: (predicted: TimedPrediction) => void,
): CompleterClient {
  return {
    async predict({ mode, draft, messages = [] }, options) {
      const since = performance.now();
      const request = { draft: draft.text, mode, messages };
      const answer = await client.predictDraft(request, options);
      report({ request, answer, tookMs: Math.round(performance.now() - since) });
      const { status, completion } = answer;
      return { status, completion, request_id: crypto.randomUUID() };
    },
    // Predictions of `predictDraft` take no feedback.
    recordPredictionEvent: async () => {},
  };
}

function PredictionDetails({ prediction: { answer, tookMs } }: { prediction: TimedPrediction }) {
  const [isOpen, setOpen] = useState(false);
  const { status, confidence, model, sent = [], usage, timing, context = NOTHING_USED } = answer;
  const rows = context.fact_ids.length + context.episode_ids.length + context.raw_ids.length;
  const { queue_ms, memory_ms, model_ms, total_ms } = timing;
  const stages = [
    { name: t.try.stages.queue, ms: queue_ms },
    { name: t.try.stages.memory, ms: memory_ms },
    { name: t.try.stages.model, ms: model_ms },
    { name: t.try.stages.rest, ms: Math.max(0, total_ms - queue_ms - memory_ms - model_ms) },
    { name: t.try.stages.way, ms: Math.max(0, tookMs - total_ms) },
  ];
  return (
    <>
      <p class="small">
        {t.try.draftStatus[status]} {t.try.confidence(percent(confidence))} ·{' '}
        {t.try.tokens(number(usage.input_tokens), number(usage.output_tokens))} · <bdi>{model}</bdi>
      </p>
      <Waterfall label={t.try.waterfall} stages={stages} />
      <details onToggle={(event) => setOpen(event.currentTarget.open)}>
        <summary>{t.try.used(number(rows))}</summary>
        {isOpen && <UsedRows used={context} />}
      </details>
      <details>
        <summary>{t.try.sent}</summary>
        {sent.length === 0 && <p class="quiet small">{t.try.sentNothing}</p>}
        {sent.map(({ role, content }, at) => (
          <section key={at} aria-label={role}>
            <p class="quiet small">{role}</p>
            <pre>{content}</pre>
          </section>
        ))}
      </details>
    </>
  );
}
