export async function runTwentyAtOnce<In, Out>(
  items: readonly In[],
  work: (item: In) => Promise<Out>,
): Promise<Out[]> {
  const outs: Out[] = [];
  for (let n = 0; n < items.length; n += 20) {
    outs.push(...(await Promise.all(items.slice(n, n + 20).map(work))));
  }
  return outs;
}
