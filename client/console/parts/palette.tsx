import { useEffect, useId, useState } from 'preact/hooks';
import { t } from '../strings/index.ts';
import { useSignedIn } from './context.ts';
import { useDebounced, useLoad } from './hooks.ts';
import { Icon, type IconName } from './icons.tsx';
import { Pane } from './pane.tsx';

const DEBOUNCE_MS = 150;
const FACTS_MAX = 6;
/** Length from which the memory is searched. */
const SEARCHED_LENGTH = 2;

export interface Command {
  name: string;
  icon: IconName;
  /** Keys that do the same. */
  keys?: string;
  run(): void;
}

/** A list of pages, actions and facts, filtered by what is typed (ARIA pattern: combobox with a listbox). */
export function Palette({ commands, onClose }: { commands: readonly Command[]; onClose(): void }) {
  const { client } = useSignedIn();
  const id = useId();
  const [typed, setTyped] = useState('');
  const [at, setAt] = useState(0);
  const q = useDebounced(typed.trim(), DEBOUNCE_MS);
  const { value } = useLoad(
    async () => (q.length < SEARCHED_LENGTH ? [] : (await client.listFacts({ q, limit: FACTS_MAX })).results),
    [q],
  );
  const words = typed.toLowerCase().trim();
  const go = (hash: string) => () => {
    location.hash = hash;
  };
  const entries: Command[] = [
    ...commands.filter(({ name }) => name.toLowerCase().includes(words)),
    ...(words === ''
      ? []
      : [{ name: t.palette.search(typed.trim()), icon: 'search' as const, run: go(searchOf(typed)) }]),
    ...(words === '' ? [] : (value ?? [])).map(({ id, text }) => ({
      name: text,
      icon: 'memory' as const,
      run: go(`${searchOf(typed)}&open=${id}`),
    })),
  ];
  const chosen = Math.min(at, entries.length - 1);
  const run = (entry: Command | undefined) => {
    if (entry === undefined) return;
    onClose();
    entry.run();
  };
  const press = (event: KeyboardEvent) => {
    const by = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (by !== undefined) setAt((chosen + by + entries.length) % entries.length);
    else if (event.key === 'Enter') run(entries[chosen]);
    else return;
    event.preventDefault();
  };
  useEffect(() => document.getElementById(`${id}-${chosen}`)?.scrollIntoView({ block: 'nearest' }), [chosen]);
  return (
    <Pane kind="palette" label={t.palette.title} isModal onClose={onClose}>
      <input
        type="text"
        role="combobox"
        aria-label={t.palette.hint}
        aria-expanded="true"
        aria-controls={id}
        aria-activedescendant={entries.length > 0 ? `${id}-${chosen}` : undefined}
        aria-autocomplete="list"
        autocomplete="off"
        placeholder={t.palette.hint}
        value={typed}
        onInput={(event) => {
          setTyped(event.currentTarget.value);
          setAt(0);
        }}
        onKeyDown={press}
      />
      <div id={id} role="listbox" aria-label={t.palette.title}>
        {entries.map((entry, nth) => (
          <button
            key={nth}
            type="button"
            id={`${id}-${nth}`}
            role="option"
            tabIndex={-1}
            aria-selected={nth === chosen}
            onClick={() => run(entry)}
          >
            <Icon name={entry.icon} />
            <bdi>{entry.name}</bdi>
            {entry.keys && <kbd>{entry.keys}</kbd>}
          </button>
        ))}
      </div>
    </Pane>
  );
}

const searchOf = (typed: string) => `#/memory/facts?${new URLSearchParams({ q: typed.trim() })}`;
