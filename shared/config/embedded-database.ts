/** The environment with the embedded database's address. A direct address in it belongs to another database. */
export function withEmbeddedDatabase(values: NodeJS.ProcessEnv, url: string): NodeJS.ProcessEnv {
  return { ...values, DATABASE_URL: url, DATABASE_DIRECT_URL: '', DATABASE_DIRECT_URL_FILE: '' };
}
