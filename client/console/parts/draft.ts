import { createContext } from 'preact';
import { type Dispatch, type StateUpdater, useContext, useState } from 'preact/hooks';

/** Unfinished texts, by the id of their memory row or prediction; the key of the profile is `profile`. */
export const DraftsContext = createContext(new Map<string, string>());

/** Keeps an unfinished text even while its field is not on the page. The text is undefined if there is none. */
export function useDraft(id: string): [string | undefined, Dispatch<StateUpdater<string | undefined>>] {
  const drafts = useContext(DraftsContext);
  const [draft, setDraft] = useState(drafts.get(id));
  const keep: Dispatch<StateUpdater<string | undefined>> = (change) => {
    const next = typeof change === 'function' ? change(drafts.get(id)) : change;
    if (next === undefined) drafts.delete(id);
    else drafts.set(id, next);
    setDraft(next);
  };
  return [draft, keep];
}
