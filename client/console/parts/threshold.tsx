import { useId, useState } from 'preact/hooks';
import { percent, t } from '../strings/index.ts';
import { useSignedIn } from './context.ts';
import { Card, ErrorNote } from './ui.tsx';
import { useLoad } from './work.ts';

const TARGETS = { least: 50, most: 99, first: 95 };

/** How often predictions are to be right, and what that would have meant for those that the person has decided on. */
export function Threshold() {
  const { client } = useSignedIn();
  const id = useId();
  const [target, setTarget] = useState(TARGETS.first);
  const { value, error, again } = useLoad(
    () => client.readReplyCalibration({ target: target / 100 }),
    [target],
  );
  const { words } = t.threshold;
  return (
    <Card title={t.threshold.title}>
      <p class="quiet">{t.threshold.lead}</p>
      <div class="slider">
        <label for={id}>{t.threshold.target}</label>
        <input
          id={id}
          type="range"
          min={TARGETS.least}
          max={TARGETS.most}
          value={target}
          aria-valuetext={percent(target / 100)}
          aria-describedby={`${id}-says`}
          onInput={(event) => setTarget(Number(event.currentTarget.value))}
        />
        <output for={id}>{percent(target / 100)}</output>
      </div>
      <div id={`${id}-says`} role="status">
        {value && <Meaning words={words} calibration={value} />}
      </div>
      <ErrorNote error={error} again={again} />
    </Card>
  );
}

interface MeaningProps {
  words: typeof t.threshold.words;
  calibration: {
    suggested_threshold: number | null;
    evidence: {
      labels: number;
      coverage: number | null;
      precision: number | null;
      precision_low: number | null;
      precision_high: number | null;
      reason: keyof typeof t.threshold.reasons | null;
    };
  };
}

function Meaning({ words, calibration: { suggested_threshold: threshold, evidence } }: MeaningProps) {
  const { labels, coverage, precision, precision_low: low, precision_high: high, reason } = evidence;
  if (threshold === null) return <p>{t.threshold.reasons[reason ?? 'not_precise_enough']}</p>;
  return (
    <>
      <p>{words.from(percent(threshold))}</p>
      <dl class="figures">
        <div>
          <dt>{words.coverage(labels)}</dt>
          <dd>{percent(coverage ?? 0)}</dd>
        </div>
        <div>
          <dt>{words.precision(percent(low ?? 0), percent(high ?? 1))}</dt>
          <dd>{percent(precision ?? 0)}</dd>
        </div>
      </dl>
    </>
  );
}
