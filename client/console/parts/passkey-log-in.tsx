import { t } from '../strings/index.ts';
import { useAction } from './hooks.ts';
import { Button, ErrorNote } from './ui.tsx';

/** Signs in with a passkey. The code for it is loaded when it is wanted. */
export function PasskeyLogIn({ logIn, onEntered }: { logIn: PasskeyCalls; onEntered(): void }) {
  const entering = useAction(async () => {
    const optionsJSON = await logIn.options();
    const { startAuthentication } = await import('@simplewebauthn/browser');
    try {
      await logIn.send(await startAuthentication({ optionsJSON }));
    } catch (error) {
      if (isRefusal(error)) return;
      throw error;
    }
    onEntered();
  });
  if (!('PublicKeyCredential' in window)) return null;
  return (
    <div class="row">
      <Button action={entering}>{t.passkeys.logIn}</Button>
      <ErrorNote error={entering.error} />
    </div>
  );
}

export interface PasskeyCalls {
  options(): Promise<{ challenge: string; rpId: string }>;
  send(credential: object): Promise<void>;
}

/** True if the person has closed the browser's question, or it ran out of time. */
export function isRefusal(error: unknown): boolean {
  return error instanceof Error && ['NotAllowedError', 'AbortError'].includes(error.name);
}
