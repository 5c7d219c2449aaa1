import { type Html, html } from '../pages/html.ts';
import { messagePage } from './pages.ts';

/** Parameters that came back with the person, as the query of the redirect URI has it. */
interface CallbackQuery {
  get(name: string): string;
  /** The page's own address, and the issuer. */
  publicUrl: string;
}

/** A stand-in for an app's redirect URI, for trying things out: shows what the app would do next, step by step. */
export function callbackPage({ get, publicUrl }: CallbackQuery): Html {
  const error = get('error');
  if (error !== '')
    return messagePage(
      'The app may not use the memory',
      html`<p>It gets <code>error=${error}</code> and its own <code>state</code>, and no code.</p>`,
    );
  const body = {
    request_id: '… of the start',
    user_id: '… of the start',
    code: get('code'),
    code_verifier: '… that the challenge was made from',
    redirect_uri: `${publicUrl}/connect/callback`,
  };
  const issuer = get('iss');
  return messagePage(
    'Back in the app',
    html`
    <p class="quiet">This page stands in for your app's own. An app now takes three steps, on its server.</p>
    <h2>1. Compare</h2>
    <p><code>state</code> with the one that it sent: <code>${get('state')}</code></p>
    <p><code>iss</code> with our address: <code>${issuer}</code>, which is ${issuer === publicUrl ? 'right' : 'wrong'}</p>
    <h2>2. Exchange the code, within two minutes</h2>
    <pre>${get('code')}</pre>
    <p><code>POST ${publicUrl}/v1/connections/exchange</code>, with the app's key:</p>
    <pre>${JSON.stringify(body, null, 2)}</pre>
    <h2>3. Name the connection</h2>
    <p>The answer has a <code>connection_id</code>. Predictions that name it may use the memory, until either side revokes it.</p>`,
  );
}
