import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import type { Socket } from 'node:net';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { bareEnvironment } from './environment.ts';
import type { HostReply, HostRequest } from './host.ts';
import { noteAnswer } from './noted-answers.ts';

/** A part that has work left at its end, as a worker whose provider never answers, goes with its host. */
const STOP_MS = 1500;

type Kind = 'web' | 'worker';

/** Free ones, of both kinds. */
const idle: Host[] = [];

/**
 * A process for the ingresses or for the workers of one installation at a time. It has loaded the product's code already, so
 * that a part is ready in a fraction of the time and of the CPU that a process of its own takes; so is a password's hash.
 */
class Host {
  readonly kind: Kind;
  readonly #child: ChildProcess;
  readonly #parts: HostedPart[] = [];
  readonly #waiting = new Map<number, (reply: HostReply) => void>();

  /** One that is free, or a new one. */
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
    // An idle host keeps no process of the tests alive.
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

  /** Starts what the entry would be as a process. */
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

  /** Stops all parts; the host serves the next installation, unless one of them does not stop in time. */
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

/** What a part may ask of its host. */
interface HostOfPart {
  stop(): Promise<HostReply>;
  signal(name: NodeJS.Signals): void;
  kill(): Promise<void>;
}

/** A part of the product in a process that it shares with the others of its installation. */
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

  /** In order, as a process at a signal: work that runs is finished. */
  async stop(): Promise<void> {
    if (this.#isKilled) return;
    const { error } = await this.#host.stop();
    if (error !== undefined) throw new Error(`a part failed to stop: ${error}\n${this.log}`);
  }

  /** Kills its host, so all of its kind unless they run apart. */
  async kill(): Promise<void> {
    this.#isKilled = true;
    await this.#host.kill();
  }

  /** Freezes or thaws its host, so all of its kind unless they run apart. */
  freeze(isFrozen: boolean): void {
    this.#host.signal(isFrozen ? 'SIGSTOP' : 'SIGCONT');
  }

  keep(text: string): void {
    this.log = (this.log + text).slice(-100_000);
  }
}

/** The hosts of an installation: ingresses do not share one with workers, and `apart` no part shares one. */
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

  /** Ends all that was launched. */
  async free(): Promise<void> {
    await Promise.all(this.#taken.map((host) => host.free()));
  }
}
