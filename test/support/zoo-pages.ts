/** Kinds of pages in which people write, and fields in which nothing must be suggested. */

export interface ZooPage {
  body: string;
  /** Module in the page. It sets `typed`, which returns what the person has written, if that is in no `#field`. */
  script?: string;
  /** The script needs the editors of others. */
  isOfOthers?: boolean;
  svelte?: string;
}

/** Another site, for frames. */
const OTHER_SITE = 'https://other.example/';

const TEXTAREA = '<textarea id="field"></textarea>';
const FOCUS = 'document.getElementById("field").focus();';

export const WORKING: Record<string, ZooPage> = {
  'an issue tracker with a comment box': {
    body: `<h1>Issue 7</h1><form><label for="field">Comment</label><textarea id="field" name="comment" autocomplete="off"
      rows="5" spellcheck="true"></textarea><button>Comment</button></form>`,
    script: `document.addEventListener('keydown', (event) => { if (event.key === 'k') event.stopPropagation(); }, true);`,
  },
  'an issue tracker with a field for the title': {
    body: '<form><label>Title <input id="field" type="text" name="issue[title]"></label></form>',
  },
  'a chat whose composer sticks to the bottom': {
    body: `<main style="height: 300px; overflow: auto"><div style="height: 900px">Messages</div>
      <div style="position: sticky; bottom: 0; background: white">
      <div id="field" contenteditable="true" role="textbox" aria-label="Message" style="padding: 8px"></div></div></main>`,
    script: `const field = document.getElementById('field');
      field.addEventListener('keydown', (event) => { if (event.key === 'Enter') { event.preventDefault(); field.innerHTML = ''; } });`,
  },
  'an editor in a frame that its page writes': {
    body: '<iframe width="500" height="300"></iframe>',
    script: `const inner = document.querySelector('iframe').contentDocument;
      inner.open();
      inner.write('<!doctype html><body><div id="field" contenteditable style="height: 200px"></div>');
      inner.close();`,
  },
  'a chat that replaces its field after each message': {
    body: '<div id="composer"><textarea></textarea></div>',
    script: `const composer = document.getElementById('composer');
      const renew = () => {
        composer.innerHTML = '<textarea id="field"></textarea>';
        const field = composer.firstElementChild;
        field.addEventListener('keydown', (event) => { if (event.key === 'Enter') { event.preventDefault(); renew(); } });
        field.focus();
      };
      renew();
      document.getElementById('field').dispatchEvent(new KeyboardEvent('keydown', { key: 'Enter' }));`,
  },
  'a mail with a signature below': {
    body: `<div id="field" contenteditable="true" aria-label="Text of the mail" style="min-height: 200px"><div><br></div>
      <div>--</div><div>Ann Example</div></div>`,
    script: `const field = document.getElementById('field');
      globalThis.typed = () => field.firstElementChild.textContent.replaceAll('\\u00a0', ' ');
      field.focus();
      getSelection().collapse(field.firstElementChild, 0);`,
  },
  'a mail program whose editor is a frame': {
    body: '<iframe srcdoc="<!doctype html><body id=field contenteditable></body>"></iframe>',
  },
  'a frame of the same site': {
    body: '<iframe src="/frame"></iframe>',
  },
  'a frame of another site': {
    body: `<iframe src="${OTHER_SITE}frame"></iframe>`,
  },
  'a web component': {
    body: '<my-composer></my-composer>',
    script: `customElements.define('my-composer', class extends HTMLElement {
        connectedCallback() { this.attachShadow({ mode: 'open' }).innerHTML = '${TEXTAREA}'; }
      });
      const root = document.querySelector('my-composer').shadowRoot;
      globalThis.shadow = root;
      root.getElementById('field').focus();`,
  },
  'a web component that keeps its fields closed': {
    body: '<my-composer></my-composer>',
    script: `const root = document.querySelector('my-composer').attachShadow({ mode: 'closed' });
      root.innerHTML = '<textarea></textarea><div id="field" contenteditable="true"></div>';
      globalThis.shadow = root;
      root.querySelector('textarea').focus();
      root.getElementById('field').focus();`,
  },
  'a dialog above the page': {
    body: `<dialog><form method="dialog">${TEXTAREA}</form></dialog>`,
    script: "document.querySelector('dialog').showModal();",
  },
  'a field for plain text alone': {
    body: '<pre id="field" contenteditable="plaintext-only"></pre>',
  },
  'a form of React': {
    body: '<div id="root"></div>',
    script: `import { createElement, StrictMode, useState } from 'react';
      import { createRoot } from 'react-dom/client';
      function Form() {
        const [text, setText] = useState('');
        globalThis.typed = () => text;
        return createElement('textarea', { id: 'field', value: text, autoFocus: true, onChange: (event) => setText(event.target.value) });
      }
      createRoot(document.getElementById('root')).render(createElement(StrictMode, null, createElement(Form)));`,
  },
  'a form of Vue': {
    body: '<div id="root"></div>',
    isOfOthers: true,
    script: `import { createApp, h, ref } from 'vue/dist/vue.runtime.esm-bundler.js';
      const text = ref('');
      createApp(() => h('textarea', { id: 'field', value: text.value, onInput: (event) => { text.value = event.target.value; } })).mount('#root');
      globalThis.typed = () => text.value;
      ${FOCUS}`,
  },
  'a form of Svelte': {
    body: '<div id="root"></div>',
    isOfOthers: true,
    svelte: `<script>let { seen } = $props(); let text = $state(''); $effect(() => { seen.text = text; });</script>
      <textarea id="field" bind:value={text}></textarea>`,
    script: `import { mount } from 'svelte';
      import Field from 'component.svelte';
      const seen = { text: '' };
      mount(Field, { target: document.getElementById('root'), props: { seen } });
      globalThis.typed = () => seen.text;
      ${FOCUS}`,
  },
  CodeMirror: {
    body: '<div id="root"></div>',
    script: `import { defaultKeymap, history, historyKeymap, indentWithTab } from '@codemirror/commands';
      import { EditorState } from '@codemirror/state';
      import { EditorView, keymap, lineNumbers } from '@codemirror/view';
      const extensions = [lineNumbers(), history(), keymap.of([indentWithTab, ...defaultKeymap, ...historyKeymap])];
      const view = new EditorView({ state: EditorState.create({ extensions }), parent: document.getElementById('root') });
      globalThis.typed = () => view.state.doc.toString();
      view.focus();`,
  },
  ProseMirror: {
    body: '<div id="root"></div>',
    isOfOthers: true,
    script: `import { baseKeymap } from 'prosemirror-commands';
      import { history, undo } from 'prosemirror-history';
      import { keymap } from 'prosemirror-keymap';
      import { schema } from 'prosemirror-schema-basic';
      import { EditorState } from 'prosemirror-state';
      import { EditorView } from 'prosemirror-view';
      const plugins = [history(), keymap({ 'Mod-z': undo }), keymap(baseKeymap)];
      const view = new EditorView(document.getElementById('root'), { state: EditorState.create({ schema, plugins }) });
      globalThis.typed = () => view.state.doc.textContent;
      view.focus();`,
  },
  TipTap: {
    body: '<div id="root"></div>',
    isOfOthers: true,
    script: `import { Editor } from '@tiptap/core';
      import StarterKit from '@tiptap/starter-kit';
      const editor = new Editor({ element: document.getElementById('root'), extensions: [StarterKit], autofocus: true });
      globalThis.typed = () => editor.getText();`,
  },
  Lexical: {
    body: '<div id="root" contenteditable="true"></div>',
    isOfOthers: true,
    script: `import { $createParagraphNode, $getRoot, createEditor } from 'lexical';
      import { createEmptyHistoryState, registerHistory } from '@lexical/history';
      import { registerPlainText } from '@lexical/plain-text';
      const editor = createEditor({ onError(error) { throw error; } });
      registerPlainText(editor);
      registerHistory(editor, createEmptyHistoryState(), 300);
      editor.setRootElement(document.getElementById('root'));
      editor.update(() => $getRoot().append($createParagraphNode()).selectEnd(), { discrete: true });
      globalThis.typed = () => editor.read(() => $getRoot().getTextContent());
      document.getElementById('root').focus();`,
  },
  Quill: {
    body: '<div id="root"></div>',
    isOfOthers: true,
    script: `import Quill from 'quill';
      const quill = new Quill('#root');
      globalThis.typed = () => quill.getText().replace(/\\n$/, '');
      quill.focus();`,
  },
  Monaco: {
    body: '<div id="root" style="height: 200px"></div>',
    isOfOthers: true,
    script: `import * as monaco from 'monaco-editor/editor/editor.api.js';
      globalThis.MonacoEnvironment = { getWorker: () => new Worker('data:text/javascript,') };
      const editor = monaco.editor.create(document.getElementById('root'), { language: 'plaintext', quickSuggestions: false });
      globalThis.typed = () => editor.getValue();
      editor.focus();`,
  },
};

