import { useEffect, useId, useRef, useState } from 'preact/hooks';
import type { AccountClient, ConnectionChange, ConnectionDetail } from '../../src/api.ts';
import { Accesses } from '../parts/accesses.tsx';
import { ConfirmedAction } from '../parts/actions.tsx';
import { useSignedIn } from '../parts/context.ts';
import { useLoad, useSaves } from '../parts/hooks.ts';
import { Loading } from '../parts/loading.tsx';
import { Programs } from '../parts/programs.tsx';
import { Rows } from '../parts/rows.tsx';
import { EmptyNote, ErrorNote, Field, Title, Toast } from '../parts/ui.tsx';
import { day, endOfDay, localDay, moment, number, t } from '../strings/index.ts';

type Connection = Awaited<ReturnType<AccountClient['listOwnConnections']>>['results'][number];

export function Connections() {
  const { client } = useSignedIn();
  const connections = useLoad(() => client.listOwnConnections(), [], ['connections']);
  const [revokedName, setRevokedName] = useState<string>();
  const revoke = ({ connection_id: id, app_name: name }: Connection, icon?: 'close') => (
    <ConfirmedAction
      label={t.connections.revoke}
      of={name}
      question={t.connections.revoking}
      act={async () => {
        await client.revokeOwnConnection(id);
        setRevokedName(name);
        connections.again();
      }}
      icon={icon}
    />
  );
  return (
    <>
      <Title lead={t.connections.lead}>{t.nav.connections}</Title>
      {revokedName !== undefined && <Toast>{t.connections.done(revokedName)}</Toast>}
      <Loading of={connections} />
      <Rows
        label={t.nav.connections}
        // Those that have ended come last.
        rows={connections.value?.results.toSorted((a, b) => Number(isOver(a)) - Number(isOver(b)))}
        empty={<EmptyNote text={t.connections.empty} />}
        idOf={({ connection_id }) => connection_id}
        view={(one) => ({
          title: one.app_name,
          note: isOver(one) ? t.connections.revoked : t.connections.connected(day(one.created_at)),
          look: isOver(one) ? 'quiet' : undefined,
        })}
        actions={(one) => !isOver(one) && revoke(one, 'close')}
        detail={(one) => (
          <>
            <Details key={one.connection_id} of={one} />
            {!isOver(one) && revoke(one)}
          </>
        )}
      />
      <Programs />
      <Accesses />
    </>
  );
}

const isOver = ({ status }: Pick<Connection, 'status'>) => status !== 'connected';

function Details({ of }: { of: Connection }) {
  const { client } = useSignedIn();
  const { connection_id: id, app_name: name } = of;
  const detail = useLoad(() => client.readOwnConnection(id), [id], ['connections']);
  return (
    <>
      <h2>
        <bdi>{name}</bdi>
      </h2>
      <p class="quiet small">
        {isOver(of) ? t.connections.revoked : t.connections.connected(day(of.created_at))}
      </p>
      <Loading of={detail} lines={5} />
      {detail.value && (
        <>
          <p class="quiet small">{useOf(detail.value)}</p>
          {!isOver(detail.value) && <Consent of={detail.value} name={name} />}
        </>
      )}
    </>
  );
}

const useOf = ({ predictions, suggested, last_used_at: last }: ConnectionDetail) =>
  last === null
    ? t.connections.unused
    : t.connections.used(number(predictions), number(suggested), moment(last));

/** Saves each change at once. The connection ends at the end of the chosen day. */
function Consent({ of, name }: { of: ConnectionDetail; name: string }) {
  const { client } = useSignedIn();
  const id = useId();
  const [shown, setShown] = useState(of);
  const saved = useRef(of);
  const saves = useSaves(async (toChange: (from: ConnectionDetail['scope']) => ConnectionChange) => {
    const change = toChange(saved.current.scope);
    saved.current = await client.changeOwnConnection(of.connection_id, change);
    setShown(saved.current);
  });
  const narrow = (part: Partial<ConnectionDetail['scope']>) =>
    saves.run((from) => {
      const { memory, projects = [] } = { ...from, ...part };
      return { scope: projects.length > 0 ? { memory, projects } : { memory } };
    });
  const { memory, projects = [] } = shown.scope;
  // What is being typed stays as it is when another field has been saved.
  const [typed, setTyped] = useState<string>();
  useEffect(() => setTyped(undefined), [projects.join()]);
  const end = shown.ends_at === null ? '' : localDay(new Date(shown.ends_at));
  return (
    <>
      <div class="field">
        <label for={id}>{t.connections.uses}</label>
        <select
          id={id}
          aria-label={`${t.connections.uses}: ${name}`}
          value={memory}
          onChange={({ currentTarget }) =>
            narrow({ memory: currentTarget.value === 'facts' ? 'facts' : 'all' })
          }
        >
          <option value="all">{t.connections.all}</option>
          <option value="facts">{t.connections.facts}</option>
        </select>
      </div>
      <Field
        label={t.connections.projects}
        spoken={`${t.connections.projects}: ${name}`}
        hint={t.connections.projectsHint}
        value={typed ?? projects.join(', ')}
        onInput={setTyped}
        onChange={(names) => narrow({ projects: namesIn(names) })}
      />
      <Field
        label={t.connections.until}
        spoken={`${t.connections.until}: ${name}`}
        hint={t.keys.untilHint}
        type="date"
        value={end}
        min={localDay(new Date())}
        onChange={(day) => saves.run(() => ({ ends_at: day === '' ? null : endOfDay(day) }))}
      />
      <ErrorNote error={saves.error} />
    </>
  );
}

const namesIn = (text: string) =>
  text
    .split(',')
    .map((name) => name.trim())
    .filter(Boolean);
