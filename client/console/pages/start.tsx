import { useState } from 'preact/hooks';
import { hasSample, loadSample, removeSample } from '../import/sample.ts';
import { useSignedIn } from '../parts/context.ts';
import { useAction, useLoad } from '../parts/hooks.ts';
import { ImportSessions } from '../parts/import-sessions.tsx';
import { learn } from '../parts/learn.ts';
import { Button, Card, ErrorNote, LongText, SuccessNote, Title } from '../parts/ui.tsx';
import { t } from '../strings/index.ts';

export function Start() {
  const { client } = useSignedIn();
  const { value, error, again } = useLoad(() => client.readMemoryStats(), []);
  const hasMemory = value !== undefined && value.raw.count > 0;
  return (
    <div class="slim">
      <Title lead={t.start.lead}>{t.start.title}</Title>
      <ImportSessions onLearnt={again} />
      <ErrorNote error={error} again={again} />
      {hasMemory && (
        <Card title={t.start.learnt}>
          <p role="status">{t.start.learntSome(value.facts.count, value.episodes.count, value.raw.count)}</p>
          <TryOne key={value.raw.count} />
        </Card>
      )}
      <SampleCard onChange={again} />
    </div>
  );
}

/** Leads to a question that an agent asked: the person's own answers make it a suggestion that works. */
function TryOne() {
  const { client } = useSignedIn();
  const { value } = useLoad(async () => {
    const { results } = await client.listRawMemory({ limit: 200 });
    return results.find(({ kind, role }) => kind === 'prompt' && role === 'agent')?.content;
  }, []);
  const query = value === undefined ? '' : `?${new URLSearchParams({ question: value })}`;
  return (
    <>
      {value !== undefined && (
        <blockquote>
          <LongText>{value}</LongText>
        </blockquote>
      )}
      <div class="row">
        <a class="button primary" href={`#/try${query}`}>
          {t.start.toTry}
        </a>
        <a href="#/memory">{t.start.seeMemory}</a>
      </div>
    </>
  );
}

function SampleCard({ onChange }: { onChange(): void }) {
  const { client, user } = useSignedIn();
  const sample = useLoad(() => hasSample(client, user.id), []);
  const [step, setStep] = useState('');
  const [isRemoved, setRemoved] = useState(false);
  const reload = () => {
    sample.again();
    onChange();
  };
  const loading = useAction(async () => {
    setRemoved(false);
    try {
      await loadSample(client, user.id);
      await learn(client, setStep);
    } finally {
      reload();
    }
  });
  const removing = useAction(async () => {
    await removeSample(client, user.id);
    setRemoved(true);
    reload();
  });
  return (
    <Card title={t.start.sample}>
      <p>{t.start.sampleLead}</p>
      {sample.value ? (
        <Button action={removing}>{t.start.removeSample}</Button>
      ) : (
        <Button action={loading}>{t.start.loadSample}</Button>
      )}
      <p class="quiet" role="status">
        {loading.isBusy && step}
        {removing.isBusy && t.loading}
      </p>
      {isRemoved && <SuccessNote>{t.start.sampleRemoved}</SuccessNote>}
      <ErrorNote error={sample.error ?? loading.error ?? removing.error} />
    </Card>
  );
}
