import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

interface Response {
  $ref?: string;
  content?: { 'application/json'?: { examples?: Record<string, unknown> } };
}

interface Document {
  paths: Record<string, Record<string, { responses: Record<string, Response> }>>;
}

/**
 * Exits with 1 if an answer that the published document lists was received by no test, or if a documented operation
 * answered a test in an undocumented way. The files in the folder list the answers that tests received, such as `POST
 * /v1/predictions 409 request_in_flight`.
 */
const [folder = ''] = process.argv.slice(2);
const notedAnswers = new Set(
  readdirSync(folder)
    .filter((file) => file.endsWith('.txt'))
    .flatMap((file) => lines(readFileSync(join(folder, file), 'utf8'))),
);
const { operations, answers } = readDocument(new URL('../docs/openapi.json', import.meta.url));

const missedAnswers = [...answers].filter((answer) => !notedAnswers.has(answer));
/** Answers that are published once, for all operations: a request that arrives too slowly, and a defect. */
const UNIVERSAL_ANSWER = /^\S+ \S+ (408 request_timeout|500 internal_error)$/;
const unlistedAnswers = [...notedAnswers].filter(
  (answer) => operations.has(operationOf(answer)) && !answers.has(answer) && !UNIVERSAL_ANSWER.test(answer),
);
report('published, but given in no test', missedAnswers);
report('given in a test, but not published', unlistedAnswers);
process.stdout.write(
  `interface: ${answers.size - missedAnswers.length} of ${answers.size} published answers exercised\n`,
);

function readDocument(file: URL): { operations: Set<string>; answers: Set<string> } {
  const { paths }: Document = JSON.parse(readFileSync(file, 'utf8'));
  const operations = new Set<string>();
  const answers = new Set<string>();
  for (const [path, methods] of Object.entries(paths))
    for (const [method, { responses }] of Object.entries(methods)) {
      const operation = `${method.toUpperCase()} ${path.replaceAll(/\{(\w+)\}/g, ':$1')}`;
      operations.add(operation);
      for (const [status, response] of Object.entries(responses))
        for (const answer of answersOf(status, response)) answers.add(`${operation} ${answer}`);
    }
  return { operations, answers };
}

/** Lists a response's answers: the status of a success, or one for each code of a refusal. */
function answersOf(status: string, { content }: Response): string[] {
  if (status === 'default') return [];
  if (status === '422') return ['422 validation_error'];
  if (Number(status) < 400) return [status];
  return Object.keys(content?.['application/json']?.examples ?? {}).map((code) => `${status} ${code}`);
}

function operationOf(answer: string): string {
  return answer.split(' ', 2).join(' ');
}

function report(title: string, list: string[]): void {
  if (list.length === 0) return;
  process.exitCode = 1;
  process.stdout.write(
    `${title}:\n${list
      .sort()
      .map((one) => `  ${one}\n`)
      .join('')}`,
  );
}

function lines(text: string): string[] {
  return text.split('\n').filter((line) => line !== '');
}
