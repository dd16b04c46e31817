import { isRecord, readField, readList, readText } from '@vmdhcp/kube-runtime';
import type { InterfaceBinding } from '../network/interface-reach.js';

/** Fields of an interface of KubeVirt. Some only exist in its older or newer versions. */
const FIELDS: readonly (readonly [field: string, kind: 'masquerade' | 'passt' | 'slirp' | 'sriov'])[] = [
  ['masquerade', 'masquerade'],
  ['passt', 'passt'],
  ['passtBinding', 'passt'],
  ['slirp', 'slirp'],
  ['sriov', 'sriov'],
];

/** By name, the bindings of the interfaces in a `spec` of an instance or of the template of a virtual machine. Never throws. */
export function readInterfaceBindings(spec: unknown): ReadonlyMap<string, InterfaceBinding> {
  const interfaces = readList(spec, 'domain', 'devices', 'interfaces');
  return new Map(
    interfaces.flatMap((entry) => {
      const name = readText(entry, 'name');
      return name === undefined ? [] : [[name, readBinding(entry)]];
    }),
  );
}

/** The part of an interface that `readInterfaceBindings` reads. */
export function projectBinding(entry: unknown): Record<string, unknown> {
  const name = readText(entry, 'binding', 'name');
  const field = FIELDS.find(([one]) => isRecord(readField(entry, one)))?.[0];
  return { ...(name !== undefined && { binding: { name } }), ...(field !== undefined && { [field]: {} }) };
}

function readBinding(entry: unknown): InterfaceBinding {
  const name = readText(entry, 'binding', 'name');
  if (name !== undefined) return { kind: 'plugin', name };
  const kind = FIELDS.find(([field]) => isRecord(readField(entry, field)))?.[1];
  return { kind: kind ?? 'bridge' };
}
