import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  acquire,
  type ClientName,
  dhclientFiles,
  endDhclient,
  has,
  Lab,
  LabAgent,
  type Machine,
  NETWORKD,
  needs,
  PacketCapture,
  poolsYaml,
  type RealProgram,
  startClient,
  startNetworkd,
  waitFor,
} from '../src/index.js';

const SETTINGS = [
  'router: 192.168.48.1',
  'dns: [1.1.1.1, 9.9.9.9]',
  'domainName: lab.example',
  'domainSearch: [lab.example, eng.lab.example]',
  'mtu: 1400',
  'leaseTime: 600',
  'staticRoutes: [{ destination: 10.77.0.0/16, gateway: 192.168.48.7 }]',
  'options: [{ code: 44, value: 192.168.48.44 }]',
];
const MACHINES = ['vm-a', 'vm-b', 'vm-c', 'vm-d'] as const;
const macOf = (name: (typeof MACHINES)[number]) => `02:00:00:00:48:0${MACHINES.indexOf(name) + 1}`;
const POOLS = poolsYaml(
  [{ name: 'net-48', prefix: '192.168.48', settings: SETTINGS }],
  MACHINES.map((name) => ({ name, pool: 'net-48', macAddress: macOf(name) })),
);

let lab: Lab;
let agent: LabAgent;
let capture: PacketCapture;
const machines = new Map<string, Machine>();

beforeAll(async () => {
  lab = new Lab();
  lab.addNetwork('br48', '192.168.48.2/24');
  for (const name of MACHINES) machines.set(name, lab.addMachine(name, { network: 'br48', macAddress: macOf(name) }));
  agent = await LabAgent.start(lab, { pools: POOLS, interfaces: ['net-48=br48'] });
  capture = new PacketCapture('br48');
});

afterAll(async () => {
  capture?.stop();
  await lab?.dispose();
});

const machine = (name: (typeof MACHINES)[number]) => machines.get(name) as Machine;

const CLIENTS = [
  { client: 'udhcpc', program: 'udhcpc', name: 'vm-a', address: '192.168.48.10' },
  { client: 'udhcpc -B', program: 'udhcpc', name: 'vm-b', address: '192.168.48.11' },
  { client: 'dhclient', program: 'dhclient', name: 'vm-c', address: '192.168.48.12' },
  { client: 'dhcpcd', program: 'dhcpcd', name: 'vm-d', address: '192.168.48.13' },
] as const satisfies { client: ClientName; program: RealProgram; name: (typeof MACHINES)[number]; address: string }[];

describe('an address and everything that belongs to it', () => {
  for (const { client, program, name, address } of CLIENTS) {
    it.skipIf(!has(program))(`reach ${client} ${needs(program)}`, async () => {
      const lease = await acquire(client, machine(name));
      expect(lease.address).toBe(address);
      // dhclient writes option 121 with spaces.
      const received = JSON.stringify(lease.values).replaceAll('192 168 48 7', '192.168.48.7');
      for (const word of ['192.168.48.1', '1.1.1.1 9.9.9.9', 'lab.example', 'eng.lab.example', '1400', '192.168.48.7']) {
        expect(received).toContain(word);
      }
      // An option of the pool that has no field: only this client requests it.
      expect(received.includes('192.168.48.44')).toBe(client === 'dhclient');
      const shown = { address, macAddress: macOf(name), state: 'bound', owner: `default/${name}` };
      expect(await agent.leases()).toContainEqual(expect.objectContaining(shown));
      await endDhclient(machine(name));
    });
  }
});

describe('RFC 2131 §4.1: replies reach a client the way it can receive them', () => {
  it.skipIf(!has('udhcpc'))(`a client without the broadcast flag is answered at its new address ${needs('udhcpc')}`, async () => {
    capture.clear();
    await acquire('udhcpc', machine('vm-a'));
    await capture.expect('an OFFER to the new address', ({ type, to }) => type === 'offer' && to === '192.168.48.10');
    await capture.expect('an ACK to the new address', ({ type, to }) => type === 'ack' && to === '192.168.48.10');
  });

  it.skipIf(!has('udhcpc'))(`a client that sets the broadcast flag is answered by broadcast ${needs('udhcpc')}`, async () => {
    capture.clear();
    await acquire('udhcpc -B', machine('vm-b'));
    await capture.expect('a broadcast OFFER', ({ type, to }) => type === 'offer' && to === '255.255.255.255');
    await capture.expect('a broadcast ACK', ({ type, to }) => type === 'ack' && to === '255.255.255.255');
  });
});

