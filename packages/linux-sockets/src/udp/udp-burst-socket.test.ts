import dgram from 'node:dgram';
import { once } from 'node:events';
import { afterEach, describe, expect, it } from 'vitest';
import type { OutgoingDatagram } from './outgoing-datagram.js';
import { type DatagramHandler, UdpBurstSocket, type UdpBurstSocketSettings } from './udp-burst-socket.js';

const LOOPBACK = 0x7f000001;
const closers: (() => void)[] = [];
afterEach(() => {
  for (const close of closers.splice(0)) close();
});

async function open(handler: DatagramHandler, settings: Partial<UdpBurstSocketSettings> = {}): Promise<UdpBurstSocket> {
  const onError = (error: Error) => {
    throw error;
  };
  const socket = await UdpBurstSocket.open({ interfaceName: 'lo', port: 0, handler, onError, ...settings });
  closers.push(() => socket.close());
  return socket;
}

/** A client of this host, and what it has received. */
async function openClient(): Promise<{ client: dgram.Socket; received: string[]; count: (wanted: number) => Promise<void> }> {
  const client = dgram.createSocket({ type: 'udp4', recvBufferSize: 1 << 20 });
  const received: string[] = [];
  client.on('message', (message) => received.push(message.toString()));
  client.bind(0, '127.0.0.1');
  await once(client, 'listening');
  closers.push(() => client.close());
  const count = async (wanted: number) => {
    while (received.length < wanted) await once(client, 'message');
  };
  return { client, received, count };
}

/** To a port of this host, routed. */
function toPort(destinationPort: number, length: number): OutgoingDatagram {
  const hardwareAddress = new Uint8Array(6);
  return { length, delivery: 'routed', destinationAddress: LOOPBACK, destinationPort, sourceAddress: 0, hardwareAddress };
}

/** Answers with the same octets. */
const ECHO: DatagramHandler = (datagram, into, sender) => {
  into.set(datagram);
  return toPort(sender.port, datagram.length);
};

describe('a UDP socket on one interface', () => {
  it('answers every datagram of a burst that is larger than one read, in order, with the sender of each', async () => {
    const senders = new Set<string>();
    let bursts = 0;
    let datagrams = 0;
    const socket = await open(
      (datagram, into, sender) => {
        senders.add(`${sender.address === LOOPBACK} ${sender.port}`);
        return ECHO(datagram, into, sender);
      },
      {
        onBurst: (durationNs, count) => {
          expect(durationNs).toBeGreaterThan(0);
          bursts++;
          datagrams += count;
        },
      },
    );
    const [one, other] = [await openClient(), await openClient()];
    // All are waiting before the event loop lets the socket read: it reads them in bursts.
    for (let index = 0; index < 300; index++) one.client.send(`${index}`, socket.port, '127.0.0.1');
    other.client.send('from the other', socket.port, '127.0.0.1');
    await Promise.all([one.count(300), other.count(1)]);
    expect(one.received).toEqual(Array.from({ length: 300 }, (_, index) => `${index}`));
    expect(other.received).toEqual(['from the other']);
    expect(senders).toEqual(new Set([`true ${one.client.address().port}`, `true ${other.client.address().port}`]));
    expect(datagrams).toBe(301);
    expect(bursts).toBeLessThan(150);
  });

  it('sends nothing if the handler returns no answer', async () => {
    const socket = await open((datagram, into, sender) => (datagram.length === 3 ? undefined : ECHO(datagram, into, sender)));
    const { client, received, count } = await openClient();
    client.send('odd', socket.port, '127.0.0.1');
    client.send('even', socket.port, '127.0.0.1');
    await count(1);
    expect(received).toEqual(['even']);
  });

  it('an injected datagram is answered like a received one, until the socket is closed', async () => {
    const { client, received, count } = await openClient();
    let handled = 0;
    const socket = await open((datagram, into, sender) => {
      handled++;
      expect([sender.address, sender.port]).toEqual([0, 0]);
      into.set(datagram);
      return toPort(client.address().port, datagram.length);
    });
    socket.inject(Buffer.from('again'));
    await count(1);
    expect(received).toEqual(['again']);
    socket.close();
    socket.close();
    socket.inject(Buffer.from('too late'));
    expect(handled).toBe(1);
  });

  it('an answer that the kernel refuses is counted, and does not affect the others', async () => {
    const failures: unknown[] = [];
    const { client, received, count } = await openClient();
    const socket = await open(
      (datagram, into) => {
        into.set(datagram);
        // Port 0 cannot be sent to.
        return toPort(datagram[0] === 0x78 ? 0 : client.address().port, datagram.length);
      },
      { onSendFailure: (failure) => failures.push(failure) },
    );
    for (const text of ['x1', 'a', 'x2', 'b']) client.send(text, socket.port, '127.0.0.1');
    await count(2);
    expect(received).toEqual(['a', 'b']);
    const counts = failures.map((failure) => (failure as { error: string; count: number }).count);
    expect(counts.reduce((sum, one) => sum + one, 0)).toBe(2);
    expect(failures[0]).toMatchObject({ error: 'EINVAL' });
  });

  it('reports its port, interface and index, and refuses a used port or a missing interface', async () => {
    const socket = await open(ECHO);
    expect(socket.interfaceName).toBe('lo');
    expect(socket.interfaceIndex).toBe(1);
    await expect(open(ECHO, { port: socket.port })).rejects.toMatchObject({
      code: 'EADDRINUSE',
      message: expect.stringContaining(`cannot bind UDP port ${socket.port} on lo: EADDRINUSE; `),
    });
    await expect(open(ECHO, { interfaceName: 'none0' })).rejects.toMatchObject({
      code: 'ENODEV',
      message: expect.stringContaining('cannot find interface none0: ENODEV; '),
    });
  });
});
