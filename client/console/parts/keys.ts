const TYPING_FIELDS = 'input, textarea, select';
/**
 * Keys that may be held down. Any other key makes a decision, and the person has not read the prediction that comes
 * next.
 */
const HELD_KEYS = ['j', 'k'];

/**
 * Presses the button inside the element that names the key as its shortcut (`aria-keyshortcuts`). Works only while the
 * focus is inside, so that single keys do nothing elsewhere (WCAG 2.2, 2.1.4), and not while the person types.
 */
export function pressByKey(event: KeyboardEvent): void {
  const { key, repeat, ctrlKey, metaKey, altKey, target, currentTarget } = event;
  if (ctrlKey || metaKey || altKey || (target as Element).matches(TYPING_FIELDS)) return;
  if (repeat && !HELD_KEYS.includes(key)) return;
  const button = (currentTarget as Element).querySelector<HTMLElement>(
    `[aria-keyshortcuts="${CSS.escape(key)}"]`,
  );
  if (button === null) return;
  event.preventDefault();
  button.click();
}
