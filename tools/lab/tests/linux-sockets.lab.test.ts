/** @vmdhcp/linux-sockets on real interfaces: a veth pair, `here0` in this network namespace and `there0` in one of its own. */
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { promisify } from 'node:util';
import {
  ArpListener,
  ArpProber,
  ArpSocket,
  addNewAddress,
  addTemporaryAddresses,
  announceAddress,
  bringUp,
  libc,
  listAddresses,
  mayUseArp,
  Netlink,
  openTcpListener,
  PacketSocket,
  prolongAddress,
  removeAddresses,
  SocketError,
  UdpBurstSocket,
} from '@vmdhcp/linux-sockets';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { LAB_VARIABLE, run, waitFor } from '../src/index.js';

const HERE_MAC = '02:00:5e:00:01:01';
const THERE_MAC = '02:00:5e:00:01:02';
/** 10.1.0.1 and 10.1.0.2. */
const HERE = 0x0a010001;
const THERE = 0x0a010002;

/** `node -e SCRIPT MAC ADDRESS`: ARP replies of this address to that host, as fast as the kernel takes them. */
const FLOOD_OF_REPLIES = `
  import { libc, MessageSlab, writeSockaddrLl } from '@vmdhcp/linux-sockets';
  const [mac, address] = process.argv.slice(1);
  const octets = (text, separator, radix) => text.split(separator).map((one) => Number.parseInt(one, radix));
  const target = { interfaceIndex: libc.ifNameToIndex('there0'), etherType: 0x0806 };
  const slab = new MessageSlab({ count: 64, size: 28 });
  const reply = [0, 1, 8, 0, 6, 4, 0, 2, 2, 0, 0x5e, 0, 9, 7, ...octets(address, '.', 10), ...octets(mac, ':', 16), 0, 0, 0, 0];
  for (let index = 0; index < 64; index++) {
    slab.buffers[index].set(reply);
    writeSockaddrLl(slab.names[index], target, Buffer.from(octets(mac, ':', 16)));
    slab.setOutgoing(index, { start: 0, end: 28 }, 20);
  }
  const fd = libc.socket(libc.AF_PACKET, libc.SOCK_DGRAM, 0);
  console.log('flooding');
  for (;;) libc.sendmmsg(fd, slab.headers, 64, libc.MSG_DONTWAIT);
`;

let index: number;
let closers: (() => void)[];

beforeEach(() => {
  if (process.env[LAB_VARIABLE] !== '1') throw new Error('only in namespaces of its own: npm test -- lab');
  closers = [];
  run('ip', ['netns', 'add', 'there']);
  run('ip', [
    ...['link', 'add', 'here0', 'address', HERE_MAC, 'type', 'veth'],
    ...['peer', 'name', 'there0', 'address', THERE_MAC, 'netns', 'there'],
  ]);
  there('link', 'set', 'there0', 'up');
  index = libc.ifNameToIndex('here0');
});

afterEach(() => {
  for (const close of closers) close();
  run('ip', ['link', 'delete', 'here0']);
  run('ip', ['netns', 'delete', 'there']);
});

function there(...words: readonly string[]): string {
  return run('ip', ['-n', 'there', ...words]);
}

/** `10.1.0.1/24` and for how many seconds, as `ip` shows them; in tens, as it may run some seconds later. */
function shown(): { readonly address: string; readonly seconds: number; readonly flags: readonly string[] }[] {
  interface Shown {
    readonly local: string;
    readonly prefixlen: number;
    readonly valid_life_time: number;
    readonly noprefixroute?: boolean;
  }
  const [link] = JSON.parse(run('ip', ['-4', '-json', 'address', 'show', 'here0'])) as { addr_info?: Shown[] }[];
  return (link?.addr_info ?? []).map(({ local, prefixlen, valid_life_time, noprefixroute }) => ({
    address: `${local}/${prefixlen}`,
    seconds: Math.ceil(valid_life_time / 10) * 10,
    flags: noprefixroute ? ['noprefixroute'] : [],
  }));
}

/** Runs a script in the other namespace; rejects with what it printed as an error. */
async function runThere(script: string): Promise<string> {
  return (await promisify(execFile)('ip', ['netns', 'exec', 'there', process.execPath, '-e', script])).stdout;
}

function routes(): string {
  return run('ip', ['-4', 'route', 'show', 'dev', 'here0']);
}

function isUp(): boolean {
  return run('ip', ['link', 'show', 'here0']).includes(',UP');
}

