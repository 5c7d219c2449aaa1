import { type Extension, Prec, StateEffect } from '@codemirror/state';
import {
  Decoration,
  type DecorationSet,
  type EditorView,
  keymap,
  ViewPlugin,
  type ViewUpdate,
  WidgetType,
} from '@codemirror/view';
import { type Completer, type CompleterClient, type CompleterOptions, createCompleter } from './completer.ts';

export type { CompleterOptions } from './completer.ts';

/** Effect that changes nothing, but makes the editor draw again. */
const redraw = StateEffect.define();
/** Time after which the editor has surely read what a composition has changed. */
const COMPOSITION_END_MS = 50;

/**
 * Shows suggestions in CodeMirror 6 while the caret is at the end of a line. Tab accepts the suggestion, Ctrl+→ (on a
 * Mac Alt+→) its next word, Escape hides it.
 */
export function inlineSuggestions(client: CompleterClient, options: CompleterOptions): Extension {
  const plugin = ViewPlugin.define((view) => new Suggestions(view, client, options), {
    decorations: (suggestions) => suggestions.decorations,
    eventHandlers: {
      // Without this, the editor draws again only if the end of the composition has changed the text.
      compositionend: (_, view) =>
        void setTimeout(() => view.dispatch({ effects: redraw.of(null) }), COMPOSITION_END_MS),
    },
  });
  const press = (take: (completer: Completer) => string) => (view: EditorView) => {
    const { completer } = view.plugin(plugin) ?? {};
    if (!completer?.suggestion) return false;
    const insert = take(completer);
    const { head } = view.state.selection.main;
    const selection = { anchor: head + insert.length };
    if (insert) view.dispatch({ changes: { from: head, insert }, selection, userEvent: 'input.complete' });
    return true;
  };
  const hide = (completer: Completer) => {
    completer.dismiss();
    return '';
  };
  const keys = keymap.of([
    { key: 'Tab', run: press((completer) => completer.accept()) },
    { key: 'Ctrl-ArrowRight', mac: 'Alt-ArrowRight', run: press((completer) => completer.acceptWord()) },
    { key: 'Escape', run: press(hide) },
  ]);
  return [plugin, Prec.highest(keys)];
}

class Suggestions {
  readonly completer: Completer;
  decorations: DecorationSet = Decoration.none;
  #isUpdating = false;
  #isComposing = false;

  constructor(view: EditorView, client: CompleterClient, options: CompleterOptions) {
    this.completer = createCompleter(client, {
      ...options,
      onSuggestion: (suggestion) => {
        // During an update, the editor redraws anyway and allows no dispatch.
        if (!this.#isUpdating) queueMicrotask(() => view.dispatch({ effects: redraw.of(null) }));
        options.onSuggestion?.(suggestion);
      },
    });
  }

  update({ view, docChanged, selectionSet, focusChanged }: ViewUpdate): void {
    this.#isUpdating = true;
    const { composing, hasFocus } = view;
    if (docChanged || selectionSet || focusChanged || composing !== this.#isComposing)
      this.completer.update(hasFocus && !composing ? textBefore(view) : null);
    this.#isComposing = composing;
    this.#isUpdating = false;
    const { suggestion } = this.completer;
    const widget = Decoration.widget({ widget: new Ghost(suggestion), side: 1 });
    this.decorations = suggestion
      ? Decoration.set([widget.range(view.state.selection.main.head)])
      : Decoration.none;
  }

  destroy(): void {
    this.completer.close();
  }
}

/** Returns null where nothing should be suggested: within a line, or with a selection. */
function textBefore({ state }: EditorView): string | null {
  const { empty, head } = state.selection.main;
  const isAtEnd = state.sliceDoc(head, state.doc.lineAt(head).to).trim() === '';
  return empty && isAtEnd ? state.sliceDoc(0, head) : null;
}

class Ghost extends WidgetType {
  readonly #text: string;

  constructor(text: string) {
    super();
    this.#text = text;
  }

  override eq(other: Ghost): boolean {
    return this.#text === other.#text;
  }

  toDOM(): HTMLElement {
    const span = document.createElement('span');
    span.textContent = this.#text;
    span.dataset['forecue'] = 'ghost';
    span.style.opacity = '0.65';
    return span;
  }
}
