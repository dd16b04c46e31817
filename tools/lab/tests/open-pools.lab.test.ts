import { formatIpv4Address } from '@vmdhcp/dhcp-allocator';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import {
  acquire,
  type ClientName,
  has,
  Lab,
  LabAgent,
  needs,
  PacketCapture,
  poolsYaml,
  type RealProgram,
  startClient,
  waitFor,
} from '../src/index.js';

/** Unknown clients have .100 to .102 or more; what is declared has .10 to .99. */
const openPool = (dynamic: string, ...settings: string[]) =>
  poolsYaml([{ name: 'net-48', prefix: '192.168.48', settings: [`dynamic: [${dynamic}]`, ...settings] }], []);

let lab: Lab;
let agent: LabAgent;
let capture: PacketCapture;

beforeEach(() => {
  lab = new Lab();
  lab.addNetwork('br48', '192.168.48.2/24');
  capture = new PacketCapture('br48');
});

afterEach(async () => {
  capture.stop();
  await lab.dispose();
});

async function serve(pools: string): Promise<void> {
  agent = await LabAgent.start(lab, { pools, interfaces: ['net-48=br48'] });
}

const CLIENTS = [
  { client: 'udhcpc', program: 'udhcpc' },
  { client: 'dhclient', program: 'dhclient' },
  { client: 'dhcpcd', program: 'dhcpcd' },
] as const satisfies { client: ClientName; program: RealProgram }[];

describe('an unknown client', () => {
  for (const { client, program } of CLIENTS) {
    it.skipIf(!has(program))(`renews its address after the agent was killed: ${client} ${needs(program)}`, async () => {
      await serve(openPool('192.168.48.100-192.168.48.102', 'leaseTime: 24'));
      const machine = lab.addMachine('unknown', { network: 'br48', macAddress: '02:00:00:00:48:51' });
      const running = startClient(client, machine);
      const bound = await running.event('bound', 'reboot');
      expect(bound.address).toBe('192.168.48.100');
      await agent.restart('SIGKILL');
      expect(await agent.leases()).toContainEqual(
        expect.objectContaining({ address: '192.168.48.100', macAddress: '02:00:00:00:48:51', state: 'bound', dynamic: true }),
      );
      capture.clear();
      await capture.expect(
        'an ACK to the renewal',
        ({ type, message }) => type === 'ack' && formatIpv4Address(message.yiaddr) === '192.168.48.100',
        40_000,
      );
      await running.process.stop();
    });
  }

  it.skipIf(!has('udhcpc'))(
    `has one log line with what remains when it comes, and one when it goes ${needs('udhcpc')}`,
    async () => {
      await serve(openPool('192.168.48.100-192.168.48.109'));
      const machine = lab.addMachine('unknown', { network: 'br48', macAddress: '02:00:00:00:48:51' });
      const running = startClient('udhcpc', machine);
      await running.event('bound');
      await waitFor('its log line', () => agent.events('bound').length > 0);
      expect(agent.events('bound')).toMatchObject([{ address: '192.168.48.100', total: 10, remaining: 9 }]);
      expect(await agent.metric('vmdhcp_agent_dynamic_addresses{pool="default/net-48",state="leased"}')).toBe(1);
      running.process.kill('SIGUSR2');
      await agent.process.matching('the release', () => agent.events('released').length === 1);
      expect(agent.events('released')).toMatchObject([{ address: '192.168.48.100', total: 10, remaining: 10 }]);
      await running.process.stop();
    },
  );

  it.skipIf(!has('udhcpc'))(`gets no address that another host uses ${needs('udhcpc')}`, async () => {
    await serve(openPool('192.168.48.100-192.168.48.109'));
    const squatter = lab.addMachine('squatter', { network: 'br48', macAddress: '02:00:00:00:48:66' });
    squatter.ip('address', 'add', '192.168.48.100/24', 'dev', 'eth0');
    const machine = lab.addMachine('unknown', { network: 'br48', macAddress: '02:00:00:00:48:51' });
    const { address } = await acquire('udhcpc', machine);
    expect(address).toBe('192.168.48.101');
    expect(await agent.metric('vmdhcp_agent_dynamic_addresses{pool="default/net-48",state="quarantined"}')).toBe(1);
  });
});

describe('200 unknown clients at once', () => {
  it.skipIf(!has('perfdhcp'))(
    `none loses the address of its ACK when the agent is killed in the middle, and no address has two clients ${needs('perfdhcp')}`,
    async () => {
      // perfdhcp waits for a second for each reply.
      await serve(openPool('192.168.48.20-192.168.48.240'));
      const relay = lab.addMachine('relay', { network: 'br48', macAddress: '02:00:00:00:48:fe' });
      relay.ip('address', 'add', '192.168.48.254/24', 'dev', 'eth0');
      const parameters = ['-4', '-l', '192.168.48.254', '-r', '100', '-R', '200', '-p', '20', '-d', '2', '-W', '1000000'];
      const load = relay.start('perfdhcp', [...parameters, '192.168.48.2']);
      const acknowledged = () => capture.messages.filter(({ type }) => type === 'ack');
      const clients = () => new Set(acknowledged().map(({ macAddress }) => macAddress)).size;
      await waitFor('the first 20 clients', () => clients() > 20 || undefined);
      await agent.restart('SIGKILL');
      await waitFor('100 clients', () => clients() > 100 || undefined);
      await agent.restart('SIGKILL');
      // It runs for 20 seconds, however early the agent was killed.
      await load.ended();
      const promised = new Map(acknowledged().map(({ macAddress, message }) => [macAddress, formatIpv4Address(message.yiaddr)]));
      const leases = await agent.leases();
      const kept = new Map(leases.map(({ macAddress, address }) => [macAddress, address]));
      expect(promised.size).toBeGreaterThan(100);
      for (const [macAddress, address] of promised) expect([macAddress, kept.get(macAddress)]).toEqual([macAddress, address]);
      expect(new Set(leases.map(({ address }) => address)).size).toBe(leases.length);
    },
  );
});
