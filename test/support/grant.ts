import { allowProgram, exchangeCode } from '../../shared/db/stores/grants.ts';
import { challengeOf } from '../../shared/security/fingerprint.ts';
import type { System } from './system.ts';

/** Lets a program into an account, without its page. Returns the grant's id. */
export async function letProgramIn(system: Pick<System, 'em'>, accountId: string): Promise<string> {
  const program = { clientId: 'https://agent.example/client.json', clientName: 'An agent' };
  const redirectUri = 'https://agent.example/callback';
  const code = await allowProgram(system.em(), accountId, {
    ...program,
    redirectUri,
    codeChallenge: challengeOf('verifier'),
    resource: 'https://forecue.example/mcp',
    scopes: ['read', 'predict', 'write'],
  });
  const { clientId } = program;
  const exchange = { code: code ?? '', codeVerifier: 'verifier', clientId, redirectUri, resource: undefined };
  const grant = await exchangeCode(system.em(), exchange);
  if (grant === undefined) throw new Error('the code was not exchanged');
  return grant.id;
}
