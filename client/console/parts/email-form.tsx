import { useState } from 'preact/hooks';
import { ForecueError } from '../../src/errors.ts';
import { t } from '../strings/index.ts';
import { useSignedIn } from './context.ts';
import { submitHandler, useAction } from './hooks.ts';
import { Button, Card, Field, FormError, faultOf, SuccessNote } from './ui.tsx';

/** Another address is the account's once its owner has opened the link that is mailed there. */
export function EmailForm() {
  const { client } = useSignedIn();
  const [email, setEmail] = useState('');
  const [password, setPassword] = useState('');
  const [mailedTo, setMailedTo] = useState('');
  const asking = useAction(async () => {
    setMailedTo('');
    await client.changeEmail({ email: email.trim(), current_password: password });
    setMailedTo(email.trim());
    setEmail('');
    setPassword('');
  });
  const { error } = asking;
  const hasNoMail = error instanceof ForecueError && error.code === 'feature_disabled';
  return (
    <Card title={t.account.email}>
      <form onSubmit={submitHandler(asking.run)}>
        {hasNoMail ? (
          <p class="fault" role="alert">
            {t.account.noMail}
          </p>
        ) : (
          <FormError error={error} fields={['email']} />
        )}
        <Field
          label={t.account.newEmail}
          value={email}
          onInput={setEmail}
          autocomplete="email"
          fault={faultOf(error, 'email')}
          required
        />
        <Field
          label={t.account.current}
          value={password}
          onInput={setPassword}
          type="password"
          autocomplete="current-password"
          required
        />
        <Button isBusy={asking.isBusy}>{t.account.mailLink}</Button>
      </form>
      {mailedTo !== '' && <SuccessNote>{t.account.mailed(mailedTo)}</SuccessNote>}
    </Card>
  );
}
