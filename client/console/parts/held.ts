import { useCallback, useEffect, useRef, useState } from 'preact/hooks';

const HOLD_MS = 6000;

/** Each function sends the decision that a part of the page holds back, if any. */
const releaseFunctions = new Set<() => Promise<unknown>>();

/**
 * Sends all decisions that are held back. Must have resolved before signing out, because the server then refuses them.
 */
export async function sendHeldDecisions(): Promise<void> {
  await Promise.all([...releaseFunctions].map((release) => release()));
}

interface Sender<T> {
  send(one: T): void;
  /** Resolves when everything sent so far is answered. */
  settle(): Promise<unknown>;
}

interface HeldDecision<T> {
  held: T | undefined;
  /** Holds this decision back for some seconds, and sends the one that was held before. */
  hold(one: T): void;
  drop(): T | undefined;
}

/** Holds the last decision back for some seconds so that it can be undone, since the server has no undo. */
export function useHeld<T>(sender: Sender<T>): HeldDecision<T> {
  const [held, setHeld] = useState<T>();
  const current = useRef<{ one: T; timer: ReturnType<typeof setTimeout> } | undefined>(undefined);
  const latest = useRef(sender);
  latest.current = sender;

  const take = useCallback((): T | undefined => {
    clearTimeout(current.current?.timer);
    const one = current.current?.one;
    current.current = undefined;
    setHeld(undefined);
    return one;
  }, []);
  const release = useCallback(() => {
    const one = take();
    if (one !== undefined) latest.current.send(one);
    return latest.current.settle();
  }, []);
  const hold = useCallback((one: T) => {
    release();
    current.current = { one, timer: setTimeout(release, HOLD_MS) };
    setHeld(one);
  }, []);

  useEffect(() => {
    const leave = () => document.visibilityState === 'hidden' && release();
    document.addEventListener('visibilitychange', leave);
    releaseFunctions.add(release);
    return () => {
      document.removeEventListener('visibilitychange', leave);
      releaseFunctions.delete(release);
      release();
    };
  }, []);
  return { held, hold, drop: take };
}
