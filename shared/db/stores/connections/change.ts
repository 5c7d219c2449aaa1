import { type EntityManager, raw } from '@mikro-orm/postgresql';
import { Faults } from '../../../domain/faults.ts';
import { projectOf } from '../../../domain/project.ts';
import { AppError } from '../../../errors/app-error.ts';
import type { ConnectionChange, ConsentScope } from '../../../schemas/connections.ts';
import { dateOf } from '../../../schemas/moment.ts';
import { Connection } from '../../entities/connection.ts';

/** Selects connections that are neither revoked nor ended. */
export const inForce = () => ({
  status: 'connected' as const,
  $or: [{ endsAt: null }, { endsAt: { $gt: raw('now()') } }],
});

/**
 * Changes what an app may use, and until when, from its next prediction on. Throws `not_found`, `connection_revoked`, or
 * a `ValidationError` for an end that is no time or not in the future, or for a name of no project.
 */
export async function changeConnection(
  em: EntityManager,
  accountId: string,
  id: string,
  { scope, ends_at }: ConnectionChange,
): Promise<void> {
  const where = { id, account: accountId };
  const change = {
    ...(scope && { memory: scope.memory, projects: projectsIn(scope) }),
    ...(ends_at !== undefined && { endsAt: parseEnd(ends_at) }),
  };
  const isChanged =
    Object.keys(change).length === 0 ||
    (await em.nativeUpdate(Connection, { ...where, ...inForce() }, change)) > 0;
  if (isChanged) return;
  await em.findOneOrFail(Connection, where);
  throw new AppError('connection_revoked');
}

function projectsIn({ projects }: ConsentScope): string[] | null {
  if (projects === undefined) return null;
  const faults = new Faults({ scope: { projects } });
  const names = projects.flatMap((place, index) => {
    const name = projectOf(place);
    if (name === null) faults.add(['scope', 'projects', index], 'Input should name a project');
    return name ?? [];
  });
  faults.throwIfAny();
  return [...new Set(names)];
}

function parseEnd(timestamp: string | null): Date | null {
  if (timestamp === null) return null;
  const moment = dateOf(timestamp);
  const faults = new Faults({ ends_at: timestamp });
  if (moment.getTime() <= Date.now()) faults.add('ends_at', 'Input should be in the future');
  faults.throwIfAny();
  return moment;
}
