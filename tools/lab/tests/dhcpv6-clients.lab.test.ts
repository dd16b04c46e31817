/** Real clients of DHCPv6, answered by the library on a socket. The MAC address of a client is known here from its link-local address. */
import { createSocket, type Socket } from 'node:dgram';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { formatIpv6Address, parseIpv6Address, parseIpv6Prefix } from '@vmdhcp/dhcp-allocator/address';
import {
  answerDhcpv6Packet,
  Dhcpv6Option,
  type Dhcpv6Pool,
  decodeDhcpv6Packet,
  firstOption,
  serverIdentifierOf,
} from '@vmdhcp/dhcp-allocator/dhcpv6';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { has, Lab, type Machine, needs, waitFor } from '../src/index.js';

const NETWORK = 'br6';
const ip = (text: string) => parseIpv6Address(text) as bigint;
const POOL: Dhcpv6Pool = {
  prefix: parseIpv6Prefix('2001:db8:48::/64') as Dhcpv6Pool['prefix'],
  serverIdentifier: serverIdentifierOf('8e3ad0f2-6c1e-4c2b-9a55-0d6a3b1f7c10'),
  preferredLifetimeSeconds: 4,
  validLifetimeSeconds: 20,
  rapidCommit: true,
  addressRegistration: false,
  relays: [],
  options: { dnsServers: [ip('2001:db8:48::53')], domainSearch: ['lab.example'], ntpServers: [], bootFileUrl: undefined },
};
const MACHINES = ['vm-a', 'vm-b', 'vm-c'] as const;
type Name = (typeof MACHINES)[number];
const macOf = (name: Name) => `02:00:00:00:48:0${MACHINES.indexOf(name) + 1}`;
/** As the kernel makes it of the MAC address. Source: RFC 4291, appendix A. */
const linkLocalOf = (name: Name) => ip(`fe80::ff:fe00:480${MACHINES.indexOf(name) + 1}`);
const addressOf = (name: Name) => ip(`2001:db8:48::${MACHINES.indexOf(name) + 10}`);
const CLONED_DUID = '00:02:00:00:ab:11:01:02:03:04';

let lab: Lab;
let socket: Socket;
const machines = new Map<Name, Machine>();
/** What the server did, by machine. */
const events: (readonly [Name, string])[] = [];
/** The DUID that a machine sent last. */
const identifiers = new Map<Name, string>();

beforeAll(async () => {
  lab = new Lab();
  lab.addNetwork(NETWORK);
  for (const name of MACHINES) machines.set(name, lab.addMachine(name, { network: NETWORK, macAddress: macOf(name) }));
  socket = createSocket({ type: 'udp6', reuseAddr: true });
  socket.on('message', (packet, { address, port }) => {
    const [text = ''] = address.split('%');
    const name = MACHINES.find((one) => linkLocalOf(one) === parseIpv6Address(text));
    if (name === undefined) return;
    const source = { address: linkLocalOf(name), port, macAddress: macOf(name) };
    const owner = (mac: string) => MACHINES.find((one) => macOf(one) === mac);
    const answer = answerDhcpv6Packet(packet, source, {
      poolOf: () => POOL,
      addressOf: (_, mac) => {
        const declared = owner(mac);
        return declared && addressOf(declared);
      },
    });
    if (answer.kind === 'none') return;
    events.push([name, answer.event ?? 'answered']);
    identifiers.set(name, readDuid(packet));
    socket.send(answer.bytes, answer.port, address);
  });
  await new Promise<void>((resolve) => socket.bind(547, '::', resolve));
  socket.addMembership('ff02::1:2', `::%${NETWORK}`);
  // Until they are known to be unique, link-local addresses send nothing.
  for (const machine of machines.values())
    await waitFor('a link-local address', () => !machine.ip('-6', 'address', 'show', 'dev', 'eth0').includes('tentative'));
});

