import { isStorable } from '../../../shared/schemas/build.ts';
import { BODY_DEPTH } from '../../../shared/schemas/limits.ts';
import { assertPublished, takeUnpublished } from '../client-contract.ts';
import { headersFault, listFault } from './answer-checks.ts';
import type { Json } from './document.ts';
import { isPage, pageFault } from './pages.ts';
import type { Plan } from './plans.ts';
import type { Request } from './request.ts';
import type { Received } from './send.ts';
import type { Twist } from './twists.ts';

/** What is wrong with the answer to a request; undefined when nothing is. */
export function faultOf(plan: Plan, request: Request, received: Received): string | undefined {
  const { status, answers } = received;
  if (status >= 500 && status !== 502 && status !== 503 && status !== 504) return `status ${status}`;
  // The parser takes ASCII alone (RFC 3986, 2).
  const isBroken = request.wire !== undefined || !/^[\x21-\x7e]*$/.test(request.target);
  if (isBroken) {
    if (status >= 502) return `status ${status} to broken bytes`;
    return answers > 1 && request.wire !== 'early data' ? `${answers} answers` : undefined;
  }
  if (isPage(request.operation)) return pageFault(received);
  return (
    unpublished(request, received) ??
    headersFault(received) ??
    authorizationFault(plan, request, received) ??
    bodyFault(plan, request, received)
  );
}

function unpublished({ method, target }: Request, { status, headers, text }: Received): string | undefined {
  const url = /^https?:/.test(target) ? target : `http://127.0.0.1${target === '*' ? '/*' : target}`;
  try {
    const type = headers['content-type'];
    assertPublished({ method, url, status, type: type === undefined ? undefined : String(type), text });
    return undefined;
  } catch (error) {
    return String(error);
  } finally {
    takeUnpublished();
  }
}

/** A bad credential does nothing. */
function authorizationFault({ twists }: Plan, { operation, authorized }: Request, { status }: Received) {
  if (authorized) {
    const isSuspect = twists.every(({ kind }) => kind !== 'header');
    return status === 401 && operation.credential === 'app' && isSuspect
      ? 'a good app key is refused'
      : undefined;
  }
  return status < 400 &&
    operation.credential !== 'none' &&
    twists.every(({ kind }) => kind !== 'header' && kind !== 'method')
    ? 'a bad credential is taken'
    : undefined;
}

/** Twists after which the answer still depends on what the body is. */
const KEEP_THE_BODY: readonly Twist['kind'][] = ['json', 'bytes', 'framing'];
/** Rows are judged one by one. */
const JUDGES_ROWS = 'recordEvents';
/** Passwords may be too weak, which no schema can tell. */
const JUDGES_PASSWORDS = ['signUp', 'signUpToConsole', 'changeAccount'];

/** Times, forms of ids, and rows that are referred to may not be right, which no schema can tell. */
const JUDGES_VALUES = [
  'changeAccount',
  'addEpisodes',
  'changeEpisode',
  'addFacts',
  'changeFact',
  'writeProfile',
  'addRawMemory',
  'syncMemory',
  'promoteEpisodes',
  'promoteFacts',
];

/** What the document allows is not refused for its form, and what it forbids is not taken. */
function bodyFault(
  { twists }: Plan,
  { operation, json }: Request,
  { status, text }: Received,
): string | undefined {
  if (json === undefined || !twists.every(({ kind }) => KEEP_THE_BODY.includes(kind))) return undefined;
  const sent = parsed(json);
  if (sent === undefined) return status < 400 ? 'what is no JSON is taken' : undefined;
  if (operation.id === JUDGES_ROWS) return rowsFault(sent.value, { status, text });
  if (status === 422 && listFault(sent.value, text) !== undefined) return listFault(sent.value, text);
  const isAllowed = operation.allows(sent.value);
  if (!isAllowed) return status < 300 ? 'what the document forbids is taken' : undefined;
  if (status === 400 && /"invalid_(json|content_type)"/.test(text))
    return isDeep(json) ? undefined : 'JSON in UTF-8 is refused';
  if (status !== 422 || !isStorableDeep(sent.value)) return undefined;
  const { detail } = JSON.parse(text) as { detail: Fault[] };
  const [unexplained] = detail.filter((fault) => !isOfSettings(fault) && !isOfValues(operation.id, fault));
  return unexplained && `what the document allows is refused: ${JSON.stringify(unexplained)}`;
}

/** An item of a 422. */
interface Fault {
  loc: string[];
  type: string;
  msg: string;
}

function rowsFault(rows: Json, { status, text }: Pick<Received, 'status' | 'text'>): string | undefined {
  if (status >= 300) return undefined;
  const { accepted, duplicates, invalid } = JSON.parse(text);
  const counted = accepted + duplicates + invalid.length;
  return Array.isArray(rows) && counted === rows.length ? undefined : `${counted} rows are accounted for`;
}

const UTF_8 = new TextDecoder('utf-8', { fatal: true });

function parsed(json: Buffer): { value: Json } | undefined {
  try {
    return { value: JSON.parse(UTF_8.decode(json)) };
  } catch {
    return undefined;
  }
}

/** The document does not say which texts cannot be stored. */
function isStorableDeep(value: Json): boolean {
  if (typeof value === 'string') return isStorable(value);
  if (typeof value !== 'object' || value === null) return true;
  return Object.entries(value).every(([name, one]) => isStorable(name) && isStorableDeep(one));
}

const VALUE_FAULTS = ['value_error', 'datetime_parsing', 'uuid_parsing'];

/** Which models there are, and how many candidates, is configured. */
const SETTINGS: Readonly<Record<string, string>> = { model: 'enum', k: 'less_than_equal' };

function isOfSettings({ loc, type }: Fault): boolean {
  const [root, name = '', ...deeper] = loc;
  return root === 'body' && deeper.length === 0 && SETTINGS[name] === type;
}

/** A password may be too weak, an e-mail address none. */
function isOfValues(operationId: string, { loc, type, msg }: Fault): boolean {
  if (JUDGES_PASSWORDS.includes(operationId) && loc.join('.') === 'body.password') return true;
  if (JUDGES_VALUES.includes(operationId) && VALUE_FAULTS.includes(type)) return true;
  // An edit needs the reply.
  if (operationId === 'giveFeedback' && loc.join('.') === 'body.actual_response') return true;
  return loc.join('.') === 'body.email' && /e-mail/.test(msg);
}

/** Whether it may be nested more deeply than a body may be; brackets in texts count too. */
function isDeep(json: Buffer | string): boolean {
  let depth = 0;
  let most = 0;
  for (const character of json.toString()) {
    if ('[{'.includes(character)) depth += 1;
    if (']}'.includes(character)) depth -= 1;
    most = Math.max(most, depth);
  }
  return most > BODY_DEPTH;
}
