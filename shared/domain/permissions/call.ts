import { isRisky } from '../replies/risk.ts';
import type { Called, Reading } from './called.ts';
import { partOfUrl } from './files.ts';
import { levelOfText } from './filters.ts';
import { hiddenIn, levelOfWords } from './hidden.ts';
import { highest, type Level, partOf } from './permission.ts';
import { folderOf, levelOfDeleting, levelOfReading, levelOfWriting, placeOf, type Where } from './places.ts';
import {
  CURL_READS,
  CURL_VALUED,
  FETCHES_AND_RUNS,
  INPUT_RUNNERS,
  INTERPRETERS,
  PATTERN_FIRST,
  QUIET,
  QUIET_VARIABLES,
  RUN_THROUGH,
  relevantWords,
  SAFE_SCRIPT,
  SEARCHES,
  WORKSPACE,
} from './programs.ts';
import { ELSEWHERE, SERVER, subcommandOf, wordsOfCheck } from './subcommands.ts';
import type { Word } from './words.ts';

/** A call, and how dangerous it is by what its program does. */
export class Call {
  readonly name: string;
  readonly words: readonly Word[];
  protected readonly called: Called;
  protected readonly where: Where;
  protected readonly texts: string[];
  protected readonly areKnown: boolean;

  constructor(called: Called, where: Where) {
    this.called = called;
    this.where = where;
    this.name = called.program.text;
    this.words = called.words;
    this.texts = called.words.map(({ text }) => text);
    this.areKnown = called.words.every(({ isKnown }) => isKnown);
  }

  /** Like nothing but the same words in the same folder. */
  same(level: Level): Reading {
    const { variables, program, input } = this.called;
    const exact = [this.#folder ?? '?', ...variables, program.text, ...this.texts, ...input];
    const [first] = this.texts.filter((text) => !text.startsWith('-'));
    return { part: partOf(level, [this.name, first ?? ''], exact) };
  }

  get #folder(): string | undefined {
    return this.where.cwd === undefined ? undefined : placeOf('.', this.where).path;
  }

  /** Words that say where a program runs, which reads the folder; undefined if that is not within the project. */
  protected get inFolder(): string[] | undefined {
    const { kind, path } = placeOf('.', this.where);
    return kind === 'inside' ? [path].filter((folder) => folder !== '.') : undefined;
  }

