import { freePort } from './free-port.ts';
import type { Part, System } from './system.ts';

/** A browser that keeps the board's cookie and posts forms. */
export class Operator {
  readonly origin: string;
  #cookie = '';

  constructor(port: number) {
    this.origin = `http://127.0.0.1:${port}`;
  }

  get cookie(): string {
    return this.#cookie;
  }

  async get(path: string, headers: Record<string, string> = {}): Promise<Response> {
    return this.#keepCookie(
      await fetch(`${this.origin}/admin/${path}`, {
        headers: { cookie: this.#cookie, ...headers },
        redirect: 'manual',
      }),
    );
  }

  async post(path: string, fields: Record<string, string>, headers: Record<string, string> = {}) {
    return this.#keepCookie(
      await fetch(`${this.origin}/admin/${path}`, {
        method: 'POST',
        headers: { cookie: this.#cookie, origin: this.origin, ...headers },
        body: new URLSearchParams(fields),
        redirect: 'manual',
      }),
    );
  }

  signIn(token: string): Promise<Response> {
    return this.post('sign-in', { token });
  }

  async csrf(): Promise<string> {
    const page = await (await this.get('')).text();
    return /name="csrf" value="([^"]+)"/.exec(page)?.[1] ?? '';
  }

  #keepCookie(response: Response): Response {
    const [set] = response.headers.getSetCookie();
    if (set !== undefined) this.#cookie = set.split(';')[0] ?? '';
    return response;
  }
}

/** Starts an ingress with a board. Returns the board's port. */
export async function startBoard(system: System<Part>, env: Record<string, string> = {}): Promise<number> {
  const port = await freePort();
  await system.startWeb({ OPERATOR_PORT: String(port), ...env });
  return port;
}
