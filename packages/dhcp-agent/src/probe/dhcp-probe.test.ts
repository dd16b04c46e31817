import { type DhcpMessage, decodeMessage, encodeMessage, encodeOption, OptionCode } from '@vmdhcp/dhcp-allocator';
import { FakeClock } from '@vmdhcp/kube-runtime/testing';
import { describe, expect, it } from 'vitest';
import { DhcpProbe, type ProbeSocket } from './dhcp-probe.js';

const XID = 0x1234_5678;
const OWN_MAC = '02:00:00:00:00:0a';
const SERVER = 0x0a000001;
const OTHER = 0x0a000002;
const OFFERED = 0x0a00000a;

type Received = ReturnType<ProbeSocket['receive']>[number];

/** A link that records the probe's packets, and on which servers answer as the test decides. */
function onLink(settings: { readonly macAddress?: string; readonly timeoutMs?: number } = {}) {
  const clock = new FakeClock();
  const sent: { readonly atMs: number; readonly message: DhcpMessage; readonly endpoints: unknown }[] = [];
  const waiting: Received[] = [];
  const socket: ProbeSocket = {
    hardwareAddress: Uint8Array.of(2, 0, 0, 0, 0, 0xa),
    broadcast: (payload, endpoints) => {
      const decoded = decodeMessage(payload);
      if (!decoded.ok) throw new Error(decoded.reason);
      sent.push({ atMs: clock.nowMs(), message: decoded.message, endpoints });
    },
    receive: () => waiting.splice(0),
    close: () => void closed.push(true),
  };
  const closed: boolean[] = [];
  const probe = new DhcpProbe({ socket, clock, transactionId: XID, timeoutMs: 3_000, ...settings });
  return { clock, probe, sent, closed, receive: (reply: Received) => void waiting.push(reply) };
}

interface ReplyFields {
  /** 2 offer, 5 ack, 6 nak. */
  readonly type?: number;
  readonly op?: number;
  readonly xid?: number;
  /** Its identifier; 0: none. */
  readonly server?: number;
  readonly port?: number;
  /** Where the datagram comes from; default: the server. */
  readonly source?: number;
  readonly options?: readonly (readonly [number, Uint8Array])[];
}

/** A server's packet: an OFFER of 10.0.0.10 unless `fields` differ. */
function reply({
  type = 2,
  op = 2,
  xid = XID,
  server = SERVER,
  port = 68,
  source = server,
  options = [],
}: ReplyFields = {}): Received {
  const empty = new Uint8Array(0);
  const { bytes } = encodeMessage({
    ...{ op, htype: 1, hlen: 6, hops: 0, xid, secs: 0, flags: 0, ciaddr: 0, yiaddr: OFFERED, siaddr: 0, giaddr: 0 },
    ...{ chaddr: Uint8Array.of(2, 0, 0, 0, 0, 0xa), sname: empty, file: empty },
    options: [
      [OptionCode.messageType, Uint8Array.of(type)],
      ...(server === 0 ? [] : [encodeOption('serverIdentifier', server)]),
      ...options,
    ],
  });
  const senderHardwareAddress = Uint8Array.of(2, 0, 0, 0, 1, server & 0xff);
  return { sourceAddress: source, destinationPort: port, payload: bytes, senderHardwareAddress };
}

