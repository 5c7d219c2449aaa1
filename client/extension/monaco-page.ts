import type { Surface } from '../src/attach.ts';

const LINE = '.view-line';
const NEAR_PX = 2;

/**
 * Reads a Monaco editor by what it has drawn, since a content script cannot reach its objects: the lines in sight, and
 * its caret. Returns undefined for any other field.
 */
export function monacoSurface(field: HTMLElement): Surface | undefined {
  const editor = field.closest<HTMLElement>('.monaco-editor');
  const lines = editor?.querySelector('.view-lines');
  if (editor === null || !lines) return undefined;
  const ghost = document.createElement('span');
  ghost.dataset['forecue'] = 'ghost';
  ghost.ariaHidden = 'true';
  const read = () => caretOf(editor);
  return {
    element: editor,
    read: () => read() ?? { text: '', isOpen: false },
    insert: (text) => paste(field, text),
    draw(suggestion) {
      const caret = suggestion === '' ? undefined : read();
      ghost.textContent = caret === undefined ? '' : suggestion;
      if (caret !== undefined) place(ghost, editor, caret);
    },
    watch(onChange) {
      editor.append(ghost);
      // The editor draws what was typed in a later frame.
      const observer = new MutationObserver((changes) => {
        if (changes.some(({ target }) => target !== ghost)) onChange();
      });
      const kinds = { attributeFilter: ['style'], childList: true, characterData: true };
      observer.observe(editor, { ...kinds, subtree: true });
      return () => {
        observer.disconnect();
        ghost.remove();
      };
    },
  };
}

interface Caret {
  text: string;
  isOpen: boolean;
  line: HTMLElement;
  rect: DOMRect;
}

function caretOf(editor: HTMLElement): Caret | undefined {
  const rect = editor.querySelector('.cursors-layer > .cursor')?.getBoundingClientRect();
  const lines = [...editor.querySelectorAll<HTMLElement>(LINE)]
    .map((line) => ({ line, top: line.getBoundingClientRect().top }))
    .sort((one, other) => one.top - other.top);
  if (rect === undefined || lines.length === 0) return undefined;
  const above = lines.filter(({ top }) => top <= rect.top + NEAR_PX);
  const line = above.at(-1)?.line;
  if (line === undefined) return undefined;
  const end = line.firstElementChild?.getBoundingClientRect().right ?? rect.left;
  const text = above.map(({ line }) => (line.textContent ?? '').replaceAll('\u00a0', ' ')).join('\n');
  return { text, isOpen: Math.abs(rect.left - end) <= NEAR_PX, line, rect };
}

function place(ghost: HTMLElement, editor: HTMLElement, { line, rect }: Caret): void {
  const outer = editor.getBoundingClientRect();
  const { fontFamily, fontSize, fontWeight, letterSpacing, tabSize } = getComputedStyle(line);
  const { color } = getComputedStyle(line.querySelector('span span') ?? line);
  Object.assign(ghost.style, {
    all: 'unset',
    position: 'absolute',
    left: `${rect.left - outer.left}px`,
    top: `${rect.top - outer.top}px`,
    maxWidth: `${outer.right - rect.left}px`,
    overflow: 'hidden',
    textOverflow: 'ellipsis',
    fontFamily,
    fontSize,
    fontWeight,
    letterSpacing,
    tabSize,
    lineHeight: `${rect.height}px`,
    whiteSpace: 'pre',
    color: `var(--forecue-color, ${color})`,
    opacity: 'var(--forecue-opacity, 0.65)',
    pointerEvents: 'none',
  });
}

/** The editor takes no text from scripts, but pastes as any page does. */
function paste(field: HTMLElement, text: string): void {
  const clipboardData = new DataTransfer();
  clipboardData.setData('text/plain', text);
  field.dispatchEvent(
    new ClipboardEvent('paste', { clipboardData, bubbles: true, cancelable: true, composed: true }),
  );
}
