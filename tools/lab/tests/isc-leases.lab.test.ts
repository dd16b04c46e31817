/** Lease files between a real ISC dhcpd and this project, with real clients: dhcpd writes one that is imported; the agent continues from it, and dhcpd from what is exported. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import {
  AGENT_BIN,
  acquire,
  endDhclient,
  has,
  Lab,
  type LabProcess,
  type Machine,
  needs,
  poolsYaml,
  run,
  startClient,
} from '../src/index.js';

const macOf = (number: number) => `02:00:00:00:48:0${number}`;
const CONFIGURATION = `authoritative; default-lease-time 600; max-lease-time 600; ping-check false;
subnet 192.168.48.0 netmask 255.255.255.0 { range 192.168.48.10 192.168.48.99; option routers 192.168.48.1; }
`;
/** The range of dhcpd is open; what is declared has other addresses. */
const OPEN_POOL = poolsYaml(
  [{ name: 'net-48', prefix: '192.168.48', range: [200, 210], settings: ['dynamic: [192.168.48.10-192.168.48.99]'] }],
  [],
);
const IDENTIFIES = 'send dhcp-client-identifier "node-2";';

let lab: Lab;
const machines: Machine[] = [];

function machine(number: number): Machine {
  const added = lab.addMachine(`vm-${number}`, { network: 'br48', macAddress: macOf(number) });
  machines.push(added);
  return added;
}

const agent = (...words: readonly string[]) => run(process.execPath, [AGENT_BIN, ...words]);

/** ISC dhcpd that begins with this lease file. */
async function startDhcpd(leases: string): Promise<{ readonly process: LabProcess; readonly file: string }> {
  const [file, configuration] = [join(lab.folder, 'dhcpd.leases'), join(lab.folder, 'dhcpd.conf')];
  writeFileSync(file, leases);
  writeFileSync(configuration, CONFIGURATION);
  const files = ['-cf', configuration, '-lf', file, '-pf', join(lab.folder, 'dhcpd.pid')];
  const process = lab.start('dhcpd', ['-4', '-f', '-d', ...files, 'br48']);
  await process.line('Server starting service');
  return { process, file };
}

beforeEach(() => {
  lab = new Lab();
  lab.addNetwork('br48', '192.168.48.2/24');
});

afterEach(async () => {
  for (const each of machines.splice(0)) await endDhclient(each);
  await lab.dispose();
});

describe('lease files of ISC dhcpd', () => {
  it.skipIf(!has('dhcpd', 'udhcpc', 'dhclient'))(
    `that it wrote for real clients are imported without a problem, and the agent continues ${needs('dhcpd', 'udhcpc', 'dhclient')}`,
    async () => {
      const { process, file } = await startDhcpd('');
      const first = await acquire('udhcpc', machine(1));
      const second = await acquire('dhclient', machine(2));
      const third = machine(3);
      const named = await acquire('udhcpc', third);
      // dhcpd gives a new client the first address of its range.
      expect(first.address).toBe('192.168.48.10');
      await process.stop();
      const state = join(lab.folder, 'state');
      const pools = join(lab.folder, 'pools.yaml');
      writeFileSync(pools, OPEN_POOL);
      const result = JSON.parse(agent('import', '--isc', file, '--pools', pools, '--state-dir', state, '--json')) as {
        readonly problems: readonly unknown[];
        readonly leases: readonly unknown[];
      };
      expect(result.problems).toEqual([]);
      expect(result.leases).toHaveLength(3);
      const taken = [first, second, named].map(({ address }, index) => ({
        address,
        outcome: 'leased',
        macAddress: macOf(index + 1),
      }));
      expect(result.leases).toEqual(expect.arrayContaining(taken.map((each) => expect.objectContaining(each))));

      // The agent continues from what was imported: a client that remembers nothing has the same address.
      const serving = ['serve', '--pools', pools, '--interface', 'net-48=br48', '--state', state, '--http', 'off'];
      const server = lab.start(globalThis.process.execPath, [AGENT_BIN, ...serving]);
      await server.line('"msg":"serving"');
      expect((await acquire('udhcpc', third)).address).toBe(named.address);
      await server.stop();

      // dhcpd continues from what is exported again: the client, which remembers nothing, has the same address.
      const restarted = await startDhcpd(agent('export', '--isc', '--state-dir', state));
      expect((await acquire('udhcpc', third)).address).toBe(named.address);
      expect(restarted.process.lines.filter((line) => /corrupt|expecting|error/i.test(line))).toEqual([]);
    },
  );

  it.skipIf(!has('dhcpd', 'udhcpc', 'dhclient'))(
    `that were exported from bindings: clients have the addresses of the bindings ${needs('dhcpd', 'udhcpc', 'dhclient')}`,
    async () => {
      const state = join(lab.folder, 'state');
      const entry = (number: number, ...lines: readonly string[]) =>
        `lease 192.168.48.${20 + number} {\n  starts epoch 1700000000;\n  hardware ethernet ${macOf(number)};\n  ${lines.join('\n  ')}\n}\n`;
      const file = join(lab.folder, 'by-hand.leases');
      writeFileSync(
        file,
        [
          entry(1, 'ends epoch 4000000000;', 'binding state active;', 'client-hostname "vm-1";'),
          entry(2, 'ends epoch 4000000000;', 'binding state active;', 'uid "node-2";'),
          entry(3, 'ends epoch 1700000600;', 'binding state free;'),
          entry(4, 'ends never;', 'binding state active;'),
          'lease 192.168.48.10 {\n  ends epoch 4000000000;\n  binding state abandoned;\n}\n',
        ].join(''),
      );
      agent('import', '--isc', file, '--pool', 'default/net-48', '--state-dir', state);
      const { process } = await startDhcpd(agent('export', '--isc', '--state-dir', state));
      expect((await acquire('udhcpc', machine(1))).address).toBe('192.168.48.21');
      const identified = startClient('dhclient', machine(2), { once: true, configuration: IDENTIFIES });
      expect((await identified.event('bound')).address).toBe('192.168.48.22');
      expect((await acquire('udhcpc', machine(3))).address).toBe('192.168.48.23');
      expect((await acquire('dhclient', machine(4))).address).toBe('192.168.48.24');
      // An abandoned address is not the one that a new client gets first.
      expect((await acquire('udhcpc', machine(5))).address).not.toBe('192.168.48.10');
      expect(process.lines.filter((line) => /corrupt|expecting|error/i.test(line))).toEqual([]);
    },
  );
});
