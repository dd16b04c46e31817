/**
 * Alerts in a real Prometheus that scrapes real programs, with the rules as they are but for their durations: trouble is made, and its alert fires. Then the
 * queries of the dashboards have data. Those of Wake-on-LAN: wake-on-lan-cluster.lab.test.ts, where machines are woken.
 */
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { ALERTS, formatRules } from '@vmdhcp/alerts';
import { DASHBOARDS, queriesOf, queriesToTry, questionsIn } from '@vmdhcp/dashboards';
import { type KubernetesObject, readField } from '@vmdhcp/kube-runtime';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  AdmissionWebhook,
  AGENT_BIN,
  AGENT_NAMESPACE,
  type BmcsInMachine,
  drawPicture,
  freePort,
  has,
  installedForBareMetal,
  ipPool,
  isDrawing,
  LabAgent,
  type LabController,
  type LabPod,
  needs,
  networkAttachment,
  Prometheus,
  poolsYaml,
  runAgent,
  startBmcs,
  startVlanLab,
  type VlanLab,
  virtualMachine,
  waitFor,
} from '../src/index.js';

/** Run inside a machine. */
const BAD_PACKETS_BIN = fileURLToPath(new URL('../dist/send-bad-packets.js', import.meta.url));
const GROUP = 'vm-dhcp-agent-mgmt-1';
const WEB = '02:00:5e:00:48:01';
/** Of the only host that the ClusterAgent has an address for. */
const HOST_STATUS = 'rack-192-168-50-10';
const BMC_PORT = 8_000;
const CREDENTIALS = { username: 'operator', password: 'lab' };

const QUESTIONS = questionsIn(readFileSync(new URL('../../../docs/operations.md', import.meta.url), 'utf8'));
/** Questions without data here: the webhook decides nothing, no manager of Wake-on-LAN runs, or the trouble is not made. */
const WITHOUT_DATA = [9, 23, 25];

/** Alerts that only promtool tries, and why no trouble is made for them here. */
const BY_PROMTOOL: Readonly<Record<string, string>> = {
  VmdhcpPoolFillsUp: 'it looks at six hours',
  VmdhcpPoolAlmostFull: 'the same gauges as VmdhcpPoolExhausted',
  VmdhcpTakeoverSlow: 'a take-over of more than 20 s takes longer than this whole file',
  VmdhcpLeaderChangesOften: 'four take-overs of one replica take a minute',
  VmdhcpRepliesLost: 'the kernel of a lab accepts every reply',
  VmdhcpLeasesNotRecorded: 'the disk would have to be full: full-disk.lab.test.ts has one, and reads the metric',
  VmdhcpControllerBehind: 'an object would have to wait for 30 s',
  VmdhcpApiServerSlow: 'agents lose their leadership while the API server takes so long',
  VmdhcpWebhookFails: 'webhook-failures.cluster.test.ts makes it fail, and reads the metric',
  VmdhcpCertificateExpires: 'certificates of the lab are new',
  VmdhcpHostUnhealthyLong: 'a host would have to be away for a day',
  VmdhcpWakeUpsFail: 'it needs nodes and KubeVirt: wake-on-lan-cluster.lab.test.ts has them',
  VmdhcpWakeUpsLost: 'a wake-up is given up after two minutes',
};

let vlans: VlanLab;
let controller: LabController;
let leader: LabPod;
let bareHost: LabAgent;
let wakeAgentAt: string;
let webhook: AdmissionWebhook;
let prometheus: Prometheus;
const fired = new Set<string>();

const isPossible = has('prometheus', 'dnsmasq');

