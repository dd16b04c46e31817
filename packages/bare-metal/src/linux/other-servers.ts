/** Looks for other DHCP servers on the management network, in the words of bare-metal hosts. Clients are answered all the same. */
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
        logger.info({ interface: event.interfaceName }, 'no other DHCP server answers on this network any more');
      else observer.observe(event);
    };
    this.#servers = new RogueServers({ ...ports, observer: { observe }, onChange: () => undefined });
  }

  /** Of the interface that was looked at last; undefined: not known. */
  get found(): FoundServers | undefined {
    return this.#interfaceName === undefined ? undefined : this.#servers.on(this.#interfaceName);
  }

  /** What the condition of the ClusterAgent has; undefined: there are none, or that is not known. */
  get problem(): string | undefined {
    const { found = [] } = this;
    return found.length === 0 ? undefined : describeOtherServers(found, this.#interfaceName ?? '');
  }

  /** Looks where it is time to. To be called every second while clients are answered from here. */
  look(interfaceName: string): void {
    this.#interfaceName = interfaceName;
    void this.#servers.look([interfaceName]);
  }

  /** Clients are not answered from here: another replica looks. */
  forget(): void {
    this.#interfaceName = undefined;
  }
}

function describeOtherServers(servers: FoundServers, interfaceName: string): string {
  const names = servers.map(({ address, macAddress }) => `${address} (${macAddress})`).join(', ');
  return `another DHCP server answers on the network of interface ${interfaceName}: ${names}. If it is the server from before (dhcpd, dnsmasq), end it; else switch it off. Until then clients may get addresses from either`;
}
