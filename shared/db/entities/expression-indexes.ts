/** Declares a table's indexes on expressions, or on some of the rows, by the name that follows the table's. */
export function expressionIndexes(table: string, indexes: Record<string, string>) {
  return Object.entries(indexes).map(([suffix, on]) => {
    const name = `${table}_${suffix}`;
    return { name, expression: `create index "${name}" on "${table}" ${on}` };
  });
}
