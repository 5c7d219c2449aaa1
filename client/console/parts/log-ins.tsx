import type { LogInResponse } from '../../src/api.ts';
import { moment, t } from '../strings/index.ts';
import { ConfirmedAction } from './actions.tsx';
import { useSignedIn } from './context.ts';
import { useLoad } from './hooks.ts';
import { Rows } from './rows.tsx';
import { ErrorNote, Facts, Skeleton } from './ui.tsx';

/** The browsers and programs that are logged in, each of which can be ended here. */
export function LogIns() {
  const { client } = useSignedIn();
  const { value, error, again } = useLoad(() => client.listOwnLogIns(), [], ['account']);
  const end = (one: LogInResponse, icon?: 'close') => (
    <ConfirmedAction
      label={t.logIns.end}
      of={nameOf(one)}
      question={one.current ? t.logIns.endingThis : t.logIns.ending}
      act={() => client.endOneLogIn(one.id).then(again)}
      icon={icon}
    />
  );
  const rows = value?.results ?? [];
  return (
    <section aria-labelledby="log-ins">
      <div class="item">
        <h2 id="log-ins">{t.logIns.title}</h2>
        {rows.length > 1 && (
          <ConfirmedAction
            label={t.logIns.endOthers}
            of=""
            question={t.logIns.endingOthers}
            act={() => client.endAllOtherLogIns().then(again)}
          />
        )}
      </div>
      <ErrorNote error={error} again={again} />
      {value === undefined && error === undefined && <Skeleton lines={1} />}
      {rows.length > 0 && (
        <Rows
          label={t.logIns.title}
          rows={rows}
          idOf={({ id }) => id}
          view={(one) => ({
            title: nameOf(one),
            note: t.logIns.began(moment(one.created_at)),
            marks: one.current ? [t.logIns.current] : [],
            at: one.last_used_at,
          })}
          actions={(one) => !one.current && end(one, 'close')}
          detail={(one) => (
            <>
              <h2>{nameOf(one)}</h2>
              <Facts
                of={[
                  one.current && t.logIns.current,
                  t.logIns.began(moment(one.created_at)),
                  t.logIns.used(moment(one.last_used_at)),
                ]}
              />
              {end(one)}
            </>
          )}
        />
      )}
    </section>
  );
}

const nameOf = ({ client, system }: LogInResponse) =>
  [client, system].filter((word) => word !== null).join(' · ') || t.logIns.unknown;
