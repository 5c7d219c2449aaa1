import { useState } from 'preact/hooks';
import type { KeyRequest, KeyResponse, NewKeyResponse } from '../../src/api.ts';
import { Choices } from '../parts/choices.tsx';
import { useSignedIn } from '../parts/context.ts';
import { submitHandler, useAction, useLoad } from '../parts/hooks.ts';
import {
  Button,
  Card,
  ConfirmedAction,
  CopyButton,
  EmptyNote,
  ErrorNote,
  Field,
  Skeleton,
  Title,
} from '../parts/ui.tsx';
import { moment, percent, t } from '../strings/index.ts';

/** Scopes by the purpose of a key. An agent's key cannot speak for the person, nor erase. */
const PURPOSES = {
  agent: { scopes: ['read', 'predict', 'write'] },
  recorder: { scopes: ['record'] },
  everything: {},
} satisfies Record<string, Pick<KeyRequest, 'scopes'>>;
type Purpose = keyof typeof PURPOSES;

export function Keys() {
  const { client } = useSignedIn();
  const { value, error, again } = useLoad(() => client.listKeys(), []);
  return (
    <>
      <Title lead={t.keys.lead}>{t.keys.title}</Title>
      <IssueKey onIssued={again} />
      <ErrorNote error={error} again={again} />
      {value === undefined && error === undefined && <Skeleton />}
      {value?.results.length === 0 && <EmptyNote text={t.keys.empty} />}
      {value?.results.map((key) => (
        <Card key={key.id}>
          <div class="item">
            <div>
              <h2>
                <bdi>{key.label}</bdi> <code>{key.prefix}</code>
              </h2>
              <p class="quiet small">
                {t.keys.created(moment(key.created_at))} ·{' '}
                {key.last_used_at === null ? t.keys.never : t.keys.used(moment(key.last_used_at))} ·{' '}
                {key.scopes?.join(', ') ?? t.keys.purposes.everything}
                {key.threshold_floor !== undefined && ` · ${t.keys.floorOf(percent(key.threshold_floor))}`}
              </p>
            </div>
            <RevokeKey of={key} onDone={again} />
          </div>
        </Card>
      ))}
    </>
  );
}

/** Proposed for a key of an agent, which may ask for a lower threshold than the person would. */
const FLOOR = '0.8';

function IssueKey({ onIssued }: { onIssued(): void }) {
  const { client } = useSignedIn();
  const [label, setLabel] = useState('');
  const [purpose, setPurpose] = useState<Purpose>('agent');
  const [floor, setFloor] = useState(FLOOR);
  const [newKey, setNewKey] = useState<NewKeyResponse>();
  const issuing = useAction(async () => {
    const limits = floor === '' ? {} : { threshold_floor: Number(floor) };
    setNewKey(await client.issueKey({ label: label.trim(), ...PURPOSES[purpose], ...limits }));
    setLabel('');
    onIssued();
  });
  return (
    <Card>
      <form onSubmit={submitHandler(issuing.run)}>
        <Field label={t.keys.label} value={label} onInput={setLabel} autocomplete="off" required />
        <Choices
          label={t.keys.purpose}
          options={(Object.keys(PURPOSES) as Purpose[]).map((value) => ({
            value,
            name: t.keys.purposes[value],
          }))}
          chosen={purpose}
          onChoose={setPurpose}
        />
        <p class="quiet small">{t.keys.mayDo[purpose]}</p>
        <Field
          label={t.keys.floor}
          hint={t.keys.floorHint}
          type="number"
          min="0"
          max="1"
          step="any"
          value={floor}
          onInput={setFloor}
        />
        <Button kind="primary" isBusy={issuing.isBusy}>
          {t.keys.issue}
        </Button>
      </form>
      <ErrorNote error={issuing.error} />
      {newKey && (
        <div class="alert good" role="status">
          <p>{t.keys.once}</p>
          <div class="item">
            <code class="secret">{newKey.key}</code>
            <CopyButton text={newKey.key} />
          </div>
        </div>
      )}
    </Card>
  );
}

function RevokeKey({ of, onDone }: { of: KeyResponse; onDone(): void }) {
  const { client } = useSignedIn();
  const action = useAction(async () => {
    await client.revokeKey(of.id);
    onDone();
  });
  return <ConfirmedAction label={t.keys.revoke} of={of.label} question={t.keys.revoking} action={action} />;
}
