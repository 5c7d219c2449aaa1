/** What carries the messages: each to everybody who listens at that moment. */
export interface Bus {
  publish(messages: { channel: string; payload: string }[]): Promise<void>;
  /** Resolves when it listens; from then on it listens again by itself whenever the connection breaks. */
  listen(channel: string, hear: (payload: string) => void): Promise<void>;
  close(): Promise<void>;
}
