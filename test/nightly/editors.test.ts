import type { Browser } from 'playwright-core';
import { FAKE_CLIENT, openPage, testAdapter } from '../support/adapter-behaviours.ts';
import { describeInBrowser, openBrowser } from '../support/browser.ts';
import { bundleEditor, EDITORS } from '../support/bundle-editor.ts';
import { describeWhere } from '../support/describe-where.ts';

const SOURCES = {
  ProseMirror: `
    import { baseKeymap } from 'prosemirror-commands';
    import { history, redo, undo } from 'prosemirror-history';
    import { keymap } from 'prosemirror-keymap';
    import { schema } from 'prosemirror-schema-basic';
    import { EditorState } from 'prosemirror-state';
    import { EditorView } from 'prosemirror-view';
    import { inlineSuggestions } from 'forecue/prosemirror';
    const plugins = [inlineSuggestions(client, options), history(), keymap({ 'Mod-z': undo }), keymap(baseKeymap)];
    const view = new EditorView(document.body, { state: EditorState.create({ schema, plugins }) });
    view.focus();
    globalThis.lock = () => view.setProps({ editable: () => false });
    globalThis.typed = () => view.state.doc.textContent;`,
  TipTap: `
    import { Editor } from '@tiptap/core';
    import StarterKit from '@tiptap/starter-kit';
    import { inlineSuggestions } from 'forecue/prosemirror';
    const editor = new Editor({ element: document.body, extensions: [StarterKit] });
    // At once, unlike its option autofocus.
    editor.view.focus();
    editor.registerPlugin(inlineSuggestions(client, options), (own, others) => [own, ...others]);
    globalThis.lock = () => editor.setEditable(false);
    globalThis.typed = () => editor.getText();`,
  Lexical: `
    import { $createParagraphNode, $getRoot, createEditor } from 'lexical';
    import { createEmptyHistoryState, registerHistory } from '@lexical/history';
    import { registerPlainText } from '@lexical/plain-text';
    import { registerSuggestions } from 'forecue/lexical';
    const root = document.createElement('div');
    root.contentEditable = 'true';
    document.body.append(root);
    const editor = createEditor({ onError(error) { throw error; } });
    registerPlainText(editor);
    registerHistory(editor, createEmptyHistoryState(), 300);
    registerSuggestions(editor, client, options);
    editor.setRootElement(root);
    editor.update(() => $getRoot().append($createParagraphNode()).selectEnd(), { discrete: true });
    root.focus();
    globalThis.typed = () => editor.read(() => $getRoot().getTextContent());`,
  Quill: `
    import Quill from 'quill';
    import { attachToQuill } from 'forecue/quill';
    const element = document.createElement('div');
    document.body.append(element);
    const quill = new Quill(element);
    attachToQuill(quill, client, options);
    quill.focus();
    globalThis.typed = () => quill.getText().replace(/\\n$/, '');`,
  Monaco: `
    import * as monaco from 'monaco-editor/editor/editor.api.js';
    import { attachToMonaco } from 'forecue/monaco';
    const element = document.createElement('div');
    element.style.height = '300px';
    document.body.append(element);
    globalThis.MonacoEnvironment = { getWorker: () => new Worker('data:text/javascript,') };
    const editor = monaco.editor.create(element, { language: 'plaintext', quickSuggestions: false });
    attachToMonaco(editor, client, options);
    editor.focus();
    globalThis.lock = () => editor.updateOptions({ readOnly: true });
    globalThis.typed = () => editor.getValue();`,
  Vue: `
    import { createApp, h, ref, withDirectives } from 'vue/dist/vue.runtime.esm-bundler.js';
    import { vSuggestions } from 'forecue/vue';
    const text = ref('');
    const binding = { client, ...options };
    createApp(() => withDirectives(
      h('textarea', { value: text.value, onInput: (event) => { text.value = event.target.value; } }),
      [[vSuggestions, binding]],
    )).mount(document.body);
    document.querySelector('textarea').focus();
    globalThis.typed = () => text.value;`,
  Svelte: `
    import { mount } from 'svelte';
    import Field from 'component.svelte';
    const seen = { text: '' };
    mount(Field, { target: document.body, props: { client, options, seen } });
    document.querySelector('textarea').focus();
    globalThis.typed = () => seen.text;`,
};

/** The one rule of the editors' own style sheets that typing needs. */
const OWN_STYLE = '.ProseMirror, .ql-editor { white-space: pre-wrap }';

const SVELTE_COMPONENT = `
  <script>
    import { suggestions } from 'forecue/svelte';
    let { client, options, seen } = $props();
    let text = $state('');
    $effect(() => { seen.text = text; });
  </script>
  <textarea bind:value={text} use:suggestions={{ client, ...options }}></textarea>`;

describeInBrowser('suggestion in an editor', () => {
  describeWhere(EDITORS !== '', 'of others', 'there are no editors here: set EDITORS (.ci/get-tools)', () => {
    let browser: Browser;
    before(async () => {
      browser = await openBrowser();
    });
    after(() => browser?.close());
    for (const [name, source] of Object.entries(SOURCES)) {
      let bundled: Promise<{ script: string; style: string }> | undefined;
      testAdapter(name, async () => {
        bundled ??= bundleEditor(FAKE_CLIENT + source, SVELTE_COMPONENT);
        const { script, style } = await bundled;
        return openPage(browser, script, style + OWN_STYLE);
      });
    }
  });
});
