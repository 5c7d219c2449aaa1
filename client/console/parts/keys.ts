const TYPING_FIELDS = 'input, textarea, select';
/**
 * Keys that press their buttons repeatedly while they are held down. No other key does, because it may make a decision,
 * and the next decision would be on a prediction that the person has not read.
 */
const HELD_KEYS = ['j', 'k'];

/**
 * Presses the button whose shortcut (`aria-keyshortcuts`) is the key, within the element that has this handler. Works
 * only while the focus is within that element, so that single keys do nothing elsewhere (WCAG 2.2, 2.1.4), and not
 * while the person types.
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
