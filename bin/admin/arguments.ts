import { parseBase } from '../../shared/config/values.ts';
import { redirectUriFault } from '../../shared/domain/redirect-uri.ts';
import { APP_GRACE_S_MAX, CAP_CENTS_MAX, NAME_MAX, UUID } from '../../shared/schemas/limits.ts';
import { AdminError } from './admin-error.ts';

export function requireValue(name: string, value: string | undefined): string {
  if (value === undefined) throw new AdminError(`${name} is missing`);
  return value;
}

const idOf = (kind: 'app' | 'user' | 'webhook') => (value: string | undefined) => {
  const id = requireValue(`${kind.toUpperCase()}_ID`, value).toLowerCase();
  if (UUID.test(id)) return id;
  throw invalidValueError(`the ${kind} id`, `a UUID (\`${kind} list\` shows them)`, id);
};
export const appId = idOf('app');
export const userId = idOf('user');
export const webhookId = idOf('webhook');

export const fileName = (value: string | undefined) => requireValue('FILE', value || undefined);

export function unknownApp(id: string): AdminError {
  return new AdminError(`there is no app ${id}: \`app list\` shows the apps`);
}

export function appName(value: string): string {
  const length = [...value].length;
  if (value.trim() !== '' && length <= NAME_MAX && !/\p{Cc}/u.test(value)) return value;
  throw invalidValueError('--name', `1 to ${NAME_MAX} characters, without control characters`, value);
}

export function capCents(value: string): number | null {
  return value === 'none'
    ? null
    : wholeNumber('--cap-cents', value, CAP_CENTS_MAX, 'a whole number of cents, or none');
}

export function graceSeconds(value: string): number {
  return wholeNumber('--grace', value, APP_GRACE_S_MAX, 'a whole number of seconds');
}

export function confidence(value: string): number {
  if (/^\d+(\.\d+)?$/.test(value) && Number(value) <= 1) return Number(value);
  throw invalidValueError('--min-confidence', 'a number from 0 to 1', value);
}

export function month(value: string): string {
  if (/^[1-9]\d{3}-(0[1-9]|1[0-2])$/.test(value)) return value;
  throw invalidValueError('--month', 'a month as YYYY-MM', value);
}

export function choice<const T extends string>(name: string, value: string, choices: readonly T[]): T {
  const chosen = choices.find((one) => one === value);
  if (chosen !== undefined) return chosen;
  throw invalidValueError(name, `one of ${choices.join(', ')}`, value);
}

export function redirectUri(value: string): string {
  const fault = redirectUriFault(value);
  if (fault !== undefined) throw invalidValueError('--redirect-uri', fault, value);
  return value;
}

/** Throws if the address is missing or not an HTTP address. `name` is the option or variable that gives it. */
export function ingressAddressOf(given: string | undefined, name = 'PUBLIC_URL'): string {
  if (given === undefined) throw new AdminError(`the address of the ingress is not known: set ${name}`);
  const address = parseBase(given);
  if (address !== undefined) return address;
  throw new AdminError(`${name} must be the http:// or https:// address of an ingress`);
}

function wholeNumber(name: string, value: string, max: number, description: string): number {
  if (/^\d{1,15}$/.test(value) && Number(value) <= max) return Number(value);
  throw invalidValueError(name, `${description}, at most ${max}`, value);
}

function invalidValueError(name: string, expected: string, value: string): AdminError {
  return new AdminError(`${name} must be ${expected}, not ${JSON.stringify(value.slice(0, 100))}`);
}