beforeAll(async () => {
  if (!isPossible) return;
  vlans = await startVlanLab([48, 49, 50], { isInstalled: false });
  const { lab, cluster } = vlans;
  await cluster.access.applyAll(installedForBareMetal());
  await startRogueServer();
  // One after the other: the machine of a test may have two processors.
  for (const prefix of [60, 61]) lab.addNetwork(`br${prefix}`, `192.168.${prefix}.2/24`);
  bareHost = await LabAgent.start(lab, { pools: bareHostPools(['one']), interfaces: ['net-60=br60', 'net-61=br61'] });
  controller = await cluster.startController('--bare-metal', '--bare-metal-status-seconds', '1');
  await createClusterAgent('rack', { underlayInterface: 'default/vlan-50' });
  for (const vlan of [48, 49, 50]) await cluster.access.create(networkAttachment(`default/vlan-${vlan}`, 'mgmt'));
  await cluster.access.create(pool(48, '192.168.48.11'));
  await cluster.access.create(pool(49, '192.168.49.99'));
  await cluster.access.create(virtualMachine('default/web', WEB, 'default/vlan-48'));
  await cluster.rolledOut(GROUP);
  await cluster.access.waitForObject('ClusterAgent', 'rack', ({ status }) => readField(status, 'ready') === true);
  for (const vlan of [48, 49]) await cluster.agentReady(`default/net-${vlan}`);
  leader = await waitFor('a leader', () => cluster.leader(GROUP));
  // The API server does not send it requests: it would refuse a pool whose network is not there.
  webhook = await AdmissionWebhook.start(cluster.place, ['--no-register']);
  wakeAgentAt = `127.0.0.1:${await freePort()}`;
  prometheus = await Prometheus.start(lab, {
    rules: formatRules(ALERTS, { runbooks: 'https://example.org/runbooks', for: '0s' }),
    targets: {
      controller: [controller.url, webhook.url],
      agents: [...[...cluster.pods.values()].map(({ url }) => url), bareHost.url, `http://${wakeAgentAt}`],
    },
  });
}, 90_000);

afterAll(async () => {
  // It is frozen, and would be asked to end in vain.
  leader?.process?.kill('SIGKILL');
  await webhook?.kill();
  await vlans?.stop();
});

function pool(vlan: number, end: string) {
  const [cidr, serverIP, start] = [`192.168.${vlan}.0/24`, `192.168.${vlan}.2`, `192.168.${vlan}.10`];
  const ipv4Config = { cidr, serverIP, pool: { start, end }, leaseTime: 3600 };
  return ipPool(`default/net-${vlan}`, { network: `default/vlan-${vlan}`, ipv4Config });
}

/** One address for declared machines, and one for unknown clients. */
function bareHostPools(machines: readonly string[]): string {
  return poolsYaml(
    [
      { name: 'net-60', prefix: '192.168.60', range: [10, 10], settings: ['dynamic: [192.168.60.100]'] },
      { name: 'net-61', prefix: '192.168.61' },
    ],
    machines.map((name, index) => ({ name, pool: 'net-60', macAddress: `02:00:5e:00:60:0${index + 1}` })),
  );
}

function hostObject(kind: string, name: string, spec: object): KubernetesObject {
  return { apiVersion: 'bmc.spidernet.io/v1beta1', kind, metadata: { name }, spec };
}

async function createClusterAgent(name: string, agentYaml: object): Promise<void> {
  const { access } = vlans.cluster;
  const data = Object.entries(CREDENTIALS).map(([key, text]) => [key, Buffer.from(text).toString('base64')]);
  const metadata = { namespace: AGENT_NAMESPACE, name: 'bmc' };
  await access.apply({ apiVersion: 'v1', kind: 'Secret', metadata, data: Object.fromEntries(data) } as KubernetesObject);
  const dhcpServerConfig = {
    ...{ dhcpServerInterface: 'net1', subnet: '192.168.50.0/24', ipRange: '192.168.50.10-192.168.50.10' },
    ...{ gateway: '192.168.50.1', selfIp: '192.168.50.2/24' },
  };
  const endpoint = { port: BMC_PORT, https: false, secretName: 'bmc', secretNamespace: AGENT_NAMESPACE };
  await access.create(hostObject('ClusterAgent', name, { agentYaml, endpoint, feature: { dhcpServerConfig } }));
}

/** A host with a management controller gets the only address of the ClusterAgent. */
async function startHost(): Promise<BmcsInMachine> {
  const host = vlans.lab.addMachine('host', { network: 'br50', macAddress: '02:00:5e:00:50:01' });
  const isServed = async () => (await runAgent(host, 'probe', '--interface', 'eth0', '--request', '--timeout', '1')).code === 0;
  await waitFor('an address for the host', isServed, 30_000);
  host.ip('address', 'add', '192.168.50.10/24', 'dev', 'eth0');
  return await startBmcs(host, { addresses: ['192.168.50.10'], port: BMC_PORT, credentials: CREDENTIALS });
}

