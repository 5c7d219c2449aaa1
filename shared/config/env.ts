/**
 * The only reader of the environment. A reader per kind of value; every fault is collected, so that one
 * start names all of them. An empty value counts as unset.
 */
export class Env {
  readonly faults: string[] = [];
  readonly #values: NodeJS.ProcessEnv;

  constructor(values: NodeJS.ProcessEnv) {
    this.#values = values;
  }

  text(name: string): string | undefined {
    const value = this.#values[name];
    return value === undefined || value === '' ? undefined : value;
  }

  integer(name: string, fallback: number, range: { min: number; max: number }): number {
    const value = this.text(name);
    if (value === undefined) return fallback;
    const number = Number(value);
    if (/^\d{1,15}$/.test(value) && number >= range.min && number <= range.max) return number;
    this.#fault(name, `a whole number from ${range.min} to ${range.max}`, value);
    return fallback;
  }

  choice<const T extends string>(name: string, fallback: T, choices: readonly T[]): T {
    const value = this.text(name);
    if (value === undefined) return fallback;
    const choice = choices.find((c) => c === value);
    if (choice !== undefined) return choice;
    this.#fault(name, `one of ${choices.join(', ')}`, value);
    return fallback;
  }

  pattern(name: string, fallback: string, pattern: RegExp, description: string): string {
    const value = this.text(name);
    if (value === undefined) return fallback;
    if (pattern.test(value)) return value;
    this.#fault(name, description, value);
    return fallback;
  }

  /** A URL of one of the given protocols (`https:`), without its last slash. The value may hold a password: it is not repeated. */
  url(name: string, protocols: readonly string[]): string | undefined {
    const value = this.text(name);
    if (value === undefined) return undefined;
    if (URL.canParse(value) && protocols.includes(new URL(value).protocol)) return value.replace(/\/$/, '');
    this.faults.push(`${name} must be a URL that starts with ${protocols.map((p) => `${p}//`).join(' or ')}`);
    return undefined;
  }

  /** A value that may hold a password: a fault does not repeat it. */
  parsed<T>(name: string, parse: (value: string) => T | undefined, description: string): T | undefined {
    const value = this.text(name);
    if (value === undefined) return undefined;
    const result = parse(value);
    if (result === undefined) this.faults.push(`${name} must be ${description}`);
    return result;
  }

  list(name: string): string[] | undefined {
    const items = this.text(name)
      ?.split(',')
      .map((item) => item.trim())
      .filter((item) => item !== '');
    return items?.length ? items : undefined;
  }

  require(...names: string[]): void {
    for (const name of names) if (this.text(name) === undefined) this.faults.push(`${name} is required`);
  }

  #fault(name: string, expected: string, value: string): void {
    this.faults.push(`${name} must be ${expected}, not ${JSON.stringify(value.slice(0, 60))}`);
  }
}

/** The process cannot start as it is configured. The message is for the operator, on one line. */
export class ConfigError extends Error {
  constructor(faults: readonly string[]) {
    super(`configuration: ${faults.join('; ')}`);
    this.name = 'ConfigError';
  }
}
