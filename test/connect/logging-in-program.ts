import { someEmail } from '../support/account.ts';
import { Visitor } from './visitor.ts';

const PASSWORD = 'a horse with 9 staples';

/** Signs a new person up on the page at this address, and allows the program these scopes. Returns the redirect. */
export async function letIn(
  url: string,
  scopes: readonly string[],
  { visitor = new Visitor(), email = someEmail(), isNew = true } = {},
): Promise<{ returned: URL; visitor: Visitor; email: string; asked: string }> {
  if (isNew) {
    const entered = await visitor.submit(url, { do: 'sign-up', email, password: PASSWORD });
    if (entered.status !== 303) throw new Error(`signing up was answered ${entered.status}: ${entered.text}`);
  }
  const { csrf, text } = await visitor.get(url);
  const fields = new URLSearchParams({ csrf, do: 'approve' });
  for (const scope of scopes) fields.append('scope', scope);
  const { status, location, text: answer } = await visitor.request(url, { method: 'POST', body: fields });
  if (status !== 303) throw new Error(`allowing was answered ${status}: ${answer}`);
  return { returned: new URL(location ?? ''), visitor, email, asked: text };
}
