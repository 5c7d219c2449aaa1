/** One check of `doctor`: its finding, and what the operator should do; null when all is well. */
export interface Check {
  name: string;
  ok: boolean;
  found: string;
  to_do: string | null;
}

export type Finding = Omit<Check, 'name'>;

export const fine = (found: string): Finding => ({ ok: true, found, to_do: null });

export const fault = (found: string, toDo: string): Finding => ({ ok: false, found, to_do: toDo });
