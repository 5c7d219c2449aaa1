import type { FieldOptions } from './attach.ts';
import type { CompleterClient } from './completer.ts';
import { attachCompleter } from './textarea.ts';

export type { FieldOptions } from './attach.ts';

export interface SuggestionsParameter extends FieldOptions {
  client: CompleterClient;
}

/** Action of Svelte for a field: `<textarea use:suggestions={{ client, userId: 'me' }}>`. Only `enabled` may change. */
export function suggestions(field: HTMLElement, { client, ...options }: SuggestionsParameter) {
  const completer = attachCompleter(field, client, options);
  return {
    update({ enabled = true }: SuggestionsParameter): void {
      completer.enabled = enabled;
    },
    destroy(): void {
      completer.close();
    },
  };
}
