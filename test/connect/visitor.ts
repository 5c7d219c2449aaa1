export interface ReceivedPage {
  status: number;
  headers: Headers;
  text: string;
  /** Target of a redirect. */
  location: string | null;
  /** CSRF token of the page's form; '' if there is no form. */
  csrf: string;
}

/** A minimal browser: keeps one cookie, posts forms and follows no redirects. */
export class Visitor {
  cookie: string | undefined;
  readonly #headers: Record<string, string>;

  /** `headers` are in each request. */
  constructor(headers: Record<string, string> = {}) {
    this.#headers = headers;
  }

  async get(url: string, headers: Record<string, string> = {}): Promise<ReceivedPage> {
    return this.request(url, { headers });
  }

  async submit(url: string, fields: Record<string, string>): Promise<ReceivedPage> {
    const { csrf } = await this.get(url);
    return this.post(url, { csrf, ...fields });
  }

  post(
    url: string,
    fields: Record<string, string>,
    headers: Record<string, string> = {},
  ): Promise<ReceivedPage> {
    return this.request(url, { method: 'POST', body: new URLSearchParams(fields), headers });
  }

  async request(url: string, init: RequestInit): Promise<ReceivedPage> {
    const cookie: Record<string, string> = this.cookie === undefined ? {} : { cookie: this.cookie };
    const response = await fetch(local(url), {
      redirect: 'manual',
      ...init,
      headers: { ...this.#headers, ...cookie, ...(init.headers as Record<string, string>) },
    });
    const [given] = response.headers.getSetCookie();
    if (given !== undefined) this.cookie = given.split(';')[0];
    const text = await response.text();
    return {
      status: response.status,
      headers: response.headers,
      text,
      location: response.headers.get('location'),
      csrf: /name="csrf" value="([^"]+)"/.exec(text)?.[1] ?? '',
    };
  }
}

/** Replaces the host name of the public address by 127.0.0.1, the only address that the ingress listens on. */
function local(url: string): string {
  return url.replace('//localhost:', '//127.0.0.1:');
}
