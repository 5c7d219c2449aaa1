import { defineEntity, type InferEntity, p } from '@mikro-orm/core';
import type { PermissionAction } from '../../schemas/permissions.ts';

/** What was answered, for a person, to an agent that asked for permission. It is no evidence of what they allow. */
export const PermissionDecision = defineEntity({
  name: 'PermissionDecision',
  tableName: 'permission_decisions',
  properties: {
    id: p.uuid().primary(),
    accountId: p.uuid(),
    agent: p.text(),
    tool: p.text(),
    action: p.text().$type<PermissionAction>(),
    /** Without its secrets. */
    target: p.text(),
    cwd: p.text(),
    project: p.text(),
    sessionId: p.text().nullable(),
    mode: p.text(),
    decision: p.text().$type<'allow' | 'ask'>(),
    confidence: p.double().$type<number>(),
    allowed: p.integer(),
    refused: p.integer(),
    required: p.integer().nullable(),
    /** True if the answer was only recorded. */
    shadow: p.boolean(),
    createdAt: p.datetime(3),
  },
  indexes: [{ name: 'permission_decisions_recent', properties: ['accountId', 'createdAt', 'id'] }],
});
export type PermissionDecision = InferEntity<typeof PermissionDecision>;
