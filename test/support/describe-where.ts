/** A suite that needs what not every machine has. Where that is `missing`, it is pending, and its title says why. */
export function describeWhere(
  isThere: boolean,
  title: string,
  missing: string,
  suite: (this: Mocha.Suite) => void,
): void {
  if (isThere) describe(title, suite);
  else describe.skip(`${title} (${missing})`, suite);
}
