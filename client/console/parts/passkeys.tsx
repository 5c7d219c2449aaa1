import { useState } from 'preact/hooks';
import type { PasskeyResponse } from '../../src/api.ts';
import { day, moment, t } from '../strings/index.ts';
import { ConfirmedAction } from './actions.tsx';
import { useSignedIn } from './context.ts';
import { FreshLogIn } from './fresh.tsx';
import { submitHandler, useAction, useLoad, useSaves } from './hooks.ts';
import { Loading } from './loading.tsx';
import { isRefusal } from './passkey-log-in.tsx';
import { Rows } from './rows.tsx';
import { Button, EmptyNote, ErrorNote, Facts, Field } from './ui.tsx';

/** The passkeys with which the person can sign in beside the password. */
export function Passkeys() {
  const { client } = useSignedIn();
  const passkeys = useLoad(() => client.listPasskeys(), [], ['account']);
  const [name, setName] = useState('');
  const adding = useAction(async () => {
    const options = await client.startPasskey();
    const { startRegistration } = await import('@simplewebauthn/browser');
    const credential = await startRegistration({ optionsJSON: options }).catch(orNothing);
    if (credential === undefined) return;
    const answer = { ...credential, response: { ...credential.response } };
    await client.addPasskey({ name: name.trim(), credential: answer });
    setName('');
    passkeys.again();
  });
  const remove = (one: PasskeyResponse, icon?: 'close') => (
    <ConfirmedAction
      label={t.passkeys.remove}
      of={one.name}
      question={t.passkeys.removing}
      act={() => client.removePasskey(one.id).then(passkeys.again)}
      icon={icon}
    />
  );
  return (
    <section aria-labelledby="passkeys">
      <h2 id="passkeys">{t.passkeys.title}</h2>
      <p class="quiet">{t.passkeys.lead}</p>
      <Loading of={passkeys} lines={1} />
      <Rows
        label={t.passkeys.title}
        rows={passkeys.value?.results}
        empty={<EmptyNote text={t.passkeys.empty} />}
        idOf={({ id }) => id}
        view={(one) => ({
          title: one.name,
          note: t.passkeys.added(day(one.created_at)),
          marks: [usedWhen(one)],
        })}
        actions={(one) => remove(one, 'close')}
        detail={(one) => (
          <>
            <Details key={one.id} of={one} onDone={passkeys.again} />
            {remove(one)}
          </>
        )}
      />
      {'PublicKeyCredential' in window && (
        <form onSubmit={submitHandler(adding.run)}>
          <Field label={t.passkeys.name} value={name} onInput={setName} autocomplete="off" required />
          <Button isBusy={adding.isBusy}>{t.passkeys.add}</Button>
        </form>
      )}
      <FreshLogIn action={adding} />
    </section>
  );
}

/** The person may close the browser's question. */
function orNothing(error: unknown): undefined {
  if (!isRefusal(error)) throw error;
}

const usedWhen = ({ last_used_at: at }: PasskeyResponse) =>
  at === null ? t.keys.never : t.keys.used(moment(at));

function Details({ of, onDone }: { of: PasskeyResponse; onDone(): void }) {
  const { client } = useSignedIn();
  const [name, setName] = useState(of.name);
  const renaming = useSaves(async (typed: string) => {
    await client.renamePasskey(of.id, { name: typed.trim() });
    onDone();
  });
  return (
    <>
      <h2>
        <bdi>{of.name}</bdi>
      </h2>
      <Facts
        of={[
          t.passkeys.added(day(of.created_at)),
          usedWhen(of),
          of.backed_up ? t.passkeys.backedUp : t.passkeys.notBackedUp,
        ]}
      />
      <form onSubmit={submitHandler(() => renaming.run(name))}>
        <Field label={t.passkeys.name} value={name} onInput={setName} autocomplete="off" required />
        <Button>{t.passkeys.rename}</Button>
      </form>
      <ErrorNote error={renaming.error} />
    </>
  );
}