afterAll(async () => {
  socket?.close();
  await lab?.dispose();
});

function readDuid(packet: Uint8Array): string {
  const decoded = decodeDhcpv6Packet(packet);
  const duid = decoded.ok ? firstOption(decoded.message.options, Dhcpv6Option.clientIdentifier) : undefined;
  return [...(duid ?? [])].map((octet) => octet.toString(16).padStart(2, '0')).join(':');
}

const machine = (name: Name) => machines.get(name) as Machine;

/** @param parameters - of dhclient. */
function startDhclient(name: Name, parameters: readonly string[]) {
  const { folder } = machine(name);
  const configuration = join(folder, 'dhclient6.conf');
  writeFileSync(configuration, `send dhcp6.client-id ${CLONED_DUID};\nrequest dhcp6.name-servers, dhcp6.domain-search;\n`);
  const files = ['-cf', configuration, '-lf', join(folder, 'dhclient6.leases'), '-pf', join(folder, 'dhclient6.pid')];
  return machine(name).start('dhclient', ['-6', '-d', '-v', '-sf', '/bin/true', ...files, ...parameters, 'eth0']);
}

const countOf = (name: Name, event: string) => events.filter((one) => one[0] === name && one[1] === event).length;

describe('a client', () => {
  it.skipIf(!has('dhclient'))(
    `dhclient, by four messages and renewals: two machines with one DUID have addresses of their own ${needs('dhclient')}`,
    async () => {
      const clients = (['vm-a', 'vm-b'] as const).map((name) => ({ name, process: startDhclient(name, []) }));
      for (const { name, process } of clients) {
        await waitFor(`${name} to renew`, () => countOf(name, 'assigned') >= 2);
        await waitFor(`${name} to report it`, () => process.lines.some((line) => line.includes('PRC: Renewal event scheduled')));
        expect(countOf(name, 'answered'), 'an ADVERTISE').toBeGreaterThanOrEqual(1);
        const output = process.lines.join('\n');
        expect(output).toContain(`IAADDR ${formatIpv6Address(addressOf(name))}`);
        expect(identifiers.get(name)).toBe(CLONED_DUID);
        process.kill('SIGKILL');
      }
    },
  );

  it.skipIf(!has('dhclient'))(`dhclient asks for options alone ${needs('dhclient')}`, async () => {
    const before = countOf('vm-a', 'answered');
    const client = startDhclient('vm-a', ['-S', '-1']);
    await waitFor('the answer', () => client.lines.some((line) => line.includes('RCV: Reply message')));
    expect(countOf('vm-a', 'answered')).toBeGreaterThan(before);
    client.kill('SIGKILL');
  });

  it.skipIf(!has('dhcpcd'))(`dhcpcd, by rapid commit, has its address ${needs('dhcpcd')}`, async () => {
    const { folder } = machine('vm-c');
    const [configuration, leases] = [join(folder, 'dhcpcd6.conf'), join(folder, 'leases')];
    mkdirSync(leases);
    mkdirSync('/var/lib/dhcpcd', { recursive: true });
    writeFileSync(configuration, 'noipv6rs\nipv6only\nnohook resolv.conf\noption rapid_commit\ninterface eth0\nia_na 1\n');
    const client = machine('vm-c').start('sh', [
      '-c',
      `mount --bind ${leases} /var/lib/dhcpcd; exec dhcpcd -6 -B -d -c /bin/true -f ${configuration} eth0`,
    ]);
    const address = formatIpv6Address(addressOf('vm-c'));
    await waitFor('the address', () =>
      machine('vm-c').ip('-6', 'address', 'show', 'dev', 'eth0').includes(`inet6 ${address}/128`),
    );
    expect(countOf('vm-c', 'answered'), 'no ADVERTISE').toBe(0);
    expect(countOf('vm-c', 'assigned')).toBeGreaterThanOrEqual(1);
    await client.stop();
  });
});
