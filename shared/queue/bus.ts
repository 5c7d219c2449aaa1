/** Pub/sub: each message reaches everybody who listens at that moment. */
export interface Bus {
  /** Milliseconds since the listening connection last answered. A pulse asks it every 5 s, and replaces it when it is silent. */
  readonly silentMs: number;
  publish(messages: { channel: string; payload: string }[]): Promise<void>;
  /** Resolves when it listens. Listens again by itself whenever the connection breaks. */
  listen(channel: string, hear: (payload: string) => void): Promise<void>;
  close(): Promise<void>;
}
