// The page that lists the reference.
import { globSync } from 'node:fs';
import { basename } from 'node:path';

const PAGES = [
  ['fields', 'fields of IPPools and VirtualMachineNetworkConfigs, and what the API server checks'],
  ['annotations-and-labels', 'annotations, labels and finalizers: on what, written by whom'],
  ['conditions', 'conditions, and the columns that `kubectl get` prints'],
  ['reasons', 'why something is as it is, and what to do'],
  ['events', 'the same by the object that shows them'],
  ['admission', 'what is refused, and what is a warning'],
  ['values', 'values of the chart'],
  ['flags', 'commands of both programs, and their flags'],
  ['environment', 'environment variables'],
  ['metrics', 'metrics and their labels'],
  ['packet-reasons', 'why a DHCP message got no reply, or a refusal'],
  ['audit', 'records of who had which address: fields and reasons'],
  ['exit-codes', 'exit codes of the commands'],
];

/** Name, title and text of the page that lists the reference. */
export const indexPage = [
  'README',
  'Reference',
  `Generated from the programs and the schemas; a check fails when a page differs from them.

${PAGES.map(([name, what]) => `- [${name}](${name}.md): ${what}`).join('\n')}
${globSync('docs/reference/*.md')
  .map((path) => basename(path, '.md'))
  .filter((name) => name !== 'README' && !PAGES.some(([known]) => known === name))
  .toSorted()
  .map((name) => `- [${name}](${name}.md)\n`)
  .join('')}- [API of the libraries](api/README.md)

Next: [documentation](../README.md).`,
];
