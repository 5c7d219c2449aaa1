import { useEffect, useState } from 'preact/hooks';
import { t } from '../strings/index.ts';
import { Button } from './ui.tsx';

const REACHED_EVENT = 'forecue.reached';
const RETRY_MS = 5000;

/** Called after each request with whether the server answered. */
export function noteReached(isReached: boolean): void {
  dispatchEvent(new CustomEvent(REACHED_EVENT, { detail: isReached }));
}

/** What failed to load loads again at this event, which browsers send when the connection is back. */
const retry = () => dispatchEvent(new Event('online'));

/** One quiet bar while the server does not answer, instead of an error for each part of the page. */
export function AwayBar() {
  const [isAway, setAway] = useState(false);
  useEffect(() => {
    const hear = (event: Event) => setAway((event as CustomEvent<boolean>).detail === false);
    addEventListener(REACHED_EVENT, hear);
    return () => removeEventListener(REACHED_EVENT, hear);
  }, []);
  useEffect(() => {
    if (!isAway) return;
    const timer = setInterval(retry, RETRY_MS);
    return () => {
      clearInterval(timer);
      // One request was answered. Others may have failed before it.
      retry();
    };
  }, [isAway]);
  return (
    <div class="away" role="status">
      {isAway && (
        <>
          {t.errors.network_error}
          <Button kind="link" onPress={retry}>
            {t.again}
          </Button>
        </>
      )}
    </div>
  );
}
