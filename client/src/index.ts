export {
  type AccountClient,
  type AccountClientOptions,
  createAccountClient,
  type JobEvent,
  type TokenStorage,
  type Tokens,
} from './api.ts';
export {
  type Completer,
  type CompleterContext,
  type CompleterOptions,
  createCompleter,
} from './completer.ts';
export * from './v1.ts';
