/** Bare-metal hosts get addresses from the agents of a ClusterAgent, have objects, keep a bound address, restart over Redfish, and lose nothing when an agent dies. */
import { type KubernetesObject, readField, readText } from '@vmdhcp/kube-runtime';
import { runAgent } from '@vmdhcp/lab';
import colors from 'picocolors';
import { BareMetalCluster, CLUSTER_AGENT_OBJECT, SERVER } from './bare-metal-cluster.js';
import type { BareMetalHost } from './bare-metal-host.js';
import type { LiveView } from './live-view.js';
import { inPlainWords, parseLogLine, withReason } from './log-record.js';
import type { Stage } from './story.js';

const OPERATION = 'reinstall-host-2';
const NO_ANSWER_SECONDS = 1;

const NEXT_STEPS = `
What to try next:
  README.md, "Bare-metal hosts"      the same in your cluster: one value of the chart, one ClusterAgent
  docs/bare-metal-hosts.md           Secrets, HostEndpoints, network boot, leases, migration, troubleshooting
  npx vmdhcp-agent hosts --help      the agent of a ClusterAgent as a program
  npm run demo -- --wake-on-lan      magic packets start virtual machines`;

/** The story. */
export async function bareMetalStory({ lab, view, atEnd, isClosing }: Stage): Promise<void> {
  view.step('A cluster: API server (simulated) and vmdhcp-controller run --bare-metal');
  const cluster = await BareMetalCluster.start({
    lab,
    atEnd,
    onAgentLine: (pod, line) => !isClosing() && showAgentLine(view, pod, line),
    onControllerLine: (line) => !isClosing() && showControllerLine(view, line),
  });
  const story = new BareMetalStory(view, cluster);
  view.line('the API server answers; the controller starts');
  await cluster.startController();
  view.line(`${colors.green('ready')}: the controller is leader, and has listed ClusterAgents and hosts`);
  await story.deploy();
  await story.switchOn();
  await story.bind();
  await story.reboot();
  await story.failOver();
  await story.showState();
  view.end();
  view.plain(NEXT_STEPS);
}

class BareMetalStory {
  readonly #view: LiveView;
  readonly #cluster: BareMetalCluster;
  readonly #hosts: readonly BareMetalHost[];

  constructor(view: LiveView, cluster: BareMetalCluster) {
    this.#view = view;
    this.#cluster = cluster;
    this.#hosts = [cluster.addHost(), cluster.addHost(), cluster.addHost()];
  }

