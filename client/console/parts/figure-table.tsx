import { t } from '../strings/index.ts';

interface FigureTableProps {
  /** Title of the picture that shows the same figures. */
  title: string;
  heads: readonly string[];
  /** The first cell of each row is its name. The cells are in the order of `heads`. */
  rows: readonly (readonly string[])[];
}

/** The figures of a chart, for people who cannot see it. */
export function FigureTable({ title, heads, rows }: FigureTableProps) {
  return (
    <details>
      <summary>
        {t.table}
        <span class="hidden">: {title}</span>
      </summary>
      <table>
        <thead>
          <tr>
            {heads.map((head) => (
              <th key={head} scope="col">
                {head}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map(([name, ...figures], at) => (
            <tr key={at}>
              <th scope="row">{name}</th>
              {figures.map((figure, place) => (
                <td key={place}>{figure}</td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </details>
  );
}
