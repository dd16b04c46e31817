import { formatIpv4Address } from '@vmdhcp/dhcp-allocator';
import { type KubernetesObject, readField } from '@vmdhcp/kube-runtime';
import type { Logger } from '@vmdhcp/service-process';
import { type HostPoolReading, type PresentSubnetAddress, readHostPool } from './host-pool.js';

export type ServedSettings = Extract<HostPoolReading, { readonly kind: 'served' }>;

/**
 * The settings of a ClusterAgent that is followed. Settings that cannot be served change nothing: the previous ones stay in
 * force.
 */
export class SettingsInForce {
  readonly #logger: Pick<Logger, 'info' | 'warn'>;
  #reading: HostPoolReading | undefined;
  #current: ServedSettings | undefined;
  /** What was last read, as text. */
  #from = '';

  constructor(logger: Pick<Logger, 'info' | 'warn'>) {
    this.#logger = logger;
  }

  /** What the ClusterAgent specifies now; undefined if it does not exist. */
  get reading(): HostPoolReading | undefined {
    return this.#reading;
  }

  /** Undefined if nothing is served. */
  get current(): ServedSettings | undefined {
    return this.#current;
  }

  /** @param present - addresses of the interface; undefined if it does not exist. */
  update(clusterAgent: KubernetesObject | undefined, present: readonly PresentSubnetAddress[] | undefined): void {
    const addresses = present?.map(({ address, prefixLength }) => ({ address, prefixLength }));
    const from = clusterAgent === undefined ? '' : JSON.stringify([readField(clusterAgent, 'spec'), addresses]);
    if (from === this.#from) return;
    this.#from = from;
    this.#reading = clusterAgent && readHostPool(clusterAgent, addresses);
    if (this.#reading?.kind === 'served') this.#enforce(this.#reading);
    else if (this.#reading?.kind !== 'unserved') this.#current = undefined;
  }

  #enforce(settings: ServedSettings): void {
    this.#current = settings;
    const { pool, interfaceName, warnings } = settings;
    const facts = { interface: interfaceName, server: formatIpv4Address(pool.serverAddress) };
    this.#logger.info(facts, 'settings of the ClusterAgent are in effect');
    for (const warning of warnings) this.#logger.warn(`ignored, because it is invalid: ${warning}`);
  }
}
