import { useState } from 'preact/hooks';
import { hasSample, loadSample, removeSample } from '../import/sample.ts';
import { useSignedIn } from '../parts/context.ts';
import { useAction, useLoad } from '../parts/hooks.ts';
import { ImportSessions } from '../parts/import-sessions.tsx';
import { learn } from '../parts/learn.ts';
import { Button, Card, ErrorNote, SuccessNote, Title } from '../parts/ui.tsx';
import { t } from '../strings/index.ts';

export function Start() {
  const { client } = useSignedIn();
  const { value, error, again } = useLoad(() => client.readMemoryStats(), []);
  return (
    <>
      <Title lead={t.start.lead}>{t.start.title}</Title>
      <ImportSessions onLearnt={again} />
      <SampleCard onChange={again} />
      <Card title={t.start.learnt}>
        <ErrorNote error={error} again={again} />
        <p role="status">
          {value &&
            (value.raw.count === 0
              ? t.start.learntNone
              : t.start.learntSome(value.facts.count, value.episodes.count, value.raw.count))}
        </p>
        <a class="button secondary" href="#/memory">
          {t.start.seeMemory}
        </a>
      </Card>
      <Card title={t.start.tryOut}>
        <p>{t.start.tryLead}</p>
        <a class="button primary" href="#/try">
          {t.start.toTry}
        </a>
      </Card>
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
        {loading.isBusy && t.memory.learning(step)}
        {removing.isBusy && t.loading}
      </p>
      {isRemoved && <SuccessNote>{t.start.sampleRemoved}</SuccessNote>}
      <ErrorNote error={sample.error ?? loading.error ?? removing.error} />
    </Card>
  );
}
