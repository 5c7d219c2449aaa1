import { isStorable } from '../../../shared/schemas/build.ts';
import { assertPublished, takeUnpublished } from '../client-contract.ts';
import { headersFault, listFault } from './answer-checks.ts';
import type { Json } from './document.ts';
import { isPage, pageFault } from './pages.ts';
import type { Plan } from './plans.ts';
import type { Request } from './request.ts';
import type { Received } from './send.ts';
import type { Twist } from './twists.ts';

/** Returns what is wrong with an answer; undefined if nothing is. */
export function faultOf(plan: Plan, request: Request, received: Received): string | undefined {
  const { status, answers } = received;
  if (status >= 500 && status !== 502 && status !== 503 && status !== 504) return `status ${status}`;
  // The parser accepts ASCII only (RFC 3986, 2).
  const isBroken = request.wire !== undefined || !/^[\x21-\x7e]*$/.test(request.target);
  if (isBroken) {
    if (status >= 502) return `status ${status} to broken bytes`;
    return answers > 1 && request.wire !== 'early data' ? `${answers} answers` : undefined;
  }
  if (isPage(request.operation)) return pageFault(received);
  return (
    unpublishedFault(request, received) ??
    headersFault(received) ??
    authorizationFault(plan, request, received) ??
    bodyFault(plan, request, received)
  );
}

function unpublishedFault(
  { method, target }: Request,
  { status, headers, text }: Received,
): string | undefined {
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

/** Checks that a bad credential has no effect, and that a good app key is accepted. */
function authorizationFault({ twists }: Plan, { operation, authorized }: Request, { status }: Received) {
  if (authorized) {
    const isHeaderIntact = twists.every(({ kind }) => kind !== 'header');
    return status === 401 && operation.credential === 'app' && isHeaderIntact
      ? 'a good app key is refused'
      : undefined;
  }
  return status < 400 &&
    operation.credential !== 'none' &&
    twists.every(({ kind }) => kind !== 'header' && kind !== 'method')
    ? 'a bad credential is taken'
    : undefined;
}

/** Twists after which the answer still depends on the body's content. */
const BODY_KEEPING_TWISTS: readonly Twist['kind'][] = ['json', 'bytes', 'framing'];
/** The operation whose rows are judged one by one. */
const ROW_JUDGING_OPERATION = 'recordEvents';
/** Operations that refuse weak passwords, which no schema can express. */
const PASSWORD_JUDGING_OPERATIONS = ['signUp', 'signUpToConsole', 'changeAccount'];

/** Operations that check times, references, addresses or the format of ids, which no schema can express. */
const VALUE_JUDGING_OPERATIONS = [
  'changeAccount',
  'changeEmail',
  'createApp',
  'changeApp',
  'createWebhook',
  'changeWebhook',
  'changeOwnConnection',
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

/** Checks that a body is accepted only if the document allows it, and not refused for its format if so. */
function bodyFault(
  { twists }: Plan,
  { operation, json }: Request,
  { status, text }: Received,
): string | undefined {
  if (json === undefined || !twists.every(({ kind }) => BODY_KEEPING_TWISTS.includes(kind))) return undefined;
  const sent = parseJson(json);
  if (sent === undefined) return status < 400 && json.length > 0 ? 'what is no JSON is taken' : undefined;
  if (operation.id === ROW_JUDGING_OPERATION) return rowsFault(sent.value, { status, text });
  if (status === 422 && listFault(sent.value, text) !== undefined) return listFault(sent.value, text);
  const isAllowed = operation.allows(sent.value);
  if (!isAllowed) return status < 300 ? 'what the document forbids is taken' : undefined;
  if (status === 400 && /"invalid_(json|content_type)"/.test(text)) return 'JSON in UTF-8 is refused';
  if (status !== 422 || !isStorableDeep(sent.value)) return undefined;
  const { detail } = JSON.parse(text) as { detail: Fault[] };
  const [unexplained] = detail.filter((fault) => !isOfSettings(fault) && !isOfValues(operation.id, fault));
  return unexplained && `what the document allows is refused: ${JSON.stringify(unexplained)}`;
}

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

function parseJson(json: Buffer): { value: Json } | undefined {
  try {
    return { value: JSON.parse(UTF_8.decode(json)) };
  } catch {
    return undefined;
  }
}

/** Reports whether all texts in a value can be stored; the document does not say which can. */
function isStorableDeep(value: Json): boolean {
  if (typeof value === 'string') return isStorable(value);
  if (typeof value !== 'object' || value === null) return true;
  return Object.entries(value).every(([name, one]) => isStorable(name) && isStorableDeep(one));
}

const VALUE_FAULTS = ['value_error', 'datetime_parsing', 'uuid_parsing'];

/** Fields whose allowed values are configured, with the type of the fault. */
const CONFIGURED_FIELDS: Readonly<Record<string, string>> = { model: 'enum', k: 'less_than_equal' };

function isOfSettings({ loc, type }: Fault): boolean {
  const [root, name = '', ...deeper] = loc;
  return root === 'body' && deeper.length === 0 && CONFIGURED_FIELDS[name] === type;
}

/** Reports whether a fault concerns a value that the document cannot judge, such as a weak password. */
function isOfValues(operationId: string, { loc, type, msg }: Fault): boolean {
  if (PASSWORD_JUDGING_OPERATIONS.includes(operationId) && loc.join('.') === 'body.password') return true;
  if (VALUE_JUDGING_OPERATIONS.includes(operationId) && VALUE_FAULTS.includes(type)) return true;
  // Feedback of an edit must contain the edited reply.
  if (operationId === 'giveFeedback' && loc.join('.') === 'body.actual_response') return true;
  return loc.join('.') === 'body.email' && /e-mail/.test(msg);
}
