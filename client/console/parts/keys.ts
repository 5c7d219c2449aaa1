const TYPED = 'input, textarea, select';

/**
 * Presses the button within that names the key as its shortcut (`aria-keyshortcuts`). Only while the focus is within, so that
 * no key of a person's means something elsewhere (WCAG 2.2, 2.1.4), and not while they type.
 */
export function pressByKey(event: KeyboardEvent): void {
  const { key, ctrlKey, metaKey, altKey, target, currentTarget } = event;
  if (ctrlKey || metaKey || altKey || (target as Element).matches(TYPED)) return;
  const button = (currentTarget as Element).querySelector<HTMLElement>(
    `[aria-keyshortcuts="${CSS.escape(key)}"]`,
  );
  if (button === null) return;
  event.preventDefault();
  button.click();
}
