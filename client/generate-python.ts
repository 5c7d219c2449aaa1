import { catalogue } from '../shared/errors/catalogue.ts';
import {
  answerOf,
  bodyOf,
  errorCodesOf,
  formsOf,
  isJob,
  type Operation,
  operationsOf,
  pathParametersOf,
  queryOf,
  returnsLines,
  schemas,
  summaryOf,
  tableEntryOf,
} from './openapi-document.ts';
import { PythonShapes, pascalOf, unionOf } from './python-shapes.ts';
import type { Schema } from './schema-types.ts';

const GENERATED_NOTE = '# Generated from docs/openapi.json by client/generate.ts: `npm run openapi`.\n';
/** Fields that the client generates unless they are given. */
const GENERATED_IDS: Record<string, string> = { predict: 'request_id', recordPredictionEvent: 'event_id' };
const LINE_MAX = 120;

/** How the methods of a class are written: those of `AsyncForecue`, or those of `Forecue`. */
interface Style {
  className: string;
  options: string;
  define: string;
  call: string;
  iterator: string;
  hook: string;
}

const STYLES: readonly Style[] = [
  {
    className: 'AsyncMethods',
    options: 'CallOptions',
    define: 'async def',
    call: 'await ',
    iterator: 'AsyncIterator',
    hook: 'async def',
  },
  {
    className: 'Methods',
    options: 'SyncCallOptions',
    define: 'def',
    call: '',
    iterator: 'Iterator',
    hook: 'def',
  },
];

export function generatedPythonFiles(): Record<string, string> {
  const operations = [...operationsOf('v1'), ...operationsOf('api')];
  const table = operations.map(
    (placed) => `    "${snakeOf(placed.operation.operationId)}": "${tableEntryOf(placed)}",\n`,
  );
  const shapes = new PythonShapes();
  declareOutcomes(shapes);
  const methods = STYLES.map((style) =>
    classOf(
      style,
      operations.map(({ operation }) => operation),
      shapes,
    ),
  );
  return {
    '__init__.py': '',
    'operations.py': `${GENERATED_NOTE}\nOPERATIONS = {\n${table.join('')}}\n`,
    'errors.py': errorsOf(),
    'methods.py': `${METHODS_HEAD}${methods.join('\n\n')}`,
    'shapes.py': `${SHAPES_HEAD}\n\n${shapes.text}${JOB_EVENTS}`,
  };
}

const SHAPES_HEAD = `${GENERATED_NOTE}"""Shapes of bodies and answers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Dict, List, Literal, TypedDict, Union

if TYPE_CHECKING:
    from typing_extensions import NotRequired
`;
const JOB_EVENTS = `

# The events of a job: \`JobBegun\` comes first, \`JobDone\` last. A failure is raised.
JobEvent = Union[JobBegun, JobProgress, JobItem, JobDone]
`;
const METHODS_HEAD = `${GENERATED_NOTE}# mypy: disable-error-code="no-any-return"

from __future__ import annotations

from typing import TYPE_CHECKING, Any, AsyncIterator, Dict, Iterator, List, Literal, Sequence, Tuple, Union, overload

from .._operations import OMITTED
from . import shapes

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from .._operations import CallOptions
    from .._sync import SyncCallOptions


`;

/** Declares what the client returns, and the document does not describe. */
function declareOutcomes(shapes: PythonShapes): void {
  const items = shapes.typeOf(
    schemas['BatchResponse']?.properties?.['results'] ?? {},
    'BatchResponseResults',
  );
  const item = items.slice('List['.length, -1);
  const { properties = {}, required = [] } = schemas['PredictionRequest'] ?? {};
  const fields = Object.entries(properties).map(([key, schema]) => {
    const type = shapes.typeOf(schema, `PredictionRequest${pascalOf(key)}`);
    return required.includes(key) && key !== GENERATED_IDS['predict']
      ? `${key}: ${type}`
      : `${key}: NotRequired[${type}]`;
  });
  shapes.declare(
    'PredictionInput',
    fields,
    'The arguments of `predict`, whose `request_id` is generated if it is absent.',
  );
  shapes.declare(
    'EndedPrediction',
    ['status: Literal["cancelled", "superseded"]', 'request_id: str'],
    'A prediction that was cancelled, or that a newer draft replaced.',
  );
  shapes.declare('JobBegun', ['type: Literal["job"]', 'job_id: str', 'status_url: str']);
  shapes.declare('JobProgress', ['type: Literal["progress"]', 'done: int', 'total: int']);
  shapes.declare('JobItem', ['type: Literal["result"]', `item: ${item}`], 'One prediction of a batch.');
  shapes.declare('JobDone', ['type: Literal["done"]', 'result: Any']);
}

