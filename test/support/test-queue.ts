/** The queue and the wake-ups of a test file's installation, wherever they are. */
export interface TestQueue {
  /** What tells the product's processes where. */
  env: Record<string, string>;
  /** How many wake-ups were dropped on their way; 0 unless that was asked for. */
  droppedWakeUps(): Promise<number>;
  /** Whether the text stands anywhere in the queue, or stood in anything that was said to its server since `listen`. */
  holds(text: string): Promise<boolean>;
  /** Remembers from now on all that is said to the queue's server, where that can be overheard. */
  listen(): Promise<void>;
  /** How many jobs wait or are in hand. */
  jobs(): Promise<number>;
  close(): Promise<void>;
}
