import type { FromPage } from './messages.ts';
import { element, showTexts, text } from './page.ts';
import { change, originOf, readSettings } from './settings.ts';

const sign = element<HTMLButtonElement>('sign');
const here = element<HTMLInputElement>('here');
const [tab] = await chrome.tabs.query({ active: true, currentWindow: true });
const url = URL.parse(tab?.url ?? '');
const site = url !== null && /^https?:$/.test(url.protocol) ? url : undefined;

async function show(): Promise<void> {
  const { server, sitesOff, grant } = await readSettings();
  const isIn = grant !== null;
  const isOwn = site !== undefined && site.origin === originOf(server);
  element('state').textContent = isIn ? text('signedIn', [grant.server]) : text('signedOut');
  sign.textContent = text(isIn ? 'signOut' : 'signIn');
  element('switch').hidden = !isIn || site === undefined || isOwn;
  element('not-here').hidden = !isIn || !element('switch').hidden;
  element('here-label').textContent = text('suggestHere', [site?.host ?? '']);
  here.checked = site !== undefined && !sitesOff.includes(site.host);
}

here.addEventListener('change', async () => {
  const { sitesOff } = await readSettings();
  const others = sitesOff.filter((one) => one !== site?.host);
  await change({ sitesOff: here.checked || site === undefined ? others : [...others, site.host] });
});

sign.addEventListener('click', async () => {
  const { grant } = await readSettings();
  const message: FromPage = grant === null ? 'sign-in' : 'sign-out';
  sign.disabled = true;
  const fault = String(await chrome.runtime.sendMessage(message));
  sign.disabled = false;
  element('fault').textContent = fault && text('failed', [fault]);
  await show();
});

element('settings').addEventListener('click', () => chrome.runtime.openOptionsPage());
chrome.storage.onChanged.addListener(() => void show());
showTexts();
await show();
