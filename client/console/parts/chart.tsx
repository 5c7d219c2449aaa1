import { useEffect, useRef, useState } from 'preact/hooks';
import { dayOf, t } from '../strings/index.ts';
import { FigureTable } from './figure-table.tsx';
import { Card } from './ui.tsx';

interface Series {
  name: string;
  look: 'a' | 'b' | 'c';
  values: readonly number[];
}

interface ChartProps {
  title: string;
  /** Dates as `YYYY-MM-DD`. */
  dates: readonly string[];
  /** Columns of several series are stacked. */
  series: readonly Series[];
  /** `columns` are daily amounts; an `area` is a running total, of the first series only. */
  kind?: 'columns' | 'area';
  /** A description of the picture in words. */
  lead: string;
  format(value: number): string;
}

const SIZE = { height: 168, left: 64, right: 8, top: 10, bottom: 24 };
const GAP = 0.2;

export function Chart({ title, dates, series, kind = 'columns', lead, format }: ChartProps) {
  return (
    <Card title={title}>
      <p class="quiet">{lead}</p>
      {series.length > 1 && (
        <ul class="legend" aria-hidden="true">
          {series.map(({ name, look }) => (
            <li key={name} class={look}>
              {name}
            </li>
          ))}
        </ul>
      )}
      <Picture title={title} dates={dates} series={series} kind={kind} format={format} />
      <FigureTable
        title={title}
        heads={[t.date, ...series.map(({ name }) => name)]}
        rows={dates.map((date, at) => [dayOf(date), ...series.map(({ values }) => format(values[at] ?? 0))])}
      />
    </Card>
  );
}

function Picture({ title, dates, series, kind, format }: Required<Omit<ChartProps, 'lead'>>) {
  const { height, left, right, top, bottom } = SIZE;
  const [root, width] = useWidth();
  const sums = dates.map((_, at) => series.reduce((sum, { values }) => sum + (values[at] ?? 0), 0));
  const maximum = roundScaleMaximum(Math.max(...sums));
  const step = (width - left - right) / dates.length;
  const x = (at: number) => left + at * step;
  const y = (value: number) => top + (1 - value / maximum) * (height - top - bottom);
  const labels = [0, Math.floor((dates.length - 1) / 2), dates.length - 1];
  return (
    <svg
      ref={root}
      class="plot wide"
      height={height}
      viewBox={`0 0 ${width} ${height}`}
      role="img"
      aria-label={title}
    >
      {[0, maximum / 2, maximum].map((value) => (
        <g key={value}>
          <path class="grid" d={`M${left} ${y(value)}H${width - right}`} />
          <text x={left - 8} y={y(value) + 4} text-anchor="end">
            {format(value)}
          </text>
        </g>
      ))}
      {kind === 'area' && series[0] && (
        <path
          class={`area ${series[0].look}`}
          d={`M${x(0)} ${y(0)}${series[0].values.map((value, at) => `L${x(at) + step / 2} ${y(value)}`).join('')}L${x(dates.length)} ${y(series[0].values.at(-1) ?? 0)}V${y(0)}Z`}
        />
      )}
      {dates.map((date, at) => {
        let sumBelow = 0;
        return (
          <g key={date}>
            <title>{`${dayOf(date)}: ${series.map(({ name, values }) => `${name} ${format(values[at] ?? 0)}`).join(', ')}`}</title>
            <rect class="hit" x={x(at)} y={top} width={step} height={height - top - bottom} />
            {kind === 'columns' &&
              series.map(({ name, look, values }) => {
                const value = values[at] ?? 0;
                const base = sumBelow;
                sumBelow += value;
                return (
                  <rect
                    key={name}
                    class={look}
                    x={x(at) + (step * GAP) / 2}
                    width={step * (1 - GAP)}
                    y={y(sumBelow)}
                    height={y(base) - y(sumBelow)}
                  />
                );
              })}
          </g>
        );
      })}
      {labels.map((at, place) => (
        <text
          key={place}
          x={place === 0 ? x(0) : place === 1 ? x(at) + step / 2 : width - right}
          y={height - 6}
          text-anchor={(['start', 'middle', 'end'] as const)[place]}
        >
          {dayOf(dates[at] ?? '')}
        </text>
      ))}
    </svg>
  );
}

/** Makes one SVG unit one pixel wide, so that text keeps its size when the chart is resized. */
function useWidth() {
  const root = useRef<SVGSVGElement>(null);
  const [width, setWidth] = useState(480);
  useEffect(() => {
    const observer = new ResizeObserver(
      ([entry]) => entry && setWidth(Math.max(160, entry.contentRect.width)),
    );
    if (root.current) observer.observe(root.current);
    return () => observer.disconnect();
  }, []);
  return [root, width] as const;
}

/** Rounds up to 2, 4 or 10 times a power of ten, so that half of the result is a round number too. */
function roundScaleMaximum(value: number): number {
  if (value <= 0) return 2;
  const power = 10 ** Math.floor(Math.log10(value));
  return power * ([2, 4, 10].find((factor) => factor * power >= value) ?? 10);
}
