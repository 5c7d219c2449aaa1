import { useState } from 'preact/hooks';
import { ForecueError } from '../../src/errors.ts';
import { t } from '../strings/index.ts';
import { useSignedIn } from './context.ts';
import { type Action, submitHandler, useAction } from './hooks.ts';
import { Button, ErrorNote, Field } from './ui.tsx';

/** Shows the error of an action. If a recent log-in is needed, asks for the password and repeats the action. */
export function FreshLogIn({ action }: { action: Action }) {
  const { client, user } = useSignedIn();
  const [password, setPassword] = useState('');
  const confirming = useAction(async () => {
    await client.logIn({ email: user.email, password });
    setPassword('');
    action.run();
  });
  const { error } = action;
  if (!(error instanceof ForecueError && error.code === 'fresh_login_required'))
    return <ErrorNote error={error} />;
  return (
    <form class="confirm" onSubmit={submitHandler(confirming.run)}>
      <ErrorNote error={confirming.error} />
      <Field
        label={t.account.fresh}
        value={password}
        onInput={setPassword}
        type="password"
        autocomplete="current-password"
        required
      />
      <Button kind="primary" isBusy={confirming.isBusy}>
        {t.account.confirm}
      </Button>
    </form>
  );
}
