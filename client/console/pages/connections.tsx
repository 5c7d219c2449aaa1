import { useState } from 'preact/hooks';
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
              <MemoryUse id={connection_id} />
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

function MemoryUse({ id }: { id: string }) {
  const { client } = useSignedIn();
  const { value, error, again } = useLoad(() => client.readOwnConnection(id), [id]);
  if (error !== undefined) return <ErrorNote error={error} again={again} />;
  if (value === undefined) return null;
  const { predictions, suggested, last_used_at: last } = value;
  return (
    <p class="quiet small">
      {last === null
        ? t.connections.unused
        : t.connections.used(number(predictions), number(suggested), moment(last))}
    </p>
  );
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
