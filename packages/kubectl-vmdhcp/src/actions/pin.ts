import { parseIpv4Address } from '@vmdhcp/dhcp-allocator/address';
import { describeMissingRight, explainAddress, objectOf, planPin } from '@vmdhcp/explain';
import { ClusterReader, observeWay, toCommandError } from '@vmdhcp/explain/observe';
import { ADDRESSES_ANNOTATION, STATIC_IP_ANNOTATION_PREFIX } from '@vmdhcp/ippool-api/agent';
import { Resource } from '@vmdhcp/ippool-api/resources';
import { type KubernetesObject, type MergePatch, readText } from '@vmdhcp/kube-runtime';
import { CommandError, ExitCode } from '@vmdhcp/service-process';
import { machineOf, shownObject } from './machine-object.js';
import { machineIn } from './subject.js';
import { printResult, type WriteOptions, writeObject } from './write-object.js';

export interface PinOptions extends WriteOptions {
  readonly remove?: boolean;
}

interface PinSubject {
  readonly machine: string;
  readonly interfaceName: string;
  readonly address: string | undefined;
}

/** @throws CommandError if the address cannot be pinned, or the cluster refuses. */
export async function pin(subject: PinSubject, options: PinOptions): Promise<void> {
  const reader = await ClusterReader.open(options);
  try {
    if (options.remove === true) await unpin(reader, subject, options);
    else await pinAddress(reader, subject, options);
  } catch (error) {
    throw toCommandError(error);
  } finally {
    reader.close();
  }
}

async function pinAddress(
  reader: ClusterReader,
  { machine, interfaceName, address: text = '' }: PinSubject,
  options: WriteOptions,
) {
  const address = parseIpv4Address(text);
  if (address === undefined)
    throw new CommandError(`${text === '' ? 'no address' : text}: write an IPv4 address, or --remove`, ExitCode.usage);
  const observed = await observeWay(reader, machineIn(machine, reader.namespace));
  const object = machineOf(observed.virtualMachine, machine);
  const chain = explainAddress(observed);
  const network = chain.interfaces.find((one) => one.interface === interfaceName)?.network ?? '';
  const pool = observed.pools.get(network)?.pool;
  if (pool?.kind === 'refused')
    throw new CommandError(`${describeMissingRight(pool.right)}: ask for the verb get on it`, ExitCode.noPermission);
  const plan = planPin({ chain, interfaceName, address, pool: objectOf(pool) });
  if (plan.kind === 'refused') throw new CommandError(plan.message, ExitCode.failed);
  const what = `set annotation ${plan.annotation}=${text} of VirtualMachine ${observed.namespace}/${observed.name}`;
  await patchMachine(reader, { object, patch: plan.patch, what }, options);
}

async function unpin(reader: ClusterReader, { machine, interfaceName }: PinSubject, options: WriteOptions): Promise<void> {
  const { namespace, name } = machineIn(machine, reader.namespace);
  const object = machineOf(await reader.get(Resource.virtualMachines, `${namespace}/${name}`), machine);
  const annotation = `${STATIC_IP_ANNOTATION_PREFIX}${interfaceName}`;
  if (object.metadata.annotations?.[annotation] === undefined) {
    const template = readText(object.spec, 'template', 'metadata', 'annotations', ADDRESSES_ANNOTATION);
    const isImported = (object.metadata.annotations?.[ADDRESSES_ANNOTATION] ?? template) !== undefined;
    const other = `, and annotation ${ADDRESSES_ANNOTATION} pins addresses: kubectl edit vm -n ${namespace} ${name}`;
    const nothing = `VirtualMachine ${namespace}/${name} has no annotation ${annotation}${isImported ? other : ''}`;
    return await printResult('nothing-to-do', { what: nothing, ...shownObject(object) }, options);
  }
  const what = `remove annotation ${annotation} of VirtualMachine ${namespace}/${name}`;
  await patchMachine(reader, { object, patch: { metadata: { annotations: { [annotation]: null } } }, what }, options);
}

interface MachinePatch {
  readonly object: KubernetesObject;
  readonly patch: MergePatch;
  readonly what: string;
}

async function patchMachine(reader: ClusterReader, { object, patch, what }: MachinePatch, options: WriteOptions): Promise<void> {
  const { namespace = '', name, resourceVersion } = object.metadata;
  const target = { key: `${namespace}/${name}`, resourceVersion };
  await writeObject({ what, ...shownObject(object) }, options, () =>
    reader.client(Resource.virtualMachines).patch(target, patch),
  );
}
