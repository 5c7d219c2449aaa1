import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import type { Socket } from 'node:net';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { bareEnvironment } from './environment.ts';
import type { HostReply, HostRequest } from './host.ts';
import { noteAnswer } from './noted-answers.ts';

/** Time that parts may take to stop. If one still has work (its provider never answers), the whole host is killed. */
const STOP_MS = 1500;

type Kind = 'web' | 'worker';

const idle: Host[] = [];

/**
 * Hosts the ingresses or the workers of one installation at a time. It has already loaded the product's code and hashes
 * passwords quickly, so a part is ready in a fraction of the time of a separate process.
 */
class Host {
  readonly kind: Kind;
  readonly #child: ChildProcess;
  readonly #parts: HostedPart[] = [];
  readonly #waiting = new Map<number, (reply: HostReply) => void>();

  static take(kind: Kind): Host {
    const free = idle.findIndex((one) => one.kind === kind);
    const [taken = new Host(kind)] = free < 0 ? [] : idle.splice(free, 1);
    return taken;
  }

  constructor(kind: Kind) {
    this.kind = kind;
    const child = fork(fileURLToPath(new URL('host.ts', import.meta.url)), {
      env: bareEnvironment(),
      execArgv: ['--no-deprecation', '--import', new URL('quick-hash.ts', import.meta.url).href],
      stdio: ['ignore', 'pipe', 'inherit', 'ipc'],
    });
    this.#child = child;
    child.unref();
    child.channel?.unref();
    (child.stdout as Socket).unref();
    createInterface({ input: child.stdout as Socket }).on('line', (line) => this.#keep(line));
    child.on('message', (reply: HostReply) => this.#settle(reply));
    child.on('exit', (code, signal) => {
      idle.splice(0, idle.length, ...idle.filter((one) => one !== this));
      for (const part of this.#waiting.keys())
        this.#settle({ part, error: `its host died: ${signal ?? code}` });
    });
  }

  launch(entry: string[], env: Record<string, string>): HostedPart {
    const part = this.#parts.length;
    const hosted = new HostedPart(this.#ask({ part, entry, env }), {
      stop: () => this.#ask({ part }),
      signal: (name) => void this.#child.kill(name),
      kill: () => this.kill(),
    });
    this.#parts.push(hosted);
    return hosted;
  }

  /** Stops all parts. The host then serves the next installation, or is killed if a part does not stop in time. */
  async free(): Promise<void> {
    const stopped = Promise.all(this.#parts.map((part) => part.stop())).then(() => true);
    const inTime = await Promise.race([stopped.catch(() => false), sleep(STOP_MS)]);
    this.#parts.length = 0;
    if (inTime && this.#isAlive()) idle.push(this);
    else await this.kill();
  }

  async kill(): Promise<void> {
    if (!this.#isAlive()) return;
    this.#child.kill('SIGKILL');
    await once(this.#child, 'exit');
  }

  #isAlive(): boolean {
    return this.#child.exitCode === null && this.#child.signalCode === null;
  }

  #ask(request: HostRequest): Promise<HostReply> {
    return new Promise((resolve) => {
      this.#waiting.set(request.part, resolve);
      if (this.#child.connected) this.#child.send(request);
      else this.#settle({ part: request.part, error: 'its host is dead' });
    });
  }

  #settle(reply: HostReply): void {
    this.#waiting.get(reply.part)?.(reply);
    this.#waiting.delete(reply.part);
  }

  #keep(line: string): void {
    const space = line.indexOf(' ');
    const text = line.slice(space + 1);
    noteAnswer(text);
    this.#parts[Number(line.slice(0, space))]?.keep(`${text}\n`);
  }
}

interface HostOfPart {
  stop(): Promise<HostReply>;
  signal(name: NodeJS.Signals): void;
  kill(): Promise<void>;
}

export class HostedPart {
  readonly #started: Promise<HostReply>;
  readonly #host: HostOfPart;
  #isKilled = false;
  url = '';
  log = '';

  constructor(started: Promise<HostReply>, host: HostOfPart) {
    this.#started = started;
    this.#host = host;
  }

  async ready(): Promise<this> {
    const { url = '', error } = await this.#started;
    if (error !== undefined) throw new Error(`a part failed at its start: ${error}\n${this.log}`);
    this.url = url;
    return this;
  }

  /** Stops the part in an orderly way, as SIGTERM stops a process: running work is finished. */
  async stop(): Promise<void> {
    if (this.#isKilled) return;
    const { error } = await this.#host.stop();
    if (error !== undefined) throw new Error(`a part failed to stop: ${error}\n${this.log}`);
  }

  /** Kills the host, and with it all parts of the same kind, unless they run apart. */
  async kill(): Promise<void> {
    this.#isKilled = true;
    await this.#host.kill();
  }

  /** Freezes or thaws the host, and with it all parts of the same kind, unless they run apart. */
  freeze(isFrozen: boolean): void {
    this.#host.signal(isFrozen ? 'SIGSTOP' : 'SIGCONT');
  }

  keep(text: string): void {
    this.log = (this.log + text).slice(-100_000);
  }
}

/** Hosts of an installation: ingresses never share one with workers, and with `apart` no two parts share one. */
export class Hosts {
  readonly #taken: Host[] = [];
  readonly #apart: boolean;

  constructor(apart: boolean) {
    this.#apart = apart;
  }

  launch(kind: Kind, entry: string[], env: Record<string, string>): HostedPart {
    const shared = this.#apart ? undefined : this.#taken.find((host) => host.kind === kind);
    const host = shared ?? Host.take(kind);
    if (shared === undefined) this.#taken.push(host);
    return host.launch(entry, env);
  }

  async free(): Promise<void> {
    await Promise.all(this.#taken.map((host) => host.free()));
  }
}