  async deploy(): Promise<void> {
    this.#view.step('A ClusterAgent describes a management network: kubectl apply -f cluster-agent.yaml');
    const { metadata, spec } = CLUSTER_AGENT_OBJECT;
    const { subnet, ipRange, selfIp } = spec.feature.dhcpServerConfig;
    this.#view.line(`ClusterAgent ${metadata.name}: subnet ${subnet}, ipRange ${ipRange}, selfIp ${selfIp}`);
    this.#explain(
      'the controller deploys two agents on that network; one of them becomes leader and adds selfIp to its interface',
    );
    const { access } = this.#cluster.cluster;
    await this.#cluster.createSecret();
    await access.apply(CLUSTER_AGENT_OBJECT as KubernetesObject);
    const leader = await this.#cluster.leader();
    await access.waitForObject('ClusterAgent', metadata.name, ({ status }) => readField(status, 'ready') === true);
    this.#view.line(`${colors.green('ready')}: 2 agents; ${leader.name} is leader`);
  }

  async switchOn(): Promise<void> {
    this.#view.step('Three machines are connected to that network, which the cluster does not know');
    this.#explain(
      'each asks for an address; for each lease the agent creates a HostStatus, and reads the management controller over Redfish (HTTPS)',
    );
    this.#explain('the first look may come before the management controller listens: it is a warning, and the agent looks again');
    this.#view.table('HOST', 'MAC ADDRESS', 'ADDRESS', 'HOSTSTATUS', 'HEALTHY', 'BOOTED');
    for (const host of this.#hosts) {
      this.#view.set(host.name, { 'MAC ADDRESS': host.machine.macAddress, ADDRESS: '-' });
      await this.#switchOn(host);
    }
    for (const host of this.#hosts) await this.#showHealth(host);
  }

  async bind(): Promise<void> {
    const [host] = this.#hosts;
    if (host?.address === undefined) return;
    const { address } = host;
    this.#view.step(`The address of host-1 is bound to it: vmdhcp-agent bind ${address}`);
    this.#explain('no other client gets a bound address, however long its host is off, and if no other address is free');
    this.#view.line(await this.#cluster.agentCommand('bind', address));
    await host.switchOff(SERVER);
    this.#view.set(host.name, { ADDRESS: '-', HEALTHY: '' });
    this.#view.line('host-1 is switched off and released its lease; the other two addresses are in use');
    const { machine } = this.#cluster.addHost();
    const { output } = await runAgent(machine, 'probe', '--interface', 'eth0', '--timeout', String(NO_ANSWER_SECONDS));
    this.#view.line(`${colors.yellow('another machine')} asks: ${output.split('\n')[0]}`);
    await this.#switchOn(host);
    if (host.address !== address) throw new Error(`host-1 had ${address}, and has ${host.address} now`);
    this.#view.line(`${colors.green('host-1')} is back at ${address}`);
    await this.#showHealth(host);
  }

  async reboot(): Promise<void> {
    const host = this.#hosts[1];
    if (host?.address === undefined) return;
    this.#view.step('host-2 is to boot from the network: kubectl create -f host-operation.yaml (action PxeReboot)');
    this.#explain('the agent records that it begins, sets one boot from the network, and restarts the host once');
    const { access } = this.#cluster.cluster;
    const name = (await this.#cluster.hostStatus(host.address)).metadata.name;
    await access.apply({
      apiVersion: CLUSTER_AGENT_OBJECT.apiVersion,
      kind: 'HostOperation',
      metadata: { name: OPERATION },
      spec: { action: 'PxeReboot', hostStatusName: name },
    } as KubernetesObject);
    const done = await access.waitForObject('HostOperation', OPERATION, isDone);
    if (readText(done.status, 'status') !== 'success')
      throw new Error(`HostOperation ${OPERATION}: ${readText(done.status, 'message')}`);
    this.#view.line(`${colors.green('at the management controller')}: ${host.actions.join(', ')}`);
    const resets = host.actions.filter((action) => action.startsWith('reset '));
    const override = host.actions.filter((action) => action === 'boot override Once Pxe');
    this.#view.line(`${colors.green('measured')}: ${resets.length} reset, ${override.length} boot override`);
    this.#view.set(host.name, { BOOTED: 'from the network, once' });
  }

  async failOver(): Promise<void> {
    this.#view.step('The leader is killed (SIGKILL)');
    this.#explain(
      'hosts keep their addresses, whatever happens to agents; the other agent becomes leader when the Lease of the dead one ends',
    );
    const before = this.#hosts.map(({ address }) => address);
    const leader = await this.#cluster.leader();
    leader.process?.kill('SIGKILL');
    const killedAtMs = performance.now();
    this.#view.line(`${colors.red('killed')} ${leader.name}`);
    const next = await this.#cluster.leader(leader);
    const seconds = () => ((performance.now() - killedAtMs) / 1000).toFixed(1);
    this.#view.line(`${colors.green('measured')}: ${next.name} is leader, with selfIp, ${seconds()} s after the kill`);
    this.#explain('the Lease of the dead one has to end first; a busy machine needs longer');
    // Packets before the first answer are repeated by the clients.
    const after = await Promise.all(this.#hosts.map((host) => host.renew()));
    this.#view.line(`${colors.green('measured')}: every host has renewed its lease ${seconds()} s after the kill`);
    this.#explain('each asks once the new agent is leader; a client that gets no answer asks again after some seconds');
    const lost = before.filter((address, index) => after[index] !== address).length;
    this.#view.line(`${colors.green('measured')}: ${lost} of ${before.length} hosts lost their addresses`);
    if (lost > 0) throw new Error(`before: ${before.join(' ')}, after: ${after.join(' ')}`);
  }

  async showState(): Promise<void> {
    this.#view.step('The state of the cluster: kubectl get clusteragents,hoststatuses,hostoperations');
    const { access } = this.#cluster.cluster;
    const { name } = CLUSTER_AGENT_OBJECT.metadata;
    const [agent] = [
      await access.waitForObject('ClusterAgent', name, ({ status }) => readField(status, 'addresses', 'used') === 3),
    ];
    for (const { address = '' } of this.#hosts) await this.#cluster.hostStatus(address, isHealthy);
    const [used, total] = ['used', 'total'].map((field) => readField(agent.status, 'addresses', field));
    this.#view.line(`ClusterAgent ${name}   addresses used ${used} of ${total}`);
    for (const { metadata, status } of await access.list('HostStatus')) {
      const [healthy, address, mac] = [
        readField(status, 'healthy'),
        readText(status, 'basic', 'ipAddr'),
        readText(status, 'basic', 'mac'),
      ];
      const bound = metadata.annotations?.['bmc.spidernet.io/bound-to'];
      this.#view.line(
        `HostStatus ${metadata.name}   healthy ${healthy}   ${address} ${mac}${bound === undefined ? '' : `   bound to ${bound}`}`,
      );
    }
    for (const { metadata, spec, status } of await access.list('HostOperation'))
      this.#view.line(`HostOperation ${metadata.name}   ${readText(spec, 'action')}   ${readText(status, 'status')}`);
  }

  async #switchOn(host: BareMetalHost): Promise<void> {
    const startedAtMs = performance.now();
    const address = await host.switchOn();
    this.#view.set(host.name, { ADDRESS: address });
    this.#view.line(`${colors.bold(host.name)}: ${address} after ${Math.round(performance.now() - startedAtMs)} ms`);
  }

  async #showHealth({ name, address = '' }: BareMetalHost): Promise<void> {
    const { metadata, status } = await this.#cluster.hostStatus(address, isHealthy);
    this.#view.set(name, { HOSTSTATUS: metadata.name, HEALTHY: 'true' });
    const info = readField(status, 'info') as Readonly<Record<string, string>>;
    const facts = ['BiosVersion', 'PowerState', 'BmcFirmwareVersion'].flatMap((key) =>
      key in info ? [`${key} ${info[key]}`] : [],
    );
    this.#view.line(`HostStatus ${metadata.name}: healthy; ${facts.join(', ')}`);
  }

  #explain(text: string): void {
    this.#view.line(colors.dim(text));
  }
}

