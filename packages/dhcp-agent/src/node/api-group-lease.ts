/** The Lease of an agents' group in the API server. */
import { AGENT_GROUP_LABEL, AGENT_LABEL, AGENT_LABEL_VALUE, LEASE_DURATION_ANNOTATION } from '@vmdhcp/ippool-api/agent';
import { type Clock, type KubernetesObject, ObjectCache } from '@vmdhcp/kube-runtime';
import { ApiLeaseStore, ApiObjectClient, type ApiTransport, type LeaseObject, toStoredLease } from '@vmdhcp/kube-runtime/node';
import type { GroupLease } from '../ports.js';

const LEASES = { group: 'coordination.k8s.io', version: 'v1', plural: 'leases', namespaced: true };

/** Which Lease object a group of agents shares, and how it is renewed. */
export interface ApiGroupLeaseSettings {
  /** For the election alone, so that its requests wait for nothing else. They must fail before the Lease expires. */
  readonly election: ApiTransport;
  /** For watching the Lease. */
  readonly watching: ApiTransport;
  readonly namespace: string;
  readonly name: string;
  /** Default: the labels by which the controller finds the Lease of a group. */
  readonly labels?: Readonly<Record<string, string>>;
  readonly clock: Clock;
  /** Milliseconds since 1970, for the times in the Lease, which are for people. */
  readonly wallTimeMs: () => number;
  /** 0 up to, not including, 1. */
  readonly random: () => number;
}

/** The Lease of a group of agents for one replica, which reads and writes it for the election, and watches it. */
export class ApiGroupLease implements GroupLease {
  readonly #settings: ApiGroupLeaseSettings;

  constructor(settings: ApiGroupLeaseSettings) {
    this.#settings = settings;
  }

  readonly store: GroupLease['store'] = (content) => {
    const { election, namespace, name, wallTimeMs } = this.#settings;
    const { labels = { [AGENT_LABEL]: AGENT_LABEL_VALUE, [AGENT_GROUP_LABEL]: name } } = this.#settings;
    const durationAnnotation = LEASE_DURATION_ANNOTATION;
    return new ApiLeaseStore(election, { namespace, name, wallTimeMs, labels, durationAnnotation, ...content });
  };

  readonly watch: GroupLease['watch'] = (onSeen) => {
    const { watching, namespace, name, clock, random } = this.#settings;
    const key = `${namespace}/${name}`;
    const cache: ObjectCache<KubernetesObject> = new ObjectCache({
      port: new ApiObjectClient<KubernetesObject>(watching, { ...LEASES, namespace, fieldSelector: `metadata.name=${name}` }),
      clock,
      backOff: { firstMs: 500, mostMs: 10_000, random },
      onChange: () => {
        const lease = cache.get(key) as LeaseObject | undefined;
        onSeen(
          lease && { stored: toStoredLease(lease, LEASE_DURATION_ANNOTATION), annotations: lease.metadata.annotations ?? {} },
        );
      },
    });
    cache.start();
    return () => cache.stop();
  };
}
