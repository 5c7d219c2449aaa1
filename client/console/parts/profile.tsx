import { useState } from 'preact/hooks';
import { moment, t } from '../strings/index.ts';
import { useSignedIn } from './context.ts';
import { Button, Card, Done, ErrorNote, Field, faultOf, Skeleton } from './ui.tsx';
import { submitHandler, useAction, useLoad } from './work.ts';

/** A field of the profile while it is edited. */
interface Line {
  id: string;
  name: string;
  value: string;
}

/** Edits what the person says about themselves, which learning never changes: a summary, and fields. */
export function Profile() {
  const { client } = useSignedIn();
  const { value, error, again } = useLoad(async () => {
    const { profile } = await client.readMemoryStats();
    return profile.count === 0 ? null : client.readProfile();
  }, []);
  if (error !== undefined) return <ErrorNote error={error} again={again} />;
  if (value === undefined) return <Skeleton />;
  return <Editor profile={value} onSaved={again} />;
}

interface EditorProps {
  profile: { summary: string; data: Record<string, unknown>; updated_at: string } | null;
  onSaved(): void;
}

function Editor({ profile, onSaved }: EditorProps) {
  const { client } = useSignedIn();
  const [summary, setSummary] = useState(profile?.summary ?? '');
  const [lines, setLines] = useState<readonly Line[]>(() => linesOf(profile?.data ?? {}));
  const [isSaved, setSaved] = useState(false);
  const saving = useAction(async () => {
    await client.writeProfile({ summary, data: dataOf(lines) });
    setSaved(true);
    onSaved();
  });
  const change = (next: readonly Line[]) => {
    setLines(next);
    setSaved(false);
  };
  return (
    <Card>
      <form onSubmit={submitHandler(saving.run)}>
        <Field
          label={t.memory.profileLabel}
          hint={t.memory.profileHint}
          fault={faultOf(saving.error, 'summary')}
          value={summary}
          onInput={(text) => {
            setSummary(text);
            setSaved(false);
          }}
          rows={5}
        />
        <fieldset>
          <legend>{t.profile.fields}</legend>
          <p class="quiet small">
            <Lock /> {t.profile.locked}
          </p>
          {lines.map((line) => (
            <Pair
              key={line.id}
              line={line}
              onChange={(changed) => change(lines.map((one) => (one.id === line.id ? changed : one)))}
              onRemove={() => change(lines.filter(({ id }) => id !== line.id))}
            />
          ))}
          <Button
            kind="link"
            onPress={() => change([...lines, { id: crypto.randomUUID(), name: '', value: '' }])}
          >
            {t.profile.add}
          </Button>
        </fieldset>
        <Button kind="primary" isBusy={saving.isBusy}>
          {t.memory.save}
        </Button>
      </form>
      {isSaved && <Done>{t.memory.saved}</Done>}
      {profile && <p class="quiet small">{t.profile.changed(moment(profile.updated_at))}</p>}
      <ErrorNote error={saving.error} />
    </Card>
  );
}

interface PairProps {
  line: Line;
  onChange(line: Line): void;
  onRemove(): void;
}

function Pair({ line, onChange, onRemove }: PairProps) {
  return (
    <div class="pair">
      <Field
        label={t.profile.name}
        value={line.name}
        onInput={(name) => onChange({ ...line, name })}
        autocomplete="off"
        required
      />
      <Field
        label={t.profile.value}
        value={line.value}
        onInput={(value) => onChange({ ...line, value })}
        autocomplete="off"
      />
      <Button kind="link" label={`${t.profile.remove}: ${line.name.slice(0, 80)}`} onPress={onRemove}>
        {t.profile.remove}
      </Button>
    </div>
  );
}

function Lock() {
  return (
    <svg class="lock" viewBox="0 0 16 16" aria-hidden="true">
      <path d="M4.5 7V5a3.5 3.5 0 0 1 7 0v2H13v8H3V7Zm1.75 0h3.5V5a1.75 1.75 0 0 0-3.5 0Z" />
    </svg>
  );
}

/** Turns the data into lines: texts unchanged, anything else as JSON. */
function linesOf(data: Record<string, unknown>): Line[] {
  return Object.entries(data).map(([name, value]) => ({
    id: name,
    name,
    value: typeof value === 'string' ? value : JSON.stringify(value),
  }));
}

/** Reads the data back. A value that is JSON gets its type, also if it was a text such as `42`; others are texts. */
function dataOf(lines: readonly Line[]): Record<string, unknown> {
  return Object.fromEntries(lines.map(({ name, value }) => [name.trim(), parseValue(value)]));
}

function parseValue(text: string): unknown {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'string' ? text : value;
  } catch {
    return text;
  }
}
