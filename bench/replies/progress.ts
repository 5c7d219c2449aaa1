/** Shows a run's progress on standard error: each second on a terminal, otherwise every 10 s. */
export class Progress implements Disposable {
  readonly #details: () => string;
  readonly #timer: NodeJS.Timeout;
  #expected = 0;
  #made = 0;

  constructor(details: () => string) {
    this.#details = details;
    this.#timer = setInterval(() => this.#show(), process.stderr.isTTY ? 1000 : 10_000);
  }

  expect(predictions: number): void {
    this.#expected += predictions;
  }

  advance(predictions = 1): void {
    this.#made += predictions;
  }

  #show(): void {
    const line = `${this.#made} of about ${this.#expected} predictions; ${this.#details()}`;
    process.stderr.write(process.stderr.isTTY ? `\r\u001b[K${line}` : `${line}\n`);
  }

  [Symbol.dispose](): void {
    clearInterval(this.#timer);
    if (process.stderr.isTTY) process.stderr.write('\r\u001b[K');
  }
}
