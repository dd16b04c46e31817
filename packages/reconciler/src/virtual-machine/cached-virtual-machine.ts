/** The cached part of a KubeVirt VirtualMachine: a few hundred octets of about ten thousand. */
import {
  ADDRESSES_ANNOTATION,
  ASSIGNED_ADDRESSES_ANNOTATION,
  CUSTOM_IP_ANNOTATION,
  DHCP_OPT_OUT_ANNOTATION,
  MAC_ADDRESS_ANNOTATION,
  STATIC_IP_ANNOTATION_PREFIX,
} from '@vmdhcp/ippool-api';
import { isRecord, type KubernetesObject, readField, readText } from '@vmdhcp/kube-runtime';
import { pick, projectSpec } from './running-instance.js';

/** The parts of a virtual machine that the controller reads, and nothing else: disks, cloud-init and applied configurations are large. */
export function projectVirtualMachine({ apiVersion, kind, metadata, spec, status }: KubernetesObject): KubernetesObject {
  const { name, generation } = metadata;
  const template = readField(spec, 'template', 'spec');
  return {
    ...(apiVersion !== undefined && { apiVersion }),
    ...(kind !== undefined && { kind }),
    metadata: {
      name,
      ...pick(metadata, ['namespace', 'uid', 'resourceVersion', 'creationTimestamp', 'deletionTimestamp']),
      ...(generation !== undefined && { generation }),
      annotations: readAnnotations(metadata.annotations),
    },
    spec: isRecord(template) ? { template: { ...projectTemplateMetadata(spec), spec: projectSpec(template) } } : {},
    status: { ...pick(status, ['printableStatus']), created: readField(status, 'created') === true },
  };
}

function projectTemplateMetadata(spec: unknown): { readonly metadata?: unknown } {
  const addresses = readText(spec, 'template', 'metadata', 'annotations', ADDRESSES_ANNOTATION);
  return addresses === undefined ? {} : { metadata: { annotations: { [ADDRESSES_ANNOTATION]: addresses } } };
}

function readAnnotations(annotations: Readonly<Record<string, string>> = {}): Record<string, string> {
  return Object.fromEntries(Object.entries(annotations).filter(([key]) => isRead(key)));
}

const READ: ReadonlySet<string> = new Set([
  MAC_ADDRESS_ANNOTATION,
  DHCP_OPT_OUT_ANNOTATION,
  ADDRESSES_ANNOTATION,
  ASSIGNED_ADDRESSES_ANNOTATION,
  CUSTOM_IP_ANNOTATION,
]);

function isRead(annotation: string): boolean {
  return READ.has(annotation) || annotation.startsWith(STATIC_IP_ANNOTATION_PREFIX);
}
