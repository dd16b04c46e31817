/** The Lease of an agents' group in the API server. */
import type { GroupLease } from '@vmdhcp/dhcp-agent';
import { AGENT_GROUP_LABEL, AGENT_LABEL, AGENT_LABEL_VALUE, LEASE_DURATION_ANNOTATION } from '@vmdhcp/ippool-api/agent';
import { type ElectionTimes, type KubernetesObject, ObjectCache } from '@vmdhcp/kube-runtime';
import {
  ApiConnection,
  ApiLeaseStore,
  ApiObjectClient,
  type ClusterConnection,
  type LeaseObject,
  systemClock,
  toStoredLease,
} from '@vmdhcp/kube-runtime/node';
import { Resource } from '@vmdhcp/reconciler';

const BACK_OFF = { firstMs: 500, mostMs: 10_000, random: Math.random };

export interface ApiGroupLeaseSettings {
  readonly cluster: ClusterConnection;
  readonly userAgent: string;
  /** For watching; the election has one of its own. */
  readonly connection: ApiConnection;
  readonly namespace: string;
  readonly name: string;
  readonly times: ElectionTimes;
  /** Default: those by which the controller finds the Lease of a group. */
  readonly labels?: Readonly<Record<string, string>>;
}

export class ApiGroupLease implements GroupLease {
  readonly #settings: ApiGroupLeaseSettings;
  readonly #connection: ApiConnection;

  constructor(settings: ApiGroupLeaseSettings) {
    this.#settings = settings;
    const { cluster, userAgent, times } = settings;
    // A Lease that cannot be renewed in time is lost: its requests must fail sooner than that, and wait for nothing else.
    this.#connection = new ApiConnection(cluster, { userAgent, timeoutMs: times.renewDeadlineMs * 0.6 });
  }

  readonly store: GroupLease['store'] = (content) => {
    const { namespace, name } = this.#settings;
    const { labels = { [AGENT_LABEL]: AGENT_LABEL_VALUE, [AGENT_GROUP_LABEL]: name } } = this.#settings;
    const durationAnnotation = LEASE_DURATION_ANNOTATION;
    return new ApiLeaseStore(this.#connection, { namespace, name, wallTimeMs: Date.now, labels, durationAnnotation, ...content });
  };

  readonly watch: GroupLease['watch'] = (onSeen) => {
    const { connection, namespace, name } = this.#settings;
    const key = `${namespace}/${name}`;
    const cache: ObjectCache<KubernetesObject> = new ObjectCache({
      port: new ApiObjectClient<KubernetesObject>(connection, {
        ...Resource.leases,
        namespace,
        fieldSelector: `metadata.name=${name}`,
      }),
      clock: systemClock,
      backOff: BACK_OFF,
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

  close(): void {
    this.#connection.close();
  }
}
