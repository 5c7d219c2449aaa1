import { useState } from 'preact/hooks';
import type { AppDetail, AppResponse } from '../../src/api.ts';
import { ForecueError } from '../../src/errors.ts';
import { ConfirmedAction, Secret } from '../parts/actions.tsx';
import { CodeExample } from '../parts/code-example.tsx';
import { useSignedIn } from '../parts/context.ts';
import { FigureTable } from '../parts/figure-table.tsx';
import { submitHandler, useAction, useLoad, useSaves } from '../parts/hooks.ts';
import { Loading } from '../parts/loading.tsx';
import { Button, Card, EmptyNote, ErrorNote, Field, Title } from '../parts/ui.tsx';
import { Webhooks } from '../parts/webhooks.tsx';
import { dayOf, moment, number, t } from '../strings/index.ts';

/** A key that an app has just got, which no other answer has. */
interface NewKey {
  appId: string;
  key: string;
}

export function Apps() {
  const { client } = useSignedIn();
  const apps = useLoad(() => client.listApps(), [], ['apps']);
  const [newKey, setNewKey] = useState<NewKey>();
  const onKey = (issued: NewKey) => {
    setNewKey(issued);
    apps.again();
  };
  return (
    <>
      <Title lead={t.apps.lead}>{t.nav.apps}</Title>
      {apps.value?.may_create && <MakeApp onKey={onKey} />}
      {newKey && <FirstCall of={newKey} />}
      {isOff(apps.error) ? <EmptyNote text={t.apps.off} /> : <Loading of={apps} />}
      {apps.value?.results.length === 0 && <EmptyNote text={t.apps.empty} />}
      {apps.value?.results.map((app) => (
        <OneApp key={app.app_id} of={app} onKey={onKey} onChanged={apps.again} />
      ))}
    </>
  );
}

/** An operator who lets nobody make apps has no such address. */
function isOff(error: unknown): boolean {
  return error instanceof ForecueError && error.code === 'not_found';
}

function MakeApp({ onKey }: { onKey(issued: NewKey): void }) {
  const { client } = useSignedIn();
  const [name, setName] = useState('');
  const making = useAction(async () => {
    const { app_id: appId, key } = await client.createApp({ name: name.trim() });
    setName('');
    onKey({ appId, key });
  });
  return (
    <Card>
      <form onSubmit={submitHandler(making.run)}>
        <Field label={t.name} value={name} onInput={setName} autocomplete="off" required />
        <Button kind="primary" isBusy={making.isBusy}>
          {t.apps.make}
        </Button>
      </form>
      <ErrorNote error={making.error} />
    </Card>
  );
}

const ROOT = new URL('..', location.href.split('#')[0]).href.replace(/\/$/, '');
const FIRST_BODY = {
  user_id: 'user-17',
  session_id: 'chat-3',
  mode: 'complete_draft',
  draft: { text: 'Please summarise the quart', revision: 1 },
  messages: [{ role: 'user', content: 'Please summarise the quarterly sales report for the board' }],
  context_revision: '1',
};

const firstCalls = (key: string) => ({
  curl: `curl -sS --fail-with-body ${ROOT}/v1/predictions \\
  -H "Authorization: Bearer ${key}" \\
  -H 'Content-Type: application/json' \\
  -d '${JSON.stringify({ request_id: crypto.randomUUID(), ...FIRST_BODY }, null, 2)}'`,
  TypeScript: `import { createAppClient } from 'forecue/v1';

const forecue = createAppClient({ baseUrl: '${ROOT}', appKey: '${key}' });
console.log(await forecue.predict(${JSON.stringify(FIRST_BODY, null, 2)}));`,
  Python: `from forecue import Forecue

with Forecue("${ROOT}", app_key="${key}") as forecue:
    print(forecue.predict(**${JSON.stringify(FIRST_BODY)}))`,
});

function FirstCall({ of }: { of: NewKey }) {
  return (
    <Card title={t.apps.first}>
      <Secret lead={t.keys.once} text={of.key} />
      <CodeExample label={t.apps.first} texts={firstCalls(of.key)} />
    </Card>
  );
}

interface OneAppProps {
  of: AppResponse;
  onKey(issued: NewKey): void;
  onChanged(): void;
}

function OneApp({ of, onKey, onChanged }: OneAppProps) {
  const { client } = useSignedIn();
  const [isOpen, setOpen] = useState(false);
  const rotate = async () => {
    const { key } = await client.rotateAppKey(of.app_id, { grace_s: GRACE_S });
    onKey({ appId: of.app_id, key });
  };
  return (
    <Card>
      <div class="item">
        <div>
          <h2>
            <bdi>{of.name}</bdi>
          </h2>
          <p class="quiet small">
            <code>{of.app_id}</code> · {of.plan} · {of.active ? t.apps.active : t.apps.stopped}
          </p>
        </div>
        <Button label={`${t.apps.details}: ${of.name}`} onPress={() => setOpen(!isOpen)}>
          {t.apps.details}
        </Button>
      </div>
      {isOpen && <Details of={of} onChanged={onChanged} />}
      <div class="row">
        <ConfirmedAction label={t.apps.rotate} of={of.name} question={t.apps.rotating} act={rotate} />
        <ConfirmedAction
          label={t.apps.end}
          of={of.name}
          question={t.apps.ending}
          act={() => client.deleteApp(of.app_id).then(onChanged)}
        />
      </div>
    </Card>
  );
}

/** A day, in which a program can be given the new key. */
const GRACE_S = 24 * 60 * 60;

function Details({ of, onChanged }: { of: AppResponse; onChanged(): void }) {
  const { client } = useSignedIn();
  const detail = useLoad(() => client.readApp(of.app_id), [of.app_id], ['apps']);
  const [uris, setUris] = useState(of.redirect_uris.join('\n'));
  const saving = useSaves(async (typed: string) => {
    await client.changeApp(of.app_id, { redirect_uris: typed.split(/\s+/).filter(Boolean) });
    onChanged();
  });
  return (
    <>
      <Loading of={detail} />
      {detail.value && <Figures of={detail.value} />}
      <form onSubmit={submitHandler(() => saving.run(uris))}>
        <Field label={t.apps.redirects} value={uris} onInput={setUris} rows={3} />
        <Button>{t.save}</Button>
      </form>
      <ErrorNote error={saving.error} />
      <Webhooks app={of.app_id} />
    </>
  );
}

function Figures({ of }: { of: AppDetail }) {
  const { used, days, refused, people, keys } = of;
  return (
    <>
      <p>{t.apps.used(number(used.prediction_units), number(used.sandbox_remaining), number(people))}</p>
      <p class="quiet small">
        {keys.map(({ prefix, expires_at: ends }) => (
          <span key={prefix}>
            <code>{prefix}…</code> {ends !== null && t.apps.until(moment(ends))}{' '}
          </span>
        ))}
      </p>
      {days.length > 0 && (
        <FigureTable
          title={t.apps.byDay}
          heads={[t.apps.day, t.apps.units]}
          rows={days.map(({ date, prediction_units }) => [dayOf(date), number(prediction_units)])}
        />
      )}
      {refused.length > 0 && (
        <FigureTable
          title={t.apps.refused}
          heads={[t.apps.code, t.apps.calls, t.apps.last, t.apps.means]}
          rows={refused.map(({ code, calls, last_at, means }) => [
            code,
            number(calls),
            moment(last_at),
            means ?? '',
          ])}
        />
      )}
    </>
  );
}
