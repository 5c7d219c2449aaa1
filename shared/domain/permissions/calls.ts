import type { Word as ParsedWord, WordPart } from 'unbash';
import { isRisky } from '../replies/risk.ts';
import { partOfUrl } from './files.ts';
import { highest, type Level, type Part, partOf } from './permission.ts';
import { folderOf, levelOfDeleting, levelOfReading, levelOfWriting, placeOf, type Where } from './places.ts';
import {
  CURL_READS,
  DELETERS,
  GIT_READS_UNLESS,
  INTERPRETERS,
  isGlobal,
  MOVERS,
  NEVER,
  NEVER_TEXT,
  NEVER_WORDS,
  READERS,
  REWRITES,
  RUNNERS,
  relevantWords,
  SEARCHES,
  SHELLS,
  SUBCOMMANDS,
  TEXT_PROGRAMS,
  WRAPPERS,
  WRITERS,
} from './programs.ts';

/** A word without its quotes; as written, where its value is only known when it runs. */
export interface Word {
  text: string;
  isKnown: boolean;
}

/** A program with its words. */
export interface Called {
  program: Word;
  words: readonly Word[];
  variables: readonly string[];
  /** Texts that it reads from the command itself (`<<`). */
  input: readonly string[];
  /** True if it reads what another program writes. */
  isFed: boolean;
}

/** What a call is, and what it runs in turn. */
interface Reading {
  part: Part;
  inner?: { script: string } | { call: Called };
}

const KNOWN_PARTS = ['Literal', 'Glob', 'SingleQuoted', 'AnsiCQuoted'];

export function wordOf({ value, text, parts }: ParsedWord): Word {
  const isKnownPart = (part: WordPart): boolean =>
    KNOWN_PARTS.includes(part.type) || (part.type === 'DoubleQuoted' && part.parts.every(isKnownPart));
  const isKnown = parts?.every(isKnownPart) ?? true;
  return { text: isKnown ? value : text, isKnown };
}

export function partOfCall(called: Called, where: Where): Reading {
  const call = new Call(called, where);
  const { name, words } = call;
  if (!called.program.isKnown || NEVER.has(name) || name.startsWith('mkfs.')) return call.same('never');
  if (SHELLS.has(name)) return call.shell();
  if (Object.hasOwn(WRAPPERS, name)) return call.wrapper(WRAPPERS[name]);
  if (INTERPRETERS.has(name) && called.isFed && words.every(({ text }) => text.startsWith('-')))
    return call.same('never');
  if (DELETERS.includes(name)) return call.deletes();
  if (Object.hasOwn(WRITERS, name)) return call.writes(WRITERS[name] ?? /^$/);
  if (Object.hasOwn(READERS, name)) return call.reads([name], words, READERS[name]);
  if (name === 'sed' && words[0]?.text === '-n' && /^\d+(,(\d+|\$))?p$/.test(words[1]?.text ?? ''))
    return call.reads([name], words.slice(2));
  if (name === 'curl') return call.curl();
  if (name === 'git') return call.git();
  if (/^python3?$/.test(name) && words[0]?.text === '-m' && RUNNERS.has(words[1]?.text ?? ''))
    return call.runs([name, '-m', words[1]?.text ?? ''], 2);
  if (RUNNERS.has(name)) return call.runs([name], 0);
  return call.bySubcommand() ?? call.other();
}

class Call {
  readonly name: string;
  readonly words: readonly Word[];
  readonly #called: Called;
  readonly #where: Where;
  readonly #texts: string[];
  readonly #areKnown: boolean;

  constructor(called: Called, where: Where) {
    this.#called = called;
    this.#where = where;
    this.name = called.program.text;
    this.words = called.words;
    this.#texts = called.words.map(({ text }) => text);
    this.#areKnown = called.words.every(({ isKnown }) => isKnown);
  }

  /** Like nothing but the same words in the same folder. */
  same(level: Level): Reading {
    const { variables, program, input } = this.#called;
    const exact = [this.#folder ?? '?', ...variables, program.text, ...this.#texts, ...input];
    const [first] = this.#texts.filter((text) => !text.startsWith('-'));
    return { part: partOf(level, [this.name, first ?? ''], exact) };
  }

  get #folder(): string | undefined {
    return this.#where.cwd === undefined ? undefined : placeOf('.', this.#where).path;
  }

