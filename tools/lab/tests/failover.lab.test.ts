/** Agents that die, freeze, lose an interface or their API server, and other users of the network: real processes, real packets. */

import { writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { RENEW_PERIOD_ANNOTATION } from '@vmdhcp/ippool-api';
import { readConditions, readField, readText } from '@vmdhcp/kube-runtime';
import { agentInterfaceName } from '@vmdhcp/reconciler';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import {
  AGENT_NAMESPACE,
  type ClientFleet,
  has,
  ipPool,
  type Lab,
  type LabCluster,
  type LabPod,
  type Machine,
  needs,
  networkAttachment,
  run,
  startVlanLab,
  type VlanLab,
  virtualMachine,
  waitFor,
} from '../src/index.js';

const GROUP = 'vm-dhcp-agent-mgmt-1';
const POOL = 'default/net-48';
const WEB = '02:00:5e:00:48:01';
const ADDRESS = '192.168.48.10';
const ROGUE = '02:00:5e:00:48:66';

let vlans: VlanLab;
let lab: Lab;
let cluster: LabCluster;
let fleet: ClientFleet;

beforeEach(async () => {
  vlans = await startVlanLab([48]);
  ({ lab, cluster, fleet } = vlans);
});

afterEach(() => vlans.stop());

const answered = (macAddress: string, address?: string, patienceMs?: number) =>
  fleet.addressFor({ macAddress, ...(address !== undefined && { address }) }, patienceMs);
/** For a question that must be answered: on a busy machine that takes its time. */
const PATIENCE_MS = 20_000;

/** The pool of the examples, with a virtual machine that has an address, and agents that serve it. */
async function serve(spec: Readonly<Record<string, unknown>> = {}, ...flags: readonly string[]): Promise<LabPod> {
  await cluster.startController(...flags);
  await cluster.access.create(networkAttachment('default/vlan-48', 'mgmt'));
  await cluster.access.create(pool(spec));
  await cluster.access.create(virtualMachine('default/web', WEB, 'default/vlan-48'));
  await cluster.agentReady(POOL);
  await cluster.rolledOut(GROUP);
  await waitFor('an answer', () => answered(WEB));
  return waitFor('a leader', () => cluster.leader(GROUP));
}

function pool(spec: Readonly<Record<string, unknown>>) {
  const ipv4Config = {
    cidr: '192.168.48.0/24',
    serverIP: '192.168.48.2',
    pool: { start: ADDRESS, end: '192.168.48.99' },
    leaseTime: 3600,
  };
  return ipPool(POOL, { network: 'default/vlan-48', ipv4Config, spec });
}

/** Asks like a client without a reply, at these seconds; returns which request got the reply. */
async function persist(atSeconds: readonly number[]): Promise<number> {
  const xid = fleet.nextXid();
  const begunAtMs = performance.now();
  for (const [index, seconds] of atSeconds.entries()) {
    await waitFor('the time to come', () => performance.now() - begunAtMs >= seconds * 1000, 60_000);
    fleet.ask({ macAddress: WEB, xid, secs: seconds });
    const next = atSeconds[index + 1] ?? seconds + PATIENCE_MS / 1000;
    const answer = await fleet.answerWithin(xid, begunAtMs + next * 1000 - 20 - performance.now());
    if (answer !== undefined) {
      expect(answer.address).toBe(ADDRESS);
      return index;
    }
  }
  throw new Error(`asked ${atSeconds.length} times in vain`);
}

function metric(pod: LabPod, name: string): Promise<number> {
  return fetch(`${pod.url}/metrics`)
    .then((response) => response.text())
    .then((text) => Number(new RegExp(`^${name} (\\S+)$`, 'm').exec(text)?.[1] ?? Number.NaN));
}

describe('a group of agents', () => {
  it('the leader is killed: clients get an answer by the second retransmission, and another replica has the address soon', async () => {
    // On a busy machine a client asks for the third time later than another replica is leader by default.
    const leader = await serve({}, '--agent-lease-seconds', '10');
    const standby = [...cluster.pods.values()].find((pod) => pod !== leader) as LabPod;
    leader.process?.kill('SIGKILL');
    // Asked three times at most, or this throws; long before another replica has the address.
    await persist([0, 1, 2]);
    expect(await metric(standby, 'vmdhcp_agent_standby_answers_total')).toBeGreaterThanOrEqual(1);
    await standby.process?.line('this standby answered');
    await waitFor('another holder', () => cluster.holders(POOL).some((pod) => pod !== leader));
    expect(cluster.holders(POOL)).toHaveLength(1);
    await waitFor('an answer', async () => (await answered(WEB, ADDRESS)) === ADDRESS);
  });

  it.skipIf(!has('dhclient'))(
    `the leader is killed: a machine renews its IPv6 address with the next leader ${needs('dhclient')}`,
    async () => {
      // A machine renews after 22 s; its address outlasts the change of leaders on a slow machine.
      const leader = await serve({ ipv6Config: { cidr: '2001:db8:48::/64', leaseTime: 60 } });
      const web = lab.addMachine('web', { network: 'br48', macAddress: WEB });
      await waitFor('a link-local address', () => !web.ip('-6', 'address', 'show', 'dev', 'eth0').includes('tentative'));
      const files = ['-lf', `${web.folder}/leases`, '-pf', `${web.folder}/pid`];
      const client = web.start('dhclient', ['-6', '-d', '-v', '-sf', '/bin/true', '-cf', '/dev/null', ...files, 'eth0']);
      const seen = (text: string, since = 0) => client.lines.slice(since).some((line) => line.includes(text));
      await waitFor('its address', () => seen('IAADDR 2001:db8:48::a'));
      const link = leader.machine.ip('-6', 'address', 'show', 'dev', agentInterfaceName(POOL));
      expect(link, 'no guest can reach the pod by IPv6').toBe('');
      // Otherwise bridges that watch groups (MLD snooping) would not send its messages to agents.
      expect(run('bridge', ['mdb', 'show', 'dev', 'br48'])).toMatch(/grp ff02::1:2 /);
      leader.process?.kill('SIGKILL');
      const before = client.lines.length;
      await waitFor('a renewal', () => seen('RCV: Reply message', before));
      expect([seen('IAADDR 2001:db8:48::a', before), seen('XMT: Solicit', before)]).toEqual([true, false]);
      client.kill('SIGKILL');
    },
  );

  it('the leader is killed while its Lease is renewed rarely: clients get an answer as soon', { tags: ['nightly'] }, async () => {
    const leader = await serve();
    const standby = [...cluster.pods.values()].find((pod) => pod !== leader) as LabPod;
    // What a controller writes if there are many groups; this one would remove it.
    await cluster.stopController();
    const lease = `${AGENT_NAMESPACE}/${GROUP}`;
    await cluster.access.patch('Lease', lease, { metadata: { annotations: { [RENEW_PERIOD_ANNOTATION]: '20000' } } });
    const durationSeconds = async () => readField((await cluster.access.get('Lease', lease))?.spec, 'leaseDurationSeconds');
    await waitFor('a long Lease', async () => (await durationSeconds()) === 27);
    const longAtMs = performance.now();
    // Longer than a standby believes that the API server reports to it.
    await waitFor('the standby to have heard nothing for long', () => performance.now() - longAtMs > 6_000);
    leader.process?.kill('SIGKILL');
    await persist([0, 1, 2]);
    expect(await metric(standby, 'vmdhcp_agent_standby_answers_total')).toBeGreaterThanOrEqual(1);
    expect(cluster.holders(POOL)).toEqual([]);
  });

  it('the API server is away: replicas answer clients that retransmit, and no replica has the address', async () => {
    const leader = await serve();
    const id = cluster.simulator.faults.inject({ effect: { kind: 'close', when: 'before' }, times: 0 });
    cluster.simulator.disturbWatches('break');
    await leader.process?.line('leadership lost');
    await waitFor('the address to be gone', () => cluster.holders(POOL).length === 0);
    for (let turn = 0; turn < 3; turn++) await persist([0, 2, 4, 6, 8]);
    const counts = await Promise.all([...cluster.pods.values()].map((pod) => metric(pod, 'vmdhcp_agent_standby_answers_total')));
    expect(counts.reduce((sum, count) => sum + count)).toBeGreaterThanOrEqual(3);
    cluster.simulator.faults.clear(id);
    await waitFor('a holder', () => cluster.holders(POOL).length === 1);
    await waitFor('an answer at once', async () => (await answered(WEB, ADDRESS)) === ADDRESS);
  });

  it('the API server takes two seconds for everything: clients are answered nevertheless', { tags: ['nightly'] }, async () => {
    await serve();
    const id = cluster.simulator.faults.inject({ effect: { kind: 'delay', delayMs: 2_000 }, times: 0 });
    await waitFor('the address to be gone', () => cluster.holders(POOL).length === 0);
    for (let turn = 0; turn < 3; turn++) await persist([0, 2, 4, 6, 8]);
    cluster.simulator.faults.clear(id);
    await waitFor('a holder', () => cluster.holders(POOL).length === 1);
  });

  it('the Lease is deleted by hand: never two holders, and clients are answered', async () => {
    await serve();
    await cluster.access.delete('Lease', `${AGENT_NAMESPACE}/${GROUP}`);
    const begunAtMs = performance.now();
    while (performance.now() - begunAtMs < 5_000) {
      expect(cluster.holders(POOL).length).toBeLessThanOrEqual(1);
      await persist([0, 1, 2]);
    }
    await waitFor('a holder', () => cluster.holders(POOL).length === 1);
  });

  it('an interface of the leader is deleted: another replica becomes leader, and the pool reports it', {
    tags: ['nightly'],
  }, async () => {
    const leader = await serve();
    leader.machine.ip('link', 'delete', agentInterfaceName(POOL));
    await waitFor('another holder', () => cluster.holders(POOL).some((pod) => pod !== leader));
    await waitFor('an answer', async () => (await answered(WEB, ADDRESS)) === ADDRESS);
    const other = await waitFor('another leader', async () => {
      const now = await cluster.leader(GROUP);
      return now === leader ? undefined : now;
    });
    await cluster.access.waitForObject('IPPool', POOL, ({ status }) => readText(status, 'servedBy') === other.name);
  });

  it('a node loses power: the agents elsewhere take over, long before its pods are replaced', async () => {
    const leader = await serve();
    const { spec } = (await cluster.access.get('Pod', `${AGENT_NAMESPACE}/${leader.name}`)) ?? {};
    await cluster.simulator.nodes.powerOff(readText(spec, 'nodeName') ?? '');
    await waitFor('another holder', () => cluster.holders(POOL).some((pod) => pod !== leader));
    await waitFor('an answer', async () => (await answered(WEB, ADDRESS)) === ADDRESS);
  });
});

describe('another machine or server on the network', () => {
  it('an address that is in use is not given out: its user is named, and the virtual machine has another one', async () => {
    await serve();
    const squatter = lab.addMachine('squatter', { network: 'br48', macAddress: '02:00:5e:00:48:99' });
    squatter.ip('address', 'add', '192.168.48.11/24', 'dev', 'eth0');
    await cluster.access.create(virtualMachine('default/second', '02:00:5e:00:48:02', 'default/vlan-48'));
    await waitFor('another address', async () => (await answered('02:00:5e:00:48:02')) === '192.168.48.12');
    expect(fleet.answers.some(({ address }) => address === '192.168.48.11')).toBe(false);
    const { status } = await cluster.access.waitForObject('IPPool', POOL, (object) =>
      Boolean(readField(object.status, 'ipv4', 'quarantined', '192.168.48.11')),
    );
    expect(readText(status, 'ipv4', 'quarantined', '192.168.48.11', 'usedBy')).toBe('02:00:5e:00:48:99');
    const event = await waitFor('an Event', async () =>
      (await cluster.access.list('Event')).find((one) => readField(one, 'reason') === 'AddressConflict'),
    );
    expect(readText(event, 'message')).toContain('02:00:5e:00:48:99');
  });

  it('an address that a host with a fixed address uses is heard, and no virtual machine gets it', {
    tags: ['nightly'],
  }, async () => {
    await serve();
    const squatter = lab.addMachine('squatter', { network: 'br48', macAddress: '02:00:5e:00:48:99' });
    squatter.ip('address', 'add', '192.168.48.11/24', 'dev', 'eth0');
    // It asks for an address that nobody has.
    const send = "const s = require('node:dgram').createSocket('udp4'); s.send('', 9, '192.168.48.250', () => s.close())";
    await squatter.start(process.execPath, ['-e', send]).ended();
    const { status } = await cluster.access.waitForObject('IPPool', POOL, (object) =>
      Boolean(readField(object.status, 'ipv4', 'quarantined', '192.168.48.11')),
    );
    expect(readText(status, 'ipv4', 'quarantined', '192.168.48.11', 'usedBy')).toBe('02:00:5e:00:48:99');
    squatter.ip('link', 'set', 'eth0', 'down');
    await cluster.access.create(virtualMachine('default/second', '02:00:5e:00:48:02', 'default/vlan-48'));
    await waitFor('another address', async () => (await answered('02:00:5e:00:48:02')) === '192.168.48.12');
  });

  it('an address that its client declines and another host uses is quarantined, and its user is named', {
    tags: ['nightly'],
  }, async () => {
    await serve();
    const squatter = lab.addMachine('squatter', { network: 'br48', macAddress: '02:00:5e:00:48:99' });
    squatter.ip('address', 'add', `${ADDRESS}/24`, 'dev', 'eth0');
    const decline = fileURLToPath(new URL('../dist/send-forged-messages.js', import.meta.url));
    await squatter.start(process.execPath, [decline, 'decline', '192.168.48.2', `${WEB}=${ADDRESS}`]).ended();
    await waitFor('another address', async () => (await answered(WEB)) === '192.168.48.11');
    const { status } = await cluster.access.waitForObject('IPPool', POOL, (object) =>
      Boolean(readField(object.status, 'ipv4', 'quarantined', ADDRESS)),
    );
    expect(readText(status, 'ipv4', 'quarantined', ADDRESS, 'usedBy')).toBe('02:00:5e:00:48:99');
  });

  it('that answers ARP for every address prevents no new virtual machine from getting its address, and is reported', {
    tags: ['nightly'],
  }, async () => {
    const leader = await serve();
    const squatter = lab.addMachine('squatter', { network: 'br48', macAddress: '02:00:5e:00:48:99' });
    const answers = fileURLToPath(new URL('../dist/send-arp-answers.js', import.meta.url));
    await squatter.start(process.execPath, [answers]).line('answering');
    await cluster.access.create(virtualMachine('default/second', '02:00:5e:00:48:02', 'default/vlan-48'));
    await waitFor('the address', async () => (await answered('02:00:5e:00:48:02')) === '192.168.48.11');
    expect(await answered(WEB, undefined, PATIENCE_MS)).toBe(ADDRESS);
    await waitFor('a warning that names it', () => leader.process?.lines.some((line) => line.includes('02:00:5e:00:48:99')));
  });

  it('with conflictProbe Disabled it is: no probe is sent', { tags: ['nightly'] }, async () => {
    await serve({ conflictProbe: 'Disabled' });
    const squatter = lab.addMachine('squatter', { network: 'br48', macAddress: '02:00:5e:00:48:99' });
    squatter.ip('address', 'add', '192.168.48.11/24', 'dev', 'eth0');
    await cluster.access.create(virtualMachine('default/second', '02:00:5e:00:48:02', 'default/vlan-48'));
    await waitFor('the address', async () => (await answered('02:00:5e:00:48:02')) === '192.168.48.11');
  });

  it.skipIf(!has('dnsmasq')).each(['Warn', 'Stop'])(
    `a rogue DHCP server is reported, and no client gets a reply if so configured: %s ${needs('dnsmasq')}`,
    { tags: ['nightly'] },
    async (onRogueServer) => {
      const rogue = lab.addMachine('rogue', { network: 'br48', macAddress: ROGUE });
      rogue.ip('address', 'add', '192.168.48.66/24', 'dev', 'eth0');
      const dnsmasq = rogue.start('dnsmasq', [
        ...['-d', '-C', '/dev/null', '-p', '0', '-i', 'eth0', '--bind-interfaces', '--leasefile-ro', '--no-ping'],
        ...['--dhcp-authoritative', '--dhcp-range=192.168.48.120,192.168.48.199,255.255.255.0,600'],
      ]);
      await dnsmasq.line('DHCP, sockets bound');
      await cluster.startController();
      await cluster.access.create(networkAttachment('default/vlan-48', 'mgmt'));
      await cluster.access.create(pool({ onRogueServer }));
      await cluster.access.create(virtualMachine('default/web', WEB, 'default/vlan-48'));
      const { status } = await cluster.access.waitForObject('IPPool', POOL, (object) =>
        readConditions(object.status).some(({ type, status: state }) => type === 'RogueServer' && state === 'True'),
      );
      const { message = '' } = readConditions(status).find(({ type }) => type === 'RogueServer') ?? {};
      expect(message).toContain(`192.168.48.66 (${ROGUE})`);
      const ours = () => fleet.answers.filter(({ senderMacAddress }) => senderMacAddress !== ROGUE);
      if (onRogueServer === 'Warn') {
        await waitFor('our answer', async () => {
          await answered(WEB);
          return ours().length > 0;
        });
        return;
      }
      await cluster.access.waitForObject('IPPool', POOL, (object) =>
        readConditions(object.status).some(({ type, reason }) => type === 'AgentReady' && reason === 'RogueServer'),
      );
      const before = ours().length;
      for (let turn = 0; turn < 5; turn++)
        expect(await answered(WEB, undefined, PATIENCE_MS), 'the other server answers').toBeDefined();
      expect(ours().length).toBe(before);
    },
  );

  it.skipIf(!has('radvd'))(
    `what is wrong with the IPv6 routers is reported: one says M=0, one is a virtual machine ${needs('radvd')}`,
    { tags: ['nightly'] },
    async () => {
      const router = lab.addMachine('router', { network: 'br48', macAddress: ROGUE });
      await startRadvd(router);
      await serve({ ipv6Config: { cidr: '2001:db8:48::/64' } });
      const becomes = async (expected: string) => {
        const { status } = await cluster.access.waitForObject('IPPool', POOL, (object) =>
          readConditions(object.status).some(
            ({ type, status: state, reason }) => type === 'RouterReady' && (reason ?? state) === expected,
          ),
        );
        return readConditions(status).find(({ type }) => type === 'RouterReady')?.message ?? '';
      };
      expect(await becomes('RouterSaysNoManaged')).toContain(`fe80::5eff:fe00:4866 (${ROGUE})`);
      const web = lab.addMachine('web', { network: 'br48', macAddress: WEB });
      await startRadvd(web);
      expect(await becomes('RogueRouter')).toContain(`fe80::5eff:fe00:4801 (${WEB})`);
      const event = await waitFor('an Event', async () =>
        (await cluster.access.list('Event')).find((one) => readField(one, 'reason') === 'RogueRouter'),
      );
      expect(readText(event, 'message')).toContain(WEB);
      const routers = ['fe80::5eff:fe00:4866', 'fe80::5eff:fe00:4801'];
      await cluster.access.patch('IPPool', POOL, { spec: { ipv6Config: { routers } } });
      await becomes('RouterSaysNoManaged');
    },
  );
});

async function startRadvd(machine: Machine): Promise<void> {
  await waitFor('a link-local address', () => !machine.ip('-6', 'address', 'show', 'dev', 'eth0').includes('tentative'));
  const [configuration, pid] = [`${machine.folder}/radvd.conf`, `${machine.folder}/radvd.pid`];
  const prefix = 'prefix 2001:db8:48::/64 { AdvAutonomous off; };';
  writeFileSync(configuration, `interface eth0 { AdvSendAdvert on; ${prefix} };\n`);
  machine.start('radvd', ['-n', '-d', '1', '-m', 'stderr', '-C', configuration, '-p', pid]);
}
