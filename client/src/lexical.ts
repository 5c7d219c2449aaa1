import type { FieldOptions } from './attach.ts';
import type { Completer, CompleterClient } from './completer.ts';
import { attachCompleter } from './textarea.ts';

export type { FieldOptions } from './attach.ts';

/** What is used of Lexical's editor. */
export interface LexicalEditor {
  registerRootListener(listener: (root: HTMLElement | null) => void): () => void;
}

/**
 * Shows suggestions in Lexical while the caret is at the end of the text. Returns a function that ends it, as Lexical's
 * other `register` functions do.
 */
export function registerSuggestions(
  editor: LexicalEditor,
  client: CompleterClient,
  options: FieldOptions,
): () => void {
  let completer: Completer | undefined;
  // Called at once, and whenever the editor moves to another element; with null at the end.
  return editor.registerRootListener((root) => {
    completer?.close();
    completer = root === null ? undefined : attachCompleter(root, client, options);
  });
}
