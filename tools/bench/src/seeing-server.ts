/**
 * `node seeing-server.js INTERFACE none|clients|capture CLIENTS`: the packet path of the agent on the sockets of the agent, and nothing else, so that what noting and
 * capturing packets costs can be measured with and without it.
 */
import { setImmediate } from 'node:timers/promises';
import { AgentTraffic, DhcpServer, PacketCaptures, type QueuedReply, warmUpPacketPath } from '@vmdhcp/dhcp-agent/packet-path';
import { SERVER_PORT, validatePool } from '@vmdhcp/dhcp-allocator';
import { BROADCAST_MAC, type OutgoingDatagram, UdpBurstSocket } from '@vmdhcp/linux-sockets';
import { FIRST_ADDRESS, macOf, SERVER_ADDRESS } from './served-network.js';

const [interfaceName = '', what = 'none', clients = '10000'] = process.argv.slice(2);
const POOL = 'default/net';

const captures = new PacketCaptures();
const server = new DhcpServer({
  observer: { observe: () => undefined },
  nowMs: Date.now,
  findUsers: () => Promise.resolve({ byClient: false, others: [] }),
  onDeclined: () => undefined,
  onBindingChanged: () => undefined,
  ...(what !== 'none' && { traffic: new AgentTraffic({ nowMs: Date.now, random: Math.random }), captures }),
});
const pool = validatePool({
  name: POOL,
  cidr: '10.77.0.0/16',
  serverAddress: SERVER_ADDRESS,
  options: { router: '10.77.0.2', dnsServers: ['10.77.0.2'] },
});
if (!pool.ok) throw new Error('the pool of the bench is invalid');
server.setPool(
  pool.value,
  Array.from({ length: Number(clients) }, (_, client) => ({ macAddress: macOf(client), address: FIRST_ADDRESS + client })),
);
warmUpPacketPath({ octets: (length) => Buffer.alloc(length) });
const handle = server.handler(interfaceName, () => server.poolAlone(POOL));
await UdpBurstSocket.open({
  interfaceName,
  port: SERVER_PORT,
  handler: (packet, into, sender) => {
    const reply = handle(packet, into, sender);
    return reply === undefined ? undefined : toDatagram(reply);
  },
  onBurst: () => server.endBurst(),
  onError: (error) => {
    throw error;
  },
});
if (what === 'capture') await captureForEver();

/** As the agent sends it. */
function toDatagram({ length, destination, serverAddress, hardwareAddress }: QueuedReply): OutgoingDatagram {
  return {
    length,
    delivery: destination.kind === 'link' ? 'framed-or-broadcast' : destination.kind === 'broadcast' ? 'framed' : 'routed',
    destinationAddress: destination.address,
    destinationPort: destination.port,
    sourceAddress: serverAddress,
    hardwareAddress: destination.kind === 'broadcast' ? BROADCAST_MAC : hardwareAddress,
  };
}

/** A reader that takes what there is as soon as the process gets its turn. */
async function captureForEver(): Promise<void> {
  const readable = { wake: () => {} };
  const capture = captures.start({
    ...{ poolName: POOL, interfaceNames: [interfaceName], mostPackets: Number.MAX_SAFE_INTEGER },
    ...{ nowMs: () => performance.timeOrigin + performance.now(), onReadable: () => readable.wake() },
  });
  for (;;) {
    await new Promise<void>((resolve) => {
      readable.wake = resolve;
    });
    await setImmediate();
    capture?.take();
  }
}
