/** An item that waits for its statement, or is in flight. */
export interface Waiting<In, Out> {
  item: In;
  bytes: number;
  keys: readonly string[];
  /** Its name among those of all parties. */
  lane: string | undefined;
  /** It was in a shared statement that failed. */
  failed: boolean;
  gone: AbortSignal | undefined;
  resolve: (out: Out) => void;
  reject: (error: unknown) => void;
}

export interface Party<In, Out> {
  name: string;
  waiting: Waiting<In, Out>[];
  inFlight: Set<Flight<In, Out>>;
}

/** A statement in flight. */
export interface Flight<In, Out> {
  party: Party<In, Out>;
  batch: Waiting<In, Out>[];
  /** Of an item tried alone. */
  alone: boolean;
  slow: boolean;
}

/** Whether nothing of it waits or is in flight. */
export function isIdle<In, Out>({ waiting, inFlight }: Party<In, Out>): boolean {
  return waiting.length === 0 && inFlight.size === 0;
}

/** An item tried alone keeps its lane to itself. */
export function keysOf<In, Out>({ keys, lane }: Waiting<In, Out>, alone: boolean): readonly string[] {
  return alone && lane !== undefined ? [...keys, lane] : keys;
}

/** The party or lanes whose locks a statement shows to be held or free. */
export function namesOf<In, Out>({ party, batch, alone }: Flight<In, Out>): string[] {
  const lanes = batch.flatMap(({ lane }) => lane ?? []);
  return alone && lanes.length > 0 ? lanes : [party.name, ...lanes];
}
