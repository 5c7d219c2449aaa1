import { defineEntity, type InferEntity, p } from '@mikro-orm/core';
import type { PermissionAction } from '../../schemas/permissions.ts';
import { expressionIndexes } from './expression-indexes.ts';

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
    decision: p.text().$type<'allow' | 'ask' | 'deny'>(),
    confidence: p.double().$type<number>(),
    allowed: p.integer(),
    refused: p.integer(),
    required: p.integer().nullable(),
    /** True if the answer was only recorded. */
    shadow: p.boolean(),
    /** Key with which it was asked; null for a log-in. */
    keyId: p.uuid().nullable(),
    /** True if it would have been allowed, and the person was asked to check it. */
    blind: p.boolean().default(false),
    /** When the person objected: what they approved of the like before counts no longer. */
    objectedAt: p.datetime(3).nullable(),
    createdAt: p.datetime(3),
  },
  indexes: [
    { name: 'permission_decisions_recent', properties: ['accountId', 'createdAt', 'id'] },
    ...expressionIndexes('permission_decisions', {
      key: `("account_id", "key_id") where key_id is not null`,
      objected: `("account_id", "objected_at") where objected_at is not null`,
    }),
  ],
});
export type PermissionDecision = InferEntity<typeof PermissionDecision>;
