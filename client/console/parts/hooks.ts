import { useCallback, useEffect, useRef, useState } from 'preact/hooks';
import { type Change, onChange } from './changes.ts';

export interface Loaded<T> {
  value: T | undefined;
  error: unknown;
  /** Loads again. The current value stays until the new one has arrived. */
  again(): void;
  /** Shows this value, as a change's answer has it. */
  put(value: T): void;
}

/**
 * Loads again when a key or one of `of` changes and, after a failure, when the browser is online again. Ignores outdated
 * answers.
 */
export function useLoad<T>(
  load: () => Promise<T>,
  keys: readonly unknown[],
  of: readonly Change[] = [],
): Loaded<T> {
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
  useEffect(() => onChange(of, again), []);
  useEffect(() => {
    const recover = () => failed.current && again();
    addEventListener('online', recover);
    return () => removeEventListener('online', recover);
  }, []);
  const put = useCallback((value: T) => setState({ value }), []);
  return { value: state.value, error: state.error, again, put };
}

export interface Action<Given = void> {
  isBusy: boolean;
  error: unknown;
  run(given: Given): void;
}

/** Calling `run` during a run does nothing. The error of a failed run is kept until the next run. */
export function useAction<Given = void>(work: (given: Given) => Promise<unknown>): Action<Given> {
  // In a ref, because effects of the latest render may still run, and read it, before the next render.
  const state = useRef<{ isBusy: boolean; error?: unknown }>({ isBusy: false });
  const [, render] = useState(state.current);
  const latest = useRef(work);
  latest.current = work;
  const run = useCallback((given: Given) => {
    const become = (next: typeof state.current) => {
      state.current = next;
      render(next);
    };
    if (state.current.isBusy) return;
    become({ isBusy: true });
    latest.current(given).then(
      () => become({ isBusy: false }),
      (error) => become({ isBusy: false, error }),
    );
  }, []);
  return {
    get isBusy() {
      return state.current.isBusy;
    },
    get error() {
      return state.current.error;
    },
    run,
  };
}

interface Saves<Given> {
  error: unknown;
  /** Resolves once the run has ended, however it did. */
  run(given: Given): Promise<void>;
}

/** Saves one after another: what is given during a run waits for its end. The error of the last run is kept. */
export function useSaves<Given>(work: (given: Given) => Promise<unknown>): Saves<Given> {
  const [error, setError] = useState<unknown>();
  const latest = useRef(work);
  latest.current = work;
  const last = useRef(Promise.resolve());
  const run = useCallback((given: Given) => {
    last.current = last.current.then(() => latest.current(given)).then(() => setError(undefined), setError);
    return last.current;
  }, []);
  return { error, run };
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

export interface Route {
  page: string;
  rest: string;
  query: URLSearchParams;
}

/** Reads the address after `#/`: the page, the part of it, and its filters. */
function routeOf(hash: string): Route {
  const [path = '', query = ''] = hash.replace(/^#\/?/, '').split('?');
  const [page = '', rest = ''] = path.split('/');
  return { page, rest, query: new URLSearchParams(query) };
}

export function useRoute(): Route {
  const [hash, setHash] = useState(location.hash);
  useEffect(() => {
    const read = () => setHash(location.hash);
    addEventListener('hashchange', read);
    return () => removeEventListener('hashchange', read);
  }, []);
  return routeOf(hash);
}

/** A filter that lives in the address. `isStep` makes the change a step of the history, which Back undoes. */
export function useParameter(name: string, isStep = false): [string, (value: string) => void] {
  const { query } = useRoute();
  const set = (value: string) => {
    const { page, rest, query } = routeOf(location.hash);
    if (value === '') query.delete(name);
    else query.set(name, value);
    const path = `#/${page}${rest && `/${rest}`}`;
    const hash = query.size === 0 ? path : `${path}?${query}`;
    if (isStep) location.hash = hash;
    else location.replace(hash);
  };
  return [query.get(name) ?? '', set];
}
