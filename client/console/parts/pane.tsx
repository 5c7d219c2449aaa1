import type { ComponentChildren } from 'preact';
import { useLayoutEffect, useRef } from 'preact/hooks';
import { t } from '../strings/index.ts';
import { Icon } from './icons.tsx';

/** Width below which a pane covers the page, as a sheet; `narrow.css` has the same. */
const NARROW = '(max-width: 52rem)';

interface PaneProps {
  label: string;
  /** True for a dialog that covers the page on wide screens, too. */
  isModal?: boolean;
  /** True if the first control must not be focused: a key that is still held down would press it. */
  isCalm?: boolean;
  kind: 'pane' | 'sheet' | 'ask' | 'palette';
  onClose(): void;
  children: ComponentChildren;
}

/** Beside a list on wide screens, over the page on narrow ones. Escape closes it. */
export function Pane({ label, isModal = false, isCalm = false, kind, onClose, children }: PaneProps) {
  const root = useRef<HTMLDialogElement>(null);
  // Before the next key, which must not reach the page behind.
  useLayoutEffect(() => {
    const dialog = root.current;
    const before = document.activeElement;
    if (isModal || matchMedia(NARROW).matches) dialog?.showModal();
    // One that opens behind a modal one must not take the focus from it, as `show` does.
    else if (dialog && document.querySelector(':modal')) dialog.open = true;
    else dialog?.show();
    if (isCalm) dialog?.focus();
    return () => {
      dialog?.close();
      if (before instanceof HTMLElement) before.focus();
    };
  }, []);
  return (
    <dialog
      ref={root}
      class={kind}
      aria-label={label}
      tabIndex={-1}
      onCancel={(event) => {
        event.preventDefault();
        onClose();
      }}
      onKeyDown={(event) => {
        if (event.key !== 'Escape' || event.defaultPrevented) return;
        event.preventDefault();
        event.stopPropagation();
        onClose();
      }}
      // A click on the backdrop is one on the dialog itself.
      onClick={({ target }) => target === root.current && root.current?.matches(':modal') && onClose()}
    >
      <div class="inner">
        {kind !== 'palette' && kind !== 'ask' && (
          <button type="button" class="icon-button close" aria-label={t.close} onClick={onClose}>
            <Icon name="close" />
          </button>
        )}
        {children}
      </div>
    </dialog>
  );
}
