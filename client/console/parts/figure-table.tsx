import { t } from '../strings/index.ts';

interface FigureTableProps {
  /** Title of the picture that shows the same figures. */
  title: string;
  heads: readonly string[];
  /** Rows in the order of the heads, each with its name first. */
  rows: readonly (readonly string[])[];
}

/** The figures of a picture, for those who cannot see it. */
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
