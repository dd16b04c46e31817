/**
 * Alerts in a real Prometheus that scrapes real programs, with the rules as they are, but for their durations and for what is too long: trouble is made, and its
 * alert fires. Then the queries of the dashboards have data. Those of Wake-on-LAN: wake-on-lan-cluster.lab.test.ts, where machines are woken.
 *
 * @module-tag nightly
 */
import { spawnSync } from 'node:child_process';
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { request } from 'node:https';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { ALERTS, alertsNamedIn, formatRules } from '@vmdhcp/alerts';
import { DASHBOARDS, queriesOf, queriesToTry, questionsIn } from '@vmdhcp/dashboards';
import { type KubernetesObject, readField } from '@vmdhcp/kube-runtime';
import { certificateIssuer } from '@vmdhcp/service-certificates/node';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  AdmissionWebhook,
  AGENT_BIN,
  AGENT_NAMESPACE,
  type BmcsInMachine,
  ClientFleet,
  CONTROLLER_NAMESPACE,
  clockSpeed,
  drawPicture,
  FiringAlerts,
  freePort,
  has,
  importedScript,
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
  run,
  runAgent,
  startBmcs,
  startVlanLab,
  type VlanLab,
  virtualMachine,
  WEBHOOK_NAME,
  WEBHOOK_NAMESPACE,
  waitFor,
} from '../src/index.js';

/** Run inside a machine. */
const BAD_PACKETS_BIN = fileURLToPath(new URL('../dist/send-bad-packets.js', import.meta.url));
const GROUP = 'vm-dhcp-agent-mgmt-1';
const WEB = '02:00:5e:00:48:01';
/** The HostStatus of the only host that has an address in the ClusterAgent. */
const HOST_STATUS = 'rack-192-168-50-10';
const BMC_PORT = 8_000;
const CONTROLLER = `system:serviceaccount:${CONTROLLER_NAMESPACE}:vm-dhcp-controller`;
/** What is too long for the alerts about time. */
const TOO_LONG_SECONDS = 1;
const DAY_MS = 86_400_000;
/** The uid of AdmissionReviews that the webhook cannot handle, because of a bug. */
const BROKEN_UID = 'broken';
const BUG = `const real = JSON.stringify; JSON.stringify = (value, ...given) => {
  if (value?.response?.uid === '${BROKEN_UID}') throw new Error('a bug');
  return real(value, ...given);
};`;
const CREDENTIALS = { username: 'operator', password: 'lab' };

const QUESTIONS = questionsIn(readFileSync(new URL('../../../docs/operations.md', import.meta.url), 'utf8'));
/** Questions without data here: no manager of Wake-on-LAN runs, the trouble is not made, or they name an address, a machine or a time of another cluster. */
const WITHOUT_DATA = [4, 8, 14, 16, 23, 25, 26];

let vlans: VlanLab;
let controller: LabController;
let leader: LabPod;
let bareHost: LabAgent;
let wakeAgentAt: string;
let webhook: AdmissionWebhook;
let prometheus: Prometheus;
let alerts: FiringAlerts;

const isPossible = has('prometheus', 'dnsmasq');

