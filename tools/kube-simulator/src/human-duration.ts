interface Step {
  /** Durations below this number of units are shown in this unit. */
  readonly below: number;
  readonly unit: string;
  readonly seconds: number;
  /** The finer unit that is shown too. */
  readonly rest?: { readonly unit: string; readonly seconds: number };
}

const minute = 60;
const hour = 60 * minute;
const day = 24 * hour;
const year = 365 * day;

const steps: readonly Step[] = [
  { below: 120, unit: 's', seconds: 1 },
  { below: 10, unit: 'm', seconds: minute, rest: { unit: 's', seconds: 1 } },
  { below: 180, unit: 'm', seconds: minute },
  { below: 8, unit: 'h', seconds: hour, rest: { unit: 'm', seconds: minute } },
  { below: 48, unit: 'h', seconds: hour },
  { below: 8, unit: 'd', seconds: day, rest: { unit: 'h', seconds: hour } },
  { below: 730, unit: 'd', seconds: day },
  { below: 8, unit: 'y', seconds: year, rest: { unit: 'd', seconds: day } },
  { below: Number.POSITIVE_INFINITY, unit: 'y', seconds: year },
];

/**
 * Returns a duration as kubectl shows ages: `5s`, `3m2s`, `2d`.
 *
 * Source: k8s.io/apimachinery/pkg/util/duration HumanDuration.
 */
export function humanDuration(ms: number): string {
  const seconds = Math.floor(ms / 1000);
  if (seconds < -1) return '<invalid>';
  if (seconds < 0) return '0s';
  const step = steps.find(({ below, seconds: unit }) => Math.floor(seconds / unit) < below);
  if (step === undefined) return '<unknown>';
  const whole = `${Math.floor(seconds / step.seconds)}${step.unit}`;
  const rest = step.rest === undefined ? 0 : Math.floor((seconds % step.seconds) / step.rest.seconds);
  return rest === 0 ? whole : `${whole}${rest}${step.rest?.unit}`;
}
