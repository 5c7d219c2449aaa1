/**
 * Lets calls that say the same at the same time share one piece of work, so that a crowd does not stand in line for the
 * same row with a connection each. Where the shared result does not `serve`, each works for itself.
 */
export function singleFlight<T>(
  serves: (result: T) => boolean,
): (key: string, work: () => Promise<T>) => Promise<T> {
  const flights = new Map<string, Promise<T>>();
  return async (key, work) => {
    const result = await flights.get(key);
    if (result !== undefined && serves(result)) return result;
    const flight = work();
    flights.set(key, flight);
    try {
      return await flight;
    } finally {
      if (flights.get(key) === flight) flights.delete(key);
    }
  };
}
