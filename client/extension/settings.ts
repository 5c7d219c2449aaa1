/** Where what the extension keeps has its home: `chrome.storage.local`, which content scripts may not read. */

/** Permissions that a person has given the extension, at the server where they did. */
export interface Grant {
  server: string;
  clientId: string;
  access: string;
  refresh: string;
  tokenEndpoint: string;
  revocationEndpoint: string;
}

export interface Settings {
  server: string;
  /** Hosts of the sites on which the person has turned suggestions off. */
  sitesOff: string[];
  grant: Grant | null;
}

const DEFAULTS: Settings = { server: 'http://localhost:8080', sitesOff: [], grant: null };

export async function readSettings(): Promise<Settings> {
  return (await chrome.storage.local.get({ ...DEFAULTS })) as unknown as Settings;
}

export async function change(settings: Partial<Settings>): Promise<void> {
  await chrome.storage.local.set(settings);
}

/** Reports whether text of a site may leave: somebody is signed in, and has not turned the site off. */
export function isOnAt(origin: string, { grant, sitesOff }: Settings): boolean {
  const url = URL.parse(origin);
  // The server's own pages suggest by themselves, and ask for passwords.
  return (
    grant !== null && url !== null && url.origin !== originOf(grant.server) && !sitesOff.includes(url.host)
  );
}

export function originOf(address: string): string | undefined {
  return URL.parse(address)?.origin;
}
