import type { ComponentChildren } from 'preact';
import { useLayoutEffect, useMemo, useRef, useState } from 'preact/hooks';
import { shortMoment, t } from '../strings/index.ts';
import { useAction, useParameter } from './hooks.ts';
import { isTyping } from './hotkeys.ts';
import { Pane } from './pane.tsx';
import { type OnView, useRange } from './row-range.ts';
import { useSteps } from './row-steps.ts';
import { Button, ErrorNote } from './ui.tsx';

/** What a row shows, in one line. */
export interface RowView {
  title: string;
  /** Shown quietly after the title. */
  note?: string | undefined;
  /** Shown before the title, such as a badge. */
  lead?: ComponentChildren;
  marks?: readonly string[];
  at?: string;
  look?: 'quiet' | 'strong' | undefined;
}

interface RowsProps<T> {
  label: string;
  rows: readonly T[];
  idOf(row: T): string;
  view(row: T): RowView;
  /** Words of a row that only heads those after it. */
  headOf?(row: T): string | undefined;
  /** Buttons that are shown while the row is pointed at or focused. */
  actions?(row: T): ComponentChildren;
  /** Buttons for the selected rows. Without it no row can be selected. */
  bulk?(ids: readonly string[], clear: () => void): ComponentChildren;
  /** Content of the pane of an opened row. */
  detail(row: T): ComponentChildren;
  hasMore?: boolean;
  onView?: OnView;
  /** Loads the rows that are left, and returns the ids of all. */
  loadAll?(): Promise<readonly string[]>;
}

interface LoadedRowsProps<T> extends Omit<RowsProps<T>, 'rows'> {
  /** Undefined until they are loaded. */
  rows: readonly T[] | undefined;
  /** Shown instead of no rows. */
  empty?: ComponentChildren;
}

const STEPS: Record<string, number> = { ArrowDown: 1, j: 1, ArrowUp: -1, k: -1 };

/**
 * A list of rows of one height, of which one is in the tab order and one can be open in a pane. Only rows near the
 * window are on the page; blank space replaces all others. Which row is open is in the address.
 */
export function Rows<T>({ rows, empty, ...props }: LoadedRowsProps<T>) {
  return rows?.length === 0 ? empty : rows && <List rows={rows} {...props} />;
}

function List<T>(props: RowsProps<T>) {
  const { label, rows, idOf, bulk, detail, hasMore = false, onView, loadAll } = props;
  const [openId, setOpenId] = useParameter('open', true);
  const [chosen, setChosen] = useState<ReadonlySet<string>>(new Set());
  const [pointedId, setPointedId] = useState<string>();
  const list = useRef<HTMLUListElement>(null);
  const { first, end, height } = useRange(list, rows, onView);
  // Each frame of scrolling renders this: nothing is looked for in all rows unless there is something to find.
  const open = openId === '' ? undefined : rows.find((row) => idOf(row) === openId);
  const selected = chosen.size === 0 ? [] : rows.map(idOf).filter((id) => chosen.has(id));
  const choose = (id: string) =>
    setChosen((before) => {
      const next = new Set(before);
      if (!next.delete(id)) next.add(id);
      return next;
    });
  const clear = () => setChosen(new Set());
  const choosing = useAction(async () => setChosen(new Set((await loadAll?.()) ?? rows.map(idOf))));
  const { active, setActiveId, focus, step } = useSteps(
    props,
    list,
    (id) => open !== undefined && setOpenId(id),
  );
  const press = (event: KeyboardEvent) => {
    const { key, ctrlKey, metaKey, altKey, target } = event;
    if (ctrlKey || metaKey || altKey || isTyping(target) || (target as Element).closest(':modal')) return;
    const by = STEPS[key];
    const row = rows[active];
    if (by !== undefined) step(by);
    else if (key === 'x' && bulk && row !== undefined) choose(idOf(row));
    else if (key === 'Escape' && selected.length > 0) clear();
    else return;
    event.preventDefault();
    event.stopPropagation();
  };
  const style = {
    paddingTop: `${first * height}px`,
    paddingBottom: `${Math.max(0, rows.length - end) * height}px`,
  };
  return (
    <div
      role="group"
      aria-label={label}
      class={`list ${open ? 'opened' : ''}`}
      tabIndex={-1}
      onKeyDown={press}
      // Comes here when the focused row has gone. The next one is in its place.
      onFocus={({ target, currentTarget }) => target === currentTarget && focus(rows[active])}
    >
      <div>
        {bulk && selected.length > 0 && (
          <div class="bulk" role="toolbar" aria-label={t.rows.selected(selected.length)}>
            <strong role="status">{t.rows.selected(selected.length)}</strong>
            {bulk(selected, clear)}
            <Button kind="link" action={choosing}>
              {t.rows.all}
            </Button>
            <Button kind="link" onPress={clear}>
              {t.rows.none}
            </Button>
            <ErrorNote error={choosing.error} />
          </div>
        )}
        <ul
          ref={list}
          class="rows"
          aria-label={label}
          style={style}
          onFocusCapture={({ target }) => setActiveId(idAt(target))}
          onPointerOver={({ target }) => setPointedId(idAt(target))}
          onPointerLeave={() => setPointedId(undefined)}
        >
          {rows.slice(first, end).map((row, at) => (
            <OneRow
              key={idOf(row)}
              list={props}
              row={row}
              nth={first + at + 1}
              of={hasMore ? -1 : rows.length}
              isActive={first + at === active}
              isPointed={pointedId !== undefined && idOf(row) === pointedId}
              isOpen={row === open}
              isChosen={chosen.has(idOf(row))}
              onChoose={() => choose(idOf(row))}
              onOpen={() => setOpenId(row === open ? '' : idOf(row))}
            />
          ))}
        </ul>
      </div>
      {open !== undefined && (
        <Pane
          key={openId}
          kind="pane"
          label={props.view(open).title.slice(0, 80)}
          onClose={() => setOpenId('')}
        >
          {detail(open)}
        </Pane>
      )}
    </div>
  );
}

