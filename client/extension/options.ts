import type { FromPage } from './messages.ts';
import { element, showTexts, text } from './page.ts';
import { change, readSettings } from './settings.ts';

const server = element<HTMLInputElement>('server');
const outcome = element('outcome');

async function show(): Promise<void> {
  const settings = await readSettings();
  server.value = settings.server;
  element('none').hidden = settings.sitesOff.length > 0;
  element('sites').replaceChildren(...settings.sitesOff.map(entry));
}

function entry(site: string): HTMLElement {
  const button = document.createElement('button');
  button.type = 'button';
  button.textContent = text('turnOn', [site]);
  button.addEventListener('click', async () => {
    const { sitesOff } = await readSettings();
    await change({ sitesOff: sitesOff.filter((one) => one !== site) });
    await show();
  });
  const item = document.createElement('li');
  item.append(button);
  return item;
}

document.querySelector('form')?.addEventListener('submit', async (event) => {
  event.preventDefault();
  const { origin, pathname } = new URL(server.value);
  // Asks at once: a browser allows it only while it answers to the person.
  const isAllowed = await chrome.permissions.request({ origins: [`${origin}/*`] });
  if (isAllowed) await move(origin + pathname.replace(/\/$/, ''));
  outcome.textContent = text(isAllowed ? 'saved' : 'notAllowed');
});

/** Ends what the person has let the extension do at another server. */
async function move(server: string): Promise<void> {
  const { grant } = await readSettings();
  if (grant !== null && grant.server !== server)
    await chrome.runtime.sendMessage('sign-out' satisfies FromPage);
  await change({ server });
}

showTexts();
await show();
