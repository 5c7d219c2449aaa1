import { hasCollector, isProduction, logLevel, requireNoFaults } from './config.ts';
import { Env } from './env.ts';
import { readListeningSettings, readOperatorAddress, readToolServerUrl } from './listening.ts';

export type McpConfig = ReturnType<typeof mcpConfig>;

/** Configuration of a tool server (MCP) over HTTP. It uses no database and no secrets. */
export function mcpConfig(values: NodeJS.ProcessEnv) {
  const env = new Env(values);
  const production = isProduction(env);
  if (production) env.require('PUBLIC_URL');
  const port = env.integer('PORT', 8080, { min: 0, max: 65535 });
  const publicUrl = env.base('PUBLIC_URL') ?? `http://localhost:${port}`;
  return requireNoFaults(env, {
    ...readListeningSettings(env, production),
    production,
    logLevel: logLevel(env),
    tracing: hasCollector(env),
    operator: readOperatorAddress(env, 9465),
    port: env.integer('MCP_PORT', 8090, { min: 0, max: 65535 }),
    publicUrl,
    mcpUrl: readToolServerUrl(env, production),
    upstream: env.base('MCP_UPSTREAM_URL') ?? publicUrl,
  });
}

/** Configuration of a tool server (MCP) over stdio. */
export function stdioConfig(values: NodeJS.ProcessEnv) {
  const env = new Env(values);
  env.require('FORECUE_KEY');
  const url = env.url('FORECUE_URL', ['http:', 'https:']) ?? 'http://localhost:8080';
  return requireNoFaults(env, { url, key: env.header('FORECUE_KEY') ?? '' });
}
