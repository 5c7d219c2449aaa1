import { useState } from 'preact/hooks';
import type { KeyList, KeyRequest, NewKeyResponse } from '../../src/api.ts';
import { ConfirmedAction, Secret } from '../parts/actions.tsx';
import { Choices } from '../parts/choices.tsx';
import { useSignedIn } from '../parts/context.ts';
import { submitHandler, useAction, useLoad } from '../parts/hooks.ts';
import { Loading } from '../parts/loading.tsx';
import { Pane } from '../parts/pane.tsx';
import { Rows } from '../parts/rows.tsx';
import { Button, EmptyNote, ErrorNote, Field, Title } from '../parts/ui.tsx';
import { day, endOfDay, localDay, moment, number, percent, t } from '../strings/index.ts';

/** Scopes by the purpose of a key. An agent's key cannot speak for the person, nor erase. */
const PURPOSES = {
  agent: { scopes: ['read', 'predict', 'write'] },
  recorder: { scopes: ['record'] },
  everything: {},
} satisfies Record<string, Pick<KeyRequest, 'scopes'>>;
type Purpose = keyof typeof PURPOSES;
type ListedKey = KeyList['results'][number];

export function Keys() {
  const { client } = useSignedIn();
  const keys = useLoad(() => client.listKeys({ brought: 'true' }), [], ['keys', 'memory', 'predictions']);
  const [isAdding, setAdding] = useState(false);
  const revoke = (key: ListedKey, icon?: 'close') => (
    <ConfirmedAction
      label={t.keys.revoke}
      of={key.label}
      question={t.keys.revoking}
      act={() => client.revokeKey(key.id).then(keys.again)}
      icon={icon}
    />
  );
  return (
    <>
      <Title
        lead={t.keys.lead}
        tools={
          <div class="tools">
            <Button kind="primary" onPress={() => setAdding(true)}>
              {t.keys.add}
            </Button>
          </div>
        }
      >
        {t.nav.keys}
      </Title>
      {isAdding && (
        <Pane kind="sheet" label={t.keys.add} isModal onClose={() => setAdding(false)}>
          <h2>{t.keys.add}</h2>
          <IssueKey onIssued={keys.again} />
        </Pane>
      )}
      <Loading of={keys} />
      <Rows
        label={t.nav.keys}
        rows={keys.value?.results}
        empty={<EmptyNote text={t.keys.empty} />}
        idOf={({ id }) => id}
        view={(key) => ({
          title: key.label,
          note: key.prefix,
          marks: [mayDo(key), broughtBy(key), ...endOf(key), usedWhen(key)],
        })}
        actions={(key) => revoke(key, 'close')}
        detail={(key) => (
          <>
            <h2>
              <bdi>{key.label}</bdi> <code>{key.prefix}</code>
            </h2>
            <p>{mayDo(key)}</p>
            <p>{broughtBy(key)}</p>
            <p class="quiet small">
              {t.keys.created(moment(key.created_at))} · {usedWhen(key)}
              {key.threshold_floor !== undefined && ` · ${t.keys.floorOf(percent(key.threshold_floor))}`}
              {endOf(key).map((end) => ` · ${end}`)}
            </p>
            {revoke(key)}
          </>
        )}
      />
    </>
  );
}

const mayDo = ({ scopes }: ListedKey) =>
  scopes?.map((scope) => t.keys.scopes[scope]).join(', ') ?? t.keys.purposes.everything;
const endOf = ({ expires_at: end }: ListedKey) =>
  end === undefined ? [] : [new Date(end) < new Date() ? t.keys.expired : t.keys.expires(day(end))];
/** Leaves out what it brought none of. */
function broughtBy({ brought }: ListedKey): string {
  const parts = Object.entries(brought ?? {}).flatMap(([what, count]) =>
    count === 0 ? [] : [t.keys.brought[what as keyof typeof t.keys.brought](number(count))],
  );
  return parts.length === 0 ? t.keys.broughtNothing : parts.join(', ');
}
const usedWhen = ({ last_used_at }: ListedKey) =>
  last_used_at === null ? t.keys.never : t.keys.used(moment(last_used_at));

/** Proposed for a key of an agent, which may ask for a lower threshold than the person would. */
const FLOOR = '0.8';

function IssueKey({ onIssued }: { onIssued(): void }) {
  const { client } = useSignedIn();
  const [label, setLabel] = useState('');
  const [purpose, setPurpose] = useState<Purpose>('agent');
  const [floor, setFloor] = useState(FLOOR);
  const [lastDay, setLastDay] = useState('');
  const [newKey, setNewKey] = useState<NewKeyResponse>();
  const issuing = useAction(async () => {
    const limits = {
      ...(floor !== '' && { threshold_floor: Number(floor) }),
      ...(lastDay !== '' && { expires_at: endOfDay(lastDay) }),
    };
    setNewKey(await client.issueKey({ label: label.trim(), ...PURPOSES[purpose], ...limits }));
    setLabel('');
    onIssued();
  });
  return (
    <>
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
        <Field
          label={t.keys.until}
          hint={t.keys.untilHint}
          type="date"
          min={localDay(new Date())}
          value={lastDay}
          onInput={setLastDay}
        />
        <Button kind="primary" isBusy={issuing.isBusy}>
          {t.keys.issue}
        </Button>
      </form>
      <ErrorNote error={issuing.error} />
      {newKey && <Secret lead={t.keys.once} text={newKey.key} />}
    </>
  );
}
