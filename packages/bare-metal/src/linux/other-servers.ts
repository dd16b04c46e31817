/**
 * Probes for other DHCP servers on the management network, and reports them in terms of bare-metal hosts. Clients are answered
 * nevertheless.
 */
import { type AgentEvent, RogueServers, type RogueServersSettings } from '@vmdhcp/dhcp-agent';
import type { Logger } from '@vmdhcp/service-process';

export interface OtherServersPorts extends Omit<RogueServersSettings, 'onChange'> {
  readonly logger: Pick<Logger, 'info' | 'warn'>;
}

type FoundServers = NonNullable<ReturnType<RogueServers['on']>>;

export class OtherServers {
  readonly #servers: RogueServers;
  #interfaceName: string | undefined;

  constructor({ logger, observer, ...ports }: OtherServersPorts) {
    const observe = (event: AgentEvent) => {
      if (event.kind === 'rogue-servers') logger.warn(describeOtherServers(event.servers, event.interfaceName));
      else if (event.kind === 'no-rogue-servers')
        logger.info({ interface: event.interfaceName }, 'no other DHCP server answers on this network any longer');
      else observer.observe(event);
    };
    this.#servers = new RogueServers({ ...ports, observer: { observe }, onChange: () => undefined });
  }

  /** The result for the interface that was last probed; undefined if not known. */
  get found(): FoundServers | undefined {
    return this.#interfaceName === undefined ? undefined : this.#servers.on(this.#interfaceName);
  }

  /** The text for the condition of the ClusterAgent; undefined if there are none, or that is not known. */
  get problem(): string | undefined {
    const { found = [] } = this;
    return found.length === 0 ? undefined : describeOtherServers(found, this.#interfaceName ?? '');
  }

  /** Probes when it is time to. Call it every second while this replica answers clients. */
  look(interfaceName: string): void {
    this.#interfaceName = interfaceName;
    void this.#servers.look([interfaceName]);
  }

  /** Call it when this replica does not answer clients: another replica probes. */
  forget(): void {
    this.#interfaceName = undefined;
  }
}

function describeOtherServers(servers: FoundServers, interfaceName: string): string {
  const names = servers.map(({ address, macAddress }) => `${address} (${macAddress})`).join(', ');
  return `another DHCP server answers on the network of interface ${interfaceName}: ${names}. If it is a former server (dhcpd, dnsmasq), stop it; otherwise switch it off. Until then clients may get addresses from either`;
}
