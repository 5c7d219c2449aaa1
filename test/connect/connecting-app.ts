import { createServer } from 'node:http';
import {
  calculatePKCECodeChallenge,
  generateRandomCodeVerifier,
  generateRandomState,
  validateAuthResponse,
} from 'oauth4webapi';
import type { AppClient, Reply } from '../support/client.ts';
import { listen } from '../support/listening.ts';
import type { System } from '../support/system.ts';

export interface Attempt {
  userId: string;
  requestId: string;
  /** Address of the consent page that the person is sent to. */
  url: string;
  state: string;
  verifier: string;
}

export interface ExchangeResponse {
  connection_id: string;
  grant_revision: number;
  status: string;
}

/** An app with its own web server, to which people return. */
export class ConnectingApp {
  readonly client: AppClient;
  readonly redirectUri: string;
  readonly #issuer: string;
  readonly #server: Callback;

  private constructor(client: AppClient, redirectUri: string, issuer: string, server: Callback) {
    this.client = client;
    this.redirectUri = redirectUri;
    this.#issuer = issuer;
    this.#server = server;
  }

  /** Registers an app whose redirect URI has this `path`, and whose server redirects to `onward`, if given. */
  static async register(
    system: System,
    { name = 'Quill Notes', path = '/callback', onward = undefined as string | undefined, issuer = '' } = {},
  ): Promise<ConnectingApp> {
    const server = await listenForCallbacks(onward);
    const redirectUri = server.url + path;
    const client = await system.app({ name, redirectUris: [redirectUri] });
    const ours = issuer || client.url.replace('127.0.0.1', 'localhost');
    return new ConnectingApp(client, redirectUri, ours, server);
  }

  async start(userId = 'u-1'): Promise<Attempt> {
    const verifier = generateRandomCodeVerifier();
    const state = generateRandomState();
    const { status, body, text } = await this.client.post<{ request_id: string; authorize_url: string }>(
      '/v1/connections',
      {
        user_id: userId,
        redirect_uri: this.redirectUri,
        state,
        code_challenge: await calculatePKCECodeChallenge(verifier),
      },
    );
    if (status !== 200) throw new Error(`starting a connection was answered ${status} ${text}`);
    return { userId, requestId: body.request_id, url: body.authorize_url, state, verifier };
  }

  /** Returns the redirect's parameters, checked as an OAuth client checks them. Throws on a denial. */
  check(returned: URL, { state }: Attempt): URLSearchParams {
    const server = { issuer: this.#issuer, authorization_response_iss_parameter_supported: true };
    return validateAuthResponse(server, { client_id: this.client.id }, returned, state);
  }

  exchange(attempt: Attempt, code: string | null): Promise<Reply<ExchangeResponse>> {
    return this.client.post('/v1/connections/exchange', {
      request_id: attempt.requestId,
      user_id: attempt.userId,
      code,
      code_verifier: attempt.verifier,
      redirect_uri: this.redirectUri,
    });
  }

  get returned(): readonly URL[] {
    return this.#server.visits;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#server.close();
  }
}

interface Callback extends AsyncDisposable {
  url: string;
  visits: URL[];
  close(): Promise<void>;
}

/** Starts a web server that has another origin than the ingress, and that records visits. */
export async function listenForCallbacks(onward?: string): Promise<Callback> {
  const visits: URL[] = [];
  const server = createServer((request, response) => {
    if (request.url === '/favicon.ico') return void response.writeHead(404).end();
    visits.push(new URL(request.url ?? '', here.url));
    if (onward !== undefined) return void response.writeHead(302, { location: onward }).end();
    response.writeHead(200, { 'content-type': 'text/html' }).end('<title>back at the app</title>');
  });
  const here = await listen(server);
  return { ...here, visits };
}
