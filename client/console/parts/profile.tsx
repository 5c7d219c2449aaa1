import { useState } from 'preact/hooks';
import { t } from '../strings/index.ts';
import { useSignedIn } from './context.ts';
import { Button, Card, Done, ErrorNote, Field, Skeleton } from './ui.tsx';
import { useAction, useLoad } from './work.ts';

/** What the person says of themselves. */
export function Profile() {
  const { client } = useSignedIn();
  const { value, error, again } = useLoad(async () => {
    const { profile } = await client.readMemoryStats();
    return profile.count === 0 ? '' : (await client.readProfile()).summary;
  }, []);
  const [typed, setTyped] = useState<string>();
  const [isSaved, setSaved] = useState(false);
  const saving = useAction(async () => {
    await client.writeProfile({ summary: typed ?? value ?? '' });
    setSaved(true);
  });
  if (error !== undefined) return <ErrorNote error={error} again={again} />;
  if (value === undefined) return <Skeleton />;
  return (
    <Card>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          saving.run();
        }}
      >
        <Field
          label={t.memory.profileLabel}
          hint={t.memory.profileHint}
          value={typed ?? value}
          onInput={(text) => {
            setTyped(text);
            setSaved(false);
          }}
          rows={6}
        />
        <Button kind="primary" isBusy={saving.isBusy}>
          {t.memory.save}
        </Button>
      </form>
      {isSaved && <Done>{t.memory.saved}</Done>}
      <ErrorNote error={saving.error} />
    </Card>
  );
}