beforeAll(async () => {
  if (!isPossible) return;
  vlans = await startVlanLab([48, 49, 50], { isInstalled: false });
  const { lab, cluster } = vlans;
  await cluster.access.applyAll(installedForBareMetal());
  await startRogueServer();
  // One after the other: the machine of a test may have two processors.
  for (const prefix of [60, 61]) lab.addNetwork(`br${prefix}`, `192.168.${prefix}.2/24`);
  bareHost = await LabAgent.start(lab, {
    pools: bareHostPools(['one']),
    interfaces: ['net-60=br60', 'net-61=br61'],
    stateSize: '64k',
  });
  controller = await cluster.startController('--bare-metal', '--bare-metal-status-seconds', '1');
  await createClusterAgent('rack', { underlayInterface: 'default/vlan-50' });
  for (const vlan of [48, 49, 50]) await cluster.access.create(networkAttachment(`default/vlan-${vlan}`, 'mgmt'));
  await cluster.access.create(pool(48, '192.168.48.11'));
  await cluster.access.create(pool(49, '192.168.49.40'));
  await cluster.access.create(virtualMachine('default/web', WEB, 'default/vlan-48'));
  await cluster.rolledOut(GROUP);
  await cluster.access.waitForObject('ClusterAgent', 'rack', ({ status }) => readField(status, 'ready') === true);
  for (const vlan of [48, 49]) await cluster.agentReady(`default/net-${vlan}`);
  leader = await waitFor('a leader', () => cluster.leader(GROUP));
  // The API server does not send it requests: it would refuse a pool whose network is not there.
  await giveCertificate(90 * DAY_MS);
  webhook = await AdmissionWebhook.start(cluster.place, ['--no-register', '--certificate-secret', `${WEBHOOK_NAME}-tls`], {
    env: importedScript(BUG),
  });
  wakeAgentAt = `127.0.0.1:${await freePort()}`;
  prometheus = await Prometheus.start(lab, {
    rules: formatRules(ALERTS, { runbooks: 'https://example.org/runbooks', for: '0s', seconds: TOO_LONG_SECONDS }),
    targets: {
      controller: [controller.url, webhook.url],
      agents: [...[...cluster.pods.values()].map(({ url }) => url), bareHost.url, `http://${wakeAgentAt}`],
    },
  });
  alerts = new FiringAlerts(prometheus);
});

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
      { name: 'net-61', prefix: '192.168.61', settings: ['dynamic: [192.168.61.100-192.168.61.199]'], probes: false },
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
  const metadata = { namespace: AGENT_NAMESPACE, name: 'bmc', labels: { 'bmc.spidernet.io/host-credentials': 'true' } };
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
  await waitFor('an address for the host', isServed);
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

/** What cert-manager would keep for the webhook. */
async function giveCertificate(lastsMs: number): Promise<void> {
  const validity = { notBeforeMs: Date.now() - DAY_MS, notAfterMs: Date.now() + lastsMs };
  const authority = await certificateIssuer.createAuthority('cert-manager', validity);
  const { certificate, key } = await certificateIssuer.issue(authority, [`${WEBHOOK_NAME}.${WEBHOOK_NAMESPACE}.svc`], validity);
  const pair = { 'tls.crt': certificate, 'tls.key': key };
  const data = Object.fromEntries(Object.entries(pair).map(([name, text]) => [name, Buffer.from(text).toString('base64')]));
  const metadata = { namespace: WEBHOOK_NAMESPACE, name: `${WEBHOOK_NAME}-tls` };
  const { access } = vlans.cluster;
  await access.apply({ apiVersion: 'v1', kind: 'Secret', metadata, ...{ data, type: 'kubernetes.io/tls' } });
  // It may have been there.
  await access.patch('Secret', `${metadata.namespace}/${metadata.name}`, { data });
}

/** Asks the webhook as the API server does. @returns the HTTP status. */
async function review(uid: string): Promise<number | undefined> {
  const { promise, resolve, reject } = Promise.withResolvers<number | undefined>();
  const asked = { uid, operation: 'CREATE', resource: { resource: 'virtualmachines' } };
  const object = virtualMachine('default/reviewed', '02:00:5e:00:48:09', 'default/vlan-48');
  const where = {
    host: '127.0.0.1',
    port: webhook.port,
    path: '/v1/webhook/validation',
    method: 'POST',
    rejectUnauthorized: false,
  };
  const sent = request({ ...where, agent: false }, (response) => {
    response.resume();
    resolve(response.statusCode);
  });
  sent.on('error', reject);
  sent.end(JSON.stringify({ apiVersion: 'admission.k8s.io/v1', kind: 'AdmissionReview', request: { ...asked, object } }));
  return await promise;
}

