import { useRef, useState } from 'preact/hooks';
import type { FileReport } from '../../../shared/transcripts/report.ts';
import { type FoundTranscripts, readFiles } from '../import/read-files.ts';
import { sendEvents } from '../import/send.ts';
import { t } from '../strings/index.ts';
import { useSignedIn } from './context.ts';
import { useAction, useSaves } from './hooks.ts';
import { Icon } from './icons.tsx';
import { learn } from './learn.ts';
import { Button, Card, ErrorNote } from './ui.tsx';

/** A file that was chosen, or what was dropped: a file, a folder, or something else. */
type ChosenEntry = File | FileSystemEntry | null;

/** Number of faults shown. */
const FAULTS_MAX = 20;

export function ImportSessions({ onLearnt }: { onLearnt(): void }) {
  const { client, user } = useSignedIn();
  const [found, setFound] = useState<FoundTranscripts>();
  const [progress, setProgress] = useState('');
  const [refusals, setRefusals] = useState<FileReport>();
  const reading = useSaves(async (chosen: readonly ChosenEntry[]) => {
    setRefusals(undefined);
    try {
      const files = (await Promise.all(chosen.map(filesIn))).flat();
      setFound(await readFiles(files, (done, all) => setProgress(t.start.reading(done, all))));
    } finally {
      setProgress('');
    }
  });
  const sending = useAction(async () => {
    let result = '';
    try {
      const say = (done: number, all: number) => setProgress(t.start.sending(done, all));
      setRefusals(await sendEvents(client, user.id, found?.events ?? [], say));
      result = await learn(client, setProgress);
      // Keeps sessions that were chosen meanwhile.
      setFound((latest) => (latest === found ? undefined : latest));
      onLearnt();
    } finally {
      setProgress(result);
    }
  });
  return (
    <Card title={t.start.bring}>
      <FileChoice onFiles={reading.run} />
      <p class="quiet small">
        {t.start.bringLead} {t.start.where}
      </p>
      <p class="quiet" role="status">
        {progress}
      </p>
      {found && <FoundSessions found={found} />}
      {found && found.events.length > 0 && (
        <Button kind="primary" action={sending}>
          {t.start.send}
        </Button>
      )}
      {refusals !== undefined && refusals.invalid > 0 && (
        <p class="fault" role="alert">
          {t.start.refused(refusals.invalid)} {[...new Set(refusals.problems)].join('; ')}
        </p>
      )}
      <ErrorNote error={reading.error ?? sending.error} />
    </Card>
  );
}

function FileChoice({ onFiles }: { onFiles(files: readonly ChosenEntry[]): void }) {
  const [isOver, setOver] = useState(false);
  const drop = (event: DragEvent) => {
    event.preventDefault();
    setOver(false);
    onFiles([...(event.dataTransfer?.items ?? [])].map((item) => item.webkitGetAsEntry()));
  };
  return (
    <div
      role="group"
      aria-label={t.start.bring}
      class={`drop ${isOver ? 'over' : ''}`}
      onDragOver={(event) => {
        event.preventDefault();
        setOver(true);
      }}
      onDragLeave={() => setOver(false)}
      onDrop={drop}
    >
      <Icon name="start" />
      <strong>{t.start.drop}</strong>
      <div class="row">
        <Chooser label={t.start.folder} isFolder onFiles={onFiles} />
        <Chooser label={t.start.files} onFiles={onFiles} />
      </div>
    </div>
  );
}

interface ChooserProps {
  label: string;
  isFolder?: boolean;
  onFiles(files: readonly File[]): void;
}

function Chooser({ label, isFolder = false, onFiles }: ChooserProps) {
  const input = useRef<HTMLInputElement>(null);
  return (
    <>
      <Button kind={isFolder ? 'primary' : 'secondary'} onPress={() => input.current?.click()}>
        {label}
      </Button>
      <input
        ref={input}
        type="file"
        hidden
        multiple
        aria-label={label}
        {...(isFolder && { webkitdirectory: true })}
        onChange={(event) => {
          onFiles([...(event.currentTarget.files ?? [])]);
          event.currentTarget.value = '';
        }}
      />
    </>
  );
}

function FoundSessions({
  found: { events, sessions, unknown, faults, masked, excerpts },
}: {
  found: FoundTranscripts;
}) {
  return (
    <>
      <p>{events.length === 0 ? t.start.nothing : t.start.found(events.length, sessions)}</p>
      {unknown > 0 && <p class="quiet small">{t.start.unknown(unknown)}</p>}
      {faults.length > 0 && (
        <div class="fault" role="alert">
          <p>{t.start.unread(faults.length)}</p>
          <ul>
            {faults.slice(0, FAULTS_MAX).map((fault) => (
              <li key={fault}>
                <bdi class="words">{fault}</bdi>
              </li>
            ))}
          </ul>
        </div>
      )}
      {events.length > 0 && <p>{masked === 0 ? t.start.noneMasked : t.start.masked(masked)}</p>}
      <ul class="quotes">
        {excerpts.map((excerpt, at) => (
          <li key={at}>
            <bdi class="words">…{excerpt}…</bdi>
          </li>
        ))}
      </ul>
    </>
  );
}

async function filesIn(entry: ChosenEntry): Promise<File[]> {
  if (entry === null) return [];
  if (entry instanceof File) return [entry];
  if (entry.isFile)
    return [
      await new Promise<File>((resolve, reject) => (entry as FileSystemFileEntry).file(resolve, reject)),
    ];
  const reader = (entry as FileSystemDirectoryEntry).createReader();
  const files: File[] = [];
  for (;;) {
    // Some browsers return at most a hundred entries at a time.
    const entries = await new Promise<FileSystemEntry[]>((resolve, reject) =>
      reader.readEntries(resolve, reject),
    );
    if (entries.length === 0) return files;
    files.push(...(await Promise.all(entries.map(filesIn))).flat());
  }
}
