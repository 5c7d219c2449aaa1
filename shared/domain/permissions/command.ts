import { posix } from 'node:path';
import {
  type Command,
  forEachChild,
  type ParsedScript,
  parse,
  type Redirected,
  type Redirection,
  type Statement,
  type SyntaxNode,
} from 'unbash';
import type { Called, Inner } from './called.ts';
import { partOfCall } from './calls.ts';
import { levelOfText } from './filters.ts';
import { type Part, partOf } from './permission.ts';
import { SINKS, type Where } from './places.ts';
import { HARMLESS_VARIABLES } from './programs.ts';
import { exactly, partOfFile, textOf } from './redirections.ts';
import { wordGiven, wordOf } from './words.ts';

/** Shells that call shells are read this deep. */
const DEPTH_MAX = 4;
/** A command of more parts is never like anything. */
const PARTS_MAX = 30;

/** Returns the parts of a shell command; a text that cannot be parsed is one part that is never like anything. */
export function partsOfCommand(text: string, where: Where, depth = 0, isFed = false): Part[] {
  if (depth > DEPTH_MAX) return [partOf('never', ['shells in shells'])];
  const reader = new CommandReader(depth, isFed);
  reader.script(parse(text), text, where);
  const { all } = reader;
  return all.length > PARTS_MAX ? [partOf('never', ['too long'])] : all;
}

/** Returns the parts of a call of a program, as if a shell had made it. */
export function partsOfCalled(called: Called, where: Where): Part[] {
  const reader = new CommandReader(0);
  reader.called(called, where);
  return reader.all;
}

class CommandReader {
  readonly parts: Part[] = [];
  /** Parts that need nobody's approval beside others. */
  readonly harmless: Part[] = [];
  readonly #depth: number;
  /** True within what reads what another program writes. */
  #isFed: boolean;

  constructor(depth: number, isFed = false) {
    this.#depth = depth;
    this.#isFed = isFed;
  }

  get all(): Part[] {
    return this.parts.length === 0 ? this.harmless : this.parts;
  }

  script(script: ParsedScript | undefined, text: string, where: Where): void {
    if (script === undefined || (script.errors?.length ?? 0) > 0 || script.shebang !== undefined)
      this.parts.push(partOf('never', ['cannot be parsed', text]));
    else this.#statements(script.commands, script.source ?? text, { ...where });
  }

