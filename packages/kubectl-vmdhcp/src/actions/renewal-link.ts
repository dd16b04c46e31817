/** The link of an interface of a running virtual machine, switched off and on by the field of KubeVirt. */
import { describeMissingRight, isRunning, linkOnCommand, planLinkOn, reportedLink } from '@vmdhcp/explain';
import { type ClusterReader, untilNext } from '@vmdhcp/explain/observe';
import { Resource } from '@vmdhcp/ippool-api/resources';
import { type KubernetesObject, keyOf, type MergePatch } from '@vmdhcp/kube-runtime';
import { CommandError, ExitCode } from '@vmdhcp/service-process';

const ASK_MS = 500;
/** KubeVirt needs about a second. */
const PATIENCE_MS = 60_000;
/** A write whose answer was lost may still arrive. */
const LATE_MS = 2_000;

/** A link that this command switches. */
export interface RenewalLink {
  readonly reader: ClusterReader;
  readonly interfaceName: string;
  /** As it was read last. */
  virtualMachine: KubernetesObject;
  /** The state that was written in the VirtualMachine. */
  readonly before: string | undefined;
  /** False if nobody knows whether the API server has switched it off. */
  isOff: boolean;
}

/** @throws CommandError if it is not done; then the link is on. */
export async function switchOff(link: RenewalLink, patch: MergePatch): Promise<void> {
  const { reader, virtualMachine } = link;
  const target = { key: keyOf(virtualMachine), resourceVersion: virtualMachine.metadata.resourceVersion };
  const writing = reader.client(Resource.virtualMachines).patch(target, patch);
  const result = await writing.catch(async (error: unknown) => {
    // The API server may have written it, or still do so.
    await untilNext(NEVER, LATE_MS);
    await switchOn(link);
    throw error;
  });
  link.isOff = result.ok;
  if (result.ok) return;
  const meanwhile = result.reason === 'conflict' ? '; it has changed meanwhile; run the command again' : '';
  const code = result.reason === 'forbidden' ? ExitCode.noPermission : ExitCode.failed;
  throw new CommandError(`${result.message}${meanwhile}`, code);
}

const NEVER = new AbortController().signal;

/** Tries until it is done: no controller would do it. @throws CommandError with the command for a person. */
export async function switchOn(link: RenewalLink): Promise<void> {
  let problem = await trySwitchOn(link);
  // Whoever ends the command now knows what to do.
  if (problem !== undefined)
    process.stderr.write(`${describeOff(link, problem)}. This is tried again for ${PATIENCE_MS / 1_000} s\n`);
  for (const endMs = performance.now() + PATIENCE_MS; problem !== undefined; problem = await trySwitchOn(link)) {
    if (performance.now() > endMs)
      throw new CommandError(describeOff(link, problem), link.isOff ? ExitCode.failed : ExitCode.unavailable);
    await untilNext(NEVER, ASK_MS);
  }
}

function describeOff({ virtualMachine, interfaceName, isOff }: RenewalLink, problem: string): string {
  const remedy = `switch it on: ${linkOnCommand(virtualMachine, interfaceName)}`;
  const which = `the link of interface ${interfaceName} of VirtualMachine ${keyOf(virtualMachine)}`;
  return isOff ? `${which} is still off: ${problem}; ${remedy}` : `${which} may be off: ${problem}; if it is, ${remedy}`;
}

/** Returns why the link is not on; undefined if it is. */
async function trySwitchOn(link: RenewalLink): Promise<string | undefined> {
  try {
    return await switchOnNow(link);
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}

async function switchOnNow(link: RenewalLink): Promise<string | undefined> {
  const { reader, interfaceName, before } = link;
  const key = keyOf(link.virtualMachine);
  const observed = await reader.get(Resource.virtualMachines, key);
  if (observed.kind === 'refused') return describeMissingRight(observed.right);
  if (observed.kind !== 'found') return undefined;
  link.virtualMachine = observed.object;
  const patch = planLinkOn(observed.object, interfaceName, before);
  link.isOff = patch !== undefined;
  if (patch === undefined) return undefined;
  const { resourceVersion } = observed.object.metadata;
  const result = await reader.client(Resource.virtualMachines).patch({ key, resourceVersion }, patch);
  return result.ok || result.reason === 'not-found' ? undefined : result.message;
}

/** One failed request is not the end. @throws CommandError if KubeVirt does not report it, or the machine has ended. */
export async function untilReported(
  { reader, virtualMachine, interfaceName }: RenewalLink,
  state: 'up' | 'down',
  stop: AbortSignal,
): Promise<void> {
  const key = keyOf(virtualMachine);
  for (const endMs = performance.now() + PATIENCE_MS; !stop.aborted; await untilNext(stop, ASK_MS)) {
    const observed = await instanceOf(reader, key).catch((error: unknown) => error as Error);
    const isLate = performance.now() > endMs;
    if (observed instanceof Error) {
      const isUnreachable = observed instanceof CommandError && observed.exitCode === ExitCode.unavailable;
      if (isLate || !isUnreachable) throw observed;
      continue;
    }
    if (reportedLink(observed, interfaceName) === state) return;
    if (!isRunning(observed))
      throw new CommandError(
        `VirtualMachine ${key} does not run any more; its guest asks for its address when it starts`,
        ExitCode.failed,
      );
    if (isLate)
      throw new CommandError(
        `KubeVirt does not report within ${PATIENCE_MS / 1_000} s that the link of interface ${interfaceName} is ${state}; this needs KubeVirt 1.5: kubectl get vmi -n ${key.replace('/', ' ')} -o yaml`,
        ExitCode.unavailable,
      );
  }
}

/** @throws CommandError if it may not be read. */
export async function instanceOf(reader: ClusterReader, key: string): Promise<KubernetesObject | undefined> {
  const observed = await reader.get(Resource.virtualMachineInstances, key);
  if (observed.kind === 'refused')
    throw new CommandError(`${describeMissingRight(observed.right)}: ask for the verb get on it`, ExitCode.noPermission);
  return observed.kind === 'found' ? observed.object : undefined;
}