describe('DhcpProbe.discover', () => {
  it('broadcasts a DISCOVER from UDP port 68 to UDP port 67 without an address, and asks for broadcast replies (RFC 2131 §4.1)', async () => {
    const { clock, probe, sent } = onLink();
    const asked = probe.discover();
    await clock.advance(3_000);
    expect(await asked).toEqual([]);
    const [first] = sent;
    expect(first?.endpoints).toEqual({
      sourceAddress: 0,
      sourcePort: 68,
      destinationAddress: 0xffff_ffff,
      destinationPort: 67,
    });
    expect(first?.message).toMatchObject({ op: 1, xid: XID, flags: 0x8000, ciaddr: 0 });
    expect(first?.message.options.uint8(OptionCode.messageType)).toBe(1);
    expect(first?.message.options.get(OptionCode.parameterRequestList)).toContain(121);
    expect(first?.message.chaddr.slice(0, 6)).toEqual(Uint8Array.of(2, 0, 0, 0, 0, 0xa));
  });

  it('asks as another client if one is given', async () => {
    const { clock, probe, sent } = onLink({ macAddress: '02:00:00:00:00:0b' });
    void probe.discover();
    await clock.advance(10);
    expect(probe.macAddress).toBe('02:00:00:00:00:0b');
    expect(sent[0]?.message.chaddr.slice(0, 6)).toEqual(Uint8Array.of(2, 0, 0, 0, 0, 0xb));
  });

  it('retransmits every second without an answer, and ends at the timeout', async () => {
    const { clock, probe, sent } = onLink();
    let isOver = false;
    const asked = probe.discover().then((answers) => {
      isOver = true;
      return answers;
    });
    await clock.advance(2_990);
    expect(isOver).toBe(false);
    await clock.advance(20);
    expect(await asked).toEqual([]);
    expect(sent.map(({ atMs }) => atMs)).toEqual([0, 1_000, 2_000]);
  });

  it('waits for other servers after the first answer without another DISCOVER, and lists each server once', async () => {
    const { clock, probe, sent, receive } = onLink();
    const asked = probe.discover();
    await clock.advance(100);
    receive(reply());
    receive(reply());
    await clock.advance(1_500);
    receive(reply({ server: OTHER }));
    await clock.advance(1_500);
    const answers = await asked;
    expect(sent).toHaveLength(1);
    expect(answers.map(({ server, serverMacAddress, tookMs }) => ({ server, serverMacAddress, tookMs }))).toEqual([
      { server: '10.0.0.1', serverMacAddress: '02:00:00:00:01:01', tookMs: 102 },
      { server: '10.0.0.2', serverMacAddress: '02:00:00:00:01:02', tookMs: 1_602 },
    ]);
  });

  it('ends with the first answer if one is enough', async () => {
    const { clock, probe, receive } = onLink();
    const asked = probe.discover(true);
    await clock.advance(10);
    receive(reply());
    await clock.advance(2);
    expect(await asked).toMatchObject([{ type: 'offer', address: '10.0.0.10' }]);
  });

  it.each<[string, ReplyFields]>([
    ['a NAK', { type: 6 }],
    ['an answer to another transaction', { xid: XID + 1 }],
    ['a request of another client', { op: 1 }],
    ['a datagram to another port', { port: 67 }],
    ['a message of another type', { type: 1 }],
  ])('%s is not an answer', async (_, fields) => {
    const { clock, probe, receive } = onLink();
    const asked = probe.discover();
    await clock.advance(10);
    receive(reply(fields));
    await clock.advance(3_000);
    expect(await asked).toEqual([]);
  });

  it('octets that are not a DHCP message are ignored', async () => {
    const { clock, probe, receive } = onLink();
    const asked = probe.discover(true);
    await clock.advance(10);
    receive({ ...reply(), payload: Uint8Array.of(1, 2, 3) });
    receive(reply());
    await clock.advance(3_000);
    expect(await asked).toHaveLength(1);
  });

  it('packets from before the question are ignored', async () => {
    const { clock, probe, receive } = onLink();
    receive(reply());
    const asked = probe.discover();
    await clock.advance(3_000);
    expect(await asked).toEqual([]);
  });

  it('an ACK is an answer: rapid commit, RFC 4039', async () => {
    const { clock, probe, receive } = onLink();
    const asked = probe.discover(true);
    await clock.advance(10);
    receive(reply({ type: 5 }));
    await clock.advance(10);
    expect(await asked).toMatchObject([{ type: 'ack' }]);
  });
});

describe('DhcpProbe.request', () => {
  it('names the server and the address of the offer, and accepts only the ACK of that server (RFC 2131 §4.3.2, SELECTING)', async () => {
    const { clock, probe, sent, receive } = onLink();
    const offered = probe.discover(true);
    await clock.advance(2);
    receive(reply());
    await clock.advance(2);
    const [offer] = await offered;
    if (offer === undefined) throw new Error('no offer');
    const asked = probe.request(offer);
    await clock.advance(2);
    receive(reply({ server: OTHER, type: 6 }));
    receive(reply({ type: 2 }));
    receive(reply({ type: 5 }));
    await clock.advance(2);
    expect(await asked).toMatchObject({ type: 'ack', server: '10.0.0.1' });
    const options = sent.at(-1)?.message.options;
    expect(options?.uint8(OptionCode.messageType)).toBe(3);
    expect(options?.uint32(OptionCode.serverIdentifier)).toBe(SERVER);
    expect(options?.uint32(OptionCode.requestedAddress)).toBe(OFFERED);
  });
});

describe('DhcpProbe.claim', () => {
  it('names the address and no server (RFC 2131 §4.3.2, INIT-REBOOT), and accepts the ACK or NAK of any server', async () => {
    const { clock, probe, sent, receive } = onLink();
    const asked = probe.claim('10.0.0.77');
    await clock.advance(2);
    receive(reply({ type: 2 }));
    receive(reply({ type: 6, server: OTHER }));
    await clock.advance(2);
    expect(await asked).toMatchObject({ type: 'nak', server: '10.0.0.2' });
    const options = sent[0]?.message.options;
    expect(options?.uint32(OptionCode.requestedAddress)).toBe(0x0a00004d);
    expect(options?.get(OptionCode.serverIdentifier)).toBeUndefined();
  });

  it('no answer: undefined', async () => {
    const { clock, probe } = onLink();
    const asked = probe.claim('10.0.0.77');
    await clock.advance(3_000);
    expect(await asked).toBeUndefined();
  });

  it('is a client of the interface if no other is given', () => {
    expect(onLink().probe.macAddress).toBe(OWN_MAC);
  });
});

