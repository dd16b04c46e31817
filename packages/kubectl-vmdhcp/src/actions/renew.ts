/** Makes the guest of a running virtual machine ask for its address again: its link goes off and on. */
import { describeMissingRight, linkOnCommand, planLinkOff, planLinkOn, reportedLink } from '@vmdhcp/explain';
import { ClusterReader, toCommandError, untilNext } from '@vmdhcp/explain/observe';
import { Resource } from '@vmdhcp/ippool-api/resources';
import { type KubernetesObject, keyOf, type MergePatch } from '@vmdhcp/kube-runtime';
import { CommandError, ExitCode, stopSignal } from '@vmdhcp/service-process';
import { machineOf, shownObject } from './machine-object.js';
import { machineIn } from './subject.js';
import { printResult, type WriteOptions } from './write-object.js';

const ASK_MS = 500;
/** KubeVirt needs about a second. */
const PATIENCE_MS = 60_000;
/** Guests notice 0.3 s, too; this is for slower ones. */
const OFF_MS = 2_000;

export interface RenewalSubject {
  readonly machine: string;
  readonly interfaceName: string;
}

/** A link that this command switches. */
interface Link {
  readonly reader: ClusterReader;
  readonly virtualMachine: KubernetesObject;
  readonly interfaceName: string;
  /** The state that is written in the VirtualMachine. */
  readonly before: string | undefined;
}

/** @throws CommandError if the link may not be switched off, or KubeVirt does not do it. */
export async function renew(subject: RenewalSubject, options: WriteOptions): Promise<void> {
  const reader = await ClusterReader.open(options);
  try {
    await renewWith(reader, subject, options);
  } catch (error) {
    throw toCommandError(error);
  } finally {
    reader.close();
  }
}

async function renewWith(
  reader: ClusterReader,
  { machine, interfaceName }: RenewalSubject,
  options: WriteOptions,
): Promise<void> {
  const { namespace, name } = machineIn(machine, reader.namespace);
  const key = `${namespace}/${name}`;
  const virtualMachine = machineOf(await reader.get(Resource.virtualMachines, key), machine);
  const plan = planLinkOff({ virtualMachine, instance: await instanceOf(reader, key), interfaceName });
  if (plan.kind === 'refused') throw new CommandError(plan.message, ExitCode.failed);
  const what = `switch the link of interface ${interfaceName} of VirtualMachine ${key} off and on`;
  const planned = { what, ...shownObject(virtualMachine) };
  if (options.dryRun) return await printResult('dry-run', planned, options);
  await interrupt({ reader, virtualMachine, interfaceName, before: plan.before }, plan.patch);
  await printResult('done', planned, options);
}

/** Whatever happens while the link is off, it is switched on. */
async function interrupt(link: Link, patch: MergePatch): Promise<void> {
  const stop = stopSignal();
  await switchOff(link, patch);
  try {
    progress('the link is being switched off');
    await untilReported(link, 'down', stop);
    await untilNext(stop, OFF_MS);
  } finally {
    progress('the link is being switched on');
    await switchOn(link);
  }
  if (stop.aborted) throw new CommandError('interrupted; the link is switched on', ExitCode.failed);
  await untilReported(link, 'up', stop);
}

async function switchOff(link: Link, patch: MergePatch): Promise<void> {
  const { reader, virtualMachine } = link;
  const target = { key: keyOf(virtualMachine), resourceVersion: virtualMachine.metadata.resourceVersion };
  const writing = reader.client(Resource.virtualMachines).patch(target, patch);
  const result = await writing.catch(async (error: unknown) => {
    // The API server may have written it, or still do so.
    await untilNext(NEVER, OFF_MS);
    await switchOn(link);
    throw error;
  });
  if (result.ok) return;
  const meanwhile = result.reason === 'conflict' ? '; it has changed meanwhile; run the command again' : '';
  const code = result.reason === 'forbidden' ? ExitCode.noPermission : ExitCode.failed;
  throw new CommandError(`${result.message}${meanwhile}`, code);
}

const NEVER = new AbortController().signal;

/** Tries until it is done: no controller would do it. @throws CommandError with the command for a person. */
async function switchOn(link: Link): Promise<void> {
  const { virtualMachine, interfaceName } = link;
  let problem: string | undefined;
  for (const endMs = performance.now() + PATIENCE_MS; performance.now() < endMs; await untilNext(NEVER, ASK_MS)) {
    problem = await trySwitchOn(link).catch((error: unknown) => (error instanceof Error ? error.message : String(error)));
    if (problem === undefined) return;
  }
  const remedy = `switch it on: ${linkOnCommand(virtualMachine, interfaceName)}`;
  throw new CommandError(
    `the link of interface ${interfaceName} of VirtualMachine ${keyOf(virtualMachine)} is still off: ${problem}; ${remedy}`,
    ExitCode.failed,
  );
}

/** Returns why the link is not on; undefined if it is. */
async function trySwitchOn({ reader, virtualMachine, interfaceName, before }: Link): Promise<string | undefined> {
  const key = keyOf(virtualMachine);
  const observed = await reader.get(Resource.virtualMachines, key);
  if (observed.kind === 'refused') return describeMissingRight(observed.right);
  const patch = observed.kind === 'found' ? planLinkOn(observed.object, interfaceName, before) : undefined;
  if (observed.kind !== 'found' || patch === undefined) return undefined;
  const { resourceVersion } = observed.object.metadata;
  const result = await reader.client(Resource.virtualMachines).patch({ key, resourceVersion }, patch);
  return result.ok || result.reason === 'not-found' ? undefined : result.message;
}

async function untilReported(
  { reader, virtualMachine, interfaceName }: Link,
  state: 'up' | 'down',
  stop: AbortSignal,
): Promise<void> {
  const key = keyOf(virtualMachine);
  for (const endMs = performance.now() + PATIENCE_MS; !stop.aborted; await untilNext(stop, ASK_MS)) {
    if (reportedLink(await instanceOf(reader, key), interfaceName) === state) return;
    if (performance.now() > endMs)
      throw new CommandError(
        `KubeVirt does not report within ${PATIENCE_MS / 1_000} s that the link of interface ${interfaceName} is ${state}; this needs KubeVirt 1.5: kubectl get vmi -n ${key.replace('/', ' ')} -o yaml`,
        ExitCode.unavailable,
      );
  }
}

/** @throws CommandError if it may not be read. */
async function instanceOf(reader: ClusterReader, key: string): Promise<KubernetesObject | undefined> {
  const observed = await reader.get(Resource.virtualMachineInstances, key);
  if (observed.kind === 'refused')
    throw new CommandError(`${describeMissingRight(observed.right)}: ask for the verb get on it`, ExitCode.noPermission);
  return observed.kind === 'found' ? observed.object : undefined;
}

/** For people; scripts read the result alone. */
function progress(text: string): void {
  if (process.stderr.isTTY) process.stderr.write(`${text}\n`);
}
