/** Probability below and above a two-sided 95 % interval. */
const TAIL = 0.025;
const BISECTIONS = 40;

/**
 * Returns the 95 % interval of a share, from a sample (Clopper and Pearson 1934). Unlike an approximation it holds the
 * truth for 95 of 100 people also where the sample is small and nearly all of it is right.
 */
export function exactInterval(right: number, count: number): { low: number; high: number } {
  return { low: lowerBound(right, count), high: 1 - lowerBound(count - right, count) };
}

/** The share at which so many or more are right with a probability of `TAIL`. */
function lowerBound(right: number, count: number): number {
  if (right === 0) return 0;
  let [low, high] = [0, right / count];
  for (let step = 0; step < BISECTIONS; step += 1) {
    const share = (low + high) / 2;
    if (probabilityOfMost(right, count, share) < TAIL) low = share;
    else high = share;
  }
  return low;
}

/** Returns the probability that `right` or more of `count` are right. */
function probabilityOfMost(right: number, count: number, share: number): number {
  if (share === 0) return 0;
  const odds = Math.log(share / (1 - share));
  let logTerm = count * Math.log(1 - share);
  let sum = 0;
  for (let k = 0; k <= count; k += 1) {
    if (k >= right) sum += Math.exp(logTerm);
    logTerm += Math.log((count - k) / (k + 1)) + odds;
  }
  return sum;
}
