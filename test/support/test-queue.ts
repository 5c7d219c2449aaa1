/** The queue and the wake-ups of a test file's installation, wherever they are. */
export interface TestQueue {
  /** The configuration that points the product's processes to it. */
  env: Record<string, string>;
  /** How many wake-ups were dropped; 0 unless dropping was requested. */
  droppedWakeUps(): Promise<number>;
  /** Whether the text is anywhere in the queue, or was in anything sent to its server since `listen`. */
  holds(text: string): Promise<boolean>;
  /** Records everything sent to the queue's server from now on, where it can be monitored. */
  listen(): Promise<void>;
  /** How many jobs are waiting or active. */
  jobs(): Promise<number>;
  close(): Promise<void>;
}
