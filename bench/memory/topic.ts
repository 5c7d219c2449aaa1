/** Something that a person may have settled on: a slot, the values that it may have, and the ways to say so. */
export interface Topic {
  slot: string;
  kind: string;
  /** What one searches for it by. */
  goal: string;
  /** No value is a word of another topic. */
  values: readonly string[];
  /** Three wordings of one statement; `{}` is the value. */
  told: readonly [string, string, string];
  /** Wordings of a change; `{old}` is the value until now. */
  changed: readonly [string, string];
  /** As a fact about the person, in the words of a model. */
  fact: string;
}
