import { useEffect, useState } from 'preact/hooks';
import { moment, t } from '../strings/index.ts';
import { useSignedIn } from './context.ts';
import { useDraft } from './draft.ts';
import { submitHandler, useLoad, useSaves } from './hooks.ts';
import { Skeleton } from './loading.tsx';
import { Button, Card, ErrorNote, Field, faultOf, SuccessNote } from './ui.tsx';

/** A field of the profile while it is edited. */
interface ProfileField {
  id: string;
  name: string;
  value: string;
  /** Value that the field had when it was loaded; undefined for a new field. */
  original?: unknown;
}

interface KnownProfile {
  summary: string;
  data: Record<string, unknown>;
}

interface EditedProfile {
  summary: string;
  lines: readonly ProfileField[];
  /** The profile before the edits. */
  known: KnownProfile;
}

export function Profile() {
  const { client } = useSignedIn();
  const { value, error, again } = useLoad(
    async () => {
      const { profile } = await client.readMemoryStats();
      return profile.count === 0 ? null : client.readProfile();
    },
    [],
    ['memory'],
  );
  if (error !== undefined) return <ErrorNote error={error} again={again} />;
  if (value === undefined) return <Skeleton />;
  return <ProfileEditor profile={value} onSaved={again} />;
}

interface ProfileEditorProps {
  profile: (KnownProfile & { updated_at: string }) | null;
  onSaved(): void;
}

function ProfileEditor({ profile, onSaved }: ProfileEditorProps) {
  const { client } = useSignedIn();
  const [draft, keepDraft] = useDraft('profile');
  const [edited, setEdited] = useState<EditedProfile>(() =>
    draft === undefined ? editedProfileOf(profile) : JSON.parse(draft),
  );
  const { summary, lines } = edited;
  const [isSaved, setSaved] = useState(false);
  const namesakes = fieldsWithUsedName(lines);
  useEffect(() => {
    const { summary, data } = editsOf(edited);
    keepDraft(summary === undefined && data === undefined ? undefined : JSON.stringify(edited));
  }, [edited]);
  // What is being edited here stays as it is.
  useEffect(() => setEdited((before) => refreshed(before, profile)), [profile?.updated_at]);
  const saving = useSaves(async (edits: Partial<KnownProfile>) => {
    // Leaves out a part that was not edited here, so as not to undo an edit made elsewhere.
    await client.writeProfile(edits);
    setEdited((before) => ({ ...before, known: { ...before.known, ...edits } }));
    setSaved(true);
    onSaved();
  });
  const change = (part: Partial<EditedProfile>) => {
    setEdited({ ...edited, ...part });
    setSaved(false);
  };
  return (
    <Card>
      <form onSubmit={submitHandler(() => namesakes.length === 0 && saving.run(editsOf(edited)))}>
        <Field
          label={t.memory.profileLabel}
          hint={t.memory.profileHint}
          fault={faultOf(saving.error, 'summary')}
          value={summary}
          onInput={(text) => change({ summary: text })}
          rows={5}
        />
        <fieldset>
          <legend>{t.profile.fields}</legend>
          <p class="quiet small">
            <LockIcon /> {t.profile.locked}
          </p>
          {lines.map((line) => (
            <FieldEditor
              key={line.id}
              line={line}
              fault={namesakes.includes(line) ? t.profile.twice : undefined}
              onChange={(changed) =>
                change({ lines: lines.map((one) => (one.id === line.id ? changed : one)) })
              }
              onRemove={() => change({ lines: lines.filter(({ id }) => id !== line.id) })}
            />
          ))}
          <Button
            kind="link"
            onPress={() => change({ lines: [...lines, { id: crypto.randomUUID(), name: '', value: '' }] })}
          >
            {t.profile.add}
          </Button>
        </fieldset>
        <Button kind="primary">{t.save}</Button>
      </form>
      {isSaved && <SuccessNote>{t.saved}</SuccessNote>}
      {profile && <p class="quiet small">{t.profile.changed(moment(profile.updated_at))}</p>}
      <ErrorNote error={saving.error} />
    </Card>
  );
}

interface FieldEditorProps {
  line: ProfileField;
  fault: string | undefined;
  onChange(line: ProfileField): void;
  onRemove(): void;
}

function FieldEditor({ line, fault, onChange, onRemove }: FieldEditorProps) {
  return (
    <div class="pair">
      <Field
        label={t.name}
        fault={fault}
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

function LockIcon() {
  return (
    <svg class="lock" viewBox="0 0 16 16" aria-hidden="true">
      <path d="M4.5 7V5a3.5 3.5 0 0 1 7 0v2H13v8H3V7Zm1.75 0h3.5V5a1.75 1.75 0 0 0-3.5 0Z" />
    </svg>
  );
}

function editedProfileOf(
  profile: ProfileEditorProps['profile'],
  before: readonly ProfileField[] = [],
): EditedProfile {
  const { summary, data } = profile ?? { summary: '', data: {} };
  return { summary, lines: fieldsOf(data, before), known: { summary, data } };
}

/** Returns the parts that were edited. */
function editsOf({ summary, lines, known }: EditedProfile): Partial<KnownProfile> {
  const data = dataOf(lines);
  return {
    ...(summary !== known.summary && { summary }),
    ...(JSON.stringify(data) !== JSON.stringify(known.data) && { data }),
  };
}

/** Takes over what was saved elsewhere, except a part that was edited here. */
function refreshed(edited: EditedProfile, profile: ProfileEditorProps['profile']): EditedProfile {
  const { known, ...saved } = editedProfileOf(profile, edited.lines);
  const edits = editsOf(edited);
  return {
    summary: edits.summary ?? saved.summary,
    lines: edits.data === undefined ? saved.lines : edited.lines,
    known: {
      summary: edits.summary === undefined ? known.summary : edited.known.summary,
      data: edits.data === undefined ? known.data : edited.known.data,
    },
  };
}

/** Fields that were on the page keep their id, so that the cursor stays in them. */
function fieldsOf(data: Record<string, unknown>, before: readonly ProfileField[]): ProfileField[] {
  return Object.entries(data).map(([name, value]) => ({
    id: before.find((field) => field.name.trim() === name)?.id ?? name,
    name,
    value: textOf(value),
    original: value,
  }));
}

const textOf = (value: unknown) => (typeof value === 'string' ? value : JSON.stringify(value));

/** Returns the fields whose name an earlier field already has. */
function fieldsWithUsedName(lines: readonly ProfileField[]): ProfileField[] {
  const names = lines.map(({ name }) => name.trim());
  return lines.filter(({ name }, at) => name !== '' && names.indexOf(name.trim()) < at);
}

/** Returns an unedited value as it was loaded, so that it keeps its type. */
function dataOf(lines: readonly ProfileField[]): Record<string, unknown> {
  return Object.fromEntries(
    lines.map(({ name, value, original }) => [
      name.trim(),
      value === textOf(original) ? original : parseValue(value),
    ]),
  );
}

/** Parses only what `JSON.stringify` would write unchanged, so that `3.10` and long numbers stay texts. */
function parseValue(text: string): unknown {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value !== 'string' && JSON.stringify(value) === text ? value : text;
  } catch {
    return text;
  }
}
