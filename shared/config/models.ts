/** Ids of models, comma separated. Undefined when any is blank. */
export function parseModels(value: string): string[] | undefined {
  const models = value.split(',').map((model) => model.trim());
  return models.includes('') ? undefined : models;
}
