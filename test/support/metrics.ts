/** Values of a scrape by series: a name with its labels, as Prometheus writes them. */
export type Scrape = ReadonlyMap<string, number>;

export async function scrape(operatorPort: number): Promise<Scrape> {
  const response = await fetch(`http://127.0.0.1:${operatorPort}/metrics`);
  if (!response.ok) throw new Error(`no metrics: ${response.status}`);
  const lines = (await response.text()).split('\n').filter((line) => line !== '' && !line.startsWith('#'));
  return new Map(
    lines.map((line) => {
      const at = line.lastIndexOf(' ');
      return [line.slice(0, at), Number(line.slice(at + 1))];
    }),
  );
}

/** Sums the metric's series that have these labels; undefined if there are none. */
export function sumOf(
  scraped: Scrape,
  name: string,
  labels: Record<string, string> = {},
): number | undefined {
  const wanted = Object.entries(labels).map(([label, value]) => `${label}="${value}"`);
  const values = [...scraped].flatMap(([series, value]) => {
    const [own = '', rest = ''] = series.split(/\{(.*)\}/);
    return own === name && wanted.every((one) => rest.split(',').includes(one)) ? [value] : [];
  });
  return values.length === 0 ? undefined : values.reduce((sum, value) => sum + value, 0);
}
