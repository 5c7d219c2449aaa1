import type { Format } from './format.ts';
import { aider } from './formats/aider.ts';
import { chatgpt } from './formats/chatgpt.ts';
import { claudeCode } from './formats/claude-code.ts';
import { claudeExport } from './formats/claude-export.ts';
import { cline } from './formats/cline.ts';
import { clineSession } from './formats/cline-session.ts';
import { codex } from './formats/codex.ts';
import { continueSession } from './formats/continue.ts';
import { conversationLines } from './formats/conversation-lines.ts';
import { copilotCli } from './formats/copilot-cli.ts';
import { cursorExport } from './formats/cursor-export.ts';
import { geminiCli } from './formats/gemini-cli.ts';
import { mem0 } from './formats/mem0.ts';
import { opencode } from './formats/opencode.ts';
import { qwenCode } from './formats/qwen-code.ts';
import { specstory } from './formats/specstory.ts';
import { supermemory } from './formats/supermemory.ts';
import { vscodeChat } from './formats/vscode-chat.ts';
import { tryParseObject } from './json.ts';

export const FILE_EXTENSIONS = ['.jsonl', '.json', '.md'];

export const FORMATS: readonly Format[] = [
  claudeCode,
  qwenCode,
  codex,
  geminiCli,
  cline,
  clineSession,
  continueSession,
  specstory,
  aider,
  cursorExport,
  opencode,
  copilotCli,
  vscodeChat,
  chatgpt,
  claudeExport,
  mem0,
  supermemory,
  conversationLines,
];

export function formatOf(record: string): Format | undefined {
  const object = tryParseObject(record);
  return FORMATS.find((format) => {
    try {
      return format.isText ? format.recognises(record) : object !== undefined && format.recognises(object);
    } catch {
      // A value of a hostile record may be no text.
      return false;
    }
  });
}
