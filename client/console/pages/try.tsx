import { useState } from 'preact/hooks';
import type { DraftRequest, ReplyDetail, ReplyRequest } from '../../src/api.ts';
import { Choices } from '../parts/choices.tsx';
import { CodeExample } from '../parts/code-example.tsx';
import { useSignedIn } from '../parts/context.ts';
import { Decide } from '../parts/decide.tsx';
import { Evidence } from '../parts/evidence.tsx';
import { useAction, useLoad, useRoute } from '../parts/hooks.ts';
import { Skeleton } from '../parts/loading.tsx';
import { Typing } from '../parts/typing.tsx';
import { Button, Card, EmptyNote, ErrorNote, Field, Title } from '../parts/ui.tsx';
import { ROOT } from '../session.ts';
import { number, t } from '../strings/index.ts';

export function Try() {
  const { client } = useSignedIn();
  const stats = useLoad(() => client.readMemoryStats(), []);
  const [agent, setAgent] = useState('coder');
  const { query } = useRoute();
  const [question, setQuestion] = useState(query.get('question') ?? t.try.sample);
  const [draft, setDraft] = useState<DraftRequest>({ draft: '', mode: 'complete_draft', messages: [] });
  const request = { agent, agent_input: question, k: 3, trial: true };
  return (
    <div class="slim">
      <Title lead={t.try.lead}>{t.nav.try}</Title>
      {stats.value?.raw.count === 0 && <EmptyNote text={t.try.empty} href="#/start" link={t.nav.start} />}
      <Typing question={question} onRequest={setDraft}>
        <div class="asked">
          <Field label={t.try.question} value={question} onInput={setQuestion} rows={2} required />
          <Field label={t.try.agent} value={agent} onInput={setAgent} autocomplete="off" required />
        </div>
      </Typing>
      <ReplyExample request={request} />
      <RequestExamples
        requests={{
          draft: { path: 'predictions/draft/', method: 'predictDraft', body: draft },
          reply: { path: 'predictions/predict/', method: 'predictReply', body: request },
        }}
      />
    </div>
  );
}

function ReplyExample({ request }: { request: ReplyRequest }) {
  const { client } = useSignedIn();
  const [reply, setReply] = useState<ReplyDetail>();
  const predicting = useAction(async () => {
    const { id } = await client.predictReply(request);
    setReply(await client.readReply(id, { evidence: 'true' }));
  });
  return (
    <Card title={t.try.answer}>
      <p class="quiet">{t.try.answerLead}</p>
      <Button kind="primary" action={predicting}>
        {predicting.isBusy ? t.try.predicting : t.try.predict}
      </Button>
      <ErrorNote error={predicting.error} />
      {predicting.isBusy ? (
        <Skeleton />
      ) : (
        reply && <ReplyAnswer key={reply.id} reply={reply} onChange={setReply} />
      )}
      {reply && !predicting.isBusy && <Evidence reply={reply} />}
    </Card>
  );
}

function ReplyAnswer({ reply, onChange }: { reply: ReplyDetail; onChange(reply: ReplyDetail): void }) {
  const { client } = useSignedIn();
  const { usage, latency_ms, model } = reply;
  return (
    <div class="answer">
      <Decide
        reply={reply}
        onDecide={async (feedback) =>
          onChange({ ...reply, ...(await client.giveFeedback(reply.id, feedback)) })
        }
      />
      <p class="quiet small">
        {t.ms(number(latency_ms))} · {t.try.tokens(number(usage.input_tokens), number(usage.output_tokens))} ·{' '}
        <bdi>{model}</bdi>
      </p>
    </div>
  );
}

/** A call to `/api`: its path, the method of our TypeScript client that makes it, and its body. */
interface ExampleRequest {
  path: string;
  method: 'predictDraft' | 'predictReply';
  body: object;
}

function curlOf({ path, body }: ExampleRequest): string {
  const text = JSON.stringify(body, null, 2).replaceAll("'", `'\\''`);
  return `curl -sS ${ROOT}api/${path} \\
  -H "X-Service-API-Key: $FORECUE_KEY" \\
  -H 'Content-Type: application/json' \\
  -d '${text}'`;
}

function typescriptOf({ method, body }: ExampleRequest): string {
  return `import { createAccountClient } from 'forecue';

const forecue = createAccountClient({
  baseUrl: ${JSON.stringify(ROOT.slice(0, -1))},
  credential: process.env.FORECUE_KEY,
});
const answer = await forecue.${method}(${JSON.stringify(body, null, 2)});`;
}

function RequestExamples({ requests }: { requests: { draft: ExampleRequest; reply: ExampleRequest } }) {
  const [shownRequest, setShownRequest] = useState<keyof typeof requests>('draft');
  const shown = requests[shownRequest];
  return (
    <Card title={t.try.request}>
      <Choices
        label={t.try.request}
        options={(['draft', 'reply'] as const).map((value) => ({ value, name: t.try.requests[value] }))}
        chosen={shownRequest}
        onChoose={setShownRequest}
      />
      <CodeExample label={t.try.language} texts={{ curl: curlOf(shown), TypeScript: typescriptOf(shown) }} />
    </Card>
  );
}