describe('addresses for a time', () => {
  it('are added with a route to their network, bring the interface up, and are listed with the time that is left', () => {
    expect(isUp()).toBe(false);
    expect(addTemporaryAddresses([{ interfaceIndex: index, address: HERE, prefixLength: 24 }], 60)).toEqual([undefined]);
    expect(shown()).toEqual([{ address: '10.1.0.1/24', seconds: 60, flags: [] }]);
    expect(isUp()).toBe(true);
    expect(routes()).toContain('10.1.0.0/24');
    expect(listAddresses(index)).toEqual([{ interfaceIndex: index, address: HERE, prefixLength: 24, validSeconds: 60 }]);
  });

  it('are added without a route if none is wanted', () => {
    addTemporaryAddresses([{ interfaceIndex: index, address: HERE, prefixLength: 24 }], 60, { prefixRoute: false });
    expect(shown()).toEqual([{ address: '10.1.0.1/24', seconds: 60, flags: ['noprefixroute'] }]);
    expect(routes()).not.toContain('10.1.0.0/24');
  });

  it('are prolonged, and removed by the kernel when they are not', async () => {
    const address = { interfaceIndex: index, address: HERE, prefixLength: 24 };
    addTemporaryAddresses([address], 60);
    prolongAddress(address, 1);
    expect(listAddresses(index)).toEqual([{ ...address, validSeconds: 1 }]);
    await waitFor('the kernel to remove the address', () => shown().length === 0);
    expect(listAddresses(index)).toEqual([]);
  });

  it('do not bring an interface up when they are prolonged', () => {
    const address = { interfaceIndex: index, address: HERE, prefixLength: 24 };
    addTemporaryAddresses([address], 60);
    run('ip', ['link', 'set', 'here0', 'down']);
    prolongAddress(address, 60);
    expect(isUp()).toBe(false);
    expect(listAddresses(index)).toHaveLength(1);
  });

  it('that a person set are not changed: adding an existing address is refused', () => {
    run('ip', ['address', 'add', '10.1.0.1/24', 'dev', 'here0']);
    expect(addNewAddress({ interfaceIndex: index, address: HERE, prefixLength: 24 }, 10)).toBe(false);
    expect(listAddresses(index)).toMatchObject([{ validSeconds: Number.POSITIVE_INFINITY }]);
    expect(addNewAddress({ interfaceIndex: index, address: THERE, prefixLength: 24 }, 10)).toBe(true);
    expect(isUp()).toBe(true);
  });

  it('are removed; removing an address that is gone, or whose interface is gone, does not fail', () => {
    const address = { interfaceIndex: index, address: HERE, prefixLength: 24 };
    addTemporaryAddresses([address], 60);
    expect(removeAddresses([address])).toBe(true);
    expect(shown()).toEqual([]);
    expect(removeAddresses([address, { ...address, interfaceIndex: 9_999 }])).toBe(true);
  });

  it('on a missing interface fail, each with its error, and those on other interfaces do not', () => {
    const address = { address: HERE, prefixLength: 24 };
    const failures = addTemporaryAddresses(
      [
        { ...address, interfaceIndex: 9_999 },
        { ...address, interfaceIndex: index },
      ],
      60,
    );
    expect(failures).toEqual([expect.objectContaining({ code: 'ENODEV' }), undefined]);
    expect(shown()).toHaveLength(1);
  });

  it('lists are of one interface', () => {
    run('ip', ['address', 'add', '10.1.0.1/24', 'dev', 'here0']);
    expect(listAddresses(libc.ifNameToIndex('lo')).map(({ address }) => address)).not.toContain(HERE);
  });
});

describe('a link', () => {
  it('is brought up, and once more without an error', () => {
    const kernel = new Netlink();
    closers.push(() => kernel.close());
    bringUp(kernel, index);
    bringUp(kernel, index);
    expect(isUp()).toBe(true);
    expect(() => bringUp(kernel, 9_999)).toThrow('cannot bring the interface up: ENODEV');
  });
});

