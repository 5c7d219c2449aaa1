/** A page's answer. */
export interface Seen {
  status: number;
  headers: Headers;
  /** The markup. */
  text: string;
  /** Where a redirect leads. */
  location: string | null;
  /** The form's token, if there is a form. */
  csrf: string;
}

/** A minimal browser: it keeps a cookie, posts forms and follows no redirect. */
export class Visitor {
  cookie: string | undefined;

  async get(url: string, headers: Record<string, string> = {}): Promise<Seen> {
    return this.request(url, { headers });
  }

  /** Fetches the page and posts its form with these fields. */
  async submit(url: string, fields: Record<string, string>): Promise<Seen> {
    const { csrf } = await this.get(url);
    return this.post(url, { csrf, ...fields });
  }

  post(url: string, fields: Record<string, string>, headers: Record<string, string> = {}): Promise<Seen> {
    return this.request(url, { method: 'POST', body: new URLSearchParams(fields), headers });
  }

  async request(url: string, init: RequestInit): Promise<Seen> {
    const cookie: Record<string, string> = this.cookie === undefined ? {} : { cookie: this.cookie };
    const response = await fetch(local(url), {
      redirect: 'manual',
      ...init,
      headers: { ...cookie, ...(init.headers as Record<string, string>) },
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

/** The product listens on IPv4 only; the host name and protocol of its public address do not matter here. */
function local(url: string): string {
  return url.replace('//localhost:', '//127.0.0.1:');
}
