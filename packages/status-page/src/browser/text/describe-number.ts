const NUMBERS = new Intl.NumberFormat('en');

/** `40,000`. */
export function describeNumber(value: number): string {
  return NUMBERS.format(value);
}

/** `1 address`, `40,000 addresses`. */
export function amountOf(value: number, one: string, several: string): string {
  return `${describeNumber(value)} ${value === 1 ? one : several}`;
}

/** `62 %` with a non-breaking space. It is rounded down, but 0 only for none and 100 only for all. `–` if the total is 0. */
export function describeShare(part: number, whole: number): string {
  if (whole <= 0) return '–';
  const percent = (100 * part) / whole;
  return `${part > 0 && percent < 1 ? 'under 1' : Math.floor(percent)}\u00a0%`;
}

/** `1 needs action, 6 wait`; zeros are left out. */
export function describeWaits(broken: number, waiting: number): string {
  const needs = `${describeNumber(broken)} ${broken === 1 ? 'needs' : 'need'} action`;
  const waits = `${describeNumber(waiting)} ${waiting === 1 ? 'waits' : 'wait'}`;
  return [...(broken > 0 ? [needs] : []), ...(waiting > 0 ? [waits] : [])].join(', ');
}
