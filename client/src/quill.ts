import { attachTo, type FieldOptions } from './attach.ts';
import type { Completer, CompleterClient } from './completer.ts';

export type { FieldOptions } from './attach.ts';
export type { Completer } from './completer.ts';

/** What is used of Quill 2. */
export interface QuillEditor {
  root: HTMLElement;
  history: { cutoff(): void };
  getSelection(): { index: number; length: number } | null;
  getText(index: number, length?: number): string;
  insertText(index: number, text: string, source: 'user'): unknown;
  setSelection(index: number, length: number, source: 'user'): unknown;
  on(event: 'editor-change', listener: () => void): unknown;
  off(event: 'editor-change', listener: () => void): unknown;
}

/** Shows suggestions in Quill while the caret is at the end of a line. `close` detaches the completer. */
export function attachToQuill(quill: QuillEditor, client: CompleterClient, options: FieldOptions): Completer {
  const surface = {
    element: quill.root,
    read() {
      const { index, length } = quill.getSelection() ?? { index: 0, length: 1 };
      const isAtEnd = /^\n?$/.test(quill.getText(index, 1));
      return { text: quill.getText(0, index), isOpen: length === 0 && isAtEnd };
    },
    insert(text: string) {
      const { index = 0 } = quill.getSelection() ?? {};
      quill.history.cutoff();
      quill.insertText(index, text, 'user');
      quill.setSelection(index + text.length, 0, 'user');
      quill.history.cutoff();
    },
    watch(onChange: () => void) {
      quill.on('editor-change', onChange);
      return () => quill.off('editor-change', onChange);
    },
  };
  return attachTo(surface, client, options);
}
