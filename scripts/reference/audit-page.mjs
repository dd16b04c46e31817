// The page about records of who had which address.
import { BEGIN_REASONS, END_REASONS, RECORD_FIELDS, UNKNOWN_REASONS } from '../../packages/reconciler/dist/audit/index.js';
import { code, table } from './markdown.mjs';

const rowsOf = (meanings) => Object.entries(meanings).map(([name, meaning]) => [code(name), meaning]);

/** Name, title and text. */
export const auditPage = [
  'audit',
  'Records of assignments',
  `One record for each time that a client had an address without a break. The same fields stand in three places:

- **The log of the controller**: one line for each beginning and each end, with \`"msg":"address assignment began"\` or \`"address assignment ended"\`. Its field \`audit\` has
  \`event\` (\`began\`, \`ended\`), \`pool\` (\`namespace/name\` of the IPPool) and the fields below without \`serial\`. No line is left out, but those of a controller that crashes at that moment: the
  next one logs them with the reason \`not-recorded\`.
- **ConfigMaps** in the namespace of the agents, with the label \`network.harvesterhci.io/audit\`: each value of \`data\` has a line with \`pool\`, and
  then lines that are records. If two have the same serial, the one with an end counts. A line with
  \`completeFrom\` says since when ended assignments of the pool are kept. \`vmdhcp-audit\` has until when all records are complete, and gaps.
- **\`kubectl vmdhcp audit -o json\`**: with \`pool\`; with \`--at\` also \`answer\` (\`assigned\`, \`free\`, \`not-known\`) and \`reason\`.

Fields and reasons are added, and never change their meaning. Times are RFC 3339 in seconds, UTC, by the clock of the controller. From \`packages/reconciler/src/audit\`. What to do with it:
[tasks](../tasks.md#who-had-this-address).

${table(['field', 'meaning'], rowsOf(RECORD_FIELDS))}

## Why it began

${table(['`began`', 'meaning'], rowsOf(BEGIN_REASONS))}

## Why it ended

${table(['`ended`', 'meaning'], rowsOf(END_REASONS))}

## Why it is not known

${table(['`reason`', 'meaning'], rowsOf(UNKNOWN_REASONS))}`,
];
