import { useState } from 'preact/hooks';
import { Choices } from '../parts/choices.tsx';
import { useSignedIn } from '../parts/context.ts';
import { EmailForm } from '../parts/email-form.tsx';
import { FreshLogIn } from '../parts/fresh.tsx';
import { submitHandler, useAction, useLoad, useSaves } from '../parts/hooks.ts';
import { LogIns } from '../parts/log-ins.tsx';
import { Notices } from '../parts/notices.tsx';
import { Passkeys } from '../parts/passkeys.tsx';
import { Button, Card, ErrorNote, Field, FormError, faultOf, SuccessNote, Title } from '../parts/ui.tsx';
import { Webhooks } from '../parts/webhooks.tsx';
import { choose, language, languages, number, t } from '../strings/index.ts';

export function Account() {
  const { user } = useSignedIn();
  return (
    <>
      <Title lead={t.account.lead(user.email)}>{t.nav.account}</Title>
      <div class="settings">
        <NameForm />
        <LanguageChoice />
        <EmailForm />
        <PasswordForm />
        <LogOutEverywhere />
        <TokensCard />
        <Notices />
        <Webhooks />
        <ExportCard />
        <EraseCard />
      </div>
      <Passkeys />
      <LogIns />
    </>
  );
}

function NameForm() {
  const { client, user, setUser } = useSignedIn();
  const [name, setName] = useState(user.name);
  const [saved, setSaved] = useState<string>();
  const saving = useSaves(async (typed: string) => {
    setUser(await client.changeAccount({ name: typed.trim() }));
    setSaved(typed);
  });
  return (
    <Card title={t.account.profile}>
      <form onSubmit={submitHandler(() => saving.run(name))}>
        <Field label={t.name} value={name} onInput={setName} autocomplete="name" />
        <Button>{t.save}</Button>
      </form>
      {saved === name && <SuccessNote>{t.saved}</SuccessNote>}
      <ErrorNote error={saving.error} />
    </Card>
  );
}

function PasswordForm() {
  const { client, user } = useSignedIn();
  const [current, setCurrent] = useState('');
  const [next, setNext] = useState('');
  const changing = useAction(async () => {
    setChanged(false);
    await client.changeAccount({ current_password: current, password: next });
    // The change has ended every log-in, including this one.
    await client.logIn({ email: user.email, password: next });
    setCurrent('');
    setNext('');
    setChanged(true);
  });
  const [isChanged, setChanged] = useState(false);
  const { error } = changing;
  return (
    <Card title={t.account.password}>
      <form onSubmit={submitHandler(changing.run)}>
        <FormError error={error} fields={['password']} />
        <Field
          label={t.account.current}
          value={current}
          onInput={setCurrent}
          type="password"
          autocomplete="current-password"
          required
        />
        <Field
          label={t.account.next}
          value={next}
          onInput={setNext}
          type="password"
          autocomplete="new-password"
          hint={t.enter.passwordHint}
          fault={faultOf(error, 'password')}
          required
        />
        <Button isBusy={changing.isBusy}>{t.account.change}</Button>
      </form>
      {isChanged && <SuccessNote>{t.account.changed}</SuccessNote>}
    </Card>
  );
}

function LogOutEverywhere() {
  const { client } = useSignedIn();
  const leaving = useAction(() => client.logOut({ all: true }));
  return (
    <Card title={t.account.everywhere}>
      <p>{t.account.everywhereLead}</p>
      <Button action={leaving}>{t.account.everywhere}</Button>
      <ErrorNote error={leaving.error} />
    </Card>
  );
}

function TokensCard() {
  const { client } = useSignedIn();
  const { value, error, again } = useLoad(() => client.readActivity({ days: 1 }), []);
  const { tokens_today: used, tokens_quota: quota } = value ?? {};
  return (
    <Card title={t.account.tokens}>
      {used !== undefined && (
        <p>{quota ? t.account.tokensOf(number(used), number(quota)) : t.account.tokensUsed(number(used))}</p>
      )}
      <ErrorNote error={error} again={again} />
    </Card>
  );
}

function LanguageChoice() {
  return (
    <Card title={t.account.language}>
      <Choices
        label={t.account.language}
        options={languages.map(({ tag, name }) => ({ value: tag, name, lang: tag }))}
        chosen={language}
        onChoose={choose}
      />
    </Card>
  );
}

/** Length of the collected text at which the page moves it into a `Blob`, which the browser may keep on disk. */
const EXPORT_PART_LENGTH = 2_000_000;

function ExportCard() {
  const { client } = useSignedIn();
  const [lines, setLines] = useState(0);
  const [isDone, setDone] = useState(false);
  const exporting = useAction(async () => {
    let parts: (Blob | string)[] = [];
    let length = 0;
    let count = 0;
    setDone(false);
    for await (const line of client.exportAccount()) {
      const text = `${JSON.stringify(line)}\n`;
      parts.push(text);
      length += text.length;
      count += 1;
      if (count % 100 === 0) setLines(count);
      if (length < EXPORT_PART_LENGTH) continue;
      parts = [new Blob(parts)];
      length = 0;
    }
    setLines(count);
    setDone(true);
    saveFile(new Blob(parts, { type: 'application/x-ndjson' }), 'forecue.ndjson');
  });
  return (
    <Card title={t.account.export}>
      <p>{t.account.exportLead}</p>
      <Button action={exporting}>{t.account.exportDo}</Button>
      <p class="quiet" role="status">
        {exporting.isBusy && t.account.exporting(lines)}
        {isDone && t.account.exported(lines)}
      </p>
      <ErrorNote error={exporting.error} />
    </Card>
  );
}

function EraseCard() {
  const { client, user } = useSignedIn();
  const [typed, setTyped] = useState('');
  const erasing = useAction(async () => {
    await client.eraseAccount();
    // The account's log-ins are gone, so the server refuses this call. The refusal makes this tab forget its log-in.
    await client.readAccount().catch(() => {});
  });
  return (
    <Card title={t.account.erase}>
      <p>{t.account.eraseLead}</p>
      <Field label={t.account.eraseConfirm(user.email)} value={typed} onInput={setTyped} autocomplete="off" />
      {typed.trim().toLowerCase() === user.email.toLowerCase() && (
        <Button kind="danger" action={erasing}>
          {t.account.eraseDo}
        </Button>
      )}
      <FreshLogIn action={erasing} />
    </Card>
  );
}

function saveFile(content: Blob, name: string): void {
  const url = URL.createObjectURL(content);
  const link = Object.assign(document.createElement('a'), { href: url, download: name });
  link.click();
  // Waits until the browser has surely begun to read the content.
  setTimeout(() => URL.revokeObjectURL(url), 60_000);
}