  /** A `cd` that is no condition of what follows may fail, and then the rest runs elsewhere. */
  #statements(statements: readonly Statement[], source: string, where: Where): void {
    const begun = where.cwd;
    for (const { command } of statements) {
      if (where.cwd !== begun) this.#loseFolder(where);
      this.#node(command, source, where);
    }
  }

  #node(node: SyntaxNode, source: string, where: Where): void {
    if (this.parts.length > PARTS_MAX) return;
    switch (node.type) {
      case 'Command':
        this.#command(node, source, where);
        return;
      case 'AndOr': {
        const { cwd } = where;
        for (const [at, command] of node.commands.entries()) {
          if (node.operators[at - 1] === '||' && where.cwd !== cwd) this.#loseFolder(where);
          this.#node(command, source, where);
        }
        return;
      }
      case 'Pipeline':
        this.#pipeline(node.commands, source, where);
        return;
      case 'Subshell':
        this.#statements(node.body.commands, source, { ...where });
        return;
      case 'BraceGroup':
        this.#statements(node.body.commands, source, where);
        return;
      case 'Redirected':
        this.#redirected(node, source, where);
        return;
      default: {
        // Loops, conditions and functions: what runs in them is known, but not how often, or with which words.
        this.parts.push(partOf('strict', ['script', where.cwd ?? '?', source.slice(node.pos, node.end)]));
        const inside = { ...where, cwd: undefined };
        this.#within(node, source, inside);
      }
    }
  }

  /** What a group is given is part of it. */
  #redirected({ command, redirects }: Redirected, source: string, where: Where): void {
    const texts = [source.slice(command.pos, command.end), ...redirects.map((one) => textOf(one, source))];
    const isFed = this.#isFed;
    if (redirects.some(({ operator }) => operator.startsWith('<'))) {
      this.#isFed = true;
      this.parts.push(partOf('strict', ['script', where.cwd ?? '?', ...texts]));
    }
    this.#node(command, source, where);
    this.#isFed = isFed;
    for (const redirect of redirects) this.#redirect(redirect, source, where, texts);
  }

  /** Each member is a process of its own. What only filters read is said, and does nothing. */
  #pipeline(commands: readonly SyntaxNode[], source: string, where: Where): void {
    if (commands.length > PARTS_MAX) {
      this.parts.push(partOf('never', ['too long']));
      return;
    }
    const members = commands.map((command, at) => {
      const member = new CommandReader(this.#depth, this.#isFed || at > 0);
      member.#node(command, source, { ...where });
      return { ...member, text: source.slice(command.pos, command.end) };
    });
    const last = members.findLastIndex(({ parts }) => parts.length > 0);
    for (const [at, { parts, harmless, text }] of members.entries()) {
      if (at < last) this.parts.push(...[...harmless, ...parts].map((part) => exactly(part, [text])));
      else {
        this.parts.push(...parts);
        this.harmless.push(...harmless);
      }
    }
  }

  /** Reads what is run within a node: in substitutions, and in the bodies of loops and functions. */
  #within(node: SyntaxNode, source: string, where: Where): void {
    if (node.type === 'CommandExpansion' || node.type === 'ProcessSubstitution') {
      this.script(node.script, source, where);
      return;
    }
    forEachChild(node, (child) => {
      if (child.type === 'Redirect') this.#redirect(child, source, where, [textOf(child, source)]);
      else if (RUN.has(child.type)) this.#node(child, source, { ...where });
      else this.#within(child, source, where);
    });
  }

  #command(node: Command, source: string, where: Where): void {
    const { name, redirects } = node;
    const given = [...node.prefix, ...node.suffix];
    const assignments = given.filter((one) => one.type === 'Assignment');
    const words = given.filter((one) => one.type === 'Word');
    for (const one of [...(name === undefined ? [] : [name]), ...assignments, ...words])
      this.#within(one, source, where);
    const input = redirects.filter(({ type }) => type !== 'Redirect').map((one) => textOf(one, source));
    const texts = [source.slice(node.pos, node.end), ...input];
    for (const redirect of redirects) this.#redirect(redirect, source, where, texts);
    const variables = assignments.map(({ text }) => text);
    if (name === undefined || assignments.some(({ name: variable }) => !HARMLESS_VARIABLES.test(variable))) {
      const parts = [name?.text ?? '', ...words.map(({ text }) => text)];
      if (variables.length > 0) this.parts.push(partOf('strict', ['variables', ...variables, ...parts]));
      if (name === undefined) return;
    }
    const isGiven = redirects.some(({ operator }) => operator === '<');
    this.called(
      { program: wordOf(name), words: words.map(wordOf), variables, input, isFed: this.#isFed || isGiven },
      where,
    );
  }

  called(called: Called, where: Where): void {
    const { program, words } = called;
    if (/^(cd|pushd|popd)$/.test(program.text)) {
      this.#changeFolder(called, where);
      return;
    }
    const { part, isHarmless = false, inner, hidden = [] } = partOfCall(called, where);
    if (inner === undefined) (isHarmless ? this.harmless : this.parts).push(part);
    else this.parts.push(...this.#partsOf(inner, where, called.isFed));
    const isNever = (one: Inner) =>
      this.#partsOf(one, where, called.isFed).some(({ level }) => level === 'never');
    if (hidden.length > PARTS_MAX || hidden.some(isNever))
      this.parts.push(partOf('never', ['hidden', program.text, ...words.map(({ text }) => text)]));
  }

  #partsOf(inner: Inner, where: Where, isFed: boolean): Part[] {
    if ('script' in inner) return partsOfCommand(inner.script, where, this.#depth + 1, isFed);
    const reader = new CommandReader(this.#depth);
    reader.called(inner.call, where);
    return reader.all;
  }

  /** What follows runs in one folder or another. */
  #loseFolder(where: Where): void {
    if (where.cwd !== undefined) this.parts.push(partOf('strict', ['maybe in', where.cwd]));
    where.cwd = undefined;
  }

  /** Where it leads is part of what follows, unless it is not certain. */
  #changeFolder({ program, words }: Called, where: Where): void {
    const [to] = words;
    const isKnown = words.every((word) => word.isKnown);
    const isOne = program.text === 'cd' && words.length === 1 && to !== undefined && isKnown;
    where.cwd = isOne ? folderAt(to.text, where) : undefined;
    if (where.cwd === undefined)
      this.parts.push(partOf(isKnown ? 'strict' : 'never', [program.text, ...words.map(({ text }) => text)]));
  }

  /** `texts` say what is read or written. */
  #redirect(redirect: Redirection, source: string, where: Where, texts: readonly string[]): void {
    this.#within(redirect, source, where);
    if (redirect.type !== 'Redirect') {
      const level = levelOfText('echo', [wordGiven(redirect)]);
      if (level !== 'harmless') this.parts.push(partOf(level, ['given', ...texts]));
      return;
    }
    const { operator, target } = redirect;
    const word = target === undefined ? { text: '', isKnown: false, isPlain: false } : wordOf(target);
    if (operator.endsWith('&') && /^(\d+|-)$/.test(word.text)) return;
    if (word.isKnown && SINKS.test(word.text)) return;
    this.parts.push(exactly(partOfFile(operator === '<' ? 'read' : 'write', word, where), texts));
  }
}

/** Commands, in lists and alone. */
const RUN = new Set<string>(
  'Command AndOr Pipeline Subshell BraceGroup Redirected If For ArithmeticFor Select While Case Function Coproc TestCommand ArithmeticCommand'.split(
    ' ',
  ),
);

/** Returns undefined for a folder that is not certain. */
function folderAt(to: string, { cwd }: Where): string | undefined {
  if (/^-|[*?[]/.test(to)) return undefined;
  if (to.startsWith('~')) return posix.normalize(to);
  if (!to.startsWith('/') && cwd === undefined) return undefined;
  return cwd?.startsWith('~') && !to.startsWith('/')
    ? posix.join(cwd, to)
    : posix.resolve('/', cwd ?? '', to);
}
