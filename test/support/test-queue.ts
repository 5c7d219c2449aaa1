/** The queue and the wake-ups of a test file's installation, wherever they are. */
export interface TestQueue {
  /** What tells the product's processes where. */
  env: Record<string, string>;
  /** How many wake-ups were dropped on their way; 0 unless that was asked for. */
  droppedWakeUps(): Promise<number>;
  /** Whether the text stands anywhere in the queue. */
  holds(text: string): Promise<boolean>;
  /** How many jobs wait or are in hand. */
  jobs(): Promise<number>;
  close(): Promise<void>;
}
