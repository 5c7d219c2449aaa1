import type { Channel } from '../../shared/work/wake-ups.ts';

export interface TestQueue {
  env: Record<string, string>;
  /** Returns the number of a channel's dropped wake-ups; 0 unless dropping was requested. */
  droppedWakeUps(channel: Channel): Promise<number>;
  /** Reports whether the text is anywhere in the queue, or in anything sent to its server since `listen`. */
  holds(text: string): Promise<boolean>;
  /** Records everything sent to the queue's server from now on, if it can be monitored. */
  listen(): Promise<void>;
  /** Returns the number of waiting and active jobs; on Redis, those of the queue `predict` only. */
  jobs(): Promise<number>;
  close(): Promise<void>;
}
