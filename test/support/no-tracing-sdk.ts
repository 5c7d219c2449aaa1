import { registerHooks } from 'node:module';

/** Preloaded into a process, makes imports of the OpenTelemetry SDK fail. Importing OpenTelemetry's API works. */
registerHooks({
  resolve(name, context, next) {
    if (/^@opentelemetry\/(?!api$)/.test(name)) throw new Error(`loaded ${name}`);
    return next(name, context);
  },
});
