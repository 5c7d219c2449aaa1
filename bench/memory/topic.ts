/** Something that a person may have settled on: a slot, its possible values, and ways to say so. */
export interface Topic {
  slot: string;
  kind: string;
  /** Words of a search for the topic. */
  goal: string;
  /** Possible values. None is a word of another topic. */
  values: readonly string[];
  /** Three wordings of one statement; `{}` is the value. */
  told: readonly [string, string, string];
  /** Wordings of a change; `{old}` is the previous value. */
  changed: readonly [string, string];
  /** The statement as a fact about the person, in a model's words. */
  fact: string;
}
