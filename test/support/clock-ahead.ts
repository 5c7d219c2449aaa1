/** Sets the clock of a process that preloads this module (`--import`) ahead by CLOCK_AHEAD_MS. */
const aheadMs = Number(process.env['CLOCK_AHEAD_MS']);
const now = Date.now.bind(Date);
const at = () => now() + aheadMs;

globalThis.Date = new Proxy(Date, {
  construct: (target, args, self) => Reflect.construct(target, args.length === 0 ? [at()] : args, self),
  get: (target, name) => (name === 'now' ? at : Reflect.get(target, name)),
});
