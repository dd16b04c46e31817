import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { pino } from 'pino';
import { expect, it, onTestFinished, vi } from 'vitest';
import { PacketHearing } from '../listen/hear-packet.js';
import { encodeMagicPacket } from '../packet/encode-magic-packet.js';
import { startWolServer } from '../server/wol-server.js';
import { handleByManager } from './handle-by-manager.js';

const VM_A = '02:00:00:00:00:0a';
const until = (condition: () => unknown) => vi.waitFor(() => expect(condition()).toBeTruthy(), { timeout: 20_000, interval: 5 });

async function manager() {
  const reports: string[] = [];
  let isServing = true;
  const server = await startWolServer({
    listen: { host: '127.0.0.1', port: 0 },
    tls: undefined,
    handler: {
      report: async ({ macAddress }) => {
        reports.push(macAddress);
        return { kind: 'answered', answer: { status: 'accepted', message: 'm', wasDuplicate: false, processingTimeMs: 1 } };
      },
      isServing: () => isServing,
      leader: () => undefined,
      wakeable: { snapshot: () => [VM_A], onChange: () => () => {} },
    },
    observe: () => {},
  });
  onTestFinished(() => server.stop());
  return { server, reports, loseLeadership: () => (isServing = false) };
}

it('behind one Service address, a packet counts at once when another manager has become leader', async () => {
  const [one, other] = [await manager(), await manager()];
  let port = one.server.port;
  const sockets = new Set<Socket>();
  // The Service: new connections lead to the current leader.
  const service = createServer((socket) => {
    const to = connect(port, '127.0.0.1');
    for (const end of [socket, to]) {
      sockets.add(end);
      end.on('error', () => {});
    }
    socket.pipe(to).pipe(socket);
    socket.on('close', () => to.destroy());
    to.on('close', () => socket.destroy());
  }).listen(0, '127.0.0.1');
  await once(service, 'listening');
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy();
    service.close();
  });
  const hearing = new PacketHearing({ machines: undefined, password: undefined, windowMs: 10_000 });
  const events: string[] = [];
  const logger = pino({ base: null }, { write: (line: string) => events.push((JSON.parse(line) as { event: string }).event) });
  const handling = handleByManager(
    {
      manager: `127.0.0.1:${(service.address() as AddressInfo).port}`,
      nodeName: 'node-1',
      passwordSecret: undefined,
      tlsDirectory: undefined,
      machines: undefined,
      udpPorts: [9],
    },
    hearing,
    logger,
  );
  onTestFinished(() => handling.stop());
  await handling.start();
  await until(() => handling.unready().length === 0);
  const receive = () => {
    const payload = encodeMagicPacket({ macAddress: VM_A });
    const heard = hearing.hear(payload, () => '192.0.2.7', performance.now());
    const place = { interfaceName: 'eth0', way: 'udp', port: 9 } as const;
    const facts = { place, sender: { address: '192.0.2.7', port: 1 }, packetSize: 102, heardAtMs: Date.now() };
    if (heard.kind === 'wake-up') handling.wake({ sighting: heard.sighting, facts });
    return heard;
  };
  receive();
  await until(() => handling.counts().accepted === 1);
  port = other.server.port;
  one.loseLeadership();
  await until(() => other.server.followers === 1);
  await new Promise((resolve) => setTimeout(resolve, 300));
  expect(receive().kind).toBe('wake-up');
  await until(() => other.reports.length === 1);
});