const inForm = (field: string) => `<form>${field}<button>Next</button></form>`;

/** Fields that must not be read. The field with the id `field` is typed into. */
export const SILENT: Record<string, string> = {
  'a password': inForm('<input id="field" type="password">'),
  'a password that the page shows': inForm('<input id="field" type="text" autocomplete="current-password">'),
  'the name of an account beside a password': inForm('<input id="field" type="text"><input type="password">'),
  'a password that only looks like dots': inForm('<input id="field" style="-webkit-text-security: disc">'),
  'a German password without a type': inForm('<label for="field">Kennwort</label><input id="field">'),
  'a French password without a type': inForm('<input id="field" placeholder="Votre mot de passe">'),
  'a Spanish password without a type': inForm('<input id="field" name="contraseña">'),
  'the number of a card': inForm('<input id="field" autocomplete="section-a cc-number">'),
  'the number of a card, named by its page alone': inForm('<input id="field" name="cardNumber">'),
  'a name beside the number of a card': inForm('<input id="field"><input autocomplete="cc-number">'),
  'a German card': inForm('<label>Kartennummer <input id="field"></label>'),
  'the code of a card': inForm('<input id="field" aria-label="CVV">'),
  'the number of an account': inForm('<input id="field" id="iban" placeholder="IBAN">'),
  'a code that is good for once': inForm('<input id="field" autocomplete="one-time-code">'),
  'a code in one box for each digit': inForm('<input id="field" maxlength="1"><input maxlength="1">'),
  'a code in digits': inForm('<input id="field" inputmode="numeric">'),
  'a code from a mail': inForm('<label for="field">Bestätigungscode</label><input id="field">'),
  'a code from an app': inForm('<input id="field" name="otp_attempt">'),
  'the words that open a wallet': '<textarea id="field" placeholder="Enter your recovery phrase"></textarea>',
  'the answer to a question of security': inForm('<input id="field" aria-label="Security answer">'),
  'a German question of security': inForm('<label>Sicherheitsfrage <input id="field"></label>'),
  'a password whose name is short': inForm('<input id="field" name="pw">'),
  'the secret of an app': inForm('<input id="field" placeholder="Client secret">'),
  'a token': inForm('<input id="field" placeholder="Bearer token">'),
  'a key that opens a server': '<textarea id="field" name="ssh_key"></textarea>',
  'an e-mail address': inForm('<input id="field" type="email">'),
  'a field of one line without suggestions': inForm('<input id="field" autocomplete="off">'),
  'a field with a list of its own': inForm('<input id="field" list="list"><datalist id="list"></datalist>'),
  'a box with a list': inForm('<input id="field" role="combobox" aria-expanded="false">'),
  'a part that its page keeps to itself': `<div data-forecue="off">${TEXTAREA}</div>`,
};
