import { createContext } from 'preact';
import { useContext, useState } from 'preact/hooks';

/** Texts that the person has begun to type, by the id of the row or prediction that they are about; `profile` for the profile. */
export const DraftsContext = createContext(new Map<string, string>());

/** Keeps the text that the person types, even while its field is not on the page; undefined while they type none. */
export function useDraft(id: string): [string | undefined, (draft: string | undefined) => void] {
  const drafts = useContext(DraftsContext);
  const [draft, setDraft] = useState(drafts.get(id));
  const keep = (next: string | undefined) => {
    if (next === undefined) drafts.delete(id);
    else drafts.set(id, next);
    setDraft(next);
  };
  return [draft, keep];
}
