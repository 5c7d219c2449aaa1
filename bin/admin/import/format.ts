/** The session that an entry belongs to. */
export interface Session {
  /** The id of the recorded session. */
  id: string;
  agent: string;
  /** Where the agent worked, or what else tells the session apart. */
  detail?: string | undefined;
}

/** Something that was said. */
interface Said {
  /** The id of the recorded event: the same whenever the same words are read again, and no other words'. */
  id: string;
  /** RFC 3339, as the transcript has it; undefined when it has none. */
  at: string | undefined;
  text: string;
}

/** What a transcript says at one point, whatever its format. */
export type Entry =
  /** The person's words; `answers` names the question, where the transcript does. */
  | ({ kind: 'user'; answers?: string } & Said)
  /** The agent's words. Whether they end its turn is known from what follows. */
  | ({ kind: 'agent' } & Said)
  /** What the agent asks the person by a tool, and waits for. */
  | ({ kind: 'question' } & Said)
  /** The agent goes on by itself, or was interrupted: what it said last awaits no answer. */
  | { kind: 'working' }
  /** The agent waits for the person. */
  | { kind: 'turn-end' }
  /** A record in a person's or an agent's place that holds no words of theirs. */
  | { kind: 'skipped' };

/** The entries of one session. */
export interface Passage {
  session: Session;
  entries: Entry[];
}

/** Reads one transcript, line by line. Of a transcript that has grown it gives the same entries first. */
export interface Reader {
  /** What the line completes, if anything. Throws for a line that is broken. */
  read(line: string): Passage | undefined;
}

/** A format of transcripts. */
export interface Format {
  /** The source of the recorded events. */
  name: string;
  /** What people call it. */
  title: string;
  /** Whether the line, near the start of a file, is of this format and no other. */
  recognises(line: string): boolean;
  open(): Reader;
}
