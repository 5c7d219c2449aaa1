import type { Format } from './format.ts';
import { claudeCode } from './formats/claude-code.ts';
import { cline } from './formats/cline.ts';
import { codex } from './formats/codex.ts';
import { geminiCli, geminiCliDocument } from './formats/gemini-cli.ts';
import { specstory } from './formats/specstory.ts';

/** Extensions of files that may be transcripts. */
export const FILE_EXTENSIONS = ['.jsonl', '.json', '.md'];

/** Every format that can be imported. */
export const FORMATS: readonly Format[] = [claudeCode, codex, geminiCli, geminiCliDocument, cline, specstory];

/** Returns the format that recognises a line; undefined if none does. */
export function formatOf(line: string): Format | undefined {
  return FORMATS.find((format) => {
    try {
      return format.recognises(line);
    } catch {
      return false;
    }
  });
}
