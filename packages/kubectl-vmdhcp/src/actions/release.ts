import {
  type ClientRecord,
  findClientRecords,
  type ObservedMachine,
  objectOf,
  planAddressRelease,
  planMachineRelease,
  type ReleasePlan,
} from '@vmdhcp/explain';
import type { MachineName } from '@vmdhcp/explain/observe';
import { ClusterReader, type FoundClient, findClient, toCommandError } from '@vmdhcp/explain/observe';
import { Resource } from '@vmdhcp/ippool-api/resources';
import { keyOf } from '@vmdhcp/kube-runtime';
import { CommandError, ExitCode } from '@vmdhcp/service-process';
import { rightsLines } from '../output/format-chain.js';
import { clientIn, machineIn } from './subject.js';
import { printResult, type WriteOptions, writeObject } from './write-object.js';

/** @throws CommandError if a virtual machine needs the address, or the cluster refuses. */
export async function release(subject: string, options: WriteOptions): Promise<void> {
  const reader = await ClusterReader.open(options);
  try {
    await carryOut(reader, await planFor(reader, subject), options);
  } catch (error) {
    throw toCommandError(error);
  } finally {
    reader.close();
  }
}

async function planFor(reader: ClusterReader, subject: string): Promise<VersionedPlan> {
  const client = clientIn(subject);
  if (client === undefined) {
    const { namespace, name } = machineIn(subject, reader.namespace);
    const key = `${namespace}/${name}`;
    return { plan: planMachineRelease(key, await objectsOf(reader, key)), poolVersion: undefined };
  }
  const found = await findClient(reader, client);
  const { pool } = onlyRecord(subject, found);
  // The current object, with its version: the write is refused if the pool has changed since.
  const observed = await reader.get(Resource.ipPools, pool);
  const object = objectOf(observed);
  const [record] = object === undefined ? [] : findClientRecords([object], client);
  if (record === undefined)
    throw new CommandError(`IPPool ${pool} has changed meanwhile; run the command again`, ExitCode.failed);
  const poolVersion = object?.metadata.resourceVersion;
  if (found.machine === undefined) return { plan: planAddressRelease(record, undefined), poolVersion };
  const key = nameOf(found.machine);
  const rivals = found.hasAddress ? [] : found.otherClaims.map(nameOf);
  return { plan: planAddressRelease(record, { key, objects: await objectsOf(reader, key), rivals }), poolVersion };
}

function nameOf({ namespace, name }: MachineName): string {
  return `${namespace}/${name}`;
}

interface VersionedPlan {
  readonly plan: ReleasePlan;
  /** The version of the IPPool in the plan. */
  readonly poolVersion: string | undefined;
}

/** @throws CommandError if no pool has it, several have it, or not all could be read. */
function onlyRecord(subject: string, { records, missingRights }: FoundClient): ClientRecord {
  if (missingRights.length > 0)
    throw new CommandError(rightsLines(missingRights).slice(2).join('; ').trim(), ExitCode.noPermission);
  const [record, other] = records;
  if (record === undefined) throw new CommandError(`no pool has ${subject}`, ExitCode.failed);
  if (other !== undefined)
    throw new CommandError(
      `several pools have ${subject}: ${records.map(({ pool }) => pool).join(', ')}; nothing is released`,
      ExitCode.failed,
    );
  return record;
}

async function objectsOf(reader: ClusterReader, key: string): Promise<ObservedMachine> {
  const [virtualMachine, instance, networkConfig] = await Promise.all([
    reader.get(Resource.virtualMachines, key),
    reader.get(Resource.virtualMachineInstances, key),
    reader.get(Resource.networkConfigs, key),
  ]);
  return { virtualMachine, instance, networkConfig };
}

async function carryOut(reader: ClusterReader, { plan, poolVersion }: VersionedPlan, options: WriteOptions): Promise<void> {
  switch (plan.kind) {
    case 'refused':
      throw new CommandError(plan.message, ExitCode.failed);
    case 'nothing':
      await printResult('nothing-to-do', { what: plan.message }, options);
      return;
    case 'delete-config': {
      const { namespace = '', name, uid = '', resourceVersion } = plan.object.metadata;
      const object = `virtualmachinenetworkconfig.network.harvesterhci.io/${name}`;
      await writeObject({ what: plan.message, object, namespace }, options, () =>
        reader.client(Resource.networkConfigs).delete(keyOf(plan.object), uid, resourceVersion),
      );
      return;
    }
    case 'patch-status': {
      const [namespace = '', name] = plan.pool.split('/', 2);
      const object = `ippool.network.harvesterhci.io/${name}`;
      await writeObject({ what: plan.message, object, namespace }, options, () =>
        reader.client(Resource.ipPools).patchStatus({ key: plan.pool, resourceVersion: poolVersion }, plan.patch),
      );
    }
  }
}
