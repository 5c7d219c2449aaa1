import { answerAgent } from './hook.ts';

/** The program that agents run: small, since the agent may wait for it. Its argument is the agent's name. */
void answerAgent(process.argv[2] === 'codex' ? 'codex' : 'claude-code');