/** The id of the row that this element is in. */
export const idAt = (target: EventTarget | null) =>
  (target as Element | null)?.closest<HTMLElement>('.a-row')?.dataset['id'];

interface OneRowProps<T> {
  list: RowsProps<T>;
  row: T;
  nth: number;
  /** Number of rows; -1 while it is unknown. */
  of: number;
  isActive: boolean;
  isPointed: boolean;
  isOpen: boolean;
  isChosen: boolean;
  onChoose(): void;
  onOpen(): void;
}

function OneRow<T>(props: OneRowProps<T>) {
  const { list, row, nth, of, isActive, isPointed, isOpen, isChosen } = props;
  const root = useRef<HTMLLIElement>(null);
  // One row is in the tab order. Arrows lead to the others.
  useLayoutEffect(() => {
    for (const control of root.current?.querySelectorAll<HTMLElement>('button, input') ?? [])
      control.tabIndex = isActive ? 0 : -1;
  }, [isActive, isPointed, row, list.bulk === undefined]);
  // A scroll renders all rows near the window, of which most have not changed.
  return useMemo(() => rowOf(props, root), [list, row, nth, of, isActive, isPointed, isOpen, isChosen]);
}

function rowOf<T>(
  { list, row, nth, of, isActive, isPointed, isOpen, isChosen, ...on }: OneRowProps<T>,
  root: { current: HTMLLIElement | null },
) {
  const { idOf, view, headOf, actions, bulk } = list;
  const place = { 'aria-posinset': nth, 'aria-setsize': of, 'data-id': idOf(row) };
  const head = headOf?.(row);
  if (head !== undefined)
    return (
      <li class="a-row head" {...place}>
        <bdi>{head}</bdi>
      </li>
    );
  const { title, note, lead, marks = [], at, look = '' } = view(row);
  return (
    <li
      ref={root}
      class={`a-row ${isOpen ? 'open' : ''} ${isChosen ? 'chosen' : ''} ${at ? '' : 'timeless'} ${look}`}
      {...place}
    >
      {bulk && (
        <input
          type="checkbox"
          checked={isChosen}
          aria-label={`${t.rows.select}: ${title.slice(0, 80)}`}
          onChange={on.onChoose}
        />
      )}
      <button type="button" class="main" aria-expanded={isOpen} onClick={on.onOpen}>
        {lead}
        <span class="text">
          <bdi class="name">{title || '–'}</bdi>
          {note && <bdi class="note">{note}</bdi>}
        </span>
        {marks.map((mark) => (
          <bdi key={mark} class="mark">
            {mark}
          </bdi>
        ))}
        {at && <time dateTime={at}>{shortMoment(at)}</time>}
      </button>
      {actions && <span class="acts">{(isActive || isPointed) && actions(row)}</span>}
    </li>
  );
}