/** Lists all codes, each with a sentence for people, since `/v1` answers with the code only. */
function errorsOf(): string {
  const messages = Object.entries(catalogue).map(
    ([code, { message }]) => `    "${code}": ${JSON.stringify(message)},\n`,
  );
  const codes = Object.keys(catalogue).map((code) => `    "${code}",\n`);
  return `${GENERATED_NOTE}\nfrom typing import Literal\n\nServerCode = Literal[\n${codes.join('')}]\n\nMESSAGES = {\n${messages.join('')}}\n`;
}

function classOf(style: Style, operations: readonly Operation[], shapes: PythonShapes): string {
  const { className, hook, iterator } = style;
  const hooks = [
    `    ${hook} _call(self, name: str, ids: Tuple[str, ...], given: Any, options: Any) -> Any:`,
    `    ${hook} _start(self, name: str, given: Any, options: Any) -> Any:`,
    `    def _lines(self, name: str, ids: Tuple[str, ...], given: Any, options: Any) -> ${iterator}[Any]:`,
    `    def _stream(self, name: str, given: Any, options: Any) -> ${iterator}[Any]:`,
  ].map((head) => `${head}\n        raise NotImplementedError\n`);
  const methods = operations.flatMap((operation) => methodsOf(style, operation, shapes));
  return `class ${className}:\n    """The operations of the server's \`/openapi.json\`."""\n\n${[...hooks, ...methods].join('\n')}`;
}

function methodsOf(style: Style, operation: Operation, shapes: PythonShapes): string[] {
  const forms = formsOf(operation);
  if (forms.length > 0) return [overloadsOf(style, operation, forms, shapes)];
  const name = snakeOf(operation.operationId);
  const input = inputOf(operation, shapes);
  const answer = answerTypeOf(operation, shapes);
  const doc = `${summaryOf(operation)}\n\n        ${errorCodesOf(operation)}\n        `;
  const plain = returnsLines(operation)
    ? methodOf({ ...style, define: 'def' }, name, input, `${style.iterator}[${answer}]`, doc, [
        `return self._lines("${name}", ${input.ids}, ${input.given}, options)`,
      ])
    : methodOf(style, name, input, answer, doc, [
        `return ${style.call}self._call("${name}", ${input.ids}, ${input.given}, options)`,
      ]);
  if (!isJob(operation)) return [plain];
  const done = `shapes.${shapes.declare(`${pascalOf(operation.operationId)}Done`, ['type: Literal["done"]', `result: ${typeName(answerOf(operation), shapes)}`])}`;
  const events = unionOf([...['JobBegun', 'JobProgress', 'JobItem'].map((one) => `shapes.${one}`), done]);
  return [
    plain,
    methodOf(
      style,
      `start_${name}`,
      input,
      'shapes.JobReceipt',
      `Starts the job of \`${name}\` without waiting for it.`,
      [`return ${style.call}self._start("${name}", ${input.given}, options)`],
    ),
    methodOf(
      { ...style, define: 'def' },
      `stream_${name}`,
      input,
      `${style.iterator}[${events}]`,
      `Starts the job of \`${name}\` and follows it. A stream that is cut continues where it was. Leaving the loop\n        does not cancel the job.`,
      [`return self._stream("${name}", ${input.given}, options)`],
    ),
  ];
}

interface Input {
  parameters: string[];
  ids: string;
  given: string;
}

