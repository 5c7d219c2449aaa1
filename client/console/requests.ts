import { ROOT } from './session.ts';

/** A call to `/api`: its path, the method of our TypeScript client that makes it, and its body. */
export interface Request {
  path: string;
  method: 'predictDraft' | 'predictReply';
  body: object;
}

export function curlOf({ path, body }: Request): string {
  const text = JSON.stringify(body, null, 2).replaceAll("'", `'\\''`);
  return [
    `curl -sS ${ROOT}api/${path} \\`,
    '  -H "X-Service-API-Key: $FORECUE_KEY" \\',
    "  -H 'Content-Type: application/json' \\",
    `  -d '${text}'`,
  ].join('\n');
}

export function typescriptOf({ method, body }: Request): string {
  return [
    "import { createAccountClient } from 'forecue';",
    '',
    'const forecue = createAccountClient({',
    `  baseUrl: ${JSON.stringify(ROOT.slice(0, -1))},`,
    '  credential: process.env.FORECUE_KEY,',
    '});',
    `const answer = await forecue.${method}(${JSON.stringify(body, null, 2)});`,
  ].join('\n');
}
