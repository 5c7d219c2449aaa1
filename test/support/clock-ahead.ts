/** Preloaded with `--import`: this process's clock is CLOCK_AHEAD_MS ahead, as on a machine that does not synchronise it. */
const aheadMs = Number(process.env['CLOCK_AHEAD_MS']);
const now = Date.now.bind(Date);
const at = () => now() + aheadMs;

globalThis.Date = new Proxy(Date, {
  construct: (target, args, self) => Reflect.construct(target, args.length === 0 ? [at()] : args, self),
  get: (target, name) => (name === 'now' ? at : Reflect.get(target, name)),
});