async function startRogueServer(): Promise<void> {
  const rogue = vlans.lab.addMachine('rogue', { network: 'br49', macAddress: '02:00:5e:00:49:66' });
  rogue.ip('address', 'add', '192.168.49.66/24', 'dev', 'eth0');
  const dnsmasq = rogue.start('dnsmasq', [
    ...['-d', '-C', '/dev/null', '-p', '0', '-i', 'eth0', '--bind-interfaces', '--leasefile-ro', '--no-ping'],
    '--dhcp-range=192.168.49.120,192.168.49.199,255.255.255.0,600',
  ]);
  await dnsmasq.line('DHCP, sockets bound');
}

/** Clients ask, and machines are created. @param scrapes - until Prometheus has so many more. */
async function clientsForPictures(scrapes: number): Promise<void> {
  const { fleet, cluster } = vlans;
  let [round, machines] = [0, 0];
  const count = async () => Number((await prometheus.query('max(count_over_time(up[1h]))'))[0]?.value[1]);
  const wanted = (await count()) + scrapes;
  const look = async () => {
    round++;
    if (round % 10 < 4) fleet.ask({ macAddress: WEB, xid: fleet.nextXid() });
    if (round % 3 === 0) fleet.ask({ macAddress: WEB, xid: fleet.nextXid(), address: '192.168.48.10' });
    if (round % 150 === 0 && ++machines < 20) {
      const number = machines.toString(16).padStart(2, '0');
      await cluster.access.create(
        virtualMachine(`default/vm-${scrapes}-${machines}`, `02:00:5e:00:${scrapes}:${number}`, 'default/vlan-49'),
      );
    }
    return (await count()) >= wanted;
  };
  await waitFor('scrapes', look, 90_000);
}