  /** `isExact`: what follows may rest on its words, so that only the same words are the very same. */
  protected ordinary(words: readonly string[], isExact = false): Reading {
    const variables = this.called.variables.filter((variable) => !QUIET_VARIABLES.test(variable));
    const said = [...(isExact ? [this.#folder ?? '?', ...this.texts] : []), ...this.called.input];
    return { part: partOf('ordinary', [...variables, ...words], [...variables, ...words, ...said]) };
  }

  harmless(): Reading {
    return { ...this.same('ordinary'), isHarmless: true };
  }

  says(): Reading {
    const level = levelOfText(this.name, this.words);
    return level === 'harmless' ? this.harmless() : this.same(level);
  }

  /** A shell that is given no file runs whatever reaches it. */
  shell(): Reading {
    const [first, second, ...more] = this.words;
    if (/^-[a-z]*c$/.test(first?.text ?? '') && second?.isKnown === true && more.length === 0)
      return { ...this.harmless(), inner: { script: second.text } };
    return this.same(this.#isGivenFile(first) && this.called.input.length === 0 ? 'strict' : 'never');
  }

  foreignShell(): Reading {
    const isScript = this.#isGivenFile(this.words[0]) && !this.words[0]?.text.startsWith('/');
    return this.same(isScript ? 'strict' : 'never');
  }

  #isGivenFile(word: Word | undefined): boolean {
    return word?.isKnown === true && !/^-|^\/dev\//.test(word.text) && !this.called.isFed;
  }

  /** Reports whether it runs what another program writes. */
  runsInput(): boolean {
    if (!this.called.isFed) return false;
    if (INPUT_RUNNERS.has(this.name)) return true;
    if (!INTERPRETERS.has(this.name.replace(/(?<=\d)\.\d+$/, ''))) return false;
    const [first = '', second = ''] = this.texts;
    if (/^-[a-zA-Z]*[ceEp]$|^--(eval|print)$/.test(first)) return RUNS_TEXT.test(second);
    const file = this.texts.find((text) => !text.startsWith('-'));
    const isModule = first === '-m' && second === 'json.tool';
    return !isModule && (file === undefined || this.texts.includes('-') || file.startsWith('/dev/'));
  }

  wrapper(option: RegExp | undefined): Reading {
    const rest =
      option === undefined
        ? this.words
        : this.words.slice(this.texts.findIndex((text) => !option.test(text)));
    const [program, ...words] = rest;
    if (program === undefined || program.text.startsWith('-') || program.text.includes('='))
      return this.other();
    const given = this.name === 'xargs' ? [{ text: '…', isKnown: false, isPlain: false }] : [];
    const call = { ...this.called, program, words: [...words, ...given] };
    return { ...this.harmless(), inner: { call } };
  }

  deletes(): Reading {
    const places = this.words
      .filter(({ text }) => !text.startsWith('-'))
      .map(({ text }) => placeOf(text, this.where));
    const isWhole = !this.areKnown || places.length === 0 || this.texts.includes('--no-preserve-root');
    const level = isWhole ? 'never' : highest(places.map(levelOfDeleting));
    return this.same(level);
  }

  writes(options: RegExp): Reading {
    const paths = this.texts.filter((text) => !options.test(text));
    const places = paths.map((text) => placeOf(text, this.where));
    const isPattern = this.words.some((word) => word.isPattern);
    const level = this.areKnown
      ? highest([...places.map(levelOfWriting), isPattern ? 'strict' : 'ordinary'])
      : 'never';
    if (level !== 'ordinary' || paths.some((text) => text.startsWith('-')))
      return this.same(highest([level, 'strict']));
    return this.ordinary([this.name, ...new Set(places.map(folderOf))], true);
  }

  /** `name` is what the reading is called; `unless` are options with which it does more. */
  reads(name: readonly string[], words: readonly Word[], unless?: RegExp): Reading {
    const named = words
      .map(({ text }) => text)
      .filter((text) => !text.startsWith('-') || VALUE.test(text))
      .map((text) => text.replace(VALUE, '').replace(/^[^/ ]*:(?!\/)/, ''));
    const [pattern, ...rest] = named;
    const isPattern = pattern !== undefined && PATTERN_FIRST.includes(this.name) && /[^\w./~-]/.test(pattern);
    const folder = this.inFolder === undefined ? ['.'] : [];
    const places = [...(isPattern ? rest : named), ...folder].map((text) => placeOf(text, this.where));
    const outside = places.filter(({ kind }) => kind !== 'inside').map(({ path }) => path);
    const level = highest(places.map(levelOfReading));
    const isMore = words.some(({ text }) => unless?.test(text));
    // A repository limits what git reads.
    if (!this.areKnown && this.name !== 'git') return this.same('never');
    if (isMore && (outside.length > 0 || this.texts.includes('-delete'))) return this.same('never');
    if (isMore && level !== 'never') return this.other();
    if (!this.areKnown || level !== 'ordinary' || (outside.length > 0 && SEARCHES.includes(this.name)))
      return this.same(highest([level, 'strict']));
    return this.ordinary([...name, ...outside]);
  }

  /**
   * A check of the project itself, maybe by what runs it. One that may be fetched is strict, but its variants are
   * alike.
   */
  runner(): Reading | undefined {
    const all = [this.name, ...this.texts];
    const isFetched = FETCHES_AND_RUNS.includes(this.name) && !RUN_THROUGH.test(`${all.join(' ')} `);
    const through =
      RUN_THROUGH.exec(`${all.join(' ')} `)?.[0]
        .trim()
        .split(' ').length ?? Number(isFetched);
    const count = wordsOfCheck(all.slice(through), through > 0);
    if (count === undefined) return undefined;
    const { part, ...rest } = this.runs(all.slice(0, through + count), through + count - 1);
    return { ...rest, part: isFetched && part.level === 'ordinary' ? { ...part, level: 'strict' } : part };
  }

  /** `areTargets`: each further word is something more to do. */
  runs(name: readonly string[], skipped: number, areTargets = false): Reading {
    const isInside = (word: string) => {
      const place = placeOf(word, this.where);
      return place.kind === 'inside' && !SCHEME.test(word) && levelOfReading(place) === 'ordinary';
    };
    if (!this.areKnown) return this.same('never');
    const kept = relevantWords(name, this.texts.slice(skipped), isInside, areTargets);
    if (kept === undefined || this.#folder === undefined || this.called.input.length > 0)
      return this.same('strict');
    return this.ordinary([this.#folder, ...name, ...kept]);
  }

  bySubcommand(): Reading | undefined {
    const [option = '', value = ''] = this.texts;
    const skipped = QUIET.test(option) ? 1 : 2 * Number(WORKSPACE.test(`${this.name} ${option} ${value}`));
    if (skipped > 0) {
      const rest = new Call({ ...this.called, words: this.words.slice(skipped) }, this.where).bySubcommand();
      return rest?.part.level === 'ordinary' ? rest : undefined;
    }
    const { kind, count = 0 } = subcommandOf(this.name, this.texts) ?? {};
    const name = [this.name, ...this.texts.slice(0, count).map((text) => (text === 't' ? 'test' : text))];
    const script = this.texts[count] ?? '';
    switch (kind) {
      case undefined:
        return undefined;
      case 'read':
      case 'remote':
        if (kind === 'remote' && this.#isSecret()) return this.other();
        if (this.name === 'kubectl' && this.texts.some((text) => SERVER.test(text))) return this.other();
        return this.reads(name, this.words.slice(count), ELSEWHERE);
      case 'script':
        return SAFE_SCRIPT.test(script) && !isRisky(script.replaceAll(/[:._-]/g, ' '))
          ? this.runs([this.name, script], count + 1)
          : this.other();
      default:
        return this.runs(name, count, kind === 'targets');
    }
  }

  #isSecret(): boolean {
    return this.texts.some((text) => /secret|token|credential/i.test(text));
  }

  curl(): Reading {
    const isValued = (at: number) => CURL_VALUED.test(`${this.texts[at]} ${this.texts[at + 1]}`);
    const addresses = this.texts.filter(
      (text, at) => !CURL_READS.test(text) && !isValued(at) && !isValued(at - 1),
    );
    const [address = ''] = addresses;
    return addresses.length === 1 && this.areKnown ? { part: partOfUrl(address) } : this.other();
  }

  other(): Reading {
    const hidden = hiddenIn(this.called);
    return { ...this.same(levelOfWords(this.name, this.called, this.where)), hidden };
  }
}

/** Begins an address. In names of tests `::` is no such thing. */
const SCHEME = /^[\w+-]+:(?!:)|:\/\//;
/** What is before the value of an option. */
const VALUE = /^-[^=]*=|^-[a-zA-Z]+(?=[/~.])/;
/** Calls of a language that run a text, or another program. */
const RUNS_TEXT =
  /\b(exec|eval|compile|pickle|marshal|vm|system|popen|subprocess|spawn\w*|child_process|__import__|import\s*\(|Function)\b/;
