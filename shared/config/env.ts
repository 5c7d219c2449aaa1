import { readFileSync } from 'node:fs';
import { SECRETS, type SettingName } from './settings.ts';
import { isDecodable, parseBase } from './values.ts';

/**
 * Reads environment variables by type. Collects faults, so that a failed start reports all of them. Spaces and
 * line breaks around a value do not count, and an empty value counts as unset.
 */
export class Env {
  readonly faults: string[] = [];
  readonly #values: NodeJS.ProcessEnv;

  constructor(values: NodeJS.ProcessEnv) {
    this.#values = values;
  }

  text(name: SettingName): string | undefined {
    const value = this.#value(name);
    const file = this.#file(name);
    if (file === undefined) return value;
    if (value === undefined) return this.#read(`${name}_FILE`, file);
    this.faults.push(`${name} and ${name}_FILE are both set`);
    return value;
  }

  /** True if the variable or, for a secret, its `_FILE` variable is set. Does not read the file. */
  has(name: SettingName): boolean {
    return this.#value(name) !== undefined || this.#file(name) !== undefined;
  }

  integer(name: SettingName, fallback: number, range: { min: number; max: number }): number {
    const value = this.text(name);
    if (value === undefined) return fallback;
    const number = Number(value);
    if (/^\d{1,15}$/.test(value) && number >= range.min && number <= range.max) return number;
    this.#fault(name, `a whole number from ${range.min} to ${range.max}`, value);
    return fallback;
  }

  choice<const T extends string>(name: SettingName, fallback: T, choices: readonly T[]): T {
    const value = this.text(name);
    if (value === undefined) return fallback;
    const choice = choices.find((c) => c === value);
    if (choice !== undefined) return choice;
    this.#fault(name, `one of ${choices.join(', ')}`, value);
    return fallback;
  }

  pattern(name: SettingName, fallback: string, pattern: RegExp, description: string): string {
    const value = this.text(name);
    if (value === undefined) return fallback;
    if (pattern.test(value)) return value;
    this.#fault(name, description, value);
    return fallback;
  }

  /** Removes a trailing slash. A fault does not quote the URL, which may contain a password. */
  url(name: SettingName, protocols: readonly string[]): string | undefined {
    const value = this.text(name);
    if (value === undefined) return undefined;
    // `URL` also accepts `http:/host` and `postgres:/path`.
    const isWhole = protocols.some((protocol) => value.toLowerCase().startsWith(`${protocol}//`));
    if (isWhole && URL.canParse(value) && isDecodable(value)) return value.replace(/\/$/, '');
    const starts = protocols.map((p) => `${p}//`).join(' or ');
    this.faults.push(
      `${name} must be a URL that starts with ${starts}, with special characters percent-encoded`,
    );
    return undefined;
  }

  /** Reads the start of web addresses, to which paths are appended: so nothing may follow its own. */
  base(name: SettingName): string | undefined {
    return this.parsed(
      name,
      parseBase,
      'a URL that starts with http:// or https://, without user, query or fragment',
    );
  }

  /** Reads a key that a header can carry. */
  header(name: SettingName): string | undefined {
    const parse = (value: string) => (/^[\x20-\x7e]+$/.test(value) ? value : undefined);
    return this.parsed(name, parse, 'of plain characters');
  }

  /** A fault does not quote the value, which may contain a secret. */
  parsed<T>(name: SettingName, parse: (value: string) => T | undefined, description: string): T | undefined {
    const value = this.text(name);
    if (value === undefined) return undefined;
    const result = parse(value);
    if (result === undefined) this.faults.push(`${name} must be ${description}`);
    return result;
  }

  require(...names: SettingName[]): void {
    for (const name of names) if (!this.has(name)) this.faults.push(`${name} is required`);
  }

  #value(name: string): string | undefined {
    return this.#values[name]?.trim() || undefined;
  }

  #file(name: SettingName): string | undefined {
    return SECRETS.has(name) ? this.#value(`${name}_FILE`) : undefined;
  }

  /** A fault names the file, but does not quote its content. */
  #read(name: string, file: string): string | undefined {
    try {
      const value = readFileSync(file, 'utf8').trim();
      if (value !== '') return value;
      this.faults.push(`${name} names an empty file: ${file}`);
    } catch (error) {
      const code = error instanceof Error && 'code' in error ? error.code : error;
      this.faults.push(`${name} names a file that cannot be read (${code}): ${file}`);
    }
    return undefined;
  }

  #fault(name: SettingName, expected: string, value: string): void {
    this.faults.push(`${name} must be ${expected}, not ${JSON.stringify(value.slice(0, 60))}`);
  }
}

/** The message is one line for the operator. */
export class ConfigError extends Error {
  readonly faults: readonly string[];

  constructor(faults: readonly string[]) {
    super(`configuration: ${faults.join('; ')}`);
    this.name = 'ConfigError';
    this.faults = faults;
  }
}