function isHealthy({ status }: KubernetesObject): boolean {
  return readField(status, 'healthy') === true;
}

function isDone({ status }: KubernetesObject): boolean {
  return ['success', 'failure'].includes(readText(status, 'status') ?? '');
}

/** Leases and hosts, and what is wrong; nothing else of their log. */
function showAgentLine(view: LiveView, pod: string, line: string): void {
  const { event, level, msg = line, reason, mac, address } = parseLogLine(line) ?? {};
  const who = `agent ${pod.split('-').at(-1)}`;
  if (event !== undefined && mac !== undefined) view.line(`${colors.green(who)}: ${event} ${mac} ${address ?? ''}`);
  else if (reason !== undefined && level === 'info') view.line(`${colors.green(who)}: ${reason}: ${msg}`);
  else if (level === 'warn' || level === 'error') view.line(`${colors.yellow(who)}: ${inPlainWords(msg)}`);
}

/** What it creates for agents, and what is wrong; not how it starts. */
function showControllerLine(view: LiveView, line: string): void {
  const { level, msg = line, kind, object, reason } = parseLogLine(line) ?? {};
  if (object !== undefined) view.line(colors.dim(`controller: ${kind} ${object} created`));
  else if (level === 'warn' || level === 'error') view.line(`${colors.yellow('controller')}: ${withReason(msg, reason)}`);
}
