/** IPv6 on one interface: each client has the address that corresponds to its IPv4 address, so nothing more is recorded. */
import type { Lease, Pool, ServedPool } from '@vmdhcp/dhcp-allocator';
import type { Ipv6Address } from '@vmdhcp/dhcp-allocator/address';
import {
  answerDhcpv6Packet,
  type Dhcpv6Answer,
  type Dhcpv6Pool,
  type Dhcpv6Source,
  encodeRouterAdvertisement,
  ipv6AddressBeside,
} from '@vmdhcp/dhcp-allocator/dhcpv6';
import type { ReportedRouter } from '@vmdhcp/ippool-api/agent';
import type { Clock } from '@vmdhcp/kube-runtime';
import type { AgentObserver, Dhcpv6Datagram, Ipv6Socket } from '../ports.js';
import type { Dhcpv6NoReplyReason, MessageCounters } from '../server/message-counters.js';
import { type Advertisement, RouterAdvertiser } from './router-advertiser.js';
import { RoutersOnLink } from './routers-on-link.js';
import type { ServedIpv6 } from './served-interface.js';

/** An answer that is a reply. */
export type Dhcpv6ReplyPacket = Extract<Dhcpv6Answer, { readonly kind: 'reply' }>;

/** What serving IPv6 on an interface needs. */
export interface Ipv6Ports {
  readonly observer: AgentObserver;
  readonly clock: Pick<Clock, 'nowMs' | 'after'>;
  /** 0 up to, not including, 1. */
  readonly random: () => number;
  readonly counters: MessageCounters;
  /** The pools that are served on the interface now, in order; called for every packet. */
  readonly pools: () => readonly ServedPool[];
  /** The recorded address of a client. */
  readonly leaseOf: (poolName: string, macAddress: string) => Lease | undefined;
  /** Called for every packet: true if this process is the one that answers. */
  readonly mayAnswer: () => boolean;
  /** Called for every other packet: true if this process sends the answer although another one should. Default: it does not. */
  readonly mayHelp?: (answer: Dhcpv6ReplyPacket) => boolean;
  /** Which question of a host for a Router Advertisement this process answers although another one should. Default: none. */
  readonly advertisesForOtherAt?: () => number | undefined;
  /** Called with the routers of the network when they are known, have changed, or (undefined) are not known any more. Optional. */
  readonly onRouters?: (routers: readonly ReportedRouter[] | undefined) => void;
  /** Called when a client declines its address. Optional. */
  readonly onDeclined?: (macAddress: string, address: Ipv6Address) => void;
}

/** Answers the packets of an interface, advertises its pool, and finds its routers. */
export function servedIpv6(interfaceName: string, ports: Ipv6Ports): Omit<ServedIpv6, 'sockets'> {
  const { observer, counters, clock, random, mayAnswer } = ports;
  const pools = () => withIpv6(ports.pools());
  const advertising = () => pools().filter(({ dhcpv6 }) => dhcpv6.advertises);
  const defaultRouters = () => advertising()[0]?.dhcpv6.defaultRouters ?? [];
  let socket: Ipv6Socket | undefined;
  const advertiser = new RouterAdvertiser({
    ...{ clock, random, mayAdvertise: mayAnswer, helpsAtQuestion: ports.advertisesForOtherAt ?? (() => undefined) },
    advertisement: () => socket && advertisementOf(advertising(), socket.hardwareAddress),
    send: ({ message, routers: senders }, to) => {
      for (const from of senders.length === 0 ? [undefined] : senders) socket?.advertise(message, { from, to });
    },
  });
  const routers = new RoutersOnLink({
    clock,
    isClient: (macAddress) => ports.pools().some(({ pool }) => ports.leaseOf(pool.name, macAddress) !== undefined),
    isAnswering: () => socket !== undefined && mayAnswer(),
    silentRouters: defaultRouters,
    solicit: () => {
      socket?.solicitRouters();
      for (const address of defaultRouters()) socket?.solicitNeighbor(address);
    },
    onChange: (found) => {
      if (found !== undefined) observer.observe({ kind: 'ipv6-routers', interfaceName, routers: found });
      ports.onRouters?.(found);
    },
  });
  return {
    isWanted: () => pools().length > 0,
    look: (open) => {
      socket = open;
      advertiser.look();
      routers.look();
    },
    onRouterAdvertisement: (source, heard, isAsOfAgent) => routers.note(source, heard, isAsOfAgent),
    onNeighborAdvertisement: ({ address, isRouter }, macAddress) => {
      if (isRouter) routers.noteAnswer({ address, macAddress });
    },
    onRouterSolicitation: (source) => advertiser.answer(source),
    answerDhcpv6: (packet, source) => {
      try {
        return answer(packet, source, ports);
      } catch (error) {
        counters.countDhcpv6('none', 'internal-error');
        observer.observe({ kind: 'packet-failed', interfaceName, error });
        return undefined;
      }
    },
    onSendFailure: ({ error, count }) => {
      counters.countDhcpv6('none', 'send-failed', count);
      observer.observe({ kind: 'replies-not-sent', interfaceName, error, count });
    },
  };
}

interface Ipv6Pool {
  readonly pool: Pool;
  readonly dhcpv6: Dhcpv6Pool;
}

function withIpv6(served: readonly ServedPool[]): Ipv6Pool[] {
  return served.flatMap(({ pool }) => (pool.dhcpv6 === undefined ? [] : [{ pool, dhcpv6: pool.dhcpv6 }]));
}

function advertisementOf(pools: readonly Ipv6Pool[], hardwareAddress: Uint8Array): Advertisement | undefined {
  const [first] = pools;
  if (first === undefined) return undefined;
  const dhcpv6 = pools.map((one) => one.dhcpv6);
  const message = encodeRouterAdvertisement(dhcpv6, { hardwareAddress, mtu: first.pool.options.mtu });
  return { message, routers: first.dhcpv6.defaultRouters ?? [] };
}

function answer(packet: Uint8Array, source: Dhcpv6Source, ports: Ipv6Ports): Dhcpv6Datagram | undefined {
  const { observer, counters, leaseOf, onDeclined } = ports;
  const pools = withIpv6(ports.pools());
  const { macAddress } = source;
  const chosen = pools.find(({ pool }) => leaseOf(pool.name, macAddress) !== undefined) ?? pools[0];
  const answered = answerDhcpv6Packet(packet, source, {
    // No pool has a relay, which would name a link.
    poolOf: () => chosen?.dhcpv6,
    addressOf: () => {
      const lease = chosen && leaseOf(chosen.pool.name, macAddress);
      return lease && ipv6AddressBeside(chosen.pool, lease.address);
    },
  });
  const whyNot = whyNotSent(answered, ports);
  if (answered.kind === 'none' || whyNot !== undefined) {
    counters.countDhcpv6('none', whyNot ?? 'standing-by');
    return undefined;
  }
  const { event, address } = answered;
  counters.countDhcpv6(event ?? 'answered', '');
  if (event === 'declined' && chosen !== undefined && address !== undefined) {
    observer.observe({ kind: 'ipv6-address-declined', pool: chosen.pool.name, macAddress, address });
    onDeclined?.(macAddress, address);
  }
  return answered;
}

/** Why no answer is sent; undefined if one is. */
function whyNotSent(answered: Dhcpv6Answer, { mayAnswer, mayHelp }: Ipv6Ports): Dhcpv6NoReplyReason | undefined {
  if (mayAnswer()) return answered.kind === 'none' ? answered.reason : undefined;
  return answered.kind === 'reply' && mayHelp?.(answered) === true ? undefined : 'standing-by';
}
