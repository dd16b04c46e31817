/** `status.addresses` of the ClusterAgent: how many addresses of its range clients have. Written by the leader when it changes, and not more often than every few seconds. */
import type { OpenPoolCounts } from '@vmdhcp/dhcp-allocator';
import { isRecord, type KubernetesObject, type ObjectClient, readField } from '@vmdhcp/kube-runtime';

const LEAST_INTERVAL_MS = 5_000;

export interface AddressUsagePorts {
  /** Behind the fence of leadership. */
  readonly client: Pick<ObjectClient<KubernetesObject>, 'patchStatus'>;
  readonly nowMs: () => number;
  readonly onError: (error: unknown) => void;
}

export class AddressUsage {
  readonly #ports: AddressUsagePorts;
  #writtenAtMs = Number.NEGATIVE_INFINITY;
  #isWriting = false;

  constructor(ports: AddressUsagePorts) {
    this.#ports = ports;
  }

  /** Writes if what is stored differs. To be called every second while this replica is leader; never rejects. */
  async report(clusterAgent: KubernetesObject, counts: OpenPoolCounts): Promise<void> {
    const { nowMs, client, onError } = this.#ports;
    const addresses = { total: counts.size, used: counts.valid, available: counts.free };
    const isDue = !this.#isWriting && nowMs() - this.#writtenAtMs >= LEAST_INTERVAL_MS;
    if (!isDue || isStored(clusterAgent, addresses)) return;
    this.#isWriting = true;
    this.#writtenAtMs = nowMs();
    try {
      const result = await client.patchStatus({ key: clusterAgent.metadata.name }, { status: { addresses } });
      if (!result.ok && result.reason !== 'not-found') onError(new Error(result.message));
    } catch (error) {
      onError(error);
    } finally {
      this.#isWriting = false;
    }
  }
}

function isStored(clusterAgent: KubernetesObject, addresses: Readonly<Record<string, number>>): boolean {
  const stored = readField(clusterAgent, 'status', 'addresses');
  return isRecord(stored) && Object.entries(addresses).every(([name, value]) => stored[name] === value);
}
