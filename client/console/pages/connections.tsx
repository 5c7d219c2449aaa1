import { useId, useState } from 'preact/hooks';
import type { ConnectionChange, ConnectionDetail } from '../../src/api.ts';
import { useSignedIn } from '../parts/context.ts';
import { useAction, useLoad } from '../parts/hooks.ts';
import { Card, ConfirmedAction, EmptyNote, ErrorNote, Skeleton, SuccessNote, Title } from '../parts/ui.tsx';
import { day, moment, number, t } from '../strings/index.ts';

export function Connections() {
  const { client } = useSignedIn();
  const { value, error, again } = useLoad(() => client.listOwnConnections(), []);
  const [revokedName, setRevokedName] = useState<string>();
  const onRevoked = (name: string) => {
    setRevokedName(name);
    again();
  };
  return (
    <>
      <Title lead={t.connections.lead}>{t.connections.title}</Title>
      <ErrorNote error={error} again={again} />
      {revokedName !== undefined && <SuccessNote>{t.connections.done(revokedName)}</SuccessNote>}
      {value === undefined && error === undefined && <Skeleton />}
      {value?.results.length === 0 && <EmptyNote text={t.connections.empty} />}
      {value?.results.map(({ connection_id, app_name, status, created_at }) => (
        <Card key={connection_id}>
          <div class="item">
            <div>
              <h2>
                <bdi>{app_name}</bdi>
              </h2>
              <p class="quiet small">
                {status === 'connected' ? t.connections.connected(day(created_at)) : t.connections.revoked}
              </p>
              <Details id={connection_id} name={app_name} />
            </div>
            {status === 'connected' && (
              <RevokeConnection id={connection_id} name={app_name} onDone={onRevoked} />
            )}
          </div>
        </Card>
      ))}
    </>
  );
}

function Details({ id, name }: { id: string; name: string }) {
  const { client } = useSignedIn();
  const { value, error, again } = useLoad(() => client.readOwnConnection(id), [id]);
  if (error !== undefined) return <ErrorNote error={error} again={again} />;
  if (value === undefined) return null;
  const { predictions, suggested, last_used_at: last } = value;
  return (
    <>
      <p class="quiet small">
        {last === null
          ? t.connections.unused
          : t.connections.used(number(predictions), number(suggested), moment(last))}
      </p>
      {value.status === 'connected' && <Consent of={value} name={name} onChanged={again} />}
    </>
  );
}

/** Saves each change at once. The connection ends at the end of the chosen day. */
function Consent({ of, name, onChanged }: { of: ConnectionDetail; name: string; onChanged(): void }) {
  const { client } = useSignedIn();
  const id = useId();
  const change = useAction(async (body: ConnectionChange) => {
    await client.changeOwnConnection(of.connection_id, body);
    onChanged();
  });
  const { memory } = of.scope;
  const end = of.ends_at === null ? '' : localDay(new Date(of.ends_at));
  const endOf = (date: string) => (date === '' ? null : new Date(`${date}T23:59:59`).toISOString());
  return (
    <>
      <div class="field">
        <label for={id}>{t.connections.uses}</label>
        <select
          id={id}
          aria-label={`${t.connections.uses}: ${name}`}
          value={memory}
          onChange={({ currentTarget }) =>
            change.run({ scope: { memory: currentTarget.value === 'facts' ? 'facts' : 'all' } })
          }
        >
          <option value="all">{t.connections.all}</option>
          <option value="facts">{t.connections.facts}</option>
        </select>
      </div>
      <div class="field">
        <label for={`${id}-end`}>{t.connections.until}</label>
        <input
          id={`${id}-end`}
          type="date"
          aria-label={`${t.connections.until}: ${name}`}
          value={end}
          min={localDay(new Date())}
          onChange={({ currentTarget }) => change.run({ ends_at: endOf(currentTarget.value) })}
        />
      </div>
      <ErrorNote error={change.error} />
    </>
  );
}

/** Returns the day in the browser's time zone, as `YYYY-MM-DD`. */
function localDay(date: Date): string {
  return new Date(date.getTime() - date.getTimezoneOffset() * 60_000)
    .toISOString()
    .slice(0, 'YYYY-MM-DD'.length);
}

function RevokeConnection({ id, name, onDone }: { id: string; name: string; onDone(name: string): void }) {
  const { client } = useSignedIn();
  const action = useAction(async () => {
    await client.revokeOwnConnection(id);
    onDone(name);
  });
  return (
    <ConfirmedAction
      label={t.connections.revoke}
      of={name}
      question={t.connections.revoking}
      action={action}
    />
  );
}
