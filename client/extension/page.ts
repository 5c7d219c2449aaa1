/** Texts of the extension's own pages, in the language of the browser. */
export const text = chrome.i18n.getMessage;

export function element<T extends HTMLElement>(id: string): T {
  const found = document.getElementById(id);
  if (found === null) throw new Error(`there is no #${id}`);
  return found as T;
}

export function showTexts(): void {
  document.documentElement.lang = text('@@ui_locale').replace('_', '-');
  for (const one of document.querySelectorAll<HTMLElement>('[data-text]'))
    one.textContent = text(one.dataset['text'] ?? '');
}
