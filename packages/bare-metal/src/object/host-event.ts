import type { HostEventOf } from '@vmdhcp/ippool-api/bare-metal/keys';

type EventKind = 'ClusterAgent' | 'HostEndpoint' | 'HostOperation' | 'HostStatus';

/** An Event about an object, to be written. */
export type HostEvent = {
  [Kind in EventKind]: {
    readonly regarding: { readonly kind: Kind; readonly name: string; readonly uid?: string | undefined };
    readonly event: HostEventOf<Kind>;
    /**
     * Where an Event must be written once and never again: the end of its name. An Event of this name that exists already is this one.
     */
    readonly identity?: string;
  };
}[EventKind];
