import { useCallback, useEffect, useRef, useState } from 'preact/hooks';

interface Loaded<T> {
  value: T | undefined;
  error: unknown;
  /** Loads again. The current value stays until the new one has arrived. */
  again(): void;
}

/** Loads again when a key changes and, after a failure, when the browser is online again. Ignores outdated answers. */
export function useLoad<T>(load: () => Promise<T>, keys: readonly unknown[]): Loaded<T> {
  const [state, setState] = useState<{ value?: T; error?: unknown }>({});
  const [turn, setTurn] = useState(0);
  useEffect(() => {
    let isOver = false;
    load().then(
      (value) => isOver || setState({ value }),
      (error) => isOver || setState((before) => ({ ...before, error })),
    );
    return () => {
      isOver = true;
    };
  }, [...keys, turn]);
  const again = useCallback(() => setTurn((one) => one + 1), []);
  const failed = useRef(false);
  failed.current = state.error !== undefined;
  useEffect(() => {
    const recover = () => failed.current && again();
    addEventListener('online', recover);
    return () => removeEventListener('online', recover);
  }, []);
  return { value: state.value, error: state.error, again };
}

export interface Action<Given = void> {
  isBusy: boolean;
  error: unknown;
  run(given: Given): void;
}

/** Calling `run` during a run does nothing. The error of a failed run is kept until the next run. */
export function useAction<Given = void>(work: (given: Given) => Promise<unknown>): Action<Given> {
  const [state, setState] = useState<{ isBusy: boolean; error?: unknown }>({ isBusy: false });
  const latest = useRef(work);
  latest.current = work;
  const busy = useRef(false);
  const run = useCallback((given: Given) => {
    if (busy.current) return;
    busy.current = true;
    setState({ isBusy: true });
    latest
      .current(given)
      .then(
        () => setState({ isBusy: false }),
        (error) => setState({ isBusy: false, error }),
      )
      .finally(() => {
        busy.current = false;
      });
  }, []);
  return { isBusy: state.isBusy, error: state.error, run };
}

export function submitHandler(run: () => void): (event: Event) => void {
  return (event) => {
    event.preventDefault();
    run();
  };
}

/** Returns the latest value that has not changed for `forMs`; before that, the first value. */
export function useDebounced<T>(value: T, forMs: number): T {
  const [settledValue, setSettledValue] = useState(value);
  useEffect(() => {
    const timer = setTimeout(() => setSettledValue(value), forMs);
    return () => clearTimeout(timer);
  }, [value]);
  return settledValue;
}

/** Returns the first two parts of the path after `#/` in the address. */
export function useRoute(): [page: string, rest: string] {
  const [hash, setHash] = useState(location.hash);
  useEffect(() => {
    const read = () => setHash(location.hash);
    addEventListener('hashchange', read);
    return () => removeEventListener('hashchange', read);
  }, []);
  const [page = '', rest = ''] = hash.replace(/^#\/?/, '').split('/');
  return [page, rest];
}
