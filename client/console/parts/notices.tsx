import { useState } from 'preact/hooks';
import { ForecueError } from '../../src/errors.ts';
import { t } from '../strings/index.ts';
import { Check } from './check.tsx';
import { useSignedIn } from './context.ts';
import { notifications } from './escalations.ts';
import { useLoad, useSaves } from './hooks.ts';
import { Button, Card, ErrorNote } from './ui.tsx';

/** How the person is told of predictions that wait for them. */
export function Notices() {
  return (
    <Card title={t.notify.title}>
      <p class="quiet small">{t.notify.lead}</p>
      {notifications.areSupported() && <InBrowser />}
      <ByMail />
    </Card>
  );
}

function InBrowser() {
  const [isOn, setOn] = useState(notifications.areOn());
  const [isDenied, setDenied] = useState(notifications.areDenied());
  const turning = useSaves(async (on: boolean) => {
    await notifications.turn(on);
    setOn(notifications.areOn());
    setDenied(notifications.areDenied());
  });
  return (
    <>
      <Check label={t.notify.here} isOn={isOn} onChange={turning.run} />
      {isDenied && <p class="fault small">{t.notify.denied}</p>}
    </>
  );
}

function ByMail() {
  const { client, user } = useSignedIn();
  const { value, error, again, put } = useLoad(
    () => client.readDecisionSettings(),
    [],
    ['account', 'predictions'],
  );
  const changing = useSaves(async (to: 'on' | 'off') =>
    put(await client.changeDecisionSettings({ escalation_mail: to })),
  );
  const state = value?.escalation_mail;
  const hasNoMail = changing.error instanceof ForecueError && changing.error.code === 'feature_disabled';
  return (
    <>
      {state !== undefined && (
        <Check
          label={t.notify.byMail(user.email)}
          isOn={state !== 'off'}
          onChange={(isOn) => changing.run(isOn ? 'on' : 'off')}
        />
      )}
      {state === 'unconfirmed' && (
        <p class="small" role="status">
          {t.notify.unconfirmed(user.email)}{' '}
          <Button kind="link" onPress={() => changing.run('on')}>
            {t.notify.mailAgain}
          </Button>
        </p>
      )}
      {hasNoMail ? (
        <p class="fault small" role="alert">
          {t.notify.noMail}
        </p>
      ) : (
        <ErrorNote error={error ?? changing.error} again={again} />
      )}
    </>
  );
}
