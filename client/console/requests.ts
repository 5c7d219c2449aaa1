import type { ReplyRequest } from '../src/api.ts';
import { ROOT } from './session.ts';

/** The request for a shell, which reads the key from its environment. */
export function curlOf(request: ReplyRequest): string {
  const body = JSON.stringify(request, null, 2).replaceAll("'", `'\\''`);
  return [
    `curl -sS ${ROOT}api/predictions/predict/ \\`,
    '  -H "X-Service-API-Key: $FORECUE_KEY" \\',
    "  -H 'Content-Type: application/json' \\",
    `  -d '${body}'`,
  ].join('\n');
}

/** The same for a program. */
export function typescriptOf(request: ReplyRequest): string {
  return [
    "import { createAccountClient } from 'forecue';",
    '',
    'const forecue = createAccountClient({',
    `  baseUrl: ${JSON.stringify(ROOT.slice(0, -1))},`,
    '  credential: process.env.FORECUE_KEY,',
    '});',
    `const reply = await forecue.predictReply(${JSON.stringify(request, null, 2)});`,
  ].join('\n');
}
