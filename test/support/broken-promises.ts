/** Lists the promises that were not kept. */
export function unkept(promises: readonly [isKept: boolean, promise: string][]): string[] {
  return promises.filter(([isKept]) => !isKept).map(([, promise]) => promise);
}