  #ordinary(words: readonly string[], level: Level = 'ordinary'): Reading {
    return { part: partOf(level, [...this.#called.variables, ...words]) };
  }

  /** A shell that is given no file runs whatever reaches it. */
  shell(): Reading {
    const [first, second] = this.words;
    if (/^-[a-z]*c$/.test(first?.text ?? '') && second?.isKnown === true)
      return { part: partOf('ordinary', ['shell']), inner: { script: second.text } };
    const isFile = first?.isKnown === true && !first.text.startsWith('-') && !this.#called.isFed;
    return this.same(isFile && this.#called.input.length === 0 ? 'strict' : 'never');
  }

  wrapper(option: RegExp | undefined): Reading {
    const rest =
      option === undefined
        ? this.words
        : this.words.slice(this.#texts.findIndex((text) => !option.test(text)));
    const [program, ...words] = rest;
    if (program === undefined || program.text.startsWith('-') || program.text.includes('='))
      return this.same('strict');
    const given = this.name === 'xargs' ? [{ text: '…', isKnown: false }] : [];
    const call = { ...this.#called, program, words: [...words, ...given] };
    return { part: partOf('ordinary', [this.name]), inner: { call } };
  }

  deletes(): Reading {
    const places = this.words
      .filter(({ text }) => !text.startsWith('-'))
      .map(({ text }) => placeOf(text, this.#where));
    const isWhole = !this.#areKnown || places.length === 0 || this.#texts.includes('--no-preserve-root');
    const level = isWhole ? 'never' : highest(places.map(levelOfDeleting));
    return this.same(level);
  }

  writes(options: RegExp): Reading {
    const paths = this.#texts.filter((text) => !options.test(text));
    const places = paths.map((text) => placeOf(text, this.#where));
    const level = highest(places.map(levelOfWriting));
    if (!this.#areKnown || level !== 'ordinary' || paths.some((text) => text.startsWith('-')))
      return this.same(highest([level, 'strict']));
    return this.#ordinary([this.name, ...new Set(places.map(folderOf))]);
  }

  /** `name` is what the reading is called; `unless` are options with which it does more. */
  reads(name: readonly string[], words: readonly Word[], unless?: RegExp): Reading {
    const isText = TEXT_PROGRAMS.includes(this.name);
    const places = words
      .filter(({ text }) => !isText && (!text.startsWith('-') || text.includes('=')))
      .map(({ text }) => placeOf(text.replace(/^-[^=]*=|^[^/ ]*:(?!\/)/, ''), this.#where));
    const outside = places.filter(({ kind }) => kind !== 'inside').map(({ path }) => path);
    const level = highest(places.map(levelOfReading));
    const isMore = words.some(({ text }) => unless?.test(text));
    if (isMore && outside.length > 0) return this.same('never');
    if (
      isMore ||
      !this.#areKnown ||
      level !== 'ordinary' ||
      (outside.length > 0 && SEARCHES.includes(this.name))
    )
      return this.same(highest([level, 'strict']));
    return this.#ordinary([...name, ...outside]);
  }

  runs(name: readonly string[], skipped: number): Reading {
    const isInside = (word: string) => {
      const place = placeOf(word, this.#where);
      return place.kind === 'inside' && !word.includes('://') && levelOfReading(place) === 'ordinary';
    };
    const kept = this.#areKnown ? relevantWords(this.#texts.slice(skipped), isInside) : undefined;
    if (kept === undefined || this.#folder === undefined || this.#called.input.length > 0)
      return this.same('strict');
    return this.#ordinary([this.#folder, ...name, ...kept]);
  }

  bySubcommand(): Reading | undefined {
    const [first = '', script = ''] = this.#texts;
    const kinds = Object.hasOwn(SUBCOMMANDS, this.name) ? SUBCOMMANDS[this.name] : undefined;
    const kind = kinds !== undefined && Object.hasOwn(kinds, first) ? kinds[first] : undefined;
    if (kind === 'read') return this.reads([this.name, first], this.words.slice(1), GIT_READS_UNLESS);
    if (kind === 'run') return this.runs([this.name, first === 't' ? 'test' : first], 1);
    if (kind !== 'script' || script === '' || script.startsWith('-')) return undefined;
    return isRisky(script.replaceAll(/[:_-]/g, ' '))
      ? this.same('strict')
      : this.runs([this.name, script], 2);
  }

  git(): Reading {
    const [first = ''] = this.#texts;
    if (this.#texts.includes('push') && this.#texts.some((text) => REWRITES.test(text)))
      return this.same('never');
    if (
      /^(credential|filter-branch|filter-repo)/.test(first) ||
      (first === 'config' && this.#texts.some(isGlobal))
    )
      return this.same('never');
    if (first === 'add') {
      const { level } = this.reads(['git', 'add'], this.words.slice(1)).part;
      const isPlain = this.#texts
        .slice(1)
        .every((text) => !text.startsWith('-') || /^(-A|-u|--all|--)$/.test(text));
      return isPlain && level === 'ordinary'
        ? this.#ordinary(['git', 'add'])
        : this.same(level === 'never' ? level : 'strict');
    }
    if (first === 'commit')
      return this.#isPlainCommit() ? this.#ordinary(['git', 'commit']) : this.same('strict');
    return this.bySubcommand() ?? this.other();
  }

  /** The message does not matter; what a substitution in it runs is read apart. */
  #isPlainCommit(): boolean {
    const words = this.words.slice(1);
    return words.every(({ text, isKnown }, at) => {
      const isMessage = /^(-a?m|--message)$/.test(words[at - 1]?.text ?? '');
      if (isMessage) return isKnown || text.startsWith('"$(cat <<');
      return isKnown && /^(-a|-q|-v|-a?m|--all|--quiet|--message|--message=.*)$/s.test(text);
    });
  }

  curl(): Reading {
    const addresses = this.#texts.filter((text) => !CURL_READS.test(text));
    const [address = ''] = addresses;
    return addresses.length === 1 && this.#areKnown ? { part: partOfUrl(address) } : this.other();
  }

  other(): Reading {
    const isRaised = this.#texts.some((text) =>
      text
        .toLowerCase()
        .split(/[^a-z.-]+/)
        .some((word) => NEVER_WORDS.has(word.replace(/^-+/, ''))),
    );
    const places = this.#texts.map((text) => placeOf(text.replace(/^-[^=]*=/, ''), this.#where));
    const touch = MOVERS.includes(this.name) || this.#texts.includes('-i') ? levelOfWriting : levelOfReading;
    const isNever =
      isRaised || NEVER_TEXT.test(this.#texts.join(' ')) || highest(places.map(touch)) === 'never';
    return this.same(isNever ? 'never' : 'strict');
  }
}
