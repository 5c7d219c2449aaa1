const TYPING_FIELDS = 'input, textarea, select';

/**
 * Presses the button inside the element that names the key as its shortcut (`aria-keyshortcuts`). Works only while the
 * focus is inside, so that single keys do nothing elsewhere (WCAG 2.2, 2.1.4), and not while the person types.
 */
export function pressByKey(event: KeyboardEvent): void {
  const { key, ctrlKey, metaKey, altKey, target, currentTarget } = event;
  if (ctrlKey || metaKey || altKey || (target as Element).matches(TYPING_FIELDS)) return;
  const button = (currentTarget as Element).querySelector<HTMLElement>(
    `[aria-keyshortcuts="${CSS.escape(key)}"]`,
  );
  if (button === null) return;
  event.preventDefault();
  button.click();
}
