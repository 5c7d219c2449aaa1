/**
 * Concurrent calls with the same key share one piece of work, so that a crowd does not queue for the same row with a
 * connection each. Only a success is shared: after a failure each caller tries for itself.
 */
export function singleFlight<T>(): (key: string, work: () => Promise<T>) => Promise<T> {
  const flights = new Map<string, Promise<T>>();
  return async (key, work) => {
    const shared = await flights.get(key)?.catch(() => undefined);
    if (shared !== undefined) return shared;
    const flight = work();
    flights.set(key, flight);
    try {
      return await flight;
    } finally {
      if (flights.get(key) === flight) flights.delete(key);
    }
  };
}
