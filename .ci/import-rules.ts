/** Path prefixes (rooms) and packages that files may import. `package: Name …` allows only those names of a package. */
interface Rule {
  rooms: string[];
  packages?: string[];
}

const PG_TYPES = 'pg: Pool PoolClient ClientBase QueryResultRow';
const ORM_TYPES = '@mikro-orm/postgresql: EntityManager Loaded';
const ROW_TYPES = [PG_TYPES, ORM_TYPES];
const PROVIDER_FILES = ['provider.ts', 'chat.ts', 'answer.ts'].map((file) => `workers/providers/${file}`);
const WORK_RULE = {
  rooms: ['workers/work/', ...PROVIDER_FILES, 'shared/'],
  packages: [...ROW_TYPES, 'typebox'],
};
const INGRESS_PACKAGES = [
  'koa',
  '@koa/*',
  'koa-body',
  'lru-cache',
  'proxy-addr',
  ...ROW_TYPES,
  'typebox: Static TObject TSchema',
];
/** Rooms of the ingress from the ground up. A room may import those before it. */
const INGRESS_FLOORS = [
  'request',
  'limits',
  'auth',
  'guards',
  'http',
  'pages',
  'work',
  'jobs',
  'changes',
  'memory',
  'predictions',
  'replies',
  'recording',
  'accounts',
  'connect',
  'oauth',
  'board',
  'console',
  'routes',
];
const LEAF_ROOMS = ['shared/schemas/', 'shared/errors/'];

/**
 * Import rules by room. The rule with the longest matching prefix applies; a room may always import itself. Migrations
 * name no room, because our code changes after a migration has landed.
 */
