import { type MacAddress, parseMacAddress } from '@vmdhcp/dhcp-allocator/address';
import {
  BARE_METAL_GROUP,
  BOUND_TO_ANNOTATION,
  BOUND_TO_NONE,
  DHCP_ACTIVE_LABEL,
  HOST_MODE_LABEL,
} from '@vmdhcp/ippool-api/bare-metal/keys';
import type { KubernetesObject, OwnerReference } from '@vmdhcp/kube-runtime';
import { readField } from '@vmdhcp/kube-runtime';
import { readFlag, readNonEmptyText } from '../object/read-field.js';
import { readTime } from '../object/time.js';
import { type HostConnection, readConnection } from './cluster-agent-settings.js';
import { parseHostStatusName } from './host-name.js';

/** How a host became known: by its lease, or by a HostEndpoint. */
export type HostMode = 'dhcp' | 'hostEndpoint';

/** What the annotation of a HostStatus specifies. */
export type BindingAnnotation =
  /** No annotation: `enableBindDhcpIP` decides. */
  | { readonly kind: 'by-switch' }
  | { readonly kind: 'bound'; readonly macAddress: MacAddress }
  | { readonly kind: 'none' }
  | { readonly kind: 'unreadable'; readonly text: string };

/** A HostStatus as it is stored. */
export interface ObservedHost {
  readonly name: string;
  /** Undefined if the object was created and its status was not written yet. */
  readonly clusterAgent: string | undefined;
  readonly mode: HostMode;
  readonly address: string | undefined;
  readonly macAddress: MacAddress | undefined;
  /** When it replaced another one, milliseconds since 1970; undefined if it never did. */
  readonly macSinceMs: number | undefined;
  /** True if a client has a lease of the address. Undefined if not known, or not learned from a lease. */
  readonly isActive: boolean | undefined;
  readonly isHealthy: boolean;
  readonly connection: HostConnection;
  readonly binding: BindingAnnotation;
}

/** Reads a HostStatus, whatever is stored. If `healthy` is missing, `healthReady` of the design counts. Never throws. */
export function readHost(object: KubernetesObject): ObservedHost {
  const { metadata, status } = object;
  return {
    name: metadata.name,
    clusterAgent: readNonEmptyText(status, 'clusterAgent'),
    mode: modeOf(object),
    address: readNonEmptyText(status, 'basic', 'ipAddr') ?? parseHostStatusName(metadata.name)?.address,
    macAddress: parseMacAddress(readNonEmptyText(status, 'basic', 'mac') ?? ''),
    macSinceMs: readTime(readNonEmptyText(status, 'basic', 'macSince')),
    isActive: readFlag(status, 'basic', 'activeDhcpClient') ?? activeByLabel(metadata.labels?.[DHCP_ACTIVE_LABEL]),
    isHealthy: readFlag(status, 'healthy') ?? readFlag(status, 'healthReady') ?? false,
    connection: readConnection(readField(status, 'basic')),
    binding: readBinding(metadata.annotations?.[BOUND_TO_ANNOTATION]),
  };
}

/** The HostEndpoint that owns an object, if any. */
export function owningEndpoint({ metadata }: KubernetesObject): OwnerReference | undefined {
  return metadata.ownerReferences?.find(isEndpointReference);
}

/** True for a reference to a HostEndpoint. */
export function isEndpointReference({ apiVersion, kind }: OwnerReference): boolean {
  return kind === 'HostEndpoint' && apiVersion.startsWith(`${BARE_METAL_GROUP}/`);
}

/**
 * The owner counts first: people edit labels. After that, a single field with `dhcp` is enough, so that an edit of the other one
 * does not lose a binding.
 */
function modeOf(object: KubernetesObject): HostMode {
  if (owningEndpoint(object) !== undefined) return 'hostEndpoint';
  const [ofStatus, ofLabel] = [readNonEmptyText(object.status, 'basic', 'type'), object.metadata.labels?.[HOST_MODE_LABEL]];
  if (ofStatus === 'dhcp' || ofLabel === 'dhcp') return 'dhcp';
  return ofStatus === 'hostEndpoint' || ofLabel === 'hostEndpoint' ? 'hostEndpoint' : 'dhcp';
}

function activeByLabel(label: string | undefined): boolean | undefined {
  return label === 'true' || label === 'false' ? label === 'true' : undefined;
}

function readBinding(annotation: string | undefined): BindingAnnotation {
  if (annotation === undefined) return { kind: 'by-switch' };
  if (annotation === BOUND_TO_NONE) return { kind: 'none' };
  const macAddress = parseMacAddress(annotation);
  return macAddress === undefined ? { kind: 'unreadable', text: annotation } : { kind: 'bound', macAddress };
}
