/** Makes the guest of a running virtual machine ask for its address again: its link goes off and on. */
import { planLinkOff } from '@vmdhcp/explain';
import { ClusterReader, toCommandError, untilNext } from '@vmdhcp/explain/observe';
import { Resource } from '@vmdhcp/ippool-api/resources';
import type { MergePatch } from '@vmdhcp/kube-runtime';
import { CommandError, ExitCode, stopSignal } from '@vmdhcp/service-process';
import { machineOf, shownObject } from './machine-object.js';
import { instanceOf, type RenewalLink, switchOff, switchOn, untilReported } from './renewal-link.js';
import { machineIn } from './subject.js';
import { printResult, type WriteOptions } from './write-object.js';

/** Most guests notice 0.3 s; NetworkManager ignores a link that comes back within six seconds. */
const OFF_MS = 7_000;

export interface RenewalSubject {
  readonly machine: string;
  readonly interfaceName: string;
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
  await interrupt({ reader, virtualMachine, interfaceName, before: plan.before, isOff: false }, plan.patch);
  await printResult('done', planned, options);
}

/** Whatever happens while the link is off, it is switched on. */
async function interrupt(link: RenewalLink, patch: MergePatch): Promise<void> {
  const stop = stopSignal(['SIGTERM', 'SIGINT', 'SIGHUP']);
  // A terminal that is gone must not end the process now.
  process.stderr.on('error', () => undefined);
  await switchOff(link, patch);
  progress('the link is being switched off');
  const problem = await untilOff(link, stop).catch((error: unknown) => error);
  progress('the link is being switched on');
  await switchOn(link);
  if (problem instanceof CommandError) throw new CommandError(`${problem.message}; the link is switched on`, problem.exitCode);
  if (problem !== undefined) throw problem;
  if (stop.aborted) throw new CommandError('interrupted; the link is switched on', ExitCode.failed);
  await untilReported(link, 'up', stop);
}

async function untilOff(link: RenewalLink, stop: AbortSignal): Promise<void> {
  await untilReported(link, 'down', stop);
  await untilNext(stop, OFF_MS);
}

/** For people; scripts read the result alone. */
function progress(text: string): void {
  if (process.stderr.isTTY) process.stderr.write(`${text}\n`);
}
