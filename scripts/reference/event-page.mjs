// The Events, by the kind of object that shows them; from the table of reasons.
import { REASONS } from './facts.mjs';
import { code, table } from './markdown.mjs';

const PLACE = /^(Normal|Warning) Event on (.+)$/;

/** Name, title and text of the page. */
export const eventPage = [
  'events',
  'Events',
  `The Events that the controller and the agents write, by the object on which \`kubectl describe\` shows them. The same Event is written once, and
after five minutes it is counted up; its text has at most 1,024 octets. If there are many different Events, 60 are written at once and then five a second; the
others are dropped, and the conditions still report them. What to do: [reasons](reasons.md).

${[...kinds()].map(([kind, rows]) => `## ${kind}\n\n${table(['reason', 'type', 'meaning'], rows)}`).join('\n\n')}`,
];

function kinds() {
  const found = new Map();
  for (const [reason, { shown, meaning }] of Object.entries(REASONS).toSorted(([one], [other]) => (one < other ? -1 : 1))) {
    for (const place of shown) {
      const [, type, kind] = PLACE.exec(place) ?? [];
      if (kind !== undefined) found.set(kind, [...(found.get(kind) ?? []), [code(reason), type, meaning]]);
    }
  }
  return [...found].toSorted(([one], [other]) => (one < other ? -1 : 1));
}
