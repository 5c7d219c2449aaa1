import { useState } from 'preact/hooks';
import type { AccountClient, UserResponse } from '../../src/api.ts';
import { submitHandler, useAction } from '../parts/hooks.ts';
import { Logo } from '../parts/logo.tsx';
import { PasskeyLogIn } from '../parts/passkey-log-in.tsx';
import { Button, Field, FormError, faultOf, SuccessNote } from '../parts/ui.tsx';
import { passkeyCalls } from '../session.ts';
import { t } from '../strings/index.ts';

interface SignInProps {
  client: AccountClient;
  /** True if a session has just ended in this tab. */
  hasEnded: boolean;
  onEntered(user: UserResponse, isNew: boolean): void;
  /** Called when the cookie of a new session is set. */
  onResumable(): void;
}

const FIELDS = ['email', 'password', 'invite_code'];

export function SignIn({ client, hasEnded, onEntered, onResumable }: SignInProps) {
  const [isNew, setNew] = useState(false);
  const [email, setEmail] = useState('');
  const [password, setPassword] = useState('');
  const [invite, setInvite] = useState('');
  const entering = useAction(async () => {
    const given = { email: email.trim(), password };
    const { user } = await (isNew
      ? client.signUp({ ...given, ...(invite && { invite_code: invite.trim() }) })
      : client.logIn(given));
    onEntered(user, isNew);
  });
  document.title = `${isNew ? t.enter.signUp : t.enter.signIn} – Forecue`;
  const { error } = entering;
  return (
    <div class="alone">
      <header class="brand">
        <Logo /> Forecue
      </header>
      <main class="card">
        <h1>{isNew ? t.enter.signUp : t.enter.signIn}</h1>
        <p class="quiet">{isNew ? t.enter.signUpLead : t.enter.signInLead}</p>
        {hasEnded && error === undefined && <SuccessNote>{t.enter.ended}</SuccessNote>}
        <form onSubmit={submitHandler(entering.run)}>
          <FormError error={error} fields={FIELDS} />
          <Field
            label={t.enter.email}
            value={email}
            onInput={setEmail}
            autocomplete="username"
            fault={faultOf(error, 'email')}
            required
          />
          <Field
            label={t.enter.password}
            value={password}
            onInput={setPassword}
            type="password"
            autocomplete={isNew ? 'new-password' : 'current-password'}
            hint={isNew ? t.enter.passwordHint : undefined}
            fault={faultOf(error, 'password')}
            required
          />
          {isNew && (
            <Field
              label={t.enter.invite}
              value={invite}
              onInput={setInvite}
              autocomplete="off"
              fault={faultOf(error, 'invite_code')}
            />
          )}
          <div class="row">
            <Button kind="primary" isBusy={entering.isBusy}>
              {isNew ? t.enter.signUp : t.enter.signIn}
            </Button>
            {!isNew && <a href="../connect/forgotten-password">{t.enter.forgotten}</a>}
          </div>
        </form>
        {!isNew && <PasskeyLogIn logIn={passkeyCalls} onEntered={onResumable} />}
        <p class="foot">
          {isNew ? t.enter.toSignIn : t.enter.toSignUp}{' '}
          <Button kind="link" onPress={() => setNew(!isNew)}>
            {isNew ? t.enter.signIn : t.enter.signUp}
          </Button>
        </p>
      </main>
    </div>
  );
}
