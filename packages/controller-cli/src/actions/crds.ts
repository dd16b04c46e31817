import { type ClusterOptions, connect } from '@vmdhcp/controller-process';
import { applyCrds, CUSTOM_RESOURCES, toVersionedDefinition, WAKE_ON_LAN_RESOURCES } from '@vmdhcp/controller-process/crds';
import type { CustomResource } from '@vmdhcp/ippool-api';
import { bareMetalResources } from '@vmdhcp/ippool-api/bare-metal';
import { stringify } from 'yaml';

export interface CrdsOptions extends ClusterOptions {
  readonly apply?: boolean;
  /** True to include the one of WolConfig. */
  readonly wakeOnLan?: boolean;
  /** True to include those of bare-metal hosts. */
  readonly bareMetal?: boolean;
  readonly json?: boolean;
}

/**
 * Prints the CustomResourceDefinitions, or applies them. @throws CommandError if there is no way to reach a cluster, or the
 * server refuses.
 */
export async function crds(options: CrdsOptions): Promise<void> {
  if (options.apply) await apply(options);
  else print(options);
}

function print(options: CrdsOptions): void {
  const { json } = options;
  const crds = resourcesOf(options).map(toVersionedDefinition);
  if (json) process.stdout.write(`${JSON.stringify({ apiVersion: 'v1', kind: 'List', items: crds }, undefined, 2)}\n`);
  else process.stdout.write(toYaml(crds));
}

function resourcesOf({ wakeOnLan = false, bareMetal = false }: CrdsOptions): readonly CustomResource[] {
  return [...CUSTOM_RESOURCES, ...(wakeOnLan ? WAKE_ON_LAN_RESOURCES : []), ...(bareMetal ? bareMetalResources : [])];
}

/** Documents that YAML 1.1 (kubectl) and 1.2 read the same way: words with a special meaning in either are quoted. */
export function toYaml(documents: readonly unknown[]): string {
  const options = { aliasDuplicateObjects: false, lineWidth: 0, compat: 'yaml-1.1' } as const;
  return documents.map((document) => `---\n${stringify(document, options)}`).join('');
}

async function apply(options: CrdsOptions): Promise<void> {
  const connection = await connect(options);
  try {
    const applied = await applyCrds(connection, resourcesOf(options));
    if (options.json) process.stdout.write(`${JSON.stringify(applied)}\n`);
    else for (const { name, outcome } of applied) process.stdout.write(`${name} ${outcome}\n`);
  } finally {
    connection.close();
  }
}