/** The Lease is released by another program than its leader: the standby takes it, and the leader finds out when it renews. */
async function changeLeader(): Promise<void> {
  const { access } = vlans.cluster;
  const before = await waitFor('a leader', () => vlans.cluster.leader(GROUP));
  const hasLost = async () => (await (await fetch(`${before.url}/metrics`)).text()).includes('vmdhcp_agent_leading 0');
  const release = async () => {
    await access.patch('Lease', `${AGENT_NAMESPACE}/${GROUP}`, { spec: { holderIdentity: '' } });
    // In vain where it renewed before the standby saw that; released again sooner, there would be two leaders.
    return await waitFor('the leader to find out', hasLost, 3_000).catch(() => false);
  };
  await waitFor('another leader', release);
}

/** Does it twice, with the first time in Prometheus: a counter that first appears has no rate yet. */
async function twice(counter: string, act: () => unknown): Promise<void> {
  await act();
  await waitFor(counter, async () => (await prometheus.query(counter)).length > 0);
  await act();
}

describe.skipIf(!isPossible)(`alerts, with a real Prometheus ${needs('prometheus', 'dnsmasq')}`, () => {
  it('only the alert of the earlier rogue DHCP server fires for an installation that works', async () => {
    await alerts.fires('VmdhcpRogueServer');
    await alerts.isQuietBut('VmdhcpRogueServer');
    // One leader of the group, and one of the ClusterAgent.
    const leaders = 'sum(vmdhcp_agent_leading) == 2 and sum(vmdhcpcontroller_leading) == 1';
    await waitFor('all leaders', async () => (await prometheus.query(leaders)).length > 0);
    // The webhook looks at its certificate every ten seconds: the alert fires later.
    await giveCertificate(10 * DAY_MS);
  });

  it('a selected pool is a name, not a pattern: its queries have data, and those of an unknown name have none', async () => {
    const [pools] = DASHBOARDS.filter(({ name }) => name === 'pool').map(
      (dashboard) =>
        (...ippool: readonly string[]) =>
          queriesToTry(dashboard, { selected: { ippool } }).filter(({ title }) => title === 'Free addresses'),
    );
    await prometheus.haveData(pools?.('default/net-48', 'default/net-49') ?? []);
    for (const { expression } of pools?.('default/net.48', '"} or up{job=~"', '.*', 'a\nb\\') ?? [])
      expect(await prometheus.query(expression)).toEqual([]);
  });

  it('pools: one is full, one has no network, and a machine uses an address without a lease', async () => {
    const { lab, cluster } = vlans;
    const squatter = lab.addMachine('squatter', { network: 'br49', macAddress: '02:00:5e:00:49:99' });
    squatter.ip('address', 'add', '192.168.49.10/24', 'dev', 'eth0');
    await cluster.access.create(ipPool('default/lost', { network: 'default/no-such-network' }));
    for (const last of [2, 3])
      await cluster.access.create(virtualMachine(`default/vm-${last}`, `02:00:5e:00:48:0${last}`, 'default/vlan-48'));
    await cluster.access.create(virtualMachine('default/backup', '02:00:5e:00:49:01', 'default/vlan-49'));
    await alerts.fires('VmdhcpPoolExhausted', 'VmdhcpInterfaceWithoutAddress', 'VmdhcpPoolNotServed', 'VmdhcpAddressConflict');
    const notServed = (await prometheus.firing()).filter(({ labels }) => labels['alertname'] === 'VmdhcpPoolNotServed');
    expect(notServed.map(({ labels }) => labels['ippool'])).toEqual(['default/lost']);
  });

  it('a pool fills up while the API server is slow for the controller; the pool grows, and the alerts end', async () => {
    const { access, simulator } = vlans.cluster;
    const slow = simulator.faults.inject({
      requests: { username: CONTROLLER },
      effect: { kind: 'delay', delayMs: 3_000 },
      times: 0,
    });
    // More than the controller works on at a time; the pool has two addresses left.
    for (let machine = 11; machine < 38; machine++)
      await access.create(virtualMachine(`default/vm-49-${machine}`, `02:00:5e:00:49:${machine}`, 'default/vlan-49'));
    // They wait for three seconds, two of them too long.
    await alerts.fires('VmdhcpControllerBehind');
    await alerts.fires('VmdhcpApiServerSlow');
    simulator.faults.clear(slow);
    await alerts.fires('VmdhcpPoolFillsUp', 'VmdhcpPoolAlmostFull');
    await access.patch('IPPool', 'default/net-49', { spec: { ipv4Config: { pool: { end: '192.168.49.99' } } } });
    await alerts.ends('VmdhcpPoolFillsUp', 'VmdhcpPoolAlmostFull');
  });

  if (isDrawing) it('for pictures: clients and new machines for half a minute', () => clientsForPictures(75), 100_000);

  it('agents: leaders change often, clients are refused, and the leader freezes', async () => {
    const { cluster, fleet } = vlans;
    for (let change = 0; change < 7; change++) await changeLeader();
    await alerts.fires('VmdhcpLeaderChangesOften');
    leader = await waitFor('a leader', () => cluster.leader(GROUP));
    const refuse = () => fleet.ask({ macAddress: WEB, xid: fleet.nextXid(), address: '192.168.48.77' });
    await twice('vmdhcp_agent_messages_total{outcome="nak"}', refuse);
    for (let request = 0; request < 60; request++) refuse();
    await alerts.fires('VmdhcpClientsRefused');
    // On a busy machine it may be another one by now.
    leader = await waitFor('a leader', () => cluster.leader(GROUP));
    leader.process?.kill('SIGSTOP');
    const xid = fleet.nextXid();
    for (let secs = 0; secs < 10 && fleet.answerTo(xid) === undefined; secs++) {
      fleet.ask({ macAddress: WEB, xid, secs });
      await fleet.answerWithin(xid, 1_000);
    }
    await alerts.fires('VmdhcpStandbyAnswers', 'VmdhcpAgentReplicasMissing', 'VmdhcpTakeoverSlow');
  });

  it('a bare host: the disk is full, and replies are longer than the MTU', async () => {
    const filler = join(bareHost.statePath, 'filler');
    expect(() => writeFileSync(filler, Buffer.alloc(64 << 10))).toThrow('ENOSPC');
    // What is sent on a bridge does not come back to the host: clients are behind a port of it.
    run('ip', ['link', 'add', 'port-61', 'type', 'veth', 'peer', 'name', 'clients-61']);
    run('ip', ['link', 'set', 'port-61', 'master', 'br61', 'up']);
    run('ip', ['link', 'set', 'clients-61', 'up']);
    const clients = new ClientFleet('clients-61');
    let asked = 10;
    // The last page of the file may have room for some leases more.
    await waitFor('a write that fails', async () => {
      const client = { macAddress: `02:00:5e:00:61:${++asked}` };
      const address = await clients.addressFor(client);
      if (address !== undefined) clients.ask({ ...client, xid: clients.nextXid(), address, server: '192.168.61.2' });
      return (await bareHost.metric('vmdhcp_agent_lease_write_failures_total')) > 0;
    });
    clients.stop();
    await alerts.fires('VmdhcpLeasesNotRecorded');
    rmSync(filler);
    run('ip', ['link', 'set', 'br60', 'mtu', '100']);
    const declared = vlans.lab.addMachine('declared', { network: 'br60', macAddress: '02:00:5e:00:60:01' });
    await twice('vmdhcp_agent_packets_dropped_total{reason="send-failed"}', () =>
      runAgent(declared, 'probe', '--interface', 'eth0', '--timeout', '0.5'),
    );
    await alerts.fires('VmdhcpRepliesLost');
    run('ip', ['link', 'set', 'br60', 'mtu', '1500']);
    await bareHost.process.line('leases of unknown clients can be recorded again');
  });

  it('a bare host: an interface is gone, a machine finds no address, and an unknown client has the last one', async () => {
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
    await alerts.fires('VmdhcpAgentServesNotAllPools', 'VmdhcpClaimsRefused', 'VmdhcpOpenPoolExhausted');
  });

  it('Wake-on-LAN: no manager answers, so that a wake-up is lost after two minutes, and an interface is missing', async () => {
    const { lab } = vlans;
    const interfaces = ['--interface', 'br60', '--interface', 'missing'];
    const flags = ['--manager', '127.0.0.1:9', '--clear-text', '--node-name', 'node-1', ...interfaces];
    const agent = lab.start(process.execPath, [AGENT_BIN, 'wol', ...flags, '--http', wakeAgentAt], { env: clockSpeed(60) });
    await agent.line('no manager');
    const sender = lab.addMachine('sender', { network: 'br60', macAddress: '02:00:5e:00:60:77' });
    expect((await runAgent(sender, 'wake', '02:00:5e:00:00:01', '--interface', 'eth0', '--raw')).code).toBe(0);
    await alerts.fires('VmdhcpWakeAgentDisconnected', 'VmdhcpWakeListenerDead', 'VmdhcpWakeUpsLost');
  });

  it('the webhook: it has a bug, and its certificate is not renewed', async () => {
    expect(await review('sound')).toBe(200);
    await twice('vmdhcpwebhook_decision_duration_seconds_count{outcome="failed"}', async () => {
      expect(await review(BROKEN_UID)).toBe(500);
    });
    await alerts.fires('VmdhcpWebhookFails', 'VmdhcpCertificateExpires');
  });

  it('bare-metal hosts: the range has no address left, a ClusterAgent is wrong, a host does not answer, and an action fails', async () => {
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
    await alerts.fires(
      'VmdhcpHostRangeExhausted',
      'VmdhcpHostAgentsNotReady',
      'VmdhcpHostsUnhealthy',
      'VmdhcpHostUnhealthyLong',
      'VmdhcpHostOperationsFail',
    );
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

  it('the records of assignments: they cannot be stored, and then another client has written', async () => {
    const { cluster } = vlans;
    const requests = { verb: 'patch', resource: 'configmaps' };
    const refuse = (status: number) =>
      cluster.simulator.faults.inject({ requests, effect: { kind: 'answer', status }, times: 0 });
    const unavailable = refuse(503);
    await cluster.access.create(virtualMachine('default/recorded', '02:00:5e:00:49:03', 'default/vlan-49'));
    await alerts.fires('VmdhcpAuditNotStored');
    await waitFor(
      'a record that waits',
      async () => (await prometheus.query('vmdhcpcontroller_audit_pending_records > 0')).length > 0,
    );
    const conflict = refuse(409);
    cluster.simulator.faults.clear(unavailable);
    await alerts.fires('VmdhcpAuditRecordsLost');
    cluster.simulator.faults.clear(conflict);
  });

  it('the controller: its requests fail, and it is gone', async () => {
    const { cluster } = vlans;
    cluster.simulator.faults.inject({ requests: { verb: 'patch' }, effect: { kind: 'answer', status: 500 }, times: 0 });
    await cluster.access.create(virtualMachine('default/last', '02:00:5e:00:49:02', 'default/vlan-49'));
    await alerts.fires('VmdhcpApiRequestsFail', 'VmdhcpReconcilesFail');
    controller.process.kill('SIGKILL');
    await alerts.fires('VmdhcpNoControllerLeads');
  });

  it('every alert that is named here fired', () => {
    expect(alerts.fired).toEqual(alertsNamedIn(readFileSync(import.meta.filename, 'utf8')));
  });
});
