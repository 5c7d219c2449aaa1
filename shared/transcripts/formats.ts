import type { Format } from './format.ts';
import { claudeCode } from './formats/claude-code.ts';
import { cline } from './formats/cline.ts';
import { codex } from './formats/codex.ts';
import { geminiCli, geminiCliDocument } from './formats/gemini-cli.ts';
import { specstory } from './formats/specstory.ts';

export const FILE_EXTENSIONS = ['.jsonl', '.json', '.md'];

export const FORMATS: readonly Format[] = [claudeCode, codex, geminiCli, geminiCliDocument, cline, specstory];

export function formatOf(line: string): Format | undefined {
  return FORMATS.find((format) => {
    try {
      return format.recognises(line);
    } catch {
      return false;
    }
  });
}
