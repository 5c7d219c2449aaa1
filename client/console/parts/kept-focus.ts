/**
 * Keeps the focus when the focused element leaves the page, as a forgotten row or a closed editor does: moves it to the
 * nearest element around that takes it. Else keys would do nothing, and Tab would start at the top of the page.
 */
export function keepFocus(): void {
  /** The focused element and those around it, from the inside out. */
  let path: EventTarget[] = [];
  addEventListener('focusin', (event) => {
    path = event.composedPath();
  });
  // A click beside all controls takes the focus from an element that stays.
  addEventListener('pointerdown', () => {
    path = [];
  });
  new MutationObserver(() => {
    const isLost =
      path[0] instanceof Node && !path[0].isConnected && document.activeElement === document.body;
    if (!isLost) return;
    const next = path.find(
      (one) => one instanceof HTMLElement && one.isConnected && one.hasAttribute('tabindex'),
    );
    (next as HTMLElement | undefined)?.focus({ preventScroll: true });
  }).observe(document.body, { childList: true, subtree: true });
}
