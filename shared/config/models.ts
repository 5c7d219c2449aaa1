import type { Env } from './env.ts';

/** The ids of models in a variable; undefined when it is unset. */
export function modelsIn(env: Env, name: string): string[] | undefined {
  return env.parsed(name, parseModels, 'ids of models, comma separated');
}

function parseModels(value: string): string[] | undefined {
  const models = value.split(',').map((model) => model.trim());
  return models.includes('') ? undefined : models;
}
