import type { FieldOptions } from './attach.ts';
import type { Completer, CompleterClient } from './completer.ts';
import { attachCompleter } from './textarea.ts';

export type { FieldOptions } from './attach.ts';

export interface SuggestionsBinding extends FieldOptions {
  client: CompleterClient;
}

const attached = new WeakMap<HTMLElement, Completer>();

/** Directive of Vue 3 for a field: `<textarea v-suggestions="{ client, userId: 'me' }">`. Only `enabled` may change. */
export const vSuggestions = {
  mounted(field: HTMLElement, { value: { client, ...options } }: { value: SuggestionsBinding }): void {
    attached.set(field, attachCompleter(field, client, options));
  },
  updated(field: HTMLElement, { value: { enabled = true } }: { value: SuggestionsBinding }): void {
    const completer = attached.get(field);
    if (completer) completer.enabled = enabled;
  },
  beforeUnmount(field: HTMLElement): void {
    attached.get(field)?.close();
  },
};
