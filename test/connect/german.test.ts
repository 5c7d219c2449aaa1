import assert from 'node:assert/strict';
import { de } from '../../ingress/connect/strings/de.ts';
import { en } from '../../ingress/connect/strings/en.ts';
import { Html } from '../../ingress/pages/html.ts';
import { someEmail } from '../support/account.ts';
import { useSystem } from '../support/system.ts';
import { ConnectingApp } from './connecting-app.ts';
import { type ReceivedPage, Visitor } from './visitor.ts';

const PASSWORD = 'a horse with 9 staples';
const GERMAN = { 'accept-language': 'de-AT,de;q=0.9,en;q=0.5' };

/** Every text of the language, by its place. A text with words of its own in it is cut at the first of them. */
function textsOf(strings: object, place = ''): [place: string, text: string][] {
  return Object.entries(strings).flatMap(([name, value]): [string, string][] => {
    const at = `${place}.${name}`;
    if (typeof value === 'string') return [[at, value]];
    if (typeof value !== 'function') return textsOf(value, at);
    const given = value(value.length === 1 && /canRevoke|to[SC]/.test(at) ? String : '\0');
    return [[at, String(given instanceof Html ? given.text : given).split('\0')[0] ?? '']];
  });
}

const german = new Map(textsOf(de));
const ENGLISH = textsOf(en)
  .filter(([place, text]) => text.length > 4 && german.get(place) !== text)
  .map(([, text]) => text);

describe('pages of /connect in German', () => {
  const env = { SMTP_URL: 'smtp://127.0.0.1:1', MAIL_FROM: 'forecue@example.com' };
  const system = useSystem({ workers: 0, env });
  let app: ConnectingApp;
  before(async () => {
    app = await ConnectingApp.register(system);
  });
  after(() => app?.[Symbol.asyncDispose]());

  function assertGerman({ text, headers }: ReceivedPage, says: string): void {
    const shown = text
      .replace(/<style>.*<\/style>/s, '')
      .replace(/&#(\d+);/g, (_, code) => String.fromCharCode(code));
    assert.match(shown, /<html lang="de">/);
    assert.match(headers.get('vary') ?? '', /Accept-Language/i);
    assert.ok(shown.includes(says), `${says}\n${shown}`);
    const lines = shown.split(/<[^>]*>|\n/).map((line) => line.trim());
    const english = lines.filter((line) => ENGLISH.some((words) => line.startsWith(words)));
    assert.deepEqual(english, []);
  }

  it('a person whose browser asks for German signs up, decides and is refused in German', async () => {
    const { url } = await app.start('decides in German');
    const visitor = new Visitor(GERMAN);
    assertGerman(await visitor.get(url), de.signIn.heading);
    assertGerman(await visitor.get(`${url}?view=sign-up`), de.signUp.heading);
    const [email, password] = [someEmail(), PASSWORD];
    for (const [fields, says] of [
      [{ do: 'sign-in', email, password }, de.faults.invalid_credentials],
      [{ do: 'sign-up', email, password: 'short' }, de.faults.password_too_short],
      [{ do: 'sign-up', email, password: 'password123' }, de.faults.password],
      [{ do: 'sign-up', email: 'nobody', password }, de.faults.email],
    ] as const)
      assertGerman(await visitor.submit(url, fields), says);
    await visitor.submit(url, { do: 'sign-up', email, password });
    assertGerman(await visitor.get(url), de.consent.learnsHow);
    await visitor.submit(url, { do: 'deny' });
    assertGerman(await visitor.get(url), de.closed.answeredWhy);
  });

  it('the page for programs, the pages for passwords and every error are German, too', async () => {
    const visitor = new Visitor(GERMAN);
    const base = `${system.webs[0]?.url}/connect`;
    const headers = { 'content-type': 'application/json' };
    const body = JSON.stringify({ redirect_uris: ['http://127.0.0.1/back'] });
    const registered = await fetch(`${base}/../oauth/register`, { method: 'POST', headers, body });
    const { client_id } = (await registered.json()) as { client_id: string };
    const asked = new URLSearchParams({
      client_id,
      response_type: 'code',
      code_challenge: 'c'.repeat(43),
      code_challenge_method: 'S256',
      scope: 'read predict write forget decide record',
    });
    const program = `${base}/authorize?${asked}`;
    assertGerman(await visitor.get(program), de.program.unnamed);
    await visitor.submit(program, { do: 'sign-up', email: someEmail(), password: PASSWORD });
    assertGerman(await visitor.get(program), de.program.scopes.record);
    assertGerman(await visitor.get(`${base}/authorize?client_id=unknown`), de.refused.text);
    assertGerman(await visitor.get(`${base}/forgotten-password`), de.forgotten.lead);
    const forgotten = { email: someEmail() };
    assertGerman(await visitor.submit(`${base}/forgotten-password`, forgotten), de.forgotten.nothing);
    assertGerman(await visitor.get(`${base}/new-password`), de.newPassword.endedWhy);
    assertGerman(await visitor.get(`${base}/nothing`), de.errors.not_found[1]);
    assertGerman(await visitor.post(program, { csrf: 'wrong' }), de.errors.access_denied[1]);
  });

  it('a browser that asks for neither language gets English', async () => {
    const { text } = await new Visitor({ 'accept-language': 'fr' }).get(
      `${system.webs[0]?.url}/connect/forgotten-password`,
    );
    assert.match(text, /<html lang="en">/);
    assert.ok(text.includes(en.forgotten.lead));
  });
});
