import { connect, type Socket } from 'node:net';

const ANSWER_WITHIN_MS = 15_000;
const CONTENT_LENGTH = /\r\ncontent-length: (\d+)/i;

/**
 * A plain socket for one request at a time: Node's HTTP client would cost several times as much CPU. Every answer must
 * have a Content-Length.
 */
export class Connection {
  readonly #socket: Socket;
  readonly #head: string;
  #received = '';
  #answer: PromiseWithResolvers<string> | undefined;

  constructor({ hostname, port, pathname }: URL, headers: Record<string, string>) {
    const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
    this.#head =
      `POST ${pathname} HTTP/1.1\r\nhost: ${hostname}:${port}\r\n${lines.join('')}` +
      'content-type: application/json\r\ncontent-length: ';
    this.#socket = connect({ host: hostname, port: Number(port), noDelay: true });
    this.#socket.setEncoding('latin1');
    this.#socket.setTimeout(ANSWER_WITHIN_MS, () => this.#socket.destroy(new Error('no answer in time')));
    this.#socket.on('data', (chunk) => this.#read(String(chunk)));
    this.#socket.on('error', (error) => this.#answer?.reject(error));
    this.#socket.on('close', () => this.#answer?.reject(new Error('closed without an answer')));
  }

  /** Resolves with the whole answer, head included. `body` must be ASCII. */
  post(body: string): Promise<string> {
    this.#answer = Promise.withResolvers();
    this.#socket.write(`${this.#head}${body.length}\r\n\r\n${body}`, 'latin1');
    return this.#answer.promise;
  }

  close(): void {
    this.#socket.destroy();
  }

  #read(chunk: string): void {
    this.#received += chunk;
    const end = this.#received.indexOf('\r\n\r\n');
    if (end === -1) return;
    const length = this.#received.slice(0, end).match(CONTENT_LENGTH)?.[1];
    if (length === undefined) return void this.#socket.destroy(new Error('an answer without its length'));
    if (this.#received.length < end + 4 + Number(length)) return;
    this.#answer?.resolve(this.#received);
    this.#received = '';
  }
}
