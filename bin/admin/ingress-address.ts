import { AdminError } from './admin-error.ts';

/** The address of an ingress, as the option or variable gives it. Throws when there is none, or it is no such address. */
export function ingressAt(given: string | undefined, name = 'PUBLIC_URL'): string {
  if (given === undefined) throw new AdminError(`the address of the ingress is not known: set ${name}`);
  if (/^https?:/.test(given) && URL.canParse(given)) return given.replace(/\/$/, '');
  throw new AdminError(`${name} must be the http:// or https:// address of an ingress`);
}
