/**
 * Parts that join the controller's process besides DHCP, under the same leadership. They are loaded only if an option requests
 * them.
 */
import type { CustomResource } from '@vmdhcp/ippool-api';
import type { ApiResource, ControllerPart, fencedClient, KubernetesObject, SharedCaches } from '@vmdhcp/kube-runtime';
import type { MachineInventory } from '@vmdhcp/reconciler';

/** Shared by all parts of the process. */
export interface PartsContext {
  readonly identity: string;
  readonly caches: SharedCaches;
  /** Writes only while this process is leader. */
  readonly clientOf: <Kind extends KubernetesObject = KubernetesObject>(
    resource: ApiResource,
  ) => ReturnType<typeof fencedClient<Kind>>;
  readonly isLeading: () => boolean;
}

type Annotations = Readonly<Record<string, string>>;

export interface AddedParts {
  readonly parts: readonly ControllerPart[];
  /** Their CustomResourceDefinitions. */
  readonly customResources: readonly CustomResource[];
  /** The cached fields of their kinds, by plural. Default: all. */
  readonly cachedParts?: Readonly<Record<string, (object: KubernetesObject) => KubernetesObject>>;
  /** The annotations that the leader publishes in the Lease of the controllers. */
  readonly leaseAnnotations: () => Annotations;
  /** Receives the annotations of that Lease after each read or write. */
  readonly onLeaseAnnotations: (annotations: Annotations) => void;
}

/** Adds parts to a process of the controller, which all run under one leadership. */
export type AddParts = (context: PartsContext & { readonly inventory: MachineInventory }) => AddedParts;

/** Combines several of them into one; undefined if none is requested. */
export function joinParts(asked: readonly (AddParts | undefined)[]): AddParts | undefined {
  const adds = asked.filter((add) => add !== undefined);
  if (adds.length === 0) return undefined;
  return (context) => {
    const added = adds.map((add) => add(context));
    return {
      parts: added.flatMap(({ parts }) => parts),
      customResources: added.flatMap(({ customResources }) => customResources),
      cachedParts: Object.assign({}, ...added.map(({ cachedParts = {} }) => cachedParts)) as NonNullable<
        AddedParts['cachedParts']
      >,
      leaseAnnotations: () => Object.assign({}, ...added.map(({ leaseAnnotations }) => leaseAnnotations())) as Annotations,
      onLeaseAnnotations: (annotations) => {
        for (const { onLeaseAnnotations } of added) onLeaseAnnotations(annotations);
      },
    };
  };
}
