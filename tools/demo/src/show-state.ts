import { readConditions, readField, readList, readText } from '@vmdhcp/kube-runtime';
import type { ClusterAccess } from '@vmdhcp/lab';
import type { LiveView } from './live-view.js';

/** The addresses of an interface in the status of a VirtualMachineNetworkConfig. */
export function addressesOf(entry: unknown): string[] {
  return ['allocatedIPAddress', 'allocatedIPv6Address'].flatMap((field) => readText(entry, field) ?? []);
}

/** Agents, pools and virtual machines, as their objects have them. */
export async function showState(view: LiveView, access: ClusterAccess): Promise<void> {
  for (const { metadata, status } of await access.list('Deployment')) {
    view.line(`${metadata.name.padEnd(27)} ${Number(readField(status, 'readyReplicas') ?? 0)} agents ready`);
  }
  for (const { metadata, spec, status } of await access.list('IPPool')) {
    const state = readConditions(status)
      .filter(({ status: is }) => is === 'True')
      .map(({ type }) => type);
    const [used, available] = ['used', 'available'].map((name) => readField(status, 'ipv4', name));
    view.line(
      `${metadata.name.padEnd(10)} ${String(readText(spec, 'networkName')).padEnd(16)} used ${used}, available ${available}   ${state.join(' ')}   served by ${readText(status, 'servedBy') ?? 'no agent'}`,
    );
  }
  for (const { metadata, status } of await access.list('VirtualMachineNetworkConfig')) {
    const entries = readList(status, 'networkConfigs').map(
      (entry) => `${readText(entry, 'macAddress')} ${addressesOf(entry).join(' and ') || '-'}`,
    );
    const state = readConditions(status).find(({ type }) => type === 'Allocated');
    view.line(
      `${metadata.name.padEnd(10)} ${entries.join(', ')}   Allocated=${state?.status}${state?.reason ? ` (${state.reason})` : ''}`,
    );
  }
}
