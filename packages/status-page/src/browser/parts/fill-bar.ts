import type { AddressCounts } from '../../model/page-data.js';
import { element, svgElement } from '../dom/element.js';
import { describeNumber, describeShare } from '../text/describe-number.js';

const SEGMENTS = ['used', 'reserved', 'quarantined', 'excluded'] as const;

/** How full a pool is: a bar, and the same in words. */
export function fillBar(counts: AddressCounts): HTMLElement {
  const total = countAll(counts);
  let x = 0;
  const segments = SEGMENTS.map((state) => {
    const width = total === 0 ? 0 : (100 * counts[state]) / total;
    const segment = svgElement('rect', { class: `fill-${state}`, x, width, y: 0, height: 8 });
    x += width;
    return segment;
  });
  const bar = svgElement('svg', { class: 'fill', viewBox: '0 0 100 8', preserveAspectRatio: 'none', 'aria-hidden': 'true' }, [
    svgElement('rect', { class: 'fill-free', x: 0, width: 100, y: 0, height: 8 }),
    ...segments,
  ]);
  return element('div', { class: 'fill-bar' }, [bar, element('span', {}, describeFill(counts))]);
}

/** `62 of 90 used (68 %), 3 quarantined`. */
export function describeFill(counts: AddressCounts): string {
  const total = countAll(counts) - counts.excluded;
  const share = `${describeNumber(counts.used)} of ${describeNumber(total)} used (${describeShare(counts.used, total)})`;
  return counts.quarantined === 0 ? share : `${share}, ${describeNumber(counts.quarantined)} quarantined`;
}

function countAll({ free, used, reserved, excluded, quarantined }: AddressCounts): number {
  return free + used + reserved + excluded + quarantined;
}
