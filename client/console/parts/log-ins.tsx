import type { LogInResponse } from '../../src/api.ts';
import { moment, t } from '../strings/index.ts';
import { ConfirmedAction } from './actions.tsx';
import { useSignedIn } from './context.ts';
import { useLoad } from './hooks.ts';
import { Loading } from './loading.tsx';
import { Rows } from './rows.tsx';
import { Facts } from './ui.tsx';

/** The browsers and programs that are logged in, each of which can be ended here. */
export function LogIns() {
  const { client } = useSignedIn();
  const logIns = useLoad(() => client.listOwnLogIns(), [], ['account']);
  const end = (one: LogInResponse, icon?: 'close') => (
    <ConfirmedAction
      label={t.logIns.end}
      of={nameOf(one)}
      question={one.current ? t.logIns.endingThis : t.logIns.ending}
      act={() => client.endOneLogIn(one.id).then(logIns.again)}
      icon={icon}
    />
  );
  return (
    <section aria-labelledby="log-ins">
      <div class="item">
        <h2 id="log-ins">{t.logIns.title}</h2>
        {logIns.value && logIns.value.results.length > 1 && (
          <ConfirmedAction
            label={t.logIns.endOthers}
            of=""
            question={t.logIns.endingOthers}
            act={() => client.endAllOtherLogIns().then(logIns.again)}
          />
        )}
      </div>
      <Loading of={logIns} lines={1} />
      <Rows
        label={t.logIns.title}
        rows={logIns.value?.results}
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
    </section>
  );
}

const nameOf = ({ client, system }: LogInResponse) =>
  [client, system].filter((word) => word !== null).join(' · ') || t.logIns.unknown;
