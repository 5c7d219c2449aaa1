import { useState } from 'preact/hooks';
import type { Decision, DecisionSettingsChange, KeyList } from '../../src/api.ts';
import { IconButton } from '../parts/actions.tsx';
import { Check } from '../parts/check.tsx';
import { useSignedIn } from '../parts/context.ts';
import { submitHandler, useLoad, useSaves } from '../parts/hooks.ts';
import { Loading, Skeleton } from '../parts/loading.tsx';
import { usePages } from '../parts/pages.ts';
import { idAt, Rows } from '../parts/rows.tsx';
import { Button, Card, EmptyNote, ErrorNote, Facts, Field, LongText, Title } from '../parts/ui.tsx';
import { moment, number, percent, t } from '../strings/index.ts';

const PAGE_SIZE = 50;
const CHECKED_DAYS = 90;

/** What was decided for the person. */
export function Decisions() {
  const { client } = useSignedIn();
  const [objected, setObjected] = useState<ReadonlyMap<string, Decision>>(new Map());
  const keys = useLoad(() => client.listKeys(), [], ['keys']);
  const { first, rows, hasMore, more } = usePages(
    (cursor) => client.listDecisions({ limit: PAGE_SIZE, ...cursor }),
    [],
    ['predictions'],
  );
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
  return (
    <>
      <Title lead={t.decisions.lead}>{t.decisions.title}</Title>
      <Automation />
      <ErrorNote error={objecting.error ?? more.error} />
      <Loading of={first} lines={5} />
      {first.value && (
        <section aria-label={t.decisions.title} onKeyDown={press}>
          <p class="quiet small">
            {t.decisions.latestDay(number(first.value.latest_day))}{' '}
            <span class="by-keyboard">{t.decisions.keys}</span>
          </p>
          <Rows
            label={t.decisions.title}
            empty={<EmptyNote text={t.decisions.empty} />}
            rows={rows.map((one) => objected.get(one.id) ?? one)}
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
            hasMore={hasMore}
            onView={({ isNearEnd }) => isNearEnd && hasMore && more.error === undefined && more.run()}
            detail={(row) => (
              <DecisionDetail row={row} keys={keys.value?.results} onObject={() => objecting.run(row.id)} />
            )}
          />
        </section>
      )}
    </>
  );
}

interface DecisionDetailProps {
  row: Decision;
  keys: KeyList['results'] | undefined;
  onObject(): void;
}

const permissionText = ({ answer }: Decision) => t.decisions.permission[answer === 'deny' ? 'deny' : 'allow'];

function DecisionDetail({ row, keys, onObject }: DecisionDetailProps) {
  const { agent, project, asked, answer, confidence, threshold, required, evidence, key_id } = row;
  const { agreeing, similar } = evidence;
  const bar = threshold === null ? t.decisions.required(required ?? 0) : t.decisions.from(percent(threshold));
  const label = keys?.find(({ id }) => id === key_id)?.label ?? t.decisions.goneKey;
  const key = key_id === null ? t.decisions.logIn : label;
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
        {percents !== undefined && <Button>{t.save}</Button>}
      </form>
      {low !== null && high !== null && (
        <p>{t.decisions.checked(number(right), number(answered), percent(low), percent(high))}</p>
      )}
      <ErrorNote error={changing.error} />
    </Card>
  );
}