describe('ARP', () => {
  beforeEach(() => {
    bringUp(Netlink.shared(), index);
    there('address', 'add', '10.1.0.2/24', 'dev', 'there0');
  });

  it('a probe finds the host that has the address, tells whether it is the client, and changes no table of that host', async () => {
    const probe = new ArpProber('here0');
    const [ofClient, ofOther, free] = await Promise.all([
      probe.ask({ address: THERE, macAddress: THERE_MAC }),
      probe.ask({ address: THERE, macAddress: '02:00:5e:00:09:09' }),
      probe.ask({ address: 0x0a010003, macAddress: THERE_MAC }),
    ]);
    expect(ofClient).toEqual({ byClient: true, others: [] });
    expect(ofOther).toEqual({ byClient: false, others: [THERE_MAC] });
    expect(free).toEqual({ byClient: false, others: [] });
    expect(there('neigh', 'show', 'dev', 'there0')).not.toContain(HERE_MAC);
  });

  it('three thousand addresses are probed at a time: the one that is used is found', async () => {
    const probe = new ArpProber('here0');
    const addresses = Array.from({ length: 3_000 }, (_, offset) => THERE + offset);
    const found = await Promise.all(addresses.map((address) => probe.ask({ address, macAddress: '02:00:5e:00:09:09' })));
    expect(found[0]).toEqual({ byClient: false, others: [THERE_MAC] });
    expect(new Set(found.slice(1).map((answer) => JSON.stringify(answer)))).toEqual(new Set(['{"byClient":false,"others":[]}']));
  });

  it('a flood of replies for an address between them keeps none of the probes from its end', async () => {
    const flood = spawn(
      'ip',
      ['netns', 'exec', 'there', process.execPath, '--input-type=module', '-e', FLOOD_OF_REPLIES, HERE_MAC, '10.1.0.3'],
      { stdio: ['ignore', 'pipe', 'inherit'], cwd: import.meta.dirname },
    );
    closers.push(() => flood.kill('SIGKILL'));
    await once(flood.stdout, 'data');
    const probe = new ArpProber('here0');
    const addresses = [THERE, ...Array.from({ length: 400 }, (_, offset) => THERE + 2 + offset)];
    const found = await Promise.all(addresses.map((address) => probe.ask({ address, macAddress: '02:00:5e:00:09:09' })));
    expect(found[0]).toEqual({ byClient: false, others: [THERE_MAC] });
    expect(found).toHaveLength(401);
  });

  it('a probe ends with an error when its interface goes away, or is not there', async () => {
    await expect(new ArpProber('none0').ask({ address: THERE, macAddress: THERE_MAC })).rejects.toThrow(
      'cannot find interface none0: ENODEV',
    );
  });

  it('a listener hears which host says that it has an address of its range, and nothing else', async () => {
    const listener = new ArpListener('here0', THERE, THERE + 1);
    closers.push(() => listener.close());
    there('address', 'add', '10.1.0.9/24', 'dev', 'there0');
    const heard: unknown[] = [];
    const send =
      "const s = require('node:dgram').createSocket('udp4'); s.bind(0, process.argv[1], () => s.send('', 9, '10.1.0.77', () => s.close()))";
    for (const source of ['10.1.0.9', '10.1.0.2']) run('ip', ['netns', 'exec', 'there', process.execPath, '-e', send, source]);
    await waitFor('the packet', () => {
      heard.push(...listener.heard());
      return heard.length > 0;
    });
    expect(heard).toEqual([{ address: THERE, macAddress: THERE_MAC }]);
  });

  it('an announcement corrects what another host has in its table (RFC 5227 §3)', async () => {
    there('neigh', 'replace', '10.1.0.1', 'lladdr', '02:00:5e:00:09:09', 'dev', 'there0', 'nud', 'stale');
    announceAddress('here0', HERE);
    await waitFor('the announcement', () => there('neigh', 'show', '10.1.0.1', 'dev', 'there0').includes(HERE_MAC));
  });

  it('a socket receives the packets of the senders that it is limited to', async () => {
    const socket = new ArpSocket('here0');
    closers.push(() => socket.close());
    socket.receiveOnlyFrom([0x0a010063]);
    socket.request({ senderAddress: 0, targetAddress: THERE });
    socket.receiveOnlyFrom([THERE]);
    socket.request({ senderAddress: 0, targetAddress: THERE });
    const replies = [...socket.receive()];
    await waitFor('a reply', () => replies.push(...socket.receive()) > 0);
    expect(replies[0]).toMatchObject({
      isReply: true,
      senderAddress: THERE,
      frameHardwareAddress: Uint8Array.of(2, 0, 0x5e, 0, 1, 2),
    });
    expect(socket.hasMissed).toBe(false);
  });

  it('may be used by root of these namespaces', () => {
    expect(mayUseArp()).toBe(true);
  });
});

