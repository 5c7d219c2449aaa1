import { useState } from 'preact/hooks';
import type { ReplyDetail } from '../../src/api.ts';
import { Choices } from '../parts/choices.tsx';
import { useSignedIn } from '../parts/context.ts';
import { Decide } from '../parts/decide.tsx';
import { Evidence } from '../parts/evidence.tsx';
import { Button, Card, Copy, Empty, ErrorNote, Field, Skeleton, Title } from '../parts/ui.tsx';
import { useAction, useLoad } from '../parts/work.ts';
import { curlOf, typescriptOf } from '../requests.ts';
import { number, t } from '../strings/index.ts';

/** Predicts a reply, with what it rests on beside it. */
export function Try() {
  const { client } = useSignedIn();
  const stats = useLoad(() => client.readMemoryStats(), []);
  const [agent, setAgent] = useState('coder');
  const [question, setQuestion] = useState(t.try.sample);
  const [reply, setReply] = useState<ReplyDetail>();
  const request = { agent, agent_input: question, k: 3 };
  const predicting = useAction(async () => {
    const { id } = await client.predictReply(request);
    setReply(await client.readReply(id));
  });
  const submit = (event: Event) => {
    event.preventDefault();
    predicting.run();
  };
  return (
    <>
      <Title lead={t.try.lead}>{t.try.title}</Title>
      {stats.value?.raw.count === 0 && <Empty text={t.try.empty} href="#/start" link={t.nav.start} />}
      <div class="columns">
        <div>
          <Card>
            <form onSubmit={submit}>
              <Field label={t.try.agent} value={agent} onInput={setAgent} autocomplete="off" required />
              <Field label={t.try.question} value={question} onInput={setQuestion} rows={3} required />
              <div class="row">
                <Button kind="primary" isBusy={predicting.isBusy}>
                  {predicting.isBusy ? t.try.predicting : t.try.predict}
                </Button>
              </div>
            </form>
            <ErrorNote error={predicting.error} />
          </Card>
          {predicting.isBusy ? (
            <Skeleton />
          ) : (
            reply && <Answer key={reply.id} reply={reply} onChange={setReply} />
          )}
        </div>
        <div>
          {reply && <Evidence key={reply.id} reply={reply} />}
          <Requests request={request} />
        </div>
      </div>
    </>
  );
}

function Answer({ reply, onChange }: { reply: ReplyDetail; onChange(reply: ReplyDetail): void }) {
  const { client } = useSignedIn();
  const { usage, latency_ms, model } = reply;
  const tokens = number(usage.input_tokens + usage.output_tokens);
  return (
    <Card title={t.try.answer}>
      <Decide
        reply={reply}
        onDecide={async (feedback) => onChange(await client.giveFeedback(reply.id, feedback))}
      />
      <p class="quiet small">{t.try.took(number(latency_ms), tokens, model)}</p>
    </Card>
  );
}

/** What a program would send. */
function Requests({ request }: { request: Parameters<typeof curlOf>[0] }) {
  const [language, setLanguage] = useState<'curl' | 'TypeScript'>('curl');
  const text = language === 'curl' ? curlOf(request) : typescriptOf(request);
  return (
    <Card title={t.try.request}>
      <Choices
        label={t.try.request}
        options={(['curl', 'TypeScript'] as const).map((value) => ({ value, name: value }))}
        chosen={language}
        onChoose={(value) => setLanguage(value)}
      >
        <Copy key={text} text={text} />
      </Choices>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: it is scrolled by keyboard */}
      <pre tabIndex={0}>{text}</pre>
    </Card>
  );
}
