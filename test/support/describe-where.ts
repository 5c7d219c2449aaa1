/** Skips a suite that needs something which this machine lacks. Its title then says what is `missing`. */
export function describeWhere(
  isThere: boolean,
  title: string,
  missing: string,
  suite: (this: Mocha.Suite) => void,
): void {
  if (isThere) describe(title, suite);
  else describe.skip(`${title} (${missing})`, suite);
}
