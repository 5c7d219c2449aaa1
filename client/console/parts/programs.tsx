import { useRef } from 'preact/hooks';
import type { GrantResponse } from '../../src/api.ts';
import { day, t } from '../strings/index.ts';
import { ConfirmedAction } from './actions.tsx';
import { useSignedIn } from './context.ts';
import { useLoad, useSaves } from './hooks.ts';
import { Button, Card, ErrorNote } from './ui.tsx';

/** The programs that have logged in by OAuth: what each may do is narrowed and ended here. */
export function Programs() {
  const { client } = useSignedIn();
  const { value, error, again } = useLoad(() => client.listOwnGrants(), [], ['connections']);
  if (error !== undefined) return <ErrorNote error={error} again={again} />;
  if (value === undefined || value.results.length === 0) return null;
  return (
    <section aria-label={t.programs.title}>
      <h2>{t.programs.title}</h2>
      {value.results.map((grant) => (
        <Program key={grant.id} of={grant} onChanged={again} />
      ))}
    </section>
  );
}

function Program({ of, onChanged }: { of: GrantResponse; onChanged(): void }) {
  const { client } = useSignedIn();
  const left = useRef(of.scopes);
  const narrowing = useSaves(async (without: GrantResponse['scopes'][number]) => {
    const scopes = left.current.filter((scope) => scope !== without);
    left.current = (await client.narrowOwnGrant(of.id, { scopes })).scopes;
    onChanged();
  });
  return (
    <Card>
      <div class="item">
        <div>
          <h3>
            <bdi>{of.client_name}</bdi>
          </h3>
          <p class="quiet small">
            {of.client_url === null ? t.programs.unknown : <bdi>{of.client_url}</bdi>} ·{' '}
            {t.programs.used(day(of.last_used_at))}
          </p>
          <ul>
            {of.scopes.map((scope) => (
              <li key={scope}>
                {t.programs.scopes[scope]}{' '}
                {of.scopes.length > 1 && (
                  <Button
                    kind="link"
                    label={`${t.programs.without}: ${t.programs.scopes[scope]}, ${of.client_name}`}
                    onPress={() => narrowing.run(scope)}
                  >
                    {t.programs.without}
                  </Button>
                )}
              </li>
            ))}
          </ul>
          <ErrorNote error={narrowing.error} />
        </div>
        <ConfirmedAction
          label={t.connections.revoke}
          of={of.client_name}
          question={t.programs.ending}
          act={() => client.revokeOwnGrant(of.id).then(onChanged)}
        />
      </div>
    </Card>
  );
}
