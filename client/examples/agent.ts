/**
 * An agent that asks Forecue before it asks you. It acts on replies that are certain enough, asks you otherwise, and
 * reports what you really said, so that it has to ask less. Enter accepts the reply in brackets.
 * `FORECUE_URL=http://localhost:8080 FORECUE_KEY=service_… node agent.ts "Shall I run the tests?" "Shall I commit?"`
 */
import { createInterface } from 'node:readline/promises';
import { createAccountClient, type ReplyResponse } from 'forecue/api';

const { FORECUE_URL: baseUrl = 'http://localhost:8080', FORECUE_KEY: credential = '' } = process.env;
const account = createAccountClient({ baseUrl, credential });
const terminal = createInterface(process.stdin, process.stdout);
const agent = 'example';
const session_id = `example-${crypto.randomUUID()}`;

for (const question of process.argv.slice(2)) {
  const answer = await answerTo(question);
  process.stdout.write(`Going on with: ${answer}\n`);
}
terminal.close();

async function answerTo(question: string): Promise<string> {
  // Without a prediction, the person is asked as usual.
  const reply = await account.predictReply({ agent, agent_input: question }).catch(() => undefined);
  if (reply?.status === 'auto') {
    process.stdout.write(`${question} You would say: ${reply.predicted_response}\n`);
    return reply.predicted_response;
  }
  return ask(question, reply);
}

async function ask(question: string, reply: ReplyResponse | undefined): Promise<string> {
  const likely = reply?.predicted_response ?? '';
  const typed = await terminal.question(likely ? `${question} [${likely}] ` : `${question} `);
  const said = typed.trim() || likely;
  await record(question, said);
  if (reply === undefined) return said;
  const feedback =
    said === likely
      ? ({ status: 'accepted' } as const)
      : ({ status: 'edited', actual_response: said } as const);
  await account.giveFeedback(reply.id, feedback);
  return said;
}

/** Records the question and the reply: later predictions use them once they have become memory. */
async function record(prompt: string, reply: string): Promise<void> {
  const [questionId, replyId] = [crypto.randomUUID(), crypto.randomUUID()];
  const common = { session_id, agent, source: 'example', occurred_at: new Date().toISOString() };
  await account.recordEvents([
    { ...common, id: questionId, type: 'agent.prompt', prompt },
    { ...common, id: replyId, type: 'user.reply', reply, in_reply_to: questionId },
  ]);
}
