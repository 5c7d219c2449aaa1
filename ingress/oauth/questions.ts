import type { EntityManager } from '@mikro-orm/postgresql';
import { allowProgram } from '../../shared/db/stores/grants.ts';
import type { ResourcePlaces } from '../../shared/domain/resource.ts';
import type { Question, Questions } from '../connect/consent.ts';
import { textsFor } from '../connect/strings/index.ts';
import type { PageContext } from '../http/endpoint.ts';
import { networkOf } from '../request/address.ts';
import { answerTo, readRequest, requestQuery } from './authorization-request.ts';
import type { OauthClients } from './clients.ts';
import { programPage } from './page.ts';

interface ProgramQuestionParts extends ResourcePlaces {
  em: () => EntityManager;
  clients: Pick<OauthClients, 'find'>;
}

/** Asks whether a program may use the person's account. The page's address is the whole request. */
export class ProgramQuestions implements Questions {
  readonly #parts: ProgramQuestionParts;

  constructor(parts: ProgramQuestionParts) {
    this.#parts = parts;
  }

  subjectOf(ctx: PageContext): string {
    return requestQuery(ctx.querystring).toString();
  }

  async open(ctx: PageContext): Promise<Question> {
    const { em, clients } = this.#parts;
    const query = requestQuery(ctx.querystring);
    const find = (clientId: string) => clients.find(clientId, networkOf(ctx.state.address));
    const request = await readRequest(query, find, this.#parts);
    const { client, redirectUri, state, scopes: asked, resource, codeChallenge } = request;
    const clientName = client.name || textsFor(ctx).program.unnamed;
    return {
      asker: { appName: clientName, redirectUri },
      page: `authorize?${query}`,
      query: `${query}&`,
      answer: answerTo(state, this.#parts),
      render: (page) => programPage(page, request),
      async allow(form, accountId) {
        const scopes = asked.filter((scope) => form.getAll('scope').includes(scope));
        if (scopes.length === 0) return undefined;
        const allowed = { clientId: client.id, clientName, redirectUri, codeChallenge, resource, scopes };
        return allowProgram(em(), accountId, allowed);
      },
      deny: async () => true,
    };
  }
}
