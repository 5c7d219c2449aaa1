import type { EntityManager } from '@mikro-orm/postgresql';
import type { WorkerConfig } from '../../shared/config/config.ts';
import { assembleContext } from '../../shared/db/stores/memory/context.ts';
import { projectsOf } from '../../shared/db/stores/recording/read.ts';
import { readCalibrator, readDecisions, readPromptReplies } from '../../shared/db/stores/replies/basis.ts';
import type { ContextBundle } from '../../shared/domain/context-bundle.ts';
import { inProject } from '../../shared/domain/project.ts';
import type { CalibratorModel } from '../../shared/domain/replies/calibrator.ts';
import { fitMaterial } from '../../shared/domain/replies/material.ts';
import { Precedents, type SupportCheck } from '../../shared/domain/replies/support.ts';
import { createVoter, type PromptReply, type VoteResult } from '../../shared/domain/replies/vote.ts';
import { dayOf } from '../../shared/domain/shown-rows.ts';
import { CONTEXT_DEFAULTS } from '../../shared/schemas/limits.ts';
import type { ReplyInput } from '../../shared/schemas/replies.ts';
import type { FairReads } from '../work/reads.ts';
import { type ScreenedMaterial, screenMaterial } from './screen.ts';

export const EXAMPLES_MAX = 8;

export interface Basis {
  screened: ScreenedMaterial;
  vote: VoteResult;
  pairs: readonly PromptReply[];
  supportOf: SupportCheck;
  calibrator: CalibratorModel;
  memoryRevision: number;
}

/** Words and decisions of the person, from which a vote, its support and its confidence follow. */
export async function readHistory(em: EntityManager, accountId: string, project: string | undefined) {
  const pairs = await readPromptReplies(em, accountId, project);
  return {
    pairs,
    voteOn: createVoter(pairs),
    precedents: new Precedents(pairs, await readDecisions(em, accountId, project)),
    calibrator: await readCalibrator(em, accountId),
  };
}

export interface BasisDependencies {
  em: () => EntityManager;
  inTurn: FairReads;
  settings: Pick<WorkerConfig, 'contextBudgetTokens'>;
}

export async function readBasis(
  { em, settings }: Pick<BasisDependencies, 'em' | 'settings'>,
  accountId: string,
  { agent, agent_input: prompt, recency_minutes: recencyMinutes, ...request }: ReplyInput,
): Promise<Basis> {
  const [ofSession] = await projectsOf(em(), [{ ...request, accountId, sessionId: request.session_id }]);
  const project = ofSession ?? undefined;
  const query = { ...CONTEXT_DEFAULTS, query: prompt, recencyMinutes, ...inProject(project) };
  const bundle = await assembleContext(em(), accountId, query);
  const { pairs, voteOn, precedents, calibrator } = await readHistory(em(), accountId, project);
  const vote = voteOn(prompt);
  const material = { ...materialOf(bundle), examples: vote.neighbours.slice(0, EXAMPLES_MAX) };
  const fitted = fitMaterial(prompt, material, settings.contextBudgetTokens);
  const truncated = fitted.truncated || bundle.meta.timed_out;
  return {
    screened: await screenMaterial([prompt, agent], { ...fitted, truncated }),
    vote,
    pairs,
    supportOf: precedents.supportFor(prompt),
    calibrator,
    memoryRevision: bundle.meta.revision,
  };
}

/** Sorts facts and episodes by their worth. Raw rows keep their order, the latest first. */
export function materialOf({ profile, facts, episodes, raw, byWorth }: ContextBundle) {
  return {
    profile,
    facts: inOrder(facts, byWorth.facts).map(withDay),
    episodes: inOrder(episodes, byWorth.episodes).map(withDay),
    raw: raw.map(withDay),
  };
}

const withDay = <Row extends Parameters<typeof dayOf>[0]>(row: Row) => ({ ...row, on: dayOf(row) });

function inOrder<Row extends { id: string }>(rows: readonly Row[], ids: readonly string[]): Row[] {
  const places = new Map(ids.map((id, place) => [id, place]));
  return rows.toSorted((a, b) => (places.get(a.id) ?? 0) - (places.get(b.id) ?? 0));
}
