/**
 * Concurrent calls with the same key share one piece of work, so that a crowd does not queue for the same row with a
 * connection each. Only a success is shared: after a failure one caller at a time tries for itself.
 */
export function singleFlight<T>(): (key: string, work: () => Promise<T>) => Promise<T> {
  const flights = new Map<string, Promise<T>>();
  return async (key, work) => {
    for (let flight = flights.get(key); flight !== undefined; flight = flights.get(key)) {
      const shared = await flight.catch(() => undefined);
      if (shared !== undefined) return shared;
    }
    const flight = work().finally(() => flights.delete(key));
    flights.set(key, flight);
    return flight;
  };
}
