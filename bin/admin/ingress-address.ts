import { AdminError } from './admin-error.ts';

/** Throws if the address is missing or not an HTTP address. `name` is the option or variable that gives it. */
export function ingressAddressOf(given: string | undefined, name = 'PUBLIC_URL'): string {
  if (given === undefined) throw new AdminError(`the address of the ingress is not known: set ${name}`);
  if (/^https?:/.test(given) && URL.canParse(given)) return given.replace(/\/$/, '');
  throw new AdminError(`${name} must be the http:// or https:// address of an ingress`);
}
