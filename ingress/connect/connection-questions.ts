import type { EntityManager } from '@mikro-orm/postgresql';
import {
  approveAttempt,
  type Consent,
  denyAttempt,
  findAttempt,
} from '../../shared/db/stores/connections/attempts.ts';
import { projectOf } from '../../shared/domain/project.ts';
import { AppError } from '../../shared/errors/app-error.ts';
import { CONSENT_MEMORY, PROJECTS_MAX } from '../../shared/schemas/connections.ts';
import { UUID } from '../../shared/schemas/limits.ts';
import type { PageContext } from '../http/endpoint.ts';
import type { Question, Questions } from './consent.ts';
import { AttemptClosed } from './errors.ts';
import { CONSENT_DAYS, consentPage } from './pages.ts';

interface ConnectionQuestionParts {
  em: () => EntityManager;
  publicUrl: string;
}

/** Asks whether an app may use the person's memory, by the attempt that the path names. */
export class ConnectionQuestions implements Questions {
  readonly #parts: ConnectionQuestionParts;

  constructor(parts: ConnectionQuestionParts) {
    this.#parts = parts;
  }

  subjectOf({ params }: PageContext): string {
    return params['request_id'] ?? '';
  }

  /** Throws `not_found`, or `AttemptClosed` when nothing is left to decide. */
  async open(ctx: PageContext): Promise<Question> {
    const { em, publicUrl } = this.#parts;
    const id = this.subjectOf(ctx);
    const attempt = UUID.test(id) ? await findAttempt(em(), id) : undefined;
    if (attempt === undefined) throw new AppError('not_found');
    ctx.state.appId = attempt.appId;
    if (attempt.standing !== 'open') throw new AttemptClosed(attempt);
    return {
      asker: attempt,
      page: id,
      query: '',
      // `iss` lets the app distinguish our answer from another server's (RFC 9207).
      answer: { state: attempt.state, iss: publicUrl },
      render: consentPage,
      async allow(form, accountId) {
        const consent = readConsent(form);
        return consent && approveAttempt(em(), id, accountId, consent);
      },
      deny: () => denyAttempt(em(), id),
    };
  }
}

/** Returns undefined for values that the page does not offer. Without fields, nothing is narrowed. */
function readConsent(form: URLSearchParams): Consent | undefined {
  const memory = CONSENT_MEMORY.find((one) => one === (form.get('memory') ?? 'all'));
  const days = CONSENT_DAYS.find((one) => String(one ?? '') === (form.get('days') ?? ''));
  const projects = readProjects(form.get('projects') ?? '');
  if (memory === undefined || days === undefined || projects === undefined) return undefined;
  return { memory, ...(projects.length > 0 && { projects }), days };
}

/** Returns undefined if a part names no project, or there are too many. */
function readProjects(text: string): string[] | undefined {
  const places = text.split(/[,\n]/).filter((part) => part.trim() !== '');
  const names = new Set(places.map(projectOf));
  return names.has(null) || names.size > PROJECTS_MAX ? undefined : ([...names] as string[]);
}
