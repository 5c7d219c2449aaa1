import { useState } from 'preact/hooks';
import type { BatchResponse } from '../../src/api.ts';
import { percent, t } from '../strings/index.ts';
import { useSignedIn } from './context.ts';
import { askQuietly } from './escalations.ts';
import { submitHandler, useAction } from './hooks.ts';
import { Button, Card, ErrorNote, Field, sentenceOf } from './ui.tsx';

type BatchItem = BatchResponse['results'][number];

const PROMPTS_MAX = 100;

export function Batch({ onPredicted }: { onPredicted(): void }) {
  const { client } = useSignedIn();
  const [agent, setAgent] = useState('coder');
  const [typed, setTyped] = useState('');
  const [askedQuestions, setAskedQuestions] = useState<readonly string[]>([]);
  const [items, setItems] = useState<ReadonlyMap<number, BatchItem>>(new Map());
  const questions = typed
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '');
  const excess = questions.length - PROMPTS_MAX;
  const predicting = useAction(async () => {
    const first = questions.slice(0, PROMPTS_MAX);
    setAskedQuestions(first);
    setItems(new Map());
    const prompts = first.map((agent_input) => ({ agent, agent_input }));
    await askQuietly(first, async () => {
      for await (const event of client.stream('predictReplies', { prompts, k: 3 }))
        if (event.type === 'result') setItems((before) => new Map(before).set(event.item.index, event.item));
    });
    onPredicted();
  });
  return (
    <Card>
      <details>
        <summary>{t.batch.title}</summary>
        <form onSubmit={submitHandler(predicting.run)}>
          <Field label={t.try.agent} value={agent} onInput={setAgent} autocomplete="off" required />
          <Field
            label={t.batch.questions}
            hint={t.batch.hint(PROMPTS_MAX)}
            fault={excess > 0 ? t.batch.tooMany(PROMPTS_MAX, excess) : undefined}
            value={typed}
            onInput={setTyped}
            rows={4}
            required
          />
          <Button kind="primary" isBusy={predicting.isBusy}>
            {t.batch.predict}
          </Button>
        </form>
        <p class="quiet" role="status">
          {askedQuestions.length > 0 && t.batch.ready(items.size, askedQuestions.length)}
        </p>
        <ol class="quotes">
          {askedQuestions.map((question, at) => (
            <li key={at}>
              <bdi class="words">{question}</bdi>
              <ItemOutcome item={items.get(at)} isBusy={predicting.isBusy} />
            </li>
          ))}
        </ol>
        <ErrorNote error={predicting.error} />
      </details>
    </Card>
  );
}

function ItemOutcome({ item, isBusy }: { item: BatchItem | undefined; isBusy: boolean }) {
  if (item === undefined) return <p class="quiet small">{isBusy ? t.try.predicting : ''}</p>;
  if ('error' in item) return <p class="fault small">{sentenceOf(item.error.code)}</p>;
  const { status, predicted_response, confidence } = item.prediction;
  return (
    <p class="small">
      <span class={`badge ${status}`}>{t.overview.status[status]}</span>{' '}
      <bdi>{predicted_response || t.overview.nothing}</bdi> · {percent(confidence)}
    </p>
  );
}
