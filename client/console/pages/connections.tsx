import { useEffect, useId, useRef, useState } from 'preact/hooks';
import type { AccountClient, ConnectionChange, ConnectionDetail } from '../../src/api.ts';
import { Accesses } from '../parts/accesses.tsx';
import { ConfirmedAction } from '../parts/actions.tsx';
import { useSignedIn } from '../parts/context.ts';
import { useLoad, useSaves } from '../parts/hooks.ts';
import { Programs } from '../parts/programs.tsx';
import { Rows } from '../parts/rows.tsx';
import { EmptyNote, ErrorNote, Skeleton, Title, Toast } from '../parts/ui.tsx';
import { day, endOfDay, localDay, moment, number, t } from '../strings/index.ts';

type Connection = Awaited<ReturnType<AccountClient['listOwnConnections']>>['results'][number];

export function Connections() {
  const { client } = useSignedIn();
  const { value, error, again } = useLoad(() => client.listOwnConnections(), [], ['connections']);
  const [revokedName, setRevokedName] = useState<string>();
  const revoke = ({ connection_id: id, app_name: name }: Connection, icon?: 'close') => (
    <ConfirmedAction
      label={t.connections.revoke}
      of={name}
      question={t.connections.revoking}
      act={async () => {
        await client.revokeOwnConnection(id);
        setRevokedName(name);
        again();
      }}
      icon={icon}
    />
  );
  return (
    <>
      <Title lead={t.connections.lead}>{t.connections.title}</Title>
      <ErrorNote error={error} again={again} />
      {revokedName !== undefined && <Toast>{t.connections.done(revokedName)}</Toast>}
      {value === undefined && error === undefined && <Skeleton />}
      {value?.results.length === 0 && <EmptyNote text={t.connections.empty} />}
      {value && value.results.length > 0 && (
        <Rows
          label={t.connections.title}
          // Those that have ended come last.
          rows={value.results.toSorted((a, b) => Number(isOver(a)) - Number(isOver(b)))}
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
      )}
      <Programs />
      <Accesses />
    </>
  );
}

const isOver = ({ status }: Pick<Connection, 'status'>) => status !== 'connected';

function Details({ of }: { of: Connection }) {
  const { client } = useSignedIn();
  const { connection_id: id, app_name: name } = of;
  const { value, error, again } = useLoad(() => client.readOwnConnection(id), [id], ['connections']);
  const { predictions, suggested, last_used_at: last } = value ?? {};
  return (
    <>
      <h2>
        <bdi>{name}</bdi>
      </h2>
      <p class="quiet small">
        {isOver(of) ? t.connections.revoked : t.connections.connected(day(of.created_at))}
      </p>
      <ErrorNote error={error} again={again} />
      {value === undefined && error === undefined && <Skeleton lines={5} />}
      {value && (
        <p class="quiet small">
          {last
            ? t.connections.used(number(predictions ?? 0), number(suggested ?? 0), moment(last))
            : t.connections.unused}
        </p>
      )}
      {value && !isOver(value) && <Consent of={value} name={name} />}
    </>
  );
}

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
      <div class="field">
        <label for={`${id}-projects`}>{t.connections.projects}</label>
        <input
          id={`${id}-projects`}
          aria-label={`${t.connections.projects}: ${name}`}
          value={typed ?? projects.join(', ')}
          onInput={({ currentTarget }) => setTyped(currentTarget.value)}
          onChange={({ currentTarget }) => narrow({ projects: namesIn(currentTarget.value) })}
          aria-describedby={`${id}-note`}
        />
        <p id={`${id}-note`} class="quiet">
          {t.connections.projectsHint}
        </p>
      </div>
      <div class="field">
        <label for={`${id}-end`}>{t.connections.until}</label>
        <input
          id={`${id}-end`}
          type="date"
          aria-label={`${t.connections.until}: ${name}`}
          value={end}
          min={localDay(new Date())}
          onChange={({ currentTarget }) =>
            saves.run(() => ({
              ends_at: currentTarget.value === '' ? null : endOfDay(currentTarget.value),
            }))
          }
          aria-describedby={`${id}-end-note`}
        />
        <p id={`${id}-end-note`} class="quiet">
          {t.keys.untilHint}
        </p>
      </div>
      <ErrorNote error={saves.error} />
    </>
  );
}

const namesIn = (text: string) =>
  text
    .split(',')
    .map((name) => name.trim())
    .filter(Boolean);
