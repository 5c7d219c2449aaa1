import { Faults } from '../../../../shared/domain/faults.ts';
import type { ErrorCode } from '../../../../shared/errors/catalogue.ts';
import { PromoteRequest, PromoteResult } from '../../../../shared/schemas/jobs.ts';
import { promoteEpisodes, promoteFacts } from '../../../../shared/work/kinds.ts';
import { endpoint } from '../../../http/endpoint.ts';
import { answerJob, type JobRoutes } from '../../../jobs/answer.ts';
import { JOB_ERRORS, job, WAYS, withSince } from '../../../jobs/declaration.ts';
import { checkModel } from '../../../replies/service.ts';

export interface PromotionRoutes extends JobRoutes {
  supportedModels: readonly string[];
}

const PROVIDER_ERRORS = [
  'provider_failed',
  'provider_not_configured',
  'provider_rate_limited',
] as const satisfies readonly ErrorCode[];

const promotion = {
  ...job,
  tag: 'Memory',
  body: PromoteRequest,
  response: PromoteResult,
  errors: [...JOB_ERRORS, ...PROVIDER_ERRORS],
} as const;

export const promoteToEpisodes = endpoint('user', {
  ...promotion,
  operationId: 'promoteEpisodes',
  summary: 'Summarise raw rows in episodes',
  description: `Raw rows that belong together become one episode, once. ${WAYS}`,
}).handle((input, parts: PromotionRoutes) =>
  answerJob(promoteEpisodes, { ...input, body: checked(input.body, parts) }, parts),
);

export const promoteToFacts = endpoint('user', {
  ...promotion,
  operationId: 'promoteFacts',
  summary: 'Distil facts from episodes',
  description: `What a person said in an episode becomes facts, once. ${WAYS}`,
}).handle((input, parts: PromotionRoutes) =>
  answerJob(promoteFacts, { ...input, body: checked(input.body, parts) }, parts),
);

function checked(body: PromoteRequest, { supportedModels }: PromotionRoutes): PromoteRequest {
  const faults = new Faults();
  checkModel(body.model, supportedModels, faults);
  const request = withSince(body, faults);
  faults.refuse();
  return request;
}
