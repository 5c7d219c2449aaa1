import type { Format } from './format.ts';
import { claudeCode } from './formats/claude-code.ts';
import { cline } from './formats/cline.ts';
import { codex } from './formats/codex.ts';
import { geminiCli, geminiCliDocument } from './formats/gemini-cli.ts';
import { specstory } from './formats/specstory.ts';

/** Every format that can be imported. */
export const FORMATS: readonly Format[] = [claudeCode, codex, geminiCli, geminiCliDocument, cline, specstory];

/** The format that a line belongs to. A line that no format can read belongs to none. */
export function formatOf(line: string): Format | undefined {
  return FORMATS.find((format) => {
    try {
      return format.recognises(line);
    } catch {
      return false;
    }
  });
}
