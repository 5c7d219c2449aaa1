import { Plugin } from 'prosemirror-state';
import type { EditorView } from 'prosemirror-view';
import { attachTo, type FieldOptions } from './attach.ts';
import type { CompleterClient } from './completer.ts';

export type { FieldOptions } from './attach.ts';

/** Meta name by which `prosemirror-history` ends a group of changes, so that one undo takes back what was accepted. */
const CLOSE_HISTORY = 'closeHistory$';

/** Shows suggestions in ProseMirror, and in TipTap, while the caret is at the end of a paragraph. */
export function inlineSuggestions(client: CompleterClient, options: FieldOptions): Plugin {
  return new Plugin({
    view(view) {
      let onChange = () => {};
      const surface = {
        element: view.dom,
        read: () => readCaret(view),
        insert(text: string) {
          view.dispatch(view.state.tr.insertText(text).setMeta(CLOSE_HISTORY, true).scrollIntoView());
        },
        watch(callback: () => void) {
          onChange = callback;
          return () => {};
        },
      };
      const completer = attachTo(surface, client, options);
      return { update: () => onChange(), destroy: () => completer.close() };
    },
  });
}

function readCaret({ state: { selection, doc }, editable }: EditorView): { text: string; isOpen: boolean } {
  const { $head, empty } = selection;
  const isAtEnd = $head.parent.isTextblock && $head.parentOffset === $head.parent.content.size;
  return { text: doc.textBetween(0, $head.pos, '\n', ' '), isOpen: empty && isAtEnd && editable };
}
