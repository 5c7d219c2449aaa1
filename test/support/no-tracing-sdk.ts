import { registerHooks } from 'node:module';

/** Preloaded into a process (`NODE_OPTIONS=--import=…`), fails every import of the SDK of OpenTelemetry; its API is not the SDK. */
registerHooks({
  resolve(name, context, next) {
    if (/^@opentelemetry\/(?!api$)/.test(name)) throw new Error(`loaded ${name}`);
    return next(name, context);
  },
});
