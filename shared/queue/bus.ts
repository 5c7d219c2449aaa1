/** Pub/sub: each message reaches everybody who listens at that moment. */
export interface Bus {
  publish(messages: { channel: string; payload: string }[]): Promise<void>;
  /** Resolves when it listens. Listens again by itself whenever the connection breaks or falls silent. */
  listen(channel: string, hear: (payload: string) => void): Promise<void>;
  close(): Promise<void>;
}
