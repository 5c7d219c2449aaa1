import { attachTo, type FieldOptions, type Surface } from './attach.ts';
import type { Completer, CompleterClient } from './completer.ts';

export type { FieldOptions } from './attach.ts';
export type { Completer } from './completer.ts';

interface Position {
  lineNumber: number;
  column: number;
}

interface Disposable {
  dispose(): void;
}

interface Widget {
  getId(): string;
  getDomNode(): HTMLElement;
  getPosition(): { position: Position; preference: number[] } | null;
}

type Range = Record<'startLineNumber' | 'startColumn' | 'endLineNumber' | 'endColumn', number>;
type Watched =
  | 'ChangeConfiguration'
  | 'ChangeModelContent'
  | 'ChangeCursorPosition'
  | 'CompositionStart'
  | 'CompositionEnd'
  | 'Dispose';

/** What is used of a code editor of Monaco. */
export type MonacoEditor = Record<`onDid${Watched}`, (listener: () => void) => Disposable> & {
  getDomNode(): HTMLElement | null;
  getModel(): { getValueInRange(range: Range): string; getLineMaxColumn(line: number): number } | null;
  getPosition(): Position | null;
  getSelection(): { isEmpty(): boolean } | null;
  getRawOptions(): { readOnly?: boolean | undefined };
  executeEdits(source: string, edits: { range: Range; text: string; forceMoveMarkers: boolean }[]): boolean;
  pushUndoStop(): boolean;
  applyFontInfo(element: HTMLElement): void;
  addContentWidget(widget: Widget): void;
  layoutContentWidget(widget: Widget): void;
  removeContentWidget(widget: Widget): void;
};

/** A widget's place exactly at its position: `ContentWidgetPositionPreference.EXACT`. */
const EXACT = 0;

/** Shows suggestions in Monaco while the caret is at the end of a line. `close` detaches the completer. */
export function attachToMonaco(
  editor: MonacoEditor,
  client: CompleterClient,
  options: FieldOptions,
): Completer {
  const element = editor.getDomNode();
  if (element === null) throw new TypeError('the editor is not in a page');
  const ghost = new Ghost(editor);
  const completer = attachTo(surfaceOf(editor, element, ghost), client, options);
  const end = completer.close;
  const disposal = editor.onDidDispose(() => completer.close());
  completer.close = () => {
    disposal.dispose();
    end();
    ghost.remove();
  };
  return completer;
}

function surfaceOf(editor: MonacoEditor, element: HTMLElement, ghost: Ghost): Surface {
  return {
    element,
    draw: (suggestion) => ghost.draw(suggestion),
    read() {
      const [model, position] = [editor.getModel(), editor.getPosition()];
      if (model === null || position === null) return { text: '', isOpen: false };
      const { lineNumber: endLineNumber, column: endColumn } = position;
      const text = model.getValueInRange({ startLineNumber: 1, startColumn: 1, endLineNumber, endColumn });
      const isAtEnd = model.getLineMaxColumn(endLineNumber) === endColumn;
      const { readOnly = false } = editor.getRawOptions();
      return { text, isOpen: isAtEnd && !readOnly && (editor.getSelection()?.isEmpty() ?? false) };
    },
    insert(text) {
      const { lineNumber: line, column } = editor.getPosition() ?? { lineNumber: 1, column: 1 };
      const range = { startLineNumber: line, startColumn: column, endLineNumber: line, endColumn: column };
      editor.pushUndoStop();
      editor.executeEdits('forecue', [{ range, text, forceMoveMarkers: true }]);
      editor.pushUndoStop();
    },
    watch(onChange, onComposition) {
      const watched = [
        editor.onDidChangeModelContent(onChange),
        editor.onDidChangeConfiguration(onChange),
        editor.onDidChangeCursorPosition(onChange),
        editor.onDidCompositionStart(() => onComposition(true)),
        editor.onDidCompositionEnd(() => onComposition(false)),
      ];
      return () => {
        for (const one of watched) one.dispose();
      };
    },
  };
}

/** A widget of the editor, which the editor keeps in its place. */
class Ghost implements Widget {
  readonly #editor: MonacoEditor;
  readonly #element = document.createElement('span');

  constructor(editor: MonacoEditor) {
    this.#editor = editor;
    this.#element.dataset['forecue'] = 'ghost';
    this.#element.ariaHidden = 'true';
    Object.assign(this.#element.style, {
      color: 'var(--forecue-color, inherit)',
      opacity: 'var(--forecue-opacity, 0.65)',
      whiteSpace: 'pre',
      pointerEvents: 'none',
    });
    editor.addContentWidget(this);
  }

  getId(): string {
    return 'forecue';
  }

  getDomNode(): HTMLElement {
    return this.#element;
  }

  getPosition(): { position: Position; preference: number[] } | null {
    const position = this.#editor.getPosition();
    const isShown = position !== null && this.#element.textContent !== '';
    return isShown ? { position, preference: [EXACT] } : null;
  }

  draw(suggestion: string): void {
    if (suggestion === this.#element.textContent && suggestion === '') return;
    this.#editor.applyFontInfo(this.#element);
    this.#element.textContent = suggestion;
    this.#editor.layoutContentWidget(this);
  }

  remove(): void {
    this.#editor.removeContentWidget(this);
  }
}
