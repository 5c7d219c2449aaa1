import { AdminError } from './admin-error.ts';

/**
 * Returns the address of an ingress, as given by the option or variable `name`, without a final slash. Throws if it is
 * missing or not an HTTP address.
 */
export function ingressAddressOf(given: string | undefined, name = 'PUBLIC_URL'): string {
  if (given === undefined) throw new AdminError(`the address of the ingress is not known: set ${name}`);
  if (/^https?:/.test(given) && URL.canParse(given)) return given.replace(/\/$/, '');
  throw new AdminError(`${name} must be the http:// or https:// address of an ingress`);
}
