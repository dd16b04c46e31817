/** Real clients of DHCPv6 and a real agent. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  has,
  hasNetworkManager,
  Lab,
  LabAgent,
  type Machine,
  NETWORKD,
  needs,
  type PoolText,
  poolsYaml,
  run,
  startNetworkd,
  startNetworkManager,
  waitFor,
} from '../src/index.js';

const NETWORK = 'br48';
const MACHINES = ['vm-a', 'vm-b', 'vm-c', 'vm-d'] as const;
type Name = (typeof MACHINES)[number];
const numberOf = (name: Name) => MACHINES.indexOf(name) + 10;
const machinesOn = MACHINES.map((name) => ({
  name,
  pool: 'net-48',
  macAddress: `02:00:00:00:48:0${MACHINES.indexOf(name)}`,
  address: `192.168.48.${numberOf(name)}`,
}));
const poolsWith = (cidr: string, leaseTime = 10, more: readonly string[] = []) => {
  const ipv6 = [
    `cidr: ${cidr}`,
    `leaseTime: ${leaseTime}`,
    "dns: ['2001:db8::53']",
    'domainSearch: [lab.example]',
    'ipv6OnlyWait: 300',
    ...more,
  ];
  const pool: PoolText = { name: 'net-48', prefix: '192.168.48', probes: false, ipv6 };
  return poolsYaml([pool], machinesOn);
};
const addressOf = (name: Name, prefix = '2001:db8:48::') => `${prefix}${numberOf(name).toString(16)}`;
const CLONED_DUID = '00:02:00:00:ab:11:01:02:03:04';

let lab: Lab;
let agent: LabAgent;
const machines = new Map<Name, Machine>();

beforeAll(async () => {
  lab = new Lab();
  lab.addNetwork(NETWORK, '192.168.48.2/24');
  for (const { name, macAddress } of machinesOn) machines.set(name, lab.addMachine(name, { network: NETWORK, macAddress }));
  agent = await LabAgent.start(lab, { pools: poolsWith('2001:db8:48::/64'), interfaces: [`net-48=${NETWORK}`] });
  // Until they are known to be unique, link-local addresses send nothing.
  for (const machine of machines.values())
    await waitFor('a link-local address', () => !machine.ip('-6', 'address', 'show', 'dev', 'eth0').includes('tentative'));
});

afterAll(() => lab?.dispose());

const machine = (name: Name) => machines.get(name) as Machine;

/** Until the agent serves them: a client that asks earlier gets an address of the former prefix. */
async function servePools(prefix: string, leaseTime: number, more: readonly string[] = []): Promise<void> {
  agent.setPools(poolsWith(`${prefix}/64`, leaseTime, more));
  await waitFor(`the prefix ${prefix}`, async () => (await agent.get('/leases')).text.includes(`"${prefix}`));
}

/** @param parameters - of dhclient. */
function startDhclient(
  name: Name,
  parameters: readonly string[],
  { family = '-6', request = 'dhcp6.name-servers, dhcp6.domain-search' } = {},
) {
  const file = (ending: string) => join(machine(name).folder, `dhclient${family}.${ending}`);
  writeFileSync(file('conf'), `send dhcp6.client-id ${CLONED_DUID};\nrequest ${request};\n`);
  writeFileSync(file('leases'), '', { flag: 'a' });
  const files = ['-cf', file('conf'), '-lf', file('leases'), '-pf', file('pid')];
  return machine(name).start('dhclient', [family, '-d', '-v', '-sf', '/bin/true', ...files, ...parameters, 'eth0']);
}

/** How many packets had this outcome so far. */
async function countOf(outcome: string): Promise<number> {
  const { text } = await agent.get('/metrics');
  const line = new RegExp(`^vmdhcp_agent_dhcpv6_packets_total\\{outcome="${outcome}",reason="[^"]*"\\} (\\d+)$`, 'm');
  return Number(line.exec(text)?.[1] ?? 0);
}