describe('UDP', () => {
  it('an answer leaves in a frame to a host that has no address, and is routed to one that has', async () => {
    addTemporaryAddresses([{ interfaceIndex: index, address: HERE, prefixLength: 24 }], 60);
    const delivered = new Map<string, 'framed' | 'routed'>([
      ['frame me', 'framed'],
      ['route me', 'routed'],
    ]);
    const socket = await UdpBurstSocket.open({
      interfaceName: 'here0',
      port: 4_000,
      handler: (datagram, into) => {
        into.set(datagram);
        const delivery = delivered.get(Buffer.from(datagram).toString()) ?? 'routed';
        const hardwareAddress = Uint8Array.of(2, 0, 0x5e, 0, 1, 2);
        const destinationAddress = delivery === 'framed' ? 0x0a0100ff : THERE;
        return {
          length: datagram.length,
          delivery,
          destinationAddress,
          destinationPort: 4_001,
          sourceAddress: HERE,
          hardwareAddress,
        };
      },
      onError: (error) => {
        throw error;
      },
    });
    closers.push(() => socket.close());
    expect(socket.sendsFrames).toBe(true);
    const watcher = new PacketSocket('here0', { outgoing: true });
    closers.push(() => watcher.close());
    there('address', 'add', '10.1.0.2/24', 'dev', 'there0');
    for (const text of delivered.keys()) {
      const send = `const socket = require('dgram').createSocket('udp4'); socket.send('${text}', 4000, '10.1.0.1', () => socket.close())`;
      run('ip', ['netns', 'exec', 'there', process.execPath, '-e', send]);
    }
    const seen: string[] = [];
    await waitFor('both answers', () => {
      for (const { destinationPort, destinationAddress, sourcePort, payload } of watcher.receive())
        if (destinationPort === 4_001) seen.push(`${sourcePort} ${destinationAddress & 255} ${Buffer.from(payload)}`);
      return seen.length >= 2;
    });
    expect(seen.toSorted()).toEqual(['4000 2 route me', '4000 255 frame me']);
  });

  it('answers of one burst that leave in frames and routed, in turn and of every length, all arrive as they were written', async () => {
    addTemporaryAddresses([{ interfaceIndex: index, address: HERE, prefixLength: 24 }], 60);
    there('address', 'add', '10.1.0.2/24', 'dev', 'there0');
    let [bursts, datagrams] = [0, 0];
    const socket = await UdpBurstSocket.open({
      interfaceName: 'here0',
      port: 4_000,
      handler: (datagram, into) => {
        into.set(datagram);
        return {
          length: datagram.length,
          delivery: datagram.length % 3 === 0 ? 'framed' : 'routed',
          destinationAddress: THERE,
          destinationPort: 4_001,
          sourceAddress: HERE,
          hardwareAddress: Uint8Array.of(2, 0, 0x5e, 0, 1, 2),
        };
      },
      onBurst: (_, count) => {
        bursts++;
        datagrams += count;
      },
      onError: (error) => {
        throw error;
      },
    });
    closers.push(() => socket.close());
    // The kernel there checks the sums of frames too. Datagrams without a sum in them would be lost.
    const exchange = `
      const socket = require('dgram').createSocket({ type: 'udp4', recvBufferSize: 1 << 20 });
      const received = [];
      socket.on('message', (message) => {
        if (received.push(message.toString()) < 300) return;
        console.log(JSON.stringify(received));
        socket.close();
      });
      socket.bind(4001, () => {
        for (let index = 0; index < 300; index++) socket.send(index + ' ' + 'x'.repeat(index), 4000, '10.1.0.1');
      });`;
    const received = JSON.parse(await runThere(exchange)) as string[];
    const byIndex = (one: string, other: string) => Number.parseInt(one, 10) - Number.parseInt(other, 10);
    expect(received.toSorted(byIndex)).toEqual(Array.from({ length: 300 }, (_, sent) => `${sent} ${'x'.repeat(sent)}`));
    expect(datagrams).toBe(300);
    expect(bursts).toBeLessThan(300);
  });

  it('a packet socket sends from an interface without an address, and receives broadcasts with the MAC address of their sender', async () => {
    bringUp(Netlink.shared(), index);
    const socket = new PacketSocket('here0');
    closers.push(() => socket.close());
    expect(socket.hardwareAddress).toEqual(Uint8Array.of(2, 0, 0x5e, 0, 1, 1));
    const echo = `
      const socket = require('dgram').createSocket('udp4');
      socket.on('message', (message, { port }) => {
        socket.setBroadcast(true);
        socket.send('re: ' + message, port, '10.1.0.255', () => process.exit());
      });
      socket.bind(4001, () => process.stdout.write('ready'));`;
    there('address', 'add', '10.1.0.2/24', 'dev', 'there0');
    const other = spawn('ip', ['netns', 'exec', 'there', process.execPath, '-e', echo], { stdio: ['ignore', 'pipe', 'inherit'] });
    closers.push(() => other.kill('SIGKILL'));
    await once(other.stdout, 'data');
    socket.broadcast(Buffer.from('hello'), {
      sourceAddress: 0x0a010009,
      sourcePort: 4_000,
      destinationAddress: 0xffff_ffff,
      destinationPort: 4_001,
    });
    const received = [...socket.receive()];
    await waitFor('the echo', () => received.push(...socket.receive()) > 0);
    expect(received[0]).toMatchObject({
      sourceAddress: THERE,
      destinationPort: 4_000,
      payload: Uint8Array.from(Buffer.from('re: hello')),
      senderHardwareAddress: Uint8Array.of(2, 0, 0x5e, 0, 1, 2),
    });
  });

  it('sockets need an interface that is there', () => {
    expect(() => new PacketSocket('none0')).toThrow(SocketError);
  });
});

