import { registerHooks } from 'node:module';

/**
 * Preloaded into a process (`NODE_OPTIONS=--import=…`), makes imports of the OpenTelemetry SDK fail; importing its API
 * works.
 */
registerHooks({
  resolve(name, context, next) {
    if (/^@opentelemetry\/(?!api$)/.test(name)) throw new Error(`loaded ${name}`);
    return next(name, context);
  },
});
