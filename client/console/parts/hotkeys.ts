import { useEffect, useRef } from 'preact/hooks';

const OFF_KEY = 'forecue.no-single-keys';
/** Time within which the second key of a pair such as `g i` counts. */
const PAIR_MS = 1500;

export const isTyping = (target: EventTarget | null) =>
  target instanceof Element &&
  target.matches('input:not([type=checkbox]), textarea, select, [contenteditable]');

/** The person can turn single keys off: speech input types them by accident (WCAG 2.2, 2.1.4). */
export const singleKeys = {
  areOn: () => localStorage.getItem(OFF_KEY) === null,
  turn(on: boolean) {
    if (on) localStorage.removeItem(OFF_KEY);
    else localStorage.setItem(OFF_KEY, '1');
  },
};

/** Calls a function for its key anywhere on the page: `?`, a pair such as `g i`, or `mod k` for Ctrl or ⌘ and k. */
export function useHotkeys(keys: Record<string, () => void>): void {
  const latest = useRef(keys);
  latest.current = keys;
  useEffect(() => {
    let before = { key: '', at: 0 };
    const press = (event: KeyboardEvent) => {
      const { key, ctrlKey, metaKey, altKey, timeStamp, repeat, defaultPrevented } = event;
      if (defaultPrevented || repeat || altKey || event.isComposing) return;
      const hasModifier = ctrlKey || metaKey;
      if (!hasModifier && (isTyping(event.target) || !singleKeys.areOn() || document.querySelector(':modal')))
        return;
      const pair = timeStamp - before.at < PAIR_MS ? `${before.key} ${key}` : '';
      const act = hasModifier ? latest.current[`mod ${key}`] : (latest.current[pair] ?? latest.current[key]);
      before = { key, at: timeStamp };
      if (act === undefined) return;
      event.preventDefault();
      act();
    };
    addEventListener('keydown', press);
    return () => removeEventListener('keydown', press);
  }, []);
}
