import { fileURLToPath } from 'node:url';
import { formatIpv4Address } from '@vmdhcp/dhcp-allocator';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import {
  AGENT_BIN,
  acquire,
  type ClientName,
  has,
  Lab,
  LabAgent,
  type Machine,
  needs,
  PacketCapture,
  poolsYaml,
  type RealProgram,
  runAgent,
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

const ignored = (type: string, reason: string) =>
  agent.metric(`vmdhcp_agent_messages_total{type="${type}",outcome="ignored",reason="${reason}"}`);

const CLIENTS = [
  { client: 'udhcpc', program: 'udhcpc' },
  { client: 'dhclient', program: 'dhclient' },
  { client: 'dhcpcd', program: 'dhcpcd' },
] as const satisfies { client: ClientName; program: RealProgram }[];

describe('an unknown client', () => {
  for (const { client, program } of CLIENTS) {
    it.skipIf(!has(program))(`renews its address after the agent was killed: ${client} ${needs(program)}`, async () => {
      // Renewed after half of it; on a busy machine an agent takes up to half a minute to start again.
      await serve(openPool('192.168.48.100-192.168.48.102', 'leaseTime: 60'));
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
        90_000,
      );
      await running.process.stop();
    });
  }

  it.skipIf(!has('udhcpc'))(
    `has one log line with what remains when it comes, and none for a RELEASE, which changes nothing ${needs('udhcpc')}`,
    async () => {
      await serve(openPool('192.168.48.100-192.168.48.109'));
      const machine = lab.addMachine('unknown', { network: 'br48', macAddress: '02:00:00:00:48:51' });
      const running = startClient('udhcpc', machine);
      await running.event('bound');
      await waitFor('its log line', () => agent.events('bound').length > 0);
      expect(agent.events('bound')).toMatchObject([{ address: '192.168.48.100', total: 10, remaining: 9 }]);
      expect(await agent.metric('vmdhcp_agent_dynamic_addresses{pool="default/net-48",state="leased"}')).toBe(1);
      running.process.kill('SIGUSR2');
      await waitFor('the RELEASE', async () => (await ignored('release', 'lease-stays')) === 1);
      expect(agent.events('released')).toEqual([]);
      expect(await agent.metric('vmdhcp_agent_dynamic_addresses{pool="default/net-48",state="leased"}')).toBe(1);
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

describe('the address of an unknown client', () => {
  const VICTIM = '02:00:00:00:48:51';
  const INTRUDER = '02:00:00:00:66:66';
  const ADDRESS = '192.168.48.100';
  const forger = fileURLToPath(new URL('../dist/send-forged-messages.js', import.meta.url));

  /** A machine that has the address and uses it, and another one. */
  async function machines() {
    await serve(openPool('192.168.48.100-192.168.48.109'));
    const [victim, intruder] = [VICTIM, INTRUDER].map((macAddress, index) =>
      lab.addMachine(`machine-${index}`, { network: 'br48', macAddress }),
    ) as [Machine, Machine];
    await runAgent(victim, 'probe', '--interface', 'eth0', '--json', '--request');
    expect(await agent.leases()).toMatchObject([{ address: ADDRESS, macAddress: VICTIM }]);
    victim.ip('address', 'add', `${ADDRESS}/24`, 'dev', 'eth0');
    const send = (type: 'release' | 'request', macAddress: string) =>
      intruder.start(process.execPath, [forger, type, '192.168.48.2', `${macAddress}=${ADDRESS}`]).ended();
    const release = async () => {
      const command = lab.start(process.execPath, [AGENT_BIN, 'release', ADDRESS, '--state', agent.statePath]);
      const { code } = await command.ended();
      return { code, text: command.lines.join('\n') };
    };
    return { victim, send, release };
  }

  const isRefused = () => capture.messages.some(({ type, macAddress }) => type === 'nak' && macAddress === INTRUDER);
  it.each([
    ['is there', 'up'],
    ['is switched off', 'down'],
  ])('stays with a machine that %s, whatever RELEASE and REQUEST another machine sends', async (_title, state) => {
    const { victim, send } = await machines();
    victim.ip('link', 'set', 'eth0', state);
    await send('release', VICTIM);
    await waitFor('the RELEASE', async () => (await ignored('release', 'lease-stays')) === 1);
    await send('request', INTRUDER);
    await waitFor('a DHCPNAK', isRefused);
    expect(agent.events('released')).toEqual([]);
    expect(await agent.leases()).toMatchObject([{ address: ADDRESS, macAddress: VICTIM, state: 'bound' }]);
  });

  it('is freed by `release` when its machine is switched off, and not before', async () => {
    const { victim, release } = await machines();
    expect(await release()).toEqual({ code: 1, text: expect.stringContaining(`${VICTIM} keeps its lease of ${ADDRESS}`) });
    victim.ip('link', 'set', 'eth0', 'down');
    expect(await release()).toEqual({ code: 0, text: `the lease of ${ADDRESS} has ended (${VICTIM})` });
    expect(await release()).toEqual({ code: 0, text: `no client has a lease of ${ADDRESS}, and it is not in quarantine` });
  });
});

describe('machines with one client identifier', () => {
  it.skipIf(!has('udhcpc'))(`have an address each, and keep it when they send another request ${needs('udhcpc')}`, async () => {
    await serve(openPool('192.168.48.100-192.168.48.109'));
    const clones = [1, 2, 3].map((each) =>
      lab.addMachine(`clone-${each}`, { network: 'br48', macAddress: `02:00:00:00:48:5${each}` }),
    );
    const acquireAll = async () => {
      const addresses: (string | undefined)[] = [];
      for (const clone of clones) {
        const parameters = ['-x', '61:ff00000001000401020304'];
        addresses.push((await startClient('udhcpc', clone, { once: true, parameters }).event('bound')).address);
      }
      return addresses;
    };
    const addresses = await acquireAll();
    expect(addresses).toEqual(['192.168.48.100', '192.168.48.101', '192.168.48.102']);
    expect(await acquireAll()).toEqual(addresses);
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
