import { useCallback, useEffect, useRef, useState } from 'preact/hooks';

const HELD_MS = 6000;

interface Holding<T> {
  held: T | undefined;
  /** Holds a decision back for a moment, and sends the one that was held before. */
  hold(one: T): void;
  /** Drops the held decision, and returns it. */
  drop(): T | undefined;
}

/**
 * Holds the last decision back for some seconds so that it can be undone, since the server has no undo. Sends it when
 * the next decision comes, when its time is over, and when the person leaves the page or the tab.
 */
export function useHeld<T>(send: (one: T) => void): Holding<T> {
  const [held, setHeld] = useState<T>();
  const current = useRef<{ one: T; timer: ReturnType<typeof setTimeout> } | undefined>(undefined);
  const latest = useRef(send);
  latest.current = send;

  const take = useCallback((): T | undefined => {
    clearTimeout(current.current?.timer);
    const one = current.current?.one;
    current.current = undefined;
    setHeld(undefined);
    return one;
  }, []);
  const release = useCallback(() => {
    const one = take();
    if (one !== undefined) latest.current(one);
  }, []);
  const hold = useCallback((one: T) => {
    release();
    current.current = { one, timer: setTimeout(release, HELD_MS) };
    setHeld(one);
  }, []);

  useEffect(() => {
    const leave = () => document.visibilityState === 'hidden' && release();
    document.addEventListener('visibilitychange', leave);
    return () => {
      document.removeEventListener('visibilitychange', leave);
      release();
    };
  }, []);
  return { held, hold, drop: take };
}
