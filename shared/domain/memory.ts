/** What is known about a person, as far as it may shape a prediction. */
export interface Memory {
  profile: { summary: string; data: Record<string, unknown> } | null;
  /** The most telling ones first. */
  facts: string[];
}