/** Names of alerts that fire now, each once. */
async function firing(): Promise<readonly string[]> {
  const alerts = await prometheus.firing();
  for (const { annotations } of alerts)
    for (const text of Object.values(annotations)) expect(text).not.toMatch(/<error|<no value>|\{\{/);
  return [...new Set(alerts.map(({ labels }) => labels['alertname'] ?? ''))].toSorted();
}

/** Resolves when these alerts fire; others may. */
async function fires(...names: readonly string[]): Promise<void> {
  let last: readonly string[] = [];
  const lacking = () => names.filter((name) => !last.includes(name));
  await waitFor(
    names.join(', '),
    async () => {
      last = await firing();
      return lacking().length === 0;
    },
    40_000,
  ).catch((error: Error) => {
    throw new Error(`${error.message}; these do not fire: ${lacking().join(', ')}; these do: ${last.join(', ')}`);
  });
  for (const name of names) fired.add(name);
}

describe.skipIf(!isPossible)(`alerts, with a real Prometheus ${needs('prometheus', 'dnsmasq')}`, { timeout: 90_000 }, () => {
  it('of an installation that works none fires, but for the rogue DHCP server that was there before', async () => {
    await fires('VmdhcpRogueServer');
    let others: readonly string[] = [];
    await waitFor(
      'no other alert',
      async () => {
        others = (await firing()).filter((name) => name !== 'VmdhcpRogueServer');
        return others.length === 0;
      },
      40_000,
    ).catch((error: Error) => {
      throw new Error(`${error.message}; these fire: ${others.join(', ')}`);
    });
    // Of the group, and of the ClusterAgent.
    const leaders = 'sum(vmdhcp_agent_leading) == 2 and sum(vmdhcpcontroller_leading) == 1';
    await waitFor('all leaders', async () => (await prometheus.query(leaders)).length > 0, 40_000);
  });

  it('a selected pool is a name, and no pattern: its queries have data, and those of a name that is none have nothing', async () => {
    const [pools] = DASHBOARDS.filter(({ name }) => name === 'pool').map(
      (dashboard) =>
        (...ippool: readonly string[]) =>
          queriesToTry(dashboard, { selected: { ippool } }).filter(({ title }) => title === 'Free addresses'),
    );
    await prometheus.haveData(pools?.('default/net-48', 'default/net-49') ?? []);
    for (const { expression } of pools?.('default/net.48', '"} or up{job=~"', '.*', 'a\nb\\') ?? [])
      expect(await prometheus.query(expression)).toEqual([]);
  });

  it('of pools: one is full, one has no network, and a machine uses an address without a lease', async () => {
    const { lab, cluster } = vlans;
    const squatter = lab.addMachine('squatter', { network: 'br49', macAddress: '02:00:5e:00:49:99' });
    squatter.ip('address', 'add', '192.168.49.10/24', 'dev', 'eth0');
    await cluster.access.create(ipPool('default/lost', { network: 'default/no-such-network' }));
    for (const last of [2, 3])
      await cluster.access.create(virtualMachine(`default/vm-${last}`, `02:00:5e:00:48:0${last}`, 'default/vlan-48'));
    await cluster.access.create(virtualMachine('default/backup', '02:00:5e:00:49:01', 'default/vlan-49'));
    await fires('VmdhcpPoolExhausted', 'VmdhcpInterfaceWithoutAddress', 'VmdhcpPoolNotServed', 'VmdhcpAddressConflict');
    const notServed = (await prometheus.firing()).filter(({ labels }) => labels['alertname'] === 'VmdhcpPoolNotServed');
    expect(notServed.map(({ labels }) => labels['ippool'])).toEqual(['default/lost']);
  });

  if (isDrawing) it('for pictures: clients and new machines for half a minute', () => clientsForPictures(75), 100_000);

  it('of agents: clients are refused, and the leader freezes', async () => {
    const { fleet } = vlans;
    const refuse = () => fleet.ask({ macAddress: WEB, xid: fleet.nextXid(), address: '192.168.48.77' });
    refuse();
    // A counter that first appears has no rate yet.
    await waitFor('the first one', async () => (await prometheus.query('vmdhcp_agent_messages_total{outcome="nak"}')).length > 0);
    for (let request = 0; request < 60; request++) refuse();
    await fires('VmdhcpClientsRefused');
    leader.process?.kill('SIGSTOP');
    const xid = fleet.nextXid();
    for (let secs = 0; secs < 10 && fleet.answerTo(xid) === undefined; secs++) {
      fleet.ask({ macAddress: WEB, xid, secs });
      await waitFor('an answer', () => fleet.answerTo(xid), 1_000).catch(() => undefined);
    }
    await fires('VmdhcpStandbyAnswers', 'VmdhcpAgentReplicasMissing');
    const count = async () => (await prometheus.query('sum(vmdhcp_agent_takeover_duration_seconds_count)'))[0]?.value[1];
    await waitFor('the take-over to be counted', async () => Number(await count()) >= 1);
  });

  it('of a bare host: an interface is gone, a machine finds no address, and an unknown client has the last one', async () => {
    const { lab } = vlans;
    const unknown = lab.addMachine('unknown', { network: 'br60', macAddress: '02:00:5e:00:60:99' });
    await unknown.start(process.execPath, [BAD_PACKETS_BIN]).ended();
    await runAgent(unknown, 'probe', '--interface', 'eth0', '--request', '--timeout', '1');
    bareHost.setPools(bareHostPools(['one', 'two']));
    await waitFor(
      'the second machine',
      async () => (await bareHost.metric('vmdhcp_agent_pool_refused_claims{pool="default/net-60"}')) === 1,
    );
    lab.removeNetwork('br61');
    await fires('VmdhcpAgentServesNotAllPools', 'VmdhcpClaimsRefused', 'VmdhcpOpenPoolExhausted');
  });

  it('of Wake-on-LAN: no manager answers, and an interface is missing', async () => {
    const flags = ['--manager', '127.0.0.1:9', '--clear-text', '--node-name', 'node-1', '--interface', 'missing'];
    vlans.lab.start(process.execPath, [AGENT_BIN, 'wol', ...flags, '--http', wakeAgentAt]);
    await fires('VmdhcpWakeAgentDisconnected', 'VmdhcpWakeListenerDead');
  });

  it('of bare-metal hosts: the range has no address left, a ClusterAgent is wrong, a host does not answer, and an action fails', async () => {
    const { access } = vlans.cluster;
    const bmc = await startHost();
    const order = async (name: string) =>
      await access.create(hostObject('HostOperation', name, { action: 'On', hostStatusName: HOST_STATUS }));
    await access.waitForObject('HostStatus', HOST_STATUS, ({ status }) => readField(status, 'healthy') === true);
    await order('first');
    await access.waitForObject('HostOperation', 'first', ({ status }) => readField(status, 'status') === 'success');
    await bmc.behave({ 'bmc-1': 'unavailable' });
    await order('second');
    const nowhere = { nodeSelectorTerms: [{ matchExpressions: [{ key: 'rack', operator: 'Exists' }] }] };
    await createClusterAgent('other', {
      underlayInterface: 'default/vlan-49',
      nodeAffinity: { requiredDuringSchedulingIgnoredDuringExecution: nowhere },
    });
    await fires('VmdhcpHostRangeExhausted', 'VmdhcpHostAgentsNotReady', 'VmdhcpHostsUnhealthy', 'VmdhcpHostOperationsFail');
  });

  if (isDrawing) it('for pictures: what comes after the trouble', () => clientsForPictures(25), 60_000);

  it.each(DASHBOARDS.filter(({ name }) => name !== 'wake-on-lan').map((dashboard) => [dashboard.title, dashboard] as const))(
    'every query of the dashboard %s has data',
    async (_, dashboard) => {
      await prometheus.haveData(queriesToTry(dashboard));
      await drawPicture(prometheus, dashboard);
    },
  );

  it('every query of docs/operations.md is accepted, and has data where its programs run here', async () => {
    for (const { expression } of queriesOf(QUESTIONS)) await prometheus.query(expression);
    await prometheus.haveData(queriesOf(QUESTIONS.filter(({ number }) => !WITHOUT_DATA.includes(number))));
  });

  it('the names of all metrics are as Prometheus wants them, but for those of Node', async () => {
    const [pod] = [...vlans.cluster.pods.values()].filter((one) => one !== leader);
    const urls = [controller.url, pod?.url ?? '', bareHost.url, `http://${wakeAgentAt}`];
    const pages = await Promise.all(urls.map(async (url) => (await fetch(`${url}/metrics`)).text()));
    const found = pages.flatMap((input) =>
      spawnSync('promtool', ['check', 'metrics'], { input, encoding: 'utf8' }).stderr.split('\n'),
    );
    expect(pages.every((page) => page.includes('# TYPE vmdhcp'))).toBe(true);
    expect(
      found.some((line) => line.startsWith('nodejs_')),
      'the check finds what is wrong',
    ).toBe(true);
    expect(found.filter((line) => line !== '' && !line.startsWith('nodejs_'))).toEqual([]);
  });

  it('of the records of assignments: they cannot be stored, and then another client has written', async () => {
    const { cluster } = vlans;
    const requests = { verb: 'patch', resource: 'configmaps' };
    const refuse = (status: number) =>
      cluster.simulator.faults.inject({ requests, effect: { kind: 'answer', status }, times: 0 });
    const unavailable = refuse(503);
    await cluster.access.create(virtualMachine('default/recorded', '02:00:5e:00:49:03', 'default/vlan-49'));
    await fires('VmdhcpAuditNotStored');
    await waitFor(
      'a record that waits',
      async () => (await prometheus.query('vmdhcpcontroller_audit_pending_records > 0')).length > 0,
    );
    const conflict = refuse(409);
    cluster.simulator.faults.clear(unavailable);
    await fires('VmdhcpAuditRecordsLost');
    cluster.simulator.faults.clear(conflict);
  });

  it('of the controller: its requests fail, and it is gone', async () => {
    const { cluster } = vlans;
    cluster.simulator.faults.inject({ requests: { verb: 'patch' }, effect: { kind: 'answer', status: 500 }, times: 0 });
    await cluster.access.create(virtualMachine('default/last', '02:00:5e:00:49:02', 'default/vlan-49'));
    await fires('VmdhcpApiRequestsFail', 'VmdhcpReconcilesFail');
    controller.process.kill('SIGKILL');
    await fires('VmdhcpNoControllerLeads');
  });

  it('all of them fired, but for those that only promtool tries', () => {
    expect(
      ALERTS.map(({ name }) => name)
        .filter((name) => !fired.has(name))
        .toSorted(),
    ).toEqual(Object.keys(BY_PROMTOOL).toSorted());
  });
});
