/** What is known about a person and may shape a prediction. */
export interface Memory {
  profile: { summary: string; data: Record<string, unknown> } | null;
  /** Most relevant first. */
  facts: string[];
}