/** A method takes the path's parameters by position, and the fields of the body or the query by name. */
function inputOf(operation: Operation, shapes: PythonShapes): Input {
  const ids = pathParametersOf(operation);
  const idTuple = ids.length === 0 ? '()' : `(${ids.join(', ')},)`;
  const positional = ids.map((id) => `${id}: str`);
  const body = bodyOf(operation);
  if (body && body.$ref === undefined) {
    const type = qualify(shapes.typeOf(body, pascalOf(operation.operationId)));
    return { parameters: [...positional, `body: ${asSequence(type)}`], ids: idTuple, given: 'body' };
  }
  const name = body?.$ref?.split('/').at(-1) ?? pascalOf(operation.operationId);
  const { properties = {}, required = [] }: Schema = schemas[name] ?? queryOf(operation) ?? {};
  const fields = Object.entries(properties).map(([key, schema]) => {
    if (RESERVED.includes(key))
      throw new Error(`${operation.operationId}: ${key} is an option of every call`);
    const isRequired = required.includes(key) && GENERATED_IDS[operation.operationId] !== key;
    const type = asSequence(qualify(shapes.typeOf(schema, name + pascalOf(key))));
    return { key, text: `${key}: ${type}${isRequired ? '' : ' = OMITTED'}` };
  });
  const given = `{${fields.map(({ key }) => `"${key}": ${key}`).join(', ')}}`;
  return {
    parameters: [...positional, ...(fields.length > 0 ? ['*', ...fields.map(({ text }) => text)] : [])],
    ids: idTuple,
    given: body || fields.length > 0 ? given : 'None',
  };
}

const RESERVED = ['timeout', 'retries', 'idempotency_key', 'on_response', 'cancellation'];

function methodOf(
  { define, options }: Style,
  name: string,
  { parameters }: Input,
  answer: string,
  doc: string,
  lines: readonly string[],
): string {
  const all = ['self', ...parameters, `**options: Unpack[${options}]`];
  const oneLine = `    ${define} ${name}(${all.join(', ')}) -> ${answer}:`;
  const head =
    oneLine.length <= LINE_MAX
      ? oneLine
      : `    ${define} ${name}(\n${all
          .map((one) => `        ${one},\n`)
          .join('')
          .replace(/,\n$/, '\n')}    ) -> ${answer}:`;
  return `${head}\n        """${doc}"""\n${lines.map((line) => `        ${line}\n`).join('')}`;
}

function overloadsOf(
  style: Style,
  operation: Operation,
  forms: readonly [Schema, Schema][],
  shapes: PythonShapes,
): string {
  const { define, options, call } = style;
  const name = snakeOf(operation.operationId);
  const overloads = forms.map(([body, answer]) => {
    const type = asSequence(typeName(body, shapes, true));
    return `    @overload\n    ${define} ${name}(self, body: ${type}, **options: Unpack[${options}]) -> ${typeName(answer, shapes, true)}: ...\n\n`;
  });
  const doc = `        """${summaryOf(operation)}\n\n        ${errorCodesOf(operation)}\n        """\n`;
  return `${overloads.join('')}    ${define} ${name}(self, body: Any, **options: Any) -> Any:\n${doc}        return ${call}self._call("${name}", (), body, options)\n`;
}

function answerTypeOf(operation: Operation, shapes: PythonShapes): string {
  if (operation.operationId === 'predict') return 'Union[shapes.PredictionResponse, shapes.EndedPrediction]';
  const answer = answerOf(operation);
  return answer === undefined ? 'None' : typeName(answer, shapes, true);
}

function typeName(schema: Schema | undefined, shapes: PythonShapes, isOutside = false): string {
  const type = shapes.typeOf(schema ?? {}, '');
  return isOutside ? qualify(type) : type;
}

const BUILT_IN = ['List', 'Dict', 'Union', 'Literal', 'Any', 'None', 'Sequence'];

/** Puts `shapes.` before the names of shapes, but not into literals. */
function qualify(type: string): string {
  return type.replace(/"[^"]*"|\b[A-Z]\w*/g, (word) =>
    word.startsWith('"') || BUILT_IN.includes(word) ? word : `shapes.${word}`,
  );
}

/** Arguments may be any sequence; answers are lists. */
function asSequence(type: string): string {
  return type.replace(/^List\[/, 'Sequence[');
}

/** `predictReply` becomes `predict_reply`. */
function snakeOf(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}