export const RULES: Record<string, Rule> = {
  'ingress/': { rooms: ['ingress/', 'shared/'], packages: INGRESS_PACKAGES },
  ...Object.fromEntries(
    INGRESS_FLOORS.map((room, floor) => [
      `ingress/${room}/`,
      {
        rooms: ['shared/', ...INGRESS_FLOORS.slice(0, floor).map((lower) => `ingress/${lower}/`)],
        packages: INGRESS_PACKAGES,
      },
    ]),
  ),
  'ingress/accounts/passkeys.ts': {
    rooms: ['shared/', 'ingress/accounts/', 'ingress/limits/', 'ingress/request/'],
    packages: ['@simplewebauthn/server', ...ROW_TYPES],
  },
  'ingress/auth/signed-tokens.ts': { rooms: LEAF_ROOMS, packages: ['jose'] },
  'ingress/http/headers.ts': { rooms: ['shared/schemas/'], packages: ['typebox'] },
  'ingress/mcp/': {
    // Reaches `/api` through the public client, like any other caller.
    rooms: ['ingress/guards/', 'ingress/http/', 'ingress/request/', 'shared/', 'client/src/'],
    packages: [
      '@modelcontextprotocol/*',
      'jose: decodeJwt decodeProtectedHeader',
      'koa',
      'lru-cache',
      'typebox',
    ],
  },
  'ingress/openapi/': { rooms: ['ingress/', 'shared/'], packages: ['swagger-ui-dist', 'typebox'] },
  'workers/': { rooms: ['workers/', 'shared/'], packages: ROW_TYPES },
  'workers/predictions/': WORK_RULE,
  'workers/replies/': WORK_RULE,
  'workers/memory/': WORK_RULE,
  'workers/providers/': {
    rooms: ['workers/', 'shared/'],
    packages: ['openai', ...ROW_TYPES, 'typebox: Static TSchema'],
  },
  'bin/': { rooms: ['shared/'], packages: ROW_TYPES },
  'bin/admin/archive/': { rooms: ['bin/', 'shared/'], packages: ['pg', 'pg-copy-streams', ...ROW_TYPES] },
  'bin/bundle.ts': { rooms: ['bin/'], packages: ['esbuild'] },
  'bin/client/': { rooms: ['bin/'], packages: ['esbuild', 'fflate'] },
  'bin/console/': { rooms: ['bin/'], packages: ['esbuild'] },
  'bin/start/postgres-connection.ts': { rooms: ['shared/'], packages: ['pg'] },
  'bin/start/prepared.ts': { rooms: ['shared/'], packages: ['pg'] },
  'client/extension/': { rooms: ['client/src/'] },
  'client/console/': {
    rooms: ['client/src/', 'shared/transcripts/'],
    packages: ['preact', '@noble/*', '@simplewebauthn/browser'],
  },
  'client/': { rooms: ['shared/errors/'], packages: ['forecue'] },
  'client/src/': { rooms: [], packages: ['@codemirror/*', 'prosemirror-state', 'prosemirror-view', 'react'] },
  'client/bin/': { rooms: ['client/', 'shared/text/'] },
  'client/mcp/': { rooms: ['client/src/'] },
  'client/approve/': {
    rooms: ['client/src/', 'client/record/', 'shared/transcripts/', 'shared/text/'],
  },
  'client/record/': { rooms: ['client/src/', 'shared/transcripts/', 'shared/text/'] },
  'migrations/': { rooms: [], packages: ['@mikro-orm/migrations'] },
  'shared/': { rooms: [] },
  'shared/log.ts': { rooms: ['shared/text/', 'shared/ids.ts'], packages: ['pino'] },
  'shared/text/': { rooms: LEAF_ROOMS },
  'shared/metrics/': {
    rooms: ['shared/domain/', 'shared/timing/', ...LEAF_ROOMS],
    packages: ['prom-client'],
  },
  'shared/tracing/': {
    rooms: ['shared/stop-limits.ts', 'shared/timing/'],
    packages: ['@opentelemetry/*'],
  },
  'shared/errors/': { rooms: [] },
  'shared/timing/': { rooms: LEAF_ROOMS },
  'shared/net/': { rooms: ['shared/domain/', ...LEAF_ROOMS] },
  'shared/net/mail.ts': { rooms: ['shared/config/'], packages: ['nodemailer'] },
  'shared/process/': { rooms: ['shared/'] },
  'shared/schemas/': { rooms: LEAF_ROOMS, packages: ['typebox'] },
  'shared/schemas/validator.ts': {
    rooms: LEAF_ROOMS,
    packages: ['ajv', 'ajv-formats', 'typebox: Static TObject TSchema'],
  },
  'shared/transcripts/': {
    rooms: ['shared/domain/project.ts', 'shared/text/', ...LEAF_ROOMS],
  },
  'shared/domain/': { rooms: ['shared/text/', 'shared/timing/', ...LEAF_ROOMS] },
  'shared/domain/permissions/': {
    rooms: ['shared/domain/replies/', 'shared/text/', ...LEAF_ROOMS],
    packages: ['unbash'],
  },
  'shared/security/': { rooms: LEAF_ROOMS },
  'shared/config/': { rooms: LEAF_ROOMS },
  'shared/config/recurrence.ts': { rooms: [], packages: ['bullmq: getNextMillis'] },
  'shared/db/': {
    rooms: ['config', 'security', 'domain', 'text', 'schemas', 'errors', 'timing'].map(
      (room) => `shared/${room}/`,
    ),
    packages: ['pg', '@mikro-orm/*', 'lru-cache'],
  },
  'shared/queue/': {
    rooms: ['shared/stop-limits.ts', 'shared/config/', 'shared/timing/', ...LEAF_ROOMS],
    packages: ['bullmq', PG_TYPES],
  },
  'shared/queue/bus.ts': {
    rooms: ['shared/config/', 'shared/db/statement.ts', 'shared/timing/'],
    packages: ['pg'],
  },
  'shared/queue/postgres-store.ts': {
    rooms: ['shared/config/', 'shared/timing/'],
    packages: ['bullmq', 'pg'],
  },
  'shared/queue/redis.ts': { rooms: ['shared/config/', 'shared/timing/'], packages: ['ioredis'] },
  'shared/work/': { rooms: ['shared/'], packages: [...ROW_TYPES, 'typebox: Static TSchema'] },
};

/** Rooms of our processes; migrations and the client are not among them. */
export const PROCESS_ROOMS = /^(bin|ingress|shared|workers)\//;

/** Paths that files of these rooms may import, whatever their rule. */
export const SHARED_BASE = [
  'shared/box.ts',
  'shared/ids.ts',
  'shared/log.ts',
  'shared/primary.ts',
  'shared/metrics/',
  'shared/tracing/span.ts',
  'package.json',
];
