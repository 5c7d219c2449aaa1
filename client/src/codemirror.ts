import { type Extension, Prec, StateEffect } from '@codemirror/state';
import {
  Decoration,
  type DecorationSet,
  EditorView,
  ViewPlugin,
  type ViewUpdate,
  WidgetType,
} from '@codemirror/view';
import { type Completer, type CompleterClient, type CompleterOptions, createCompleter } from './completer.ts';
import { pressKey } from './keys.ts';
import { type Speech, speechAfter } from './speech.ts';

export type { CompleterOptions } from './completer.ts';

/** Effect that changes nothing, but makes the editor draw again. */
const redraw = StateEffect.define();
/** Time after which the editor has surely read what a composition has changed. */
const COMPOSITION_END_MS = 50;

/** Shows suggestions in CodeMirror 6 while the caret is at the end of a line. The keys are those of `pressKey`. */
export function inlineSuggestions(client: CompleterClient, options: CompleterOptions): Extension {
  const plugin = ViewPlugin.define((view) => new Suggestions(view, client, options), {
    decorations: (suggestions) => suggestions.decorations,
    eventHandlers: {
      // Without this, the editor draws again only if the end of the composition has changed the text.
      compositionend: (_, view) =>
        void setTimeout(() => view.dispatch({ effects: redraw.of(null) }), COMPOSITION_END_MS),
    },
  });
  const keydown = (event: KeyboardEvent, view: EditorView) => {
    const { completer } = view.plugin(plugin) ?? {};
    const insert = (text: string) => {
      const { head } = view.state.selection.main;
      const selection = { anchor: head + text.length };
      if (text)
        view.dispatch({ changes: { from: head, insert: text }, selection, userEvent: 'input.complete' });
    };
    return completer !== undefined && pressKey(event, completer, insert);
  };
  return [plugin, Prec.highest(EditorView.domEventHandlers({ keydown }))];
}

class Suggestions {
  readonly completer: Completer;
  decorations: DecorationSet = Decoration.none;
  readonly #speech: Speech;
  #isUpdating = false;
  #isComposing = false;

  constructor(view: EditorView, client: CompleterClient, options: CompleterOptions) {
    this.#speech = speechAfter(view.dom);
    this.completer = createCompleter(client, {
      ...options,
      onSuggestion: (suggestion) => {
        this.#speech.say(suggestion);
        // During an update, the editor redraws anyway and allows no dispatch.
        if (!this.#isUpdating) queueMicrotask(() => view.dispatch({ effects: redraw.of(null) }));
        options.onSuggestion?.(suggestion);
      },
    });
  }

  update({ view, startState, docChanged, selectionSet, focusChanged }: ViewUpdate): void {
    this.#isUpdating = true;
    const { composing, hasFocus } = view;
    const isSwitched = view.state.readOnly !== startState.readOnly;
    if (docChanged || selectionSet || focusChanged || isSwitched || composing !== this.#isComposing)
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
    this.#speech.remove();
  }
}

/** Returns null where nothing should be suggested: within a line, with a selection, or where nobody may type. */
function textBefore({ state }: EditorView): string | null {
  const { empty, head } = state.selection.main;
  const isAtEnd = state.sliceDoc(head, state.doc.lineAt(head).to).trim() === '';
  return empty && isAtEnd && !state.readOnly ? state.sliceDoc(0, head) : null;
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
    span.ariaHidden = 'true';
    Object.assign(span.style, {
      color: 'var(--forecue-color, inherit)',
      opacity: 'var(--forecue-opacity, 0.65)',
    });
    return span;
  }
}
