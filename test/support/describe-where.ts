/**
 * Describes a suite that needs something that not every machine has. Without it, the suite is skipped, and its title
 * says what is `missing`.
 */
export function describeWhere(
  isThere: boolean,
  title: string,
  missing: string,
  suite: (this: Mocha.Suite) => void,
): void {
  if (isThere) describe(title, suite);
  else describe.skip(`${title} (${missing})`, suite);
}
