import { useState } from 'preact/hooks';
import type { Decision, DecisionSettingsChange } from '../../src/api.ts';
import { IconButton } from '../parts/actions.tsx';
import { Check } from '../parts/check.tsx';
import { useSignedIn } from '../parts/context.ts';
import { submitHandler, useAction, useLoad, useSaves } from '../parts/hooks.ts';
import { idAt, Rows } from '../parts/rows.tsx';
import { Button, Card, EmptyNote, ErrorNote, Facts, Field, LongText, Skeleton, Title } from '../parts/ui.tsx';
import { moment, number, percent, t } from '../strings/index.ts';

const PAGE_SIZE = 50;
const CHECKED_DAYS = 90;

/** What was decided for the person. */
export function Decisions() {
  const { client } = useSignedIn();
  const [later, setLater] = useState<Decision[]>([]);
  const [objected, setObjected] = useState<ReadonlyMap<string, Decision>>(new Map());
  const { value, error, again } = useLoad(
    async () => {
      const [page, keys] = await Promise.all([client.listDecisions({ limit: PAGE_SIZE }), client.listKeys()]);
      setCursor(page.next);
      setLater([]);
      return { ...page, labels: new Map(keys.results.map(({ id, label }) => [id, label])) };
    },
    [],
    ['predictions'],
  );
  const [cursor, setCursor] = useState<string | null>(null);
  const loading = useAction(async () => {
    const page = await client.listDecisions({ limit: PAGE_SIZE, cursor: cursor ?? '' });
    setLater([...later, ...page.results]);
    setCursor(page.next);
  });
  const objecting = useSaves(async (id: string) => {
    const decision = await client.objectToDecision(id);
    setObjected((before) => new Map([...before, [id, decision]]));
  });
  // The key o objects to the row that is focused.
  const press = ({ key, repeat, ctrlKey, metaKey, altKey, target }: KeyboardEvent) => {
    if (key !== 'o' || repeat || ctrlKey || metaKey || altKey) return;
    const id = idAt(target);
    if (id !== undefined) objecting.run(id);
  };
  const rows = [...(value?.results ?? []), ...later].map((one) => objected.get(one.id) ?? one);
  return (
    <>
      <Title lead={t.decisions.lead}>{t.decisions.title}</Title>
      <Automation />
      <ErrorNote error={error} again={again} />
      <ErrorNote error={objecting.error ?? loading.error} />
      {value === undefined && error === undefined && <Skeleton lines={5} />}
      {value?.results.length === 0 && <EmptyNote text={t.decisions.empty} />}
      {value && rows.length > 0 && (
        <section aria-label={t.decisions.title} onKeyDown={press}>
          <p class="quiet small">
            {t.decisions.latestDay(number(value.latest_day))}{' '}
            <span class="by-keyboard">{t.decisions.keys}</span>
          </p>
          <Rows
            label={t.decisions.title}
            rows={rows}
            idOf={({ id }) => id}
            view={(row) => ({
              title: row.asked,
              note: row.kind === 'reply' ? `${t.decisions.replied} ${row.answer}` : permissionText(row),
              marks: row.objected_at === null ? [row.agent] : [row.agent, t.decisions.objectedMark],
              at: row.decided_at,
            })}
            actions={(row) =>
              row.objected_at === null && (
                <IconButton
                  icon="close"
                  label={`${t.decisions.object}: ${row.asked.slice(0, 80)}`}
                  onPress={() => objecting.run(row.id)}
                />
              )
            }
            hasMore={cursor !== null}
            onView={({ isNearEnd }) =>
              isNearEnd && cursor !== null && loading.error === undefined && loading.run()
            }
            detail={(row) => (
              <DecisionDetail row={row} labels={value.labels} onObject={() => objecting.run(row.id)} />
            )}
          />
        </section>
      )}
    </>
  );
}

interface DecisionDetailProps {
  row: Decision;
  labels: ReadonlyMap<string, string>;
  onObject(): void;
}

const permissionText = ({ answer }: Decision) => t.decisions.permission[answer === 'deny' ? 'deny' : 'allow'];

function DecisionDetail({ row, labels, onObject }: DecisionDetailProps) {
  const { agent, project, asked, answer, confidence, threshold, required, evidence, key_id } = row;
  const { agreeing, similar } = evidence;
  const bar = threshold === null ? t.decisions.required(required ?? 0) : t.decisions.from(percent(threshold));
  const key = key_id === null ? t.decisions.logIn : (labels.get(key_id) ?? t.decisions.goneKey);
  const facts = [moment(row.decided_at), agent, project, t.decisions.evidence(agreeing, similar)];
  return (
    <>
      <div class="whole">
        <LongText>{asked}</LongText>
      </div>
      <p>
        {row.kind === 'reply' ? t.decisions.replied : permissionText(row)}{' '}
        {row.kind === 'reply' && <bdi class="words">{answer}</bdi>}
      </p>
      <Facts of={[...facts, `${percent(confidence)}, ${bar}`, key]} />
      {row.objected_at === null ? (
        <Button onPress={onObject}>{t.decisions.object}</Button>
      ) : (
        <p role="status">{t.decisions.objected}</p>
      )}
    </>
  );
}

function Automation() {
  const { client } = useSignedIn();
  const { value, error, again, put } = useLoad(
    async () => {
      const [settings, { checks }] = await Promise.all([
        client.readDecisionSettings(),
        client.readActivity({ days: CHECKED_DAYS }),
      ]);
      return { ...settings, checks };
    },
    [],
    ['predictions'],
  );
  const [percents, setPercents] = useState<string>();
  const changing = useSaves(async (change: DecisionSettingsChange) => {
    const settings = await client.changeDecisionSettings(change);
    if (value !== undefined) put({ ...settings, checks: value.checks });
    // Keeps a share that has been typed since.
    setPercents((typed) => (Number(typed) / 100 === change.check_share ? undefined : typed));
  });
  if (error !== undefined && value === undefined) return <ErrorNote error={error} again={again} />;
  if (value === undefined) return <Skeleton lines={5} />;
  const { automatic, deny, daily_note, check_share } = value;
  const { precision_low: low, precision_high: high, right, answered } = value.checks.permissions;
  return (
    <Card title={automatic ? t.decisions.on : t.decisions.off}>
      <div class="row">
        <Button
          kind={automatic ? 'danger' : 'primary'}
          onPress={() => changing.run({ automatic: !automatic })}
        >
          {automatic ? t.decisions.stop : t.decisions.start}
        </Button>
      </div>
      <Check label={t.decisions.deny} isOn={deny} onChange={(on) => changing.run({ deny: on })} />
      <Check label={t.decisions.mail} isOn={daily_note} onChange={(on) => changing.run({ daily_note: on })} />
      <form onSubmit={submitHandler(() => changing.run({ check_share: Number(percents) / 100 }))}>
        <Field
          label={t.decisions.checkShare}
          value={percents ?? String(Math.round(100 * check_share))}
          onInput={setPercents}
          type="number"
          min="0"
          max="20"
          hint={t.decisions.checkHint}
        />
        {percents !== undefined && <Button>{t.account.save}</Button>}
      </form>
      {low !== null && high !== null && (
        <p>{t.decisions.checked(number(right), number(answered), percent(low), percent(high))}</p>
      )}
      <ErrorNote error={changing.error} />
    </Card>
  );
}
