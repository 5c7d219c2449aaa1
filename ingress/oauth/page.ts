import type { Scope } from '../../shared/schemas/accounts.ts';
import { GRANT_UNUSED_DAYS } from '../../shared/schemas/limits.ts';
import { csrfField } from '../connect/fields.ts';
import {
  appName,
  canRevoke,
  decisionButtons,
  layout,
  type QuestionPageData,
  signedInAs,
  term,
  wayBack,
} from '../connect/pages.ts';
import type { Texts } from '../connect/strings/en.ts';
import { type Html, html } from '../pages/html.ts';
import type { AuthorizationRequest } from './authorization-request.ts';

/** Scopes with which a program speaks for the person: not allowed without a click. */
const SPEAKS_FOR_PERSON: readonly Scope[] = ['decide', 'record'];

export function programPage(page: QuestionPageData, { client, scopes }: AuthorizationRequest): Html {
  const { t, attempt } = page;
  const { program } = t;
  return layout(
    t,
    program.title,
    html`
    <h1>${program.heading(appName(attempt))}</h1>
    ${signedInAs(page)}
    <section aria-labelledby="terms">
      <h2 id="terms">${t.terms}</h2>
      <ul>
        ${
          client.host === undefined
            ? term('not', program.nobodyVouches, program.nobodyVouchesHow)
            : term('may', program.belongsTo(html`<bdi>${client.host}</bdi>`), program.belongsToHow)
        }
        ${term('may', canRevoke(page), program.endsUnused(GRANT_UNUSED_DAYS))}
      </ul>
    </section>
    <form method="post" class="choice">
      ${csrfField(page)}
      <fieldset>
        <legend>${program.scope}</legend>
        ${scopes.map(
          (scope) => html`
        <label class="check"><input type="checkbox" name="scope" value="${scope}"${
          SPEAKS_FOR_PERSON.includes(scope) ? undefined : html` checked`
        }>${program.scopes[scope]}</label>`,
        )}
      </fieldset>
      ${decisionButtons(t)}
    </form>
    ${wayBack(t, placeOf(t, attempt.redirectUri))}`,
  );
}

/** Says where a redirect leads: a site, or a program on this machine. */
function placeOf({ program }: Texts, redirectUri: string): string {
  const { protocol, host } = new URL(redirectUri);
  if (protocol === 'https:') return host;
  return protocol === 'http:' ? program.onThisMachine(host) : program.ofScheme(protocol);
}
