import { registerHooks } from 'node:module';

/**
 * Makes imports of the OpenTelemetry SDK fail in a process that preloads this module (`NODE_OPTIONS=--import=…`);
 * importing OpenTelemetry's API works.
 */
registerHooks({
  resolve(name, context, next) {
    if (/^@opentelemetry\/(?!api$)/.test(name)) throw new Error(`loaded ${name}`);
    return next(name, context);
  },
});
