/** The statement of the overview if nothing needs attention. It must not claim more than was checked. */
import type { AttentionPage, Overview, Section } from '../model/page-data.js';
import type { SeenSections } from './attention.js';

type Verdict = Pick<AttentionPage, 'verdict' | 'notSeen' | 'isWhole'>;

const NAMES: Readonly<Record<Exclude<Section, 'events'>, string>> = {
  pools: 'pools',
  machines: 'virtual machines',
  agents: 'agents',
  'wake-on-lan': 'Wake-on-LAN',
  hosts: 'bare-metal hosts',
};
const LOOKED_AT = Object.keys(NAMES) as (keyof typeof NAMES)[];

/** @param seen - a section is absent if it is not shown, or did not answer. */
export function toVerdict({ sections, unready }: Pick<Overview, 'sections' | 'unready'>, seen: SeenSections): Verdict {
  const there = LOOKED_AT.filter((section) => sections[section].kind !== 'off');
  const looked = there.filter((section) => seen[section] !== undefined);
  const notSeen = there
    .filter((section) => !looked.includes(section))
    .map((section) => {
      const access = sections[section];
      return `${NAMES[section]} (${access.kind === 'denied' ? `your user lacks the right to ${access.right}` : 'no answer now'})`;
    });
  if (looked.length === 0) return { isWhole: false, verdict: 'Nothing was looked at.', notSeen };
  // A kind that is not listed yet may belong to any section.
  if (unready.length > 0) return { isWhole: false, verdict: 'Nothing needs attention in what is known so far.', notSeen };
  if (notSeen.length > 0)
    return { isWhole: false, verdict: `Nothing needs attention in: ${looked.map((one) => NAMES[one]).join(', ')}.`, notSeen };
  return { isWhole: true, verdict: 'Nothing needs attention.', notSeen };
}
