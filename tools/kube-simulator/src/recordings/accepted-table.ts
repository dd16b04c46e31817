import type { AcceptedDifference } from './accepted-differences.js';

/** The lines of the README between which the table stands. */
const BEGIN = '<!-- accepted differences: made by npm run generate -->';
const END = '<!-- end of accepted differences -->';

/** The README with the table of accepted differences as it should be. */
export function withAcceptedTable(readme: string, accepted: readonly AcceptedDifference[]): string {
  const begin = readme.indexOf(BEGIN);
  const end = readme.indexOf(END);
  if (begin === -1 || end < begin) throw new Error(`the README has no place for the accepted differences: ${BEGIN} ... ${END}`);
  return `${readme.slice(0, begin + BEGIN.length)}\n${toTable(accepted)}\n${readme.slice(end)}`;
}

function toTable(accepted: readonly AcceptedDifference[]): string {
  const rows = new Map<string, AcceptedDifference[]>();
  for (const entry of accepted) {
    const row = `${entry.scenario} ${entry.reason}`;
    rows.set(row, [...(rows.get(row) ?? []), entry]);
  }
  const lines = [...rows.values()]
    .sort(([one], [other]) => (one?.scenario ?? '').localeCompare(other?.scenario ?? ''))
    .map((entries) => toRow(entries));
  return ['| Scenario | Steps | Where | Why |', '|---|---|---|---|', ...lines].join('\n');
}

function toRow(entries: readonly AcceptedDifference[]): string {
  const steps = [...new Set(entries.map(({ step }) => step))].join(', ');
  const places = [...new Set(entries.map(({ where }) => (where === undefined ? 'the whole step' : `\`${where}\``)))];
  const shown = places.length > 3 ? `${places.slice(0, 3).join(', ')} and ${places.length - 3} more` : places.join(', ');
  return `| ${entries[0]?.scenario} | ${steps} | ${shown} | ${entries[0]?.reason.replaceAll('|', '\\|')} |`;
}
