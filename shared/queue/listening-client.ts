import pg from 'pg';

/**
 * BullMQ handles errors of the client that listens only once `connect` has resolved: a server that ends a connection in the
 * packet with which it accepts it would end this process. Such a client fails to connect.
 */
export class ListeningClient extends pg.Client {
  #fault: Error | undefined;

  constructor(config: pg.ClientConfig) {
    super(config);
    this.on('error', (error) => {
      this.#fault ??= error;
    });
  }

  override connect(): Promise<pg.Client>;
  override connect(callback: (error: Error) => void): void;
  override connect(callback?: (error: Error) => void): Promise<pg.Client> | undefined {
    if (callback !== undefined) {
      super.connect(callback);
      return undefined;
    }
    return super.connect().then(() => {
      if (this.#fault !== undefined) throw this.#fault;
      return this;
    });
  }
}
