// Runs in the browser, on the page `/docs`.
const base = document.currentScript.src;
const dark = matchMedia('(prefers-color-scheme: dark)');
const setTheme = () => document.documentElement.classList.toggle('dark-mode', dark.matches);
dark.addEventListener('change', setTheme);
setTheme();

const ui = SwaggerUIBundle({
  url: new URL('../openapi.json', base).href,
  dom_id: '#docs',
  deepLinking: true,
  // Its colours have too little contrast, and no class by which to change them.
  syntaxHighlight: false,
  onComplete: authorize,
});

/** On the developer's own machine, calls have the key of the sandbox app. */
async function authorize() {
  const { app_key } = await (await fetch(new URL('sandbox-key', base))).json();
  if (app_key !== null) ui.preauthorizeApiKey('appKey', app_key);
}

/**
 * Mends what Swagger UI leaves: controls without a name, links inside of buttons, which open the same operation, and
 * headings that skip a level, and parts outside of any landmark.
 */
function mend() {
  for (const control of document.querySelectorAll(':is(select, textarea, input):not([aria-label])')) {
    const row = control.closest('tr, label, .servers, .opblock-section, .auth-container');
    const name = row?.querySelector('.parameter__name, .opblock-title, h4, label, small')?.textContent;
    control.setAttribute('aria-label', (name ?? control.placeholder ?? '').trim() || 'Value');
  }
  for (const [part, name] of [
    ['.information-container', 'About'],
    ['.schemes-server-container', 'Servers'],
  ]) {
    const region = document.querySelector(part);
    region?.setAttribute('role', 'region');
    region?.setAttribute('aria-label', name);
  }
  for (const link of document.querySelectorAll('button a[href]')) link.removeAttribute('href');
  for (const heading of document.querySelectorAll('#operations :is(h3, h4, h5):not([aria-level])')) {
    heading.setAttribute('role', 'heading');
    heading.setAttribute('aria-level', Number(heading.tagName[1]) - 1);
  }
}
new MutationObserver(mend).observe(document.getElementById('docs'), { childList: true, subtree: true });
