import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { until } from './until.ts';

const run = promisify(execFile);

/** A terminal of tmux in which a program runs, as a person sees and uses it. */
export class Terminal implements AsyncDisposable {
  readonly #socket: string;

  private constructor(socket: string) {
    this.#socket = socket;
  }

  /** `socket` is a path that no other terminal uses. */
  static async start(
    command: string,
    { socket, cwd, env }: { socket: string; cwd: string; env: NodeJS.ProcessEnv },
  ): Promise<Terminal> {
    const size = ['-x', '150', '-y', '50'];
    const args = ['-u', '-S', socket, '-f', '/dev/null', 'new-session', '-d', ...size, '-c', cwd, command];
    await run('tmux', args, { env, cwd });
    return new Terminal(socket);
  }

  /** Names of keys, such as `Enter`, or characters. */
  async press(...keys: string[]): Promise<void> {
    await this.#tmux('send-keys', ...keys);
  }

  async type(text: string): Promise<void> {
    await this.#tmux('send-keys', '-l', text);
  }

  async screen(): Promise<string> {
    return (await this.#tmux('capture-pane', '-p', '-S', '-200')).trim();
  }

  /** Resolves with the screen once it shows this; what it showed instead is in the error. */
  async shows(what: RegExp, withinMs = 60_000): Promise<string> {
    let screen = '';
    return until(async () => {
      screen = await this.screen();
      return what.test(screen) && screen;
    }, withinMs).catch((cause) => {
      throw new Error(`${what} is not on the screen:\n${screen}`, { cause });
    });
  }

  async #tmux(...args: string[]): Promise<string> {
    return (await run('tmux', ['-S', this.#socket, ...args])).stdout;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#tmux('kill-server').catch(() => undefined);
  }
}
