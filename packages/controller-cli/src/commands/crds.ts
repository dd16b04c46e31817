import { toCustomResourceDefinition } from '@vmdhcp/ippool-api';
import { Command } from 'commander';
import { stringify } from 'yaml';
import { applyCrds, CUSTOM_RESOURCES } from '../run/apply-crds.js';
import { type ClusterOptions, clusterOptions, connect } from '../run/connect.js';

const EXAMPLES = `
Examples:
  vmdhcp-controller crds > crds.yaml
  vmdhcp-controller crds --apply
  vmdhcp-controller crds --apply --kubeconfig ~/.kube/config --json

Exit codes: 0 printed or applied, 1 the server refused, 66 there is no way to a cluster.
`;

interface CrdsOptions extends ClusterOptions {
  readonly apply?: boolean;
  readonly json?: boolean;
}

/** `vmdhcp-controller crds` */
export function crdsCommand(): Command {
  const command = new Command('crds')
    .description('Print the CustomResourceDefinitions, or apply them to a cluster.')
    .option('--apply', 'create them or bring them up to date, and wait until they are served')
    .option('--json', 'print JSON')
    .addHelpText('after', EXAMPLES);
  for (const option of clusterOptions()) command.addOption(option);
  return command.action((options: CrdsOptions) => (options.apply ? apply(options) : print(options)));
}

function print({ json }: CrdsOptions): void {
  const crds = CUSTOM_RESOURCES.map(toCustomResourceDefinition);
  if (json) process.stdout.write(`${JSON.stringify({ apiVersion: 'v1', kind: 'List', items: crds }, undefined, 2)}\n`);
  else process.stdout.write(toYaml(crds));
}

/** Documents that YAML 1.1 (kubectl) and 1.2 read the same: words that mean something else to either are quoted. */
export function toYaml(documents: readonly unknown[]): string {
  const options = { aliasDuplicateObjects: false, lineWidth: 0, compat: 'yaml-1.1' } as const;
  return documents.map((document) => `---\n${stringify(document, options)}`).join('');
}

async function apply(options: CrdsOptions): Promise<void> {
  const connection = await connect(options);
  try {
    const applied = await applyCrds(connection);
    if (options.json) process.stdout.write(`${JSON.stringify(applied)}\n`);
    else for (const { name, outcome } of applied) process.stdout.write(`${name} ${outcome}\n`);
  } finally {
    connection.close();
  }
}
