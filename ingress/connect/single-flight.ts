/**
 * Concurrent calls with the same key share one piece of work and how it ends, so that a crowd does not queue for the same
 * row with a connection each. After a failure that counts for its caller alone, the others try for themselves, one at a
 * time.
 */
export function singleFlight<T>(
  isOwn: (failure: unknown) => boolean,
): (key: string, work: () => Promise<T>) => Promise<T> {
  const flights = new Map<string, Promise<T>>();
  return async (key, work) => {
    for (let flight = flights.get(key); flight !== undefined; flight = flights.get(key)) {
      try {
        return await flight;
      } catch (failure) {
        if (!isOwn(failure)) throw failure;
      }
    }
    const flight = work().finally(() => flights.delete(key));
    flights.set(key, flight);
    return flight;
  };
}
