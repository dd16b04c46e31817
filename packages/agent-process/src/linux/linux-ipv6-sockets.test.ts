import type { Ipv6Handlers, Ipv6Source } from '@vmdhcp/dhcp-agent';
import { formatIpv6Address, ipv6AddressBytes, parseIpv6Address, readIpv6Address } from '@vmdhcp/dhcp-allocator/address';
import { encodeUdpPayload, NextHeader, type ReceivedIpv6Packet, readUdpPayload } from '@vmdhcp/linux-sockets';
import { describe, expect, it } from 'vitest';
import { handle } from './linux-ipv6-sockets.js';

const bytes = (text: string) => ipv6AddressBytes(parseIpv6Address(text) ?? 0n);
const MAC = Uint8Array.of(2, 0, 0, 0, 0, 10);
const SENT = Uint8Array.of(1, 2, 3);

function toServer(more: Partial<ReceivedIpv6Packet> = {}, destinationPort = 547): ReceivedIpv6Packet {
  return {
    source: bytes('fe80::a'),
    destination: bytes('ff02::1:2'),
    nextHeader: NextHeader.udp,
    hopLimit: 1,
    payload: encodeUdpPayload({ sourcePort: 546, destinationPort, data: SENT }),
    senderHardwareAddress: MAC,
    ...more,
  };
}

function outcome(packet: ReceivedIpv6Packet, send: (payload: Uint8Array) => void = () => undefined) {
  const [asked, sent, failures, routers]: [string[], string[], string[], string[]] = [[], [], [], []];
  const solicited: (Ipv6Source | undefined)[] = [];
  const handlers: Ipv6Handlers = {
    answerDhcpv6: (message, { address, port, macAddress }) => {
      asked.push(`${formatIpv6Address(address)} ${port} ${macAddress} ${[...message]}`);
      return { bytes: Uint8Array.of(9), port: 546 };
    },
    onRouterSolicitation: (source) => solicited.push(source),
    onRouterAdvertisement: ({ address, macAddress }, { isDefaultRouter, isManaged }, isAsOfAgent) =>
      routers.push(`${formatIpv6Address(address)} ${macAddress} ${isDefaultRouter} ${isManaged}${isAsOfAgent ? ' agent' : ''}`),
    onNeighborAdvertisement: ({ address, isRouter }, macAddress) =>
      routers.push(`neighbor ${formatIpv6Address(address)} ${macAddress} ${isRouter}`),
    onSendFailure: ({ error, count }) => failures.push(`${error} ${count}`),
    onError: () => undefined,
  };
  const socket = {
    send: ({ destination, payload, hopLimit }: Omit<ReceivedIpv6Packet, 'source' | 'senderHardwareAddress'>, to: Uint8Array) => {
      send(payload);
      const { sourcePort, destinationPort, data } = readUdpPayload(payload) ?? { data: [] };
      const address = formatIpv6Address(readIpv6Address(destination));
      sent.push(`${address} ${[...to]} ${sourcePort} ${destinationPort} ${hopLimit} ${[...data]}`);
    },
  };
  handle(socket, packet, handlers);
  return { asked, sent, failures, solicited, routers };
}

describe('a message of DHCPv6', () => {
  it('is answered to the sender of its frame', () => {
    expect(outcome(toServer())).toMatchObject({
      asked: ['fe80::a 546 02:00:00:00:00:0a 1,2,3'],
      sent: ['fe80::a 2,0,0,0,0,10 547 546 64 9'],
      failures: [],
    });
  });

  it('whose reply cannot be sent is reported', () => {
    const fail = () => {
      throw new Error('send a frame: ENOBUFS');
    };
    expect(outcome(toServer(), fail)).toMatchObject({ sent: [], failures: ['send a frame: ENOBUFS 1'] });
  });

  it.each<[string, ReceivedIpv6Packet]>([
    ['to one host', toServer({ destination: bytes('fe80::1') })],
    ['to another group', toServer({ destination: bytes('ff05::1:3') })],
    ['from a global address', toServer({ source: bytes('2001:db8::a') })],
    ['from a group', toServer({ source: bytes('ff02::1') })],
    ['from no address', toServer({ source: bytes('::') })],
    ['to another port', toServer({}, 546)],
    ['that is torn', toServer({ payload: Uint8Array.of(2, 34, 2, 35) })],
    ['in another protocol', toServer({ nextHeader: 6 })],
  ])('a message of DHCPv6 that is not for all servers, or not from the link, is discarded: %s', (_, packet) => {
    expect(outcome(packet)).toMatchObject({ asked: [], sent: [] });
  });
});