describe('the answer of a server', () => {
  const answerTo = async (options: readonly (readonly [number, Uint8Array])[], fields: ReplyFields = {}) => {
    const { clock, probe, receive } = onLink();
    const asked = probe.discover(true);
    await clock.advance(2);
    receive(reply({ options, ...fields }));
    await clock.advance(2);
    const [answer] = await asked;
    return answer;
  };

  it('has each option by name', async () => {
    expect(
      await answerTo([
        encodeOption('leaseTime', 3_600),
        encodeOption('subnetMask', 0xffff_ff00),
        encodeOption('routers', [SERVER]),
        encodeOption('domainNameServers', [SERVER, OTHER]),
        encodeOption('ntpServers', [OTHER]),
        encodeOption('interfaceMtu', 1_450),
        [OptionCode.domainName, new TextEncoder().encode('vm.test\n')],
        encodeOption('domainSearch', ['a.test', 'b.test']),
        encodeOption('classlessStaticRoutes', [{ destination: { network: 0, prefixLength: 0 }, gateway: SERVER }]),
        encodeOption('staticRoutes', [[0x0b000000, OTHER]]),
      ]),
    ).toStrictEqual({
      type: 'offer',
      server: '10.0.0.1',
      serverMacAddress: '02:00:00:00:01:01',
      address: '10.0.0.10',
      leaseTimeSeconds: 3_600,
      subnetMask: '255.255.255.0',
      routers: ['10.0.0.1'],
      dnsServers: ['10.0.0.1', '10.0.0.2'],
      ntpServers: ['10.0.0.2'],
      mtu: 1_450,
      domainName: 'vm.test\\x0a',
      domainSearch: ['a.test', 'b.test'],
      classlessRoutes: [{ destination: '0.0.0.0/0', gateway: '10.0.0.1' }],
      staticRoutes: [{ destination: '11.0.0.0', gateway: '10.0.0.2' }],
      tookMs: 4,
    });
  });

  it('has only what the server sent; an option that cannot be read is left out', async () => {
    expect(await answerTo([[OptionCode.classlessStaticRoutes, Uint8Array.of(99)]])).toStrictEqual({
      type: 'offer',
      server: '10.0.0.1',
      serverMacAddress: '02:00:00:00:01:01',
      address: '10.0.0.10',
      routers: [],
      dnsServers: [],
      ntpServers: [],
      domainSearch: [],
      classlessRoutes: [],
      staticRoutes: [],
      tookMs: 4,
    });
  });
});

describe('the server of an answer', () => {
  const serverOf = async (fields: ReplyFields) => {
    const { clock, probe, receive } = onLink();
    const asked = probe.discover(true);
    await clock.advance(2);
    receive(reply(fields));
    await clock.advance(2);
    return (await asked)[0]?.server;
  };

  it.each<[string, ReplyFields, string]>([
    ['is its identifier, whichever host sent the datagram', { server: SERVER, source: OTHER }, '10.0.0.1'],
    ['is the sender if it names none', { server: 0, source: OTHER }, '10.0.0.2'],
  ])('%s', async (_, fields, expected) => {
    expect(await serverOf(fields)).toBe(expected);
  });
});

describe('a probe on a clock that has run for long', () => {
  it('asks until its time is over, and measures from its question', async () => {
    const { clock, probe, sent, receive } = onLink();
    await clock.advance(100_000);
    const asked = probe.discover();
    await clock.advance(1_500);
    receive(reply());
    await clock.advance(1_600);
    expect((await asked).map(({ tookMs }) => tookMs)).toEqual([1_502]);
    expect(sent.map(({ atMs }) => atMs)).toEqual([100_000, 101_000]);
  });

  it('sends a DISCOVER with its type, its request list and its client, but no address', async () => {
    const { clock, probe, sent } = onLink();
    void probe.discover();
    await clock.advance(10);
    const { options } = sent[0]?.message ?? {};
    expect(Array.from({ length: 254 }, (_, code) => code).filter((code) => options?.get(code) !== undefined)).toEqual([
      53, 55, 60,
    ]);
  });

  it('closes its socket when it is closed', () => {
    const { probe, closed } = onLink();
    probe.close();
    expect(closed).toEqual([true]);
  });
});