describe('RFC 4039: rapid commit', () => {
  it.skipIf(!has('dhcpcd'))(
    `a client that asks for it has its address after two messages where the pool says so, else after four ${needs('dhcpcd')}`,
    async () => {
      const typesOf = async () => {
        capture.clear();
        rmSync(join(machine('vm-d').folder, 'dhcpcd-leases'), { recursive: true, force: true });
        const client = startClient('dhcpcd', machine('vm-d'), { parameters: ['-o', 'rapid_commit'] });
        const { values } = await client.event('bound');
        expect(values).toMatchObject({ new_ip_address: '192.168.48.13' });
        await capture.expect('an ACK', ({ type }) => type === 'ack');
        await client.process.stop();
        machine('vm-d').ip('address', 'flush', 'dev', 'eth0');
        return new Set(capture.messages.map(({ type }) => type));
      };
      expect(await typesOf()).toEqual(new Set(['discover', 'offer', 'request', 'ack']));
      agent.setPools(POOLS.replace('  ipv4Config:', '  rapidCommit: true\n  ipv4Config:'));
      await agent.process.line('the changed pools file is in effect');
      expect(await typesOf()).toEqual(new Set(['discover', 'ack']));
      agent.setPools(POOLS);
    },
  );
});

describe('RFC 2131 §4.3.5: a host that has its address', () => {
  it.skipIf(!has('dhcpcd'))(`asks by INFORM, and receives everything but an address by unicast ${needs('dhcpcd')}`, async () => {
    capture.clear();
    machine('vm-d').ip('address', 'flush', 'dev', 'eth0');
    machine('vm-d').ip('address', 'add', '192.168.48.99/24', 'dev', 'eth0');
    const client = startClient('dhcpcd', machine('vm-d'), { parameters: ['--inform', '192.168.48.99/24'] });
    const { values } = await client.event('inform');
    expect(values).toMatchObject({ new_domain_name_servers: '1.1.1.1 9.9.9.9', new_interface_mtu: '1400' });
    expect(values).not.toHaveProperty('new_dhcp_lease_time');
    await capture.expect('a unicast ACK', ({ type, to }) => type === 'ack' && to === '192.168.48.99');
    await client.process.stop();
    machine('vm-d').ip('address', 'flush', 'dev', 'eth0');
  });
});

describe('the life of a lease', () => {
  it.skipIf(!has('udhcpc'))(`is renewed and released by unicast ${needs('udhcpc')}`, async () => {
    const client = startClient('udhcpc', machine('vm-a'));
    await client.event('bound');
    capture.clear();
    client.process.kill('SIGUSR1');
    await client.event('renew');
    await capture.expect(
      'a unicast REQUEST',
      ({ type, from, to }) => type === 'request' && from === '192.168.48.10' && to === '192.168.48.2',
    );
    await capture.expect('a unicast ACK', ({ type, to }) => type === 'ack' && to === '192.168.48.10');
    const released = agent.events('released').length;
    client.process.kill('SIGUSR2');
    await agent.process.matching('the release', () => agent.events('released').length === released + 1);
    expect(await agent.leases()).toContainEqual(expect.objectContaining({ address: '192.168.48.10', state: 'assigned' }));
    await client.process.stop();
  });

  it.skipIf(!has('dhclient'))(`survives a restart of the client: INIT-REBOOT is acknowledged ${needs('dhclient')}`, async () => {
    const vm = machine('vm-c');
    await acquire('dhclient', vm);
    await endDhclient(vm);
    capture.clear();
    const again = await acquire('dhclient', vm);
    await endDhclient(vm);
    expect(again).toMatchObject({ event: 'reboot', address: '192.168.48.12' });
    expect(capture.messages.map(({ type }) => type)).toEqual(['request', 'ack']);
  });

  it.skipIf(!has('dhclient'))(
    `a wrong address in INIT-REBOOT is refused, and the client starts over ${needs('dhclient')}`,
    async () => {
      const vm = machine('vm-c');
      // It has a lease that it can claim.
      await acquire('dhclient', vm);
      await endDhclient(vm);
      const { leases } = dhclientFiles(vm);
      writeFileSync(
        leases,
        readFileSync(leases, 'utf8').replaceAll('fixed-address 192.168.48.12', 'fixed-address 192.168.48.66'),
      );
      capture.clear();
      const lease = await acquire('dhclient', vm);
      await endDhclient(vm);
      expect(lease).toMatchObject({ event: 'bound', address: '192.168.48.12' });
      expect(capture.messages.map(({ type }) => type)).toEqual(['request', 'nak', 'discover', 'offer', 'request', 'ack']);
      await agent.process.matching('the refusal', () => agent.events('refused').length > 0);
      expect(agent.events('refused').at(-1)).toMatchObject({ address: '192.168.48.66', reason: 'address-not-its-own' });
    },
  );

  it.skipIf(!has('dhcpcd'))(`is rebound by broadcast ${needs('dhcpcd')}`, async () => {
    const client = startClient('dhcpcd', machine('vm-d'));
    await client.event('bound', 'reboot');
    capture.clear();
    client.process.kill('SIGHUP');
    await capture.expect(
      'a broadcast REQUEST with ciaddr',
      ({ type, to, message }) => type === 'request' && to === '255.255.255.255' && message.ciaddr !== 0,
    );
    await capture.expect('its ACK', ({ type }) => type === 'ack');
    await client.process.stop();
  });

  it.skipIf(!has('udhcpc'))(
    `survives a killed agent: every address is the same, and nothing is bound twice ${needs('udhcpc')}`,
    async () => {
      const before = (await agent.leases()).map(({ address, macAddress }) => `${address} ${macAddress}`);
      await agent.restart('SIGKILL');
      expect((await agent.leases()).map(({ address, macAddress }) => `${address} ${macAddress}`)).toEqual(before);
      expect((await acquire('udhcpc', machine('vm-a'))).address).toBe('192.168.48.10');
    },
  );
});