describe('a Router Solicitation', () => {
  const solicitation = (more: Partial<ReceivedIpv6Packet> = {}) =>
    toServer({ nextHeader: NextHeader.icmpv6, hopLimit: 255, payload: Uint8Array.of(133, 0, 0, 0, 0, 0, 0, 0), ...more });

  it.each<[string, Partial<ReceivedIpv6Packet>, unknown]>([
    ['is answered to its host', {}, [{ address: parseIpv6Address('fe80::a'), macAddress: '02:00:00:00:00:0a' }]],
    ['from no address is answered to all', { source: bytes('::') }, [undefined]],
    ['from an address that is not of the link is answered to all', { source: bytes('ff02::1') }, [undefined]],
    [
      'from a group of MAC addresses is answered to all',
      { senderHardwareAddress: Uint8Array.of(51, 51, 0, 0, 0, 1) },
      [undefined],
    ],
    ['that a router has forwarded is discarded', { hopLimit: 64 }, []],
  ])('%s', (_, more, expected) => {
    expect(outcome(solicitation(more)).solicited).toEqual(expected);
  });
});

describe('a Router Advertisement', () => {
  const OF_AGENT = bytes('fe80::200:ff:fd00:a');
  const advertisement = (more: Partial<ReceivedIpv6Packet>, lifetime: number) =>
    toServer({
      ...{ nextHeader: NextHeader.icmpv6, hopLimit: 255 },
      payload: Uint8Array.of(134, 0, 0, 0, 0, 0xc0, 0, lifetime, 0, 0, 0, 0, 0, 0, 0, 0),
      ...more,
    });

  it.each<[string, Partial<ReceivedIpv6Packet>, number, string[]]>([
    ['of a router is heard', {}, 9, ['fe80::a 02:00:00:00:00:0a true true']],
    ['that offers no default route is heard', {}, 0, ['fe80::a 02:00:00:00:00:0a false true']],
    ['of another agent is marked', { source: OF_AGENT }, 0, ['fe80::200:ff:fd00:a 02:00:00:00:00:0a false true agent']],
    [
      'that offers a default route from the address of an agent is not',
      { source: OF_AGENT },
      9,
      ['fe80::200:ff:fd00:a 02:00:00:00:00:0a true true'],
    ],
    ['from an address that is not of the link is discarded', { source: bytes('2001:db8::a') }, 9, []],
    ['that a router has forwarded is discarded', { hopLimit: 64 }, 9, []],
    ['of another type is discarded', { payload: Uint8Array.of(137, ...new Uint8Array(23)) }, 9, []],
  ])('%s', (_, more, lifetime, expected) => {
    expect(outcome(advertisement(more, lifetime))).toMatchObject({ routers: expected, solicited: [], asked: [] });
  });
});

describe('a Neighbor Advertisement', () => {
  const advertisement = (hopLimit: number) =>
    toServer({
      ...{ nextHeader: NextHeader.icmpv6, hopLimit, source: bytes('2001:db8::1'), destination: bytes('fe80::200:ff:fd00:b') },
      payload: Uint8Array.of(136, 0, 0, 0, 0xe0, 0, 0, 0, ...bytes('fe80::1')),
    });

  it('is heard with the address that it is for, and the host that sent its frame', () => {
    expect(outcome(advertisement(255)).routers).toEqual(['neighbor fe80::1 02:00:00:00:00:0a true']);
  });

  it('that a router has forwarded is discarded', () => {
    expect(outcome(advertisement(64))).toMatchObject({ routers: [], solicited: [], asked: [] });
  });
});
