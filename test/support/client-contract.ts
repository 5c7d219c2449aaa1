import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import formats from 'ajv-formats';
import { DOCUMENT_FILE } from '../../ingress/openapi/committed.ts';

interface Document {
  paths: Record<string, Record<string, { responses: Record<string, Response> }>>;
  components: { responses: Record<string, Response> };
}

interface Response {
  $ref?: string;
  content?: Record<string, unknown>;
}

export interface Received {
  method: string;
  url: string;
  status: number;
  type: string | null | undefined;
  text: string;
}

/** Codes that no operation lists, by status: the HTTP layer may refuse any request with them. */
const UNIVERSAL_CODES: Record<number, string> = {
  408: 'request_timeout',
  414: 'uri_too_long',
  417: 'expectation_failed',
  431: 'headers_too_large',
};

const unpublishedAnswers: string[] = [];

/** Throws unless the published document allows the answer: its status, content type and body. */
export function assertPublished(received: Received): void {
  const { method, url, status, text } = received;
  const fault = faultOf(received);
  if (fault === undefined) return;
  const message = `${method} ${pathnameOf(url)} answered ${status} ${text.slice(0, 2000)}: ${fault}`;
  unpublishedAnswers.push(message);
  assert.fail(message);
}

/** Returns the failures of `assertPublished` since the last call, for tests that catch them. */
export function takeUnpublished(): string[] {
  return unpublishedAnswers.splice(0);
}

function faultOf({ method, url, status, type, text }: Received): string | undefined {
  const pathname = pathnameOf(url);
  const universalCode = UNIVERSAL_CODES[status];
  if (universalCode !== undefined) return codeFault({ method, text }, universalCode, pathname);
  const path = findPath(pathname);
  const operation = path?.methods[method === 'HEAD' ? 'get' : method.toLowerCase()];
  if (operation === undefined) {
    const [wanted, code] = path === undefined ? [404, 'not_found'] : [405, 'method_not_allowed'];
    return status === wanted ? codeFault({ method, text }, code, pathname) : `${wanted} is published`;
  }
  const { responses } = operation;
  if (!(status in responses)) return 'the status is not published';
  if (method === 'HEAD') return text === '' ? undefined : 'an answer to HEAD has a body';
  const { place, content } = resolveResponse(responses[status] ?? {}, [
    ...operation.place,
    'responses',
    String(status),
  ]);
  if (content === undefined) return text === '' ? undefined : 'no body is published';
  const mediaType = type?.split(';', 1)[0] ?? '';
  if (!(mediaType in content)) return `the content type ${mediaType} is not published`;
  if (mediaType === EVENT_STREAM)
    // The schema of a GET describes a job, but its `done` event carries the job's result.
    return streamFault(
      method === 'GET' ? undefined : validator([...place, 'content', 'application/json', 'schema']),
      text,
    );
  const validate = validator([...place, 'content', mediaType, 'schema']);
  return schemaFault(validate, mediaType === 'application/x-ndjson' ? text.trimEnd().split('\n') : [text]);
}

const EVENT_STREAM = 'text/event-stream';

/**
 * Checks that a stream of a job begins with `job` and ends with `error` or `done`, and that the data of these, or of each
 * `changed`, match the schema.
 */
function streamFault(validate: ValidateFunction | undefined, text: string): string | undefined {
  const events = text
    .trimEnd()
    .split('\n\n')
    .filter((event) => event !== ':')
    .map((event) => /^event: (\w+)\ndata: (.*)(?:\nid: \w+)?$/.exec(event)?.slice(1) ?? []);
  if (events[0]?.[0] === 'changed')
    return (
      validate &&
      schemaFault(
        validate,
        events.map(([, data = '']) => data),
      )
    );
  const [last = '', data = ''] = events.at(-1) ?? [];
  if (events[0]?.[0] !== 'job') return 'a stream that does not begin with its job';
  if (!events.slice(1, -1).every(([name]) => name === 'progress' || name === 'result'))
    return 'an event of no known name';
  if (last === 'done') return validate && schemaFault(validate, [data]);
  return last === 'error' && 'code' in JSON.parse(data).detail
    ? undefined
    : 'neither done nor an error at its end';
}

/** Returns the path of an address. `URL` would resolve dot segments. */
function pathnameOf(url: string): string {
  return /^https?:\/\/[^/]*([^?#]*)/.exec(url)?.[1] ?? '';
}

function codeFault(
  { method, text }: Pick<Received, 'method' | 'text'>,
  code: string,
  pathname: string,
): string | undefined {
  if (method === 'HEAD') return text === '' ? undefined : 'an answer to HEAD has a body';
  const detail: Record<string, unknown> = JSON.parse(text).detail ?? {};
  // Headers that do not arrive name no address whose form the answer could have.
  const isWithoutAddress = code === 'request_timeout' && !('message' in detail);
  const names = pathname.startsWith('/api/') && !isWithoutAddress ? ['code', 'message'] : ['code'];
  const isRight = detail['code'] === code && Object.keys(detail).join() === names.join();
  return isRight ? undefined : `${code} is published, with ${names.join(' and ')}`;
}

function schemaFault(validate: ValidateFunction, texts: string[]): string | undefined {
  for (const text of texts)
    if (!validate(JSON.parse(text))) return `not by its schema: ${ajv.errorsText(validate.errors)}`;
  return undefined;
}

const document: Document = JSON.parse(readFileSync(DOCUMENT_FILE, 'utf8'));
const ajv = new Ajv2020({ strict: true, allowUnionTypes: true });
formats.default(ajv);
// Strict clients expect the version and the variant of RFC 9562.
ajv.addFormat('uuid', /^[\da-f]{8}-[\da-f]{4}-[1-8][\da-f]{3}-[89ab][\da-f]{3}-[\da-f]{12}$/);
ajv.addVocabulary(Object.keys(document));
ajv.addSchema({ $id: 'document', ...document }, undefined, false, false);

interface Operation {
  place: string[];
  responses: Record<string, Response>;
}

/** Paths of the document. Those without parameters come first, since a path with parameters may match too. */
const paths = Object.entries(document.paths)
  .map(([path, methods]) => ({
    pattern: patternOf(path),
    parameters: path.split('{').length,
    methods: Object.fromEntries<Operation>(
      Object.entries(methods).map(([method, { responses }]) => [
        method,
        { place: ['paths', path, method], responses },
      ]),
    ),
  }))
  .sort((a, b) => a.parameters - b.parameters);

function patternOf(path: string): RegExp {
  const pattern = path.replaceAll('.', '\\.').replaceAll(/\{\w+\}/g, '[^/]+');
  return new RegExp(`^${pattern}${path.startsWith('/api/') ? '?' : ''}$`);
}

function findPath(pathname: string) {
  return paths.find(({ pattern }) => pattern.test(pathname));
}

function resolveResponse(
  response: Response,
  place: string[],
): { place: string[]; content: Response['content'] } {
  if (response.$ref === undefined) return { place, content: response.content };
  const [, ...target] = response.$ref.split('/');
  const found = document.components.responses[target.at(-1) ?? ''];
  return { place: target, content: found?.content };
}

function validator(place: string[]): ValidateFunction {
  const pointer = place.map((part) => encodeURIComponent(part.replaceAll('~', '~0').replaceAll('/', '~1')));
  const found = ajv.getSchema(`document#/${pointer.join('/')}`);
  assert.ok(found, `no schema at ${place.join(' ')}`);
  return found;
}