describe('a TCP listener on one interface', () => {
  it('accepts connections that arrive there, and none that arrive elsewhere', async () => {
    addTemporaryAddresses([{ interfaceIndex: index, address: HERE, prefixLength: 24 }], 60);
    there('address', 'add', '10.1.0.2/24', 'dev', 'there0');
    const server = createServer((_, response) => response.end('here'));
    closers.push(() => server.close());
    server.listen({ fd: openTcpListener({ host: '10.1.0.1', port: 0, interfaceName: 'here0' }) });
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    const fetchThere = `fetch('http://10.1.0.1:${port}').then(async (answer) => process.stdout.write(await answer.text()))`;
    expect(await runThere(fetchThere)).toBe('here');
    run('ip', ['link', 'add', 'here1', 'type', 'veth', 'peer', 'name', 'there1', 'netns', 'there']);
    closers.push(() => run('ip', ['link', 'delete', 'here1']));
    run('ip', ['link', 'set', 'here1', 'up']);
    run('ip', ['address', 'add', '10.3.0.1/24', 'dev', 'here1']);
    there('link', 'set', 'there1', 'up');
    there('address', 'add', '10.3.0.2/24', 'dev', 'there1');
    there('route', 'add', '10.1.0.1/32', 'via', '10.3.0.1', 'dev', 'there1', 'src', '10.3.0.2');
    await expect(runThere(fetchThere)).rejects.toThrow('ECONNREFUSED');
  });
});

describe('an interface that is isolated', () => {
  it('reaches the addresses that are opened for it and nothing else of the host, and is isolated again after it was changed', async () => {
    // In the other namespace: the order of rules changes for all interfaces of a host.
    const script = `
      import { isolateInterface, libc, openPath, closePath, prepareIsolation, addTemporaryAddresses } from '${import.meta.resolve('@vmdhcp/linux-sockets')}';
      const link = { interfaceName: 'there0', interfaceIndex: libc.ifNameToIndex('there0') };
      const address = { ...link, address: ${THERE}, prefixLength: 24 };
      const changes = [prepareIsolation(), isolateInterface(link), prepareIsolation(), isolateInterface(link)];
      addTemporaryAddresses([address], 60, { prefixRoute: false });
      const open = process.argv[1] === 'open';
      if (open) openPath(address); else closePath(address);
      process.stdout.write(JSON.stringify(changes.map((one) => one.length)));`;
    const isolate = (how: 'open' | 'close') =>
      JSON.parse(run('ip', ['netns', 'exec', 'there', process.execPath, '--input-type=module', '-e', script, how])) as number[];
    addTemporaryAddresses([{ interfaceIndex: index, address: HERE, prefixLength: 24 }], 60);
    there('link', 'set', 'lo', 'up');
    there('address', 'add', '10.2.0.1/32', 'dev', 'lo');
    run('ip', ['route', 'add', '10.2.0.1', 'via', '10.1.0.2', 'dev', 'here0', 'onlink']);
    const [order, isolated, orderAgain, isolatedAgain] = isolate('open');
    expect([order, orderAgain, isolatedAgain]).toEqual([1, 0, 0]);
    expect(isolated).toBeGreaterThan(0);
    expect(await answers('10.1.0.2')).toBe(true);
    expect(await answers('10.2.0.1')).toBe(false);
    isolate('close');
    expect(await answers('10.1.0.2')).toBe(false);
    there('rule', 'del', 'priority', '900');
    expect(isolate('open')[1]).toBe(1);
    expect(await answers('10.1.0.2')).toBe(true);
  });
});

/** True if the host of the address answers, if only to refuse the connection. */
async function answers(host: string): Promise<boolean> {
  const socket = connect({ host, port: 9, timeout: 1_000 });
  return new Promise((resolve) => {
    const end = (isAnswered: boolean) => {
      socket.destroy();
      resolve(isAnswered);
    };
    socket.once('connect', () => end(true));
    socket.once('timeout', () => end(false));
    socket.once('error', ({ message }) => end(message.includes('ECONNREFUSED')));
  });
}
