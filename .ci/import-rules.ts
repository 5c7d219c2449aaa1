/** The rooms and the packages that files may import: a prefix of paths each; `package: Name …` allows those names alone. */
interface Rule {
  rooms: string[];
  packages?: string[];
}

const PG_TYPES = 'pg: Pool PoolClient ClientBase QueryResultRow';
const ORM_TYPES = '@mikro-orm/postgresql: EntityManager Loaded';
const ROWS = [PG_TYPES, ORM_TYPES];
const PROVIDER = ['provider.ts', 'chat.ts', 'answer.ts'].map((file) => `workers/providers/${file}`);
const SUBJECT = { rooms: ['workers/work/', ...PROVIDER, 'shared/'], packages: [...ROWS, 'typebox'] };
const LEAF = ['shared/schemas/', 'shared/errors/'];

/**
 * Imports by room. The longest prefix of a file's path is its rule, and a room may always import itself. A package has one
 * home; a migration stands alone, because what it imports would change after it has landed.
 */
export const RULES: Record<string, Rule> = {
  'ingress/': {
    rooms: ['ingress/', 'shared/'],
    packages: [
      'koa',
      '@koa/*',
      'koa-body',
      'lru-cache',
      'proxy-addr',
      'swagger-ui-dist',
      ...ROWS,
      'typebox: Static TObject TSchema',
    ],
  },
  'ingress/accounts/mailer.ts': { rooms: ['shared/'], packages: ['nodemailer'] },
  'ingress/auth/access-tokens.ts': { rooms: LEAF, packages: ['jose'] },
  'ingress/mcp/': {
    // Through the client that it speaks to `/api` with, as anybody's would.
    rooms: ['ingress/', 'shared/', 'client/src/'],
    packages: ['@modelcontextprotocol/*', 'koa', 'typebox'],
  },
  'ingress/openapi/': { rooms: ['ingress/', 'shared/'], packages: ['swagger-ui-dist', 'typebox'] },
  'workers/': { rooms: ['workers/', 'shared/'], packages: ROWS },
  'workers/predictions/': SUBJECT,
  'workers/replies/': SUBJECT,
  'workers/memory/': SUBJECT,
  'workers/providers/': {
    rooms: ['workers/', 'shared/'],
    packages: ['openai', ...ROWS, 'typebox: Static TSchema'],
  },
  'bin/': { rooms: ['shared/'], packages: ROWS },
  'bin/admin/archive/': { rooms: ['bin/', 'shared/'], packages: ['pg', 'pg-copy-streams'] },
  'bin/console/': { rooms: [], packages: ['esbuild'] },
  'bin/start/postgres-connection.ts': { rooms: ['shared/'], packages: ['pg'] },
  'client/console/': { rooms: ['client/src/', 'shared/transcripts/'], packages: ['preact', '@noble/*'] },
  'client/': { rooms: ['shared/errors/'], packages: ['forecue'] },
  'client/src/': { rooms: [], packages: ['@codemirror/*', 'react'] },
  'client/bin/': { rooms: ['client/'] },
  'client/mcp/': { rooms: ['client/src/'] },
  'client/record/': { rooms: ['client/src/', 'shared/transcripts/', 'shared/text/'] },
  'migrations/': { rooms: [], packages: ['@mikro-orm/migrations'] },
  'shared/': { rooms: [] },
  'shared/log.ts': { rooms: ['shared/text/'], packages: ['pino'] },
  'shared/text/': { rooms: LEAF },
  'shared/metrics/': { rooms: ['shared/domain/', 'shared/timing/', ...LEAF], packages: ['prom-client'] },
  'shared/tracing/': {
    rooms: ['shared/process/stop-limits.ts', 'shared/timing/'],
    packages: ['@opentelemetry/*'],
  },
  'shared/metrics/tables.ts': { rooms: ['shared/'], packages: [PG_TYPES] },
  'shared/errors/': { rooms: [] },
  'shared/timing/': { rooms: LEAF },
  'shared/process/': { rooms: ['shared/'] },
  'shared/schemas/': { rooms: LEAF, packages: ['typebox'] },
  'shared/schemas/validator.ts': {
    rooms: LEAF,
    packages: ['ajv', 'ajv-formats', 'typebox: Static TObject TSchema'],
  },
  'shared/transcripts/': { rooms: ['shared/domain/moment.ts', 'shared/text/', ...LEAF] },
  'shared/domain/': { rooms: ['shared/text/', ...LEAF] },
  'shared/security/': { rooms: LEAF, packages: ['jose'] },
  'shared/config/': { rooms: LEAF },
  'shared/config/recurrence.ts': { rooms: [], packages: ['bullmq: getNextMillis'] },
  'shared/db/': {
    rooms: ['config', 'security', 'domain', 'text', 'schemas', 'errors', 'timing'].map(
      (room) => `shared/${room}/`,
    ),
    packages: ['pg', '@mikro-orm/*'],
  },
  'shared/queue/': {
    rooms: ['shared/process/stop-limits.ts', 'shared/config/', 'shared/timing/', ...LEAF],
    packages: ['bullmq', PG_TYPES],
  },
  'shared/queue/bus.ts': { rooms: ['shared/config/', 'shared/timing/'], packages: ['pg'] },
  'shared/queue/postgres-store.ts': {
    rooms: ['shared/config/', 'shared/timing/'],
    packages: ['bullmq', 'pg'],
  },
  'shared/queue/redis.ts': { rooms: ['shared/config/', 'shared/timing/'], packages: ['ioredis'] },
  'shared/work/': { rooms: ['shared/'], packages: [...ROWS, 'typebox: Static TSchema'] },
};

/** Folders of `shared/` that every room may import. */
export const BASE = [
  'shared/box.ts',
  'shared/ids.ts',
  'shared/log.ts',
  'shared/primary.ts',
  'shared/metrics/',
  'shared/tracing/span.ts',
  'package.json',
];
