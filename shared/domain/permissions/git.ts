import { Call } from './call.ts';
import type { Reading } from './called.ts';
import { highest, type Level } from './permission.ts';
import { levelOfReading, placeOf } from './places.ts';
import { GIT_READS_UNLESS, HARMLESS_GIT, REWRITES } from './programs.ts';
import { FETCHES, subcommandOf } from './subcommands.ts';

/** Lists what there is, or goes to another branch, which git refuses where something would be lost. */
const BRANCHES =
  /^(branch( (-[avr]+|--list|--all|--show-current))*|remote( -v)?|(stash|worktree) list( --porcelain)?|stash show( -p| --stat)*( stash@\{\d+\})?|reflog( (show|-[\w=-]+))*|tag( -l| --list)?|switch( -c)? (-|\w[\w./-]*)|checkout -b \w[\w./-]*)$/;

export class GitCall extends Call {
  git(): Reading {
    const [option, ...words] = this.words;
    if (HARMLESS_GIT.test(option?.text ?? ''))
      return new GitCall({ ...this.called, words }, this.where).git();
    const [first = '', second = ''] = this.texts;
    if (this.texts.includes('push') && this.texts.some((text) => REWRITES.test(text)))
      return this.same('never');
    // Settings say what git runs.
    const isSetting = first === 'config' && !/^(--get.*|--list|-l|get|list)$/.test(second);
    if (isSetting || /^(-c|--config-env|--exec-path|credential|filter-branch|filter-repo)/.test(first))
      return this.same('never');
    const folder = this.inFolder;
    // A repository elsewhere may have settings of a stranger's.
    if (folder === undefined) return this.other();
    if (first === 'add') {
      const { level } = this.reads(['git', 'add'], this.words.slice(1)).part;
      const isPlain = this.texts
        .slice(1)
        .every((text) => !text.startsWith('-') || /^(-A|-u|--all|--)$/.test(text));
      return isPlain && level === 'ordinary'
        ? this.ordinary(['git', 'add', ...folder])
        : this.same(level === 'never' ? level : 'strict');
    }
    if (first === 'commit')
      return this.#isPlainCommit()
        ? this.ordinary(['git', 'commit', ...folder])
        : this.same(this.#levelOfCommit());
    const rest = this.texts.slice(1);
    if (first === 'fetch' && rest.every((text) => FETCHES.test(text)))
      return this.ordinary(['git', 'fetch', ...folder], true);
    if (BRANCHES.test(this.texts.join(' '))) return this.ordinary(['git', first, ...folder], true);
    if (subcommandOf('git', this.texts) === undefined) return this.other();
    return this.reads(['git', first, ...folder], this.words.slice(1), GIT_READS_UNLESS);
  }

  /** It may read files: the message, and a template. */
  #levelOfCommit(): Level {
    const files = this.texts
      .slice(1)
      .map((text) => placeOf(text.replace(/^--[^=]*=|^-[Ft]/, ''), this.where));
    return highest([...files.map(levelOfReading), 'strict']);
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
}
