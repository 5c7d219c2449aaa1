import { type Dispatch, type StateUpdater, useState } from 'preact/hooks';
import { useSignedIn } from './context.ts';

/** Unfinished texts, by account and row. They outlive the log-in, which may end while the person types. */
const drafts = new Map<string, string>();

/**
 * Keeps an unfinished text even while its field is not on the page. `id` is that of the memory row or prediction, or
 * `profile`. The text is undefined if there is none.
 */
export function useDraft(id: string): [string | undefined, Dispatch<StateUpdater<string | undefined>>] {
  const { user } = useSignedIn();
  const key = `${user.id} ${id}`;
  const [draft, setDraft] = useState(drafts.get(key));
  const keep: Dispatch<StateUpdater<string | undefined>> = (change) => {
    const next = typeof change === 'function' ? change(drafts.get(key)) : change;
    if (next === undefined) drafts.delete(key);
    else drafts.set(key, next);
    setDraft(next);
  };
  return [draft, keep];
}