describe('an address that is in use already', () => {
  it.skipIf(!has('udhcpc'))(`is declined, quarantined, and replaced by another ${needs('udhcpc')}`, async () => {
    const squatter = lab.addMachine('squatter', { network: 'br48', macAddress: '02:00:00:00:48:99' });
    squatter.ip('address', 'add', '192.168.48.11/24', 'dev', 'eth0');
    const vm = machine('vm-b');
    vm.ip('-4', 'address', 'flush', 'dev', 'eth0');
    capture.clear();
    const client = startClient('udhcpc', vm, { parameters: ['-a300'] });
    const bound = await client.event('bound');
    await client.process.stop();
    expect(capture.messages.some(({ type }) => type === 'decline')).toBe(true);
    expect(bound.address).toBe('192.168.48.14');
    await agent.process.matching('the decline', () => agent.events('declined').length > 0);
    expect(agent.events('declined')).toEqual([expect.objectContaining({ address: '192.168.48.11', believed: true })]);
    expect(await agent.metric('vmdhcp_agent_pool_quarantined{pool="default/net-48"}')).toBe(1);
    lab.removeMachine('squatter');

    // It stays suspended when the agent is killed.
    await agent.restart('SIGKILL');
    expect(await agent.metric('vmdhcp_agent_pool_quarantined{pool="default/net-48"}')).toBe(1);
    expect((await agent.leases()).map(({ address }) => address)).not.toContain('192.168.48.11');
  });
});

describe('a link that goes off and on, after another address was pinned', () => {
  it.skipIf(!has(NETWORKD, 'dhcpcd'))(
    `makes clients ask at once: they get the new address ${needs(NETWORKD, 'dhcpcd')}`,
    async () => {
      const [c, d] = [machine('vm-c'), machine('vm-d')];
      for (const vm of [c, d]) vm.ip('-4', 'address', 'flush', 'dev', 'eth0');
      const clients = [startNetworkd(c), startClient('dhcpcd', d).process];
      const addresses = () => [c, d].map((vm) => vm.addresses());
      const have = (...wanted: readonly string[]) =>
        waitFor(`machines to have ${wanted.join(' and ')}`, () => `${addresses()}` === `${wanted}`);
      await have('192.168.48.12/24', '192.168.48.13/24');
      const pinned = { 'vm-c': '192.168.48.30', 'vm-d': '192.168.48.31' };
      const pin = ([name, address]: readonly [string, string]) => {
        const { macAddress } = machine(name as (typeof MACHINES)[number]);
        return { name, pool: 'net-48', macAddress, address };
      };
      agent.setPools(poolsYaml([{ name: 'net-48', prefix: '192.168.48', settings: SETTINGS }], Object.entries(pinned).map(pin)));
      await waitFor('the pinned addresses', async () => {
        const leases = await agent.leases();
        return Object.values(pinned).every((one) => leases.some(({ address }) => address === one));
      });
      // Their leases last: without the link they would ask after minutes.
      expect(addresses()).toEqual([['192.168.48.12/24'], ['192.168.48.13/24']]);
      for (const state of ['down', 'up'] as const) for (const vm of [c, d]) vm.setLink(state);
      await have('192.168.48.30/24', '192.168.48.31/24');
      await Promise.all(clients.map((client) => client.stop()));
    },
  );
});

describe('many clients at once', () => {
  it.skipIf(!has('perfdhcp'))(`a relay gets every answer of a burst ${needs('perfdhcp')}`, async () => {
    const relay = lab.addMachine('relay', { network: 'br48', macAddress: '02:00:00:00:48:fe' });
    relay.ip('address', 'add', '192.168.48.254/24', 'dev', 'eth0');
    const macs = Array.from({ length: 50 }, (_, index) => `00:0c:01:02:03:${(4 + index).toString(16).padStart(2, '0')}`);
    agent.setPools(
      poolsYaml(
        // The load program drops what is not answered at once.
        [{ name: 'net-48', prefix: '192.168.48', settings: SETTINGS, probes: false }],
        macs.map((macAddress, index) => ({ name: `relayed-${index}`, pool: 'net-48', macAddress })),
      ),
    );
    await waitFor('the changed pools file to be in effect', async () => (await agent.leases()).length === macs.length);
    const load = relay.start('perfdhcp', [
      '-4',
      '-l',
      '192.168.48.254',
      '-r',
      '200',
      '-R',
      '50',
      '-p',
      '2',
      // It waits so long for an answer: a busy machine loses none.
      ...['-d', '10'],
      '-W',
      '1000000',
      '192.168.48.2',
    ]);
    await load.ended();
    const report = load.lines.join('\n');
    expect(report.match(/drops: \d+/g)).toEqual(['drops: 0', 'drops: 0']);
    expect(Number(/received packets: (\d+)/.exec(report)?.[1])).toBeGreaterThan(100);
    lab.removeMachine('relay');
  });
});
