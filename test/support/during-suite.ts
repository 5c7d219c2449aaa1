/** Resources of each suite. They end in reverse order, after the suite's own `after` hooks. */
const resourcesBySuite = new WeakMap<Mocha.Suite, AsyncDisposableStack>();

/** Begins a resource before the tests of a suite, and disposes of it after them. Only hooks and tests may use it. */
export function duringSuite<T extends AsyncDisposable>(begin: () => Promise<T>): T {
  const fields = {} as T;
  before(async function () {
    const stack = stackOf(this);
    const resource = await begin();
    // After a time-out of this hook, the suite has ended.
    if (stack.disposed) return resource[Symbol.asyncDispose]();
    stack.use(resource);
    Object.defineProperties(fields, Object.getOwnPropertyDescriptors(resource));
  });
  return fields;
}

function stackOf({ test }: Mocha.Context): AsyncDisposableStack {
  const suite = test?.parent;
  if (!suite) throw new Error('not called in a hook of a suite');
  const existing = resourcesBySuite.get(suite);
  if (existing) return existing;
  const stack = new AsyncDisposableStack();
  resourcesBySuite.set(suite, stack);
  suite.afterAll(() => stack.disposeAsync());
  return stack;
}
