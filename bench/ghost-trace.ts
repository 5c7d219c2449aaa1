/** Milliseconds of what a person sees. */
export interface Sample {
  /** Number of calls. The next key ends the wait for an answer, and some drafts have no suggestion. */
  asked: number;
  /** From the end of the pause, when the call begins, until the suggestion is painted. */
  afterPause: number[];
  /** From a key that types a suggestion's next letter until what is left of it is painted. */
  typedThrough: number[];
}

interface TraceEvent {
  name: string;
  /** Microseconds. */
  ts: number;
  dur?: number;
  tid: number;
  args: { data?: { type?: string } };
}

/** Reads a trace of Chromium with the page's marks `ask` and `ghost`. */
export function readTrace(trace: Buffer): Sample {
  const { traceEvents } = JSON.parse(trace.toString()) as { traceEvents: TraceEvent[] };
  const marks = traceEvents.filter(({ name }) => name === 'ask' || name === 'ghost');
  const thread = marks[0]?.tid;
  const events = traceEvents.filter(({ tid }) => tid === thread).sort((one, other) => one.ts - other.ts);
  const asked = marks.filter(({ name }) => name === 'ask').length;
  const sample: Sample = { asked, afterPause: [], typedThrough: [] };
  let askedAt: number | undefined;
  let key = 0;
  for (const [at, { name, ts, args }] of events.entries()) {
    if (name === 'EventDispatch' && args.data?.type === 'keydown') key = ts;
    else if (name === 'ask') askedAt = ts;
    else if (name === 'ghost') {
      const painted = endOfPaint(events, at);
      if (painted === undefined) continue;
      // A suggestion that changes without a call is typed through.
      if (askedAt !== undefined) sample.afterPause.push((painted - askedAt) / 1000);
      else sample.typedThrough.push((painted - key) / 1000);
      askedAt = undefined;
    }
  }
  return sample;
}

function endOfPaint(events: readonly TraceEvent[], after: number): number | undefined {
  const paint = events.find(({ name }, at) => at > after && name === 'Paint');
  return paint && paint.ts + (paint.dur ?? 0);
}
