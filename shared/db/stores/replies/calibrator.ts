import type { EntityManager } from '@mikro-orm/postgresql';
import {
  type Calibrator,
  calibrate,
  LABELS_MAX,
  type Label,
  UNCALIBRATED,
} from '../../../domain/replies/calibrator.ts';

interface Kept {
  revision: number;
  weights: Calibrator | null;
}

/**
 * The account's calibrator: the kept one, or, when labels have changed since, one that is fitted to them now. It depends on
 * the labels alone, so it does not matter who fits it, or how often.
 */
export async function readCalibrator(em: EntityManager, accountId: string): Promise<Calibrator> {
  const [kept] = await em.execute<Kept[]>(
    `select revision::float8 as revision, case when fitted = revision then weights end as weights
       from reply_calibrators where account_id = ?`,
    [accountId],
  );
  if (kept === undefined) return UNCALIBRATED;
  if (kept.weights !== null) return kept.weights;
  const fitted = calibrate(await readLabels(em, accountId));
  // Labels may have changed since the revision was read: then the next prediction fits again.
  await em.execute(
    `update reply_calibrators set fitted = ?, weights = ?::jsonb where account_id = ? and coalesce(fitted, 0) < ?`,
    [kept.revision, JSON.stringify(fitted), accountId, kept.revision],
  );
  return fitted;
}

/** The account's latest labels. */
function readLabels(em: EntityManager, accountId: string): Promise<Label[]> {
  return em.execute<Label[]>(
    `select features, agent, model, label as "right" from replies
      where account_id = ? and label is not null order by feedback_at desc, id desc limit ?`,
    [accountId, LABELS_MAX],
  );
}