describe('a client', () => {
  it.skipIf(!has('dhclient'))(`dhclient asks for options alone ${needs('dhclient')}`, async () => {
    const before = await countOf('answered');
    const client = startDhclient('vm-a', ['-S', '-1']);
    await waitFor('the answer', () => client.lines.some((line) => line.includes('RCV: Reply message')));
    expect(await countOf('answered')).toBeGreaterThan(before);
    client.kill('SIGKILL');
  });

  it.skipIf(!has('dhclient'))(
    `dhclient does without IPv4 if it asks whether it may, and has its address otherwise ${needs('dhclient')}`,
    async () => {
      const lines = async (request: string) => {
        const client = startDhclient('vm-a', ['-1'], { family: '-4', request });
        await waitFor('the offer', () => client.lines.some((line) => line.includes(`DHCPOFFER of ${machinesOn[0]?.address}`)));
        if (request === 'routers') await waitFor('the address', () => client.lines.some((line) => line.startsWith('bound to')));
        client.kill('SIGKILL');
        return client.lines.join('\n');
      };
      expect(await lines('v6-only-preferred')).toContain('v6 only preferred for 300.');
      expect(await lines('routers')).not.toContain('v6 only');
    },
  );

  it.skipIf(!has('rdisc6'))(`rdisc6 gets a Router Advertisement that makes no default route ${needs('rdisc6')}`, async () => {
    const client = machine('vm-b').start('rdisc6', ['-1', '-r', '20', 'eth0']);
    await client.ended();
    const output = client.lines.join('\n');
    expect(output).toMatch(/Stateful address conf\.\s*:\s*Yes/);
    expect(output).toMatch(/Stateful other conf\.\s*:\s*Yes/);
    expect(output).toMatch(/Router lifetime\s*:\s*0 /);
    expect(output).toMatch(/Prefix\s*:\s*2001:db8:48::\/64/);
    expect(output).toMatch(/On-link\s*:\s*Yes\s*\n\s*Autonomous address conf\.\s*:\s*No/);
    expect(output).toMatch(/Recursive DNS server\s*:\s*2001:db8::53/);
    expect(output).toMatch(/DNS search list\s*:\s*lab\.example/);
    expect(machine('vm-b').ip('-6', 'route', 'show', 'default')).toBe('');
  });

  it.skipIf(!has('dhcpcd'))(
    `dhcpcd asks because of the advertisement, and by rapid commit has its address ${needs('dhcpcd')}`,
    async () => {
      const before = [await countOf('answered'), await countOf('assigned')];
      const { folder } = machine('vm-c');
      const [configuration, leases] = [join(folder, 'dhcpcd6.conf'), join(folder, 'leases')];
      mkdirSync(leases);
      mkdirSync('/var/lib/dhcpcd', { recursive: true });
      writeFileSync(configuration, 'ipv6only\nnohook resolv.conf\noption rapid_commit\n');
      const client = machine('vm-c').start('sh', [
        '-c',
        `mount --bind ${leases} /var/lib/dhcpcd; exec dhcpcd -6 -B -d -c /bin/true -f ${configuration} eth0`,
      ]);
      await waitFor('the address', () =>
        machine('vm-c')
          .ip('-6', 'address', 'show', 'dev', 'eth0')
          .includes(`inet6 ${addressOf('vm-c')}/128`),
      );
      expect([await countOf('answered'), (await countOf('assigned')) > (before[1] ?? 0)], 'no ADVERTISE').toEqual([
        before[0],
        true,
      ]);
      await client.stop();
    },
  );

  it.skipIf(!has('dhclient'))(
    `dhclient, by four messages and renewals: two machines with one DUID have addresses of their own ${needs('dhclient')}`,
    async () => {
      const clients = (['vm-a', 'vm-b'] as const).map((name) => ({ name, process: startDhclient(name, []) }));
      for (const { name, process } of clients) {
        const printed = (text: string) => process.lines.filter((line) => line.includes(text)).length;
        await waitFor(`${name} to renew`, () => printed('XMT: Renew') >= 1 && printed('PRC: Renewal event scheduled') >= 2);
        expect(printed('RCV: Advertise message'), 'four messages').toBe(1);
        const output = process.lines.join('\n');
        expect(output).toContain(`IAADDR ${addressOf(name)}`);
      }
      // From here on leases outlast a restart on a slow machine; clients renew after three eighths of the time.
      agent.setPools(poolsWith('fd00:48::/64', 60));
      for (const { name, process } of clients)
        await waitFor(`${name} to have its address in the new prefix`, () =>
          process.lines.some((line) => line.includes(`IAADDR ${addressOf(name, 'fd00:48::')}`)),
        );
      await agent.restart();
      for (const { name, process } of clients) {
        const before = process.lines.length;
        await waitFor(`${name} to renew with the agent that was started again`, () =>
          process.lines.slice(before).some((line) => line.includes('PRC: Renewal event scheduled')),
        );
        expect(process.lines.slice(before).join('\n')).not.toContain('XMT: Solicit');
        process.kill('SIGKILL');
      }
    },
  );

  it.skipIf(!has(NETWORKD))(
    `systemd-networkd has addresses of both families, and one of another prefix after its link was off ${needs(NETWORKD)}`,
    async () => {
      await servePools('2001:db8:48::', 3_600);
      const client = startNetworkd(machine('vm-d'), 'yes');
      const has = (address: string) =>
        waitFor(address, () => machine('vm-d').ip('address', 'show', 'dev', 'eth0').includes(` ${address} `));
      await has('192.168.48.13/24');
      await has(`${addressOf('vm-d')}/128`);
      await servePools('fd00:48::', 3_600);
      for (const state of ['down', 'up'] as const) machine('vm-d').setLink(state);
      await has(`${addressOf('vm-d', 'fd00:48::')}/128`);
      await client.stop();
    },
  );

  it.skipIf(!hasNetworkManager())(
    'NetworkManager has addresses of both families, and other ones after its link was off for six seconds [needs NetworkManager and dbus-daemon]',
    async () => {
      await servePools('2001:db8:48::', 3_600);
      const client = startNetworkManager(machine('vm-d'));
      const has = (address: string) =>
        waitFor(address, () => machine('vm-d').ip('address', 'show', 'dev', 'eth0').includes(` ${address} `));
      await has('192.168.48.13/24');
      await has(`${addressOf('vm-d')}/128`);
      await servePools('fd00:48::', 3_600);
      const offAtMs = performance.now();
      machine('vm-d').setLink('down');
      // It waits whether the link comes back.
      await client.line('activated -> unavailable');
      expect(performance.now() - offAtMs).toBeGreaterThan(5_000);
      machine('vm-d').setLink('up');
      await has(`${addressOf('vm-d', 'fd00:48::')}/128`);
      await client.stop();
    },
  );

  it.skipIf(!has(NETWORKD))(
    `systemd-networkd reaches another network through a router that sends no Router Advertisements ${needs(NETWORKD)}`,
    async () => {
      const beyond = '2001:db8:99::1';
      const router = lab.addMachine('router', { network: NETWORK, macAddress: '02:00:00:00:48:99' });
      router.setSysctls({ 'ipv6/conf/all/forwarding': '1' });
      router.ip('address', 'add', `${beyond}/128`, 'dev', 'lo', 'nodad');
      router.ip('address', 'add', 'fe80::1/64', 'dev', 'eth0', 'nodad');
      router.ip('-6', 'route', 'add', '2001:db8:48::/64', 'dev', 'eth0');
      await servePools('2001:db8:48::', 3_600, ['routerAdvertisements: DefaultRoute', 'routers: [fe80::1]']);
      const client = startNetworkd(machine('vm-d'), 'yes');
      await waitFor('the default route', () =>
        machine('vm-d').ip('-6', 'route', 'show', 'default').includes('default via fe80::1 dev eth0'),
      );
      await waitFor('its address', () =>
        machine('vm-d')
          .ip('address', 'show', 'dev', 'eth0')
          .includes(` ${addressOf('vm-d')}/128 `),
      );
      const node = (host: Machine, script: string) => host.start(process.execPath, ['-e', script]);
      node(router, `net.createServer((socket) => socket.end()).listen(80, '${beyond}')`);
      await waitFor('a connection to beyond', async () => {
        const script = `net.connect(80, '${beyond}', () => process.exit(console.log('connected')))`;
        const connection = node(machine('vm-d'), script);
        await connection.ended();
        return connection.lines.includes('connected');
      });
      const heard = (address: string, macAddress: string) =>
        waitFor(`the agent to hear ${address}`, () =>
          agent.process.lines.some((line) => line.includes(`"address":"${address}","macAddress":"${macAddress}"`)),
        );
      await heard('fe80::1', '02:00:00:00:48:99');
      // The host of the agent may be the router itself.
      const [, bridge = ''] = /link\/ether (\S+)/.exec(run('ip', ['link', 'show', NETWORK])) ?? [];
      run('ip', ['address', 'add', 'fe80::2/64', 'dev', NETWORK, 'nodad']);
      writeFileSync(`/proc/sys/net/ipv6/conf/${NETWORK}/forwarding`, '1');
      agent.setPools(poolsWith('2001:db8:48::/64', 3_600, ['routerAdvertisements: DefaultRoute', 'routers: [fe80::2]']));
      await heard('fe80::2', bridge);
      await client.stop();
    },
  );
});
