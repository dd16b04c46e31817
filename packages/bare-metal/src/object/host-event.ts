import type { HostEventOf } from '@vmdhcp/ippool-api/bare-metal/keys';

type EventKind = 'ClusterAgent' | 'HostEndpoint' | 'HostOperation' | 'HostStatus';

/** An Event about an object, to be written. */
export type HostEvent = {
  [Kind in EventKind]: {
    readonly regarding: { readonly kind: Kind; readonly name: string; readonly uid?: string | undefined };
    readonly event: HostEventOf<Kind>;
    /** For an Event that must be written exactly once: the end of its name. An existing Event with this name is the same one. */
    readonly identity?: string;
  };
}[EventKind];
