/** A magic packet on the network starts a virtual machine of a cluster: once, whichever nodes hear it, and only where a WolConfig allows it. */
import { setTimeout as delay } from 'node:timers/promises';
import { type KubernetesObject, readField, readText } from '@vmdhcp/kube-runtime';
import { type LabProcess, waitFor } from '@vmdhcp/lab';
import colors from 'picocolors';
import type { LiveView } from './live-view.js';
import { inPlainWords, parseLogLine } from './log-record.js';
import type { Stage } from './story.js';
import { type AgentLine, NODES, type SleepingMachine, WakeOnLanCluster } from './wake-on-lan-cluster.js';

const BUILD_SERVER: SleepingMachine = { key: 'office/build-server', macAddress: '02:00:5e:00:77:01', runStrategy: 'Manual' };
const MAIL_SERVER: SleepingMachine = { key: 'office/mail-server', macAddress: '02:00:5e:00:77:02', runStrategy: 'Halted' };
const PAYROLL: SleepingMachine = { key: 'private/payroll', macAddress: '02:00:5e:00:77:03', runStrategy: 'Halted' };

const WOL_CONFIG = {
  apiVersion: 'wol.pillon.org/v1beta1',
  kind: 'WolConfig',
  metadata: { name: 'office' },
  spec: { discoveryMode: 'All', namespaceSelectors: ['office'], wolPorts: [9] },
};
/** Packets for one machine within this time are one wake-up. */
const WINDOW_MS = 10_000;
const WINDOW_MARGIN_MS = 100;

const NEXT_STEPS = `
What to try next:
  README.md, "Wake-on-LAN"               the same in your cluster: one value of the chart, one WolConfig
  docs/wake-on-lan.md                    who may wake what, passwords, Harvester, troubleshooting
  npx vmdhcp-agent wol                   on a host, without a cluster: log the magic packets of your network
  npm run demo -- --topology per-pool    the addresses of virtual machines`;

/** The story. */
export async function wakeOnLanStory(stage: Stage): Promise<void> {
  const { lab, view, atEnd, isClosing } = stage;
  view.step(
    `A cluster: API server and KubeVirt (simulated), ${NODES.length} nodes, and on their network a computer that is not part of it`,
  );
  const cluster = await WakeOnLanCluster.start({
    lab,
    atEnd,
    onAgentLine: (line) => !isClosing() && showAgentLine(view, line),
    onControllerLine: (line) => !isClosing() && showControllerLine(view, line),
  });
  const story = new WakeOnLanStory(view, cluster);
  await story.switchedOff();
  view.step('The controller starts: vmdhcp-controller run --wake-on-lan');
  const controller = await story.startController();
  await story.allow();
  await story.wake();
  await story.showEvent();
  await story.ignore();
  await story.keep(controller);
  await story.wakeAgain();
  await story.showState();
  view.end();
  view.plain(NEXT_STEPS);
}

class WakeOnLanStory {
  readonly #view: LiveView;
  readonly #cluster: WakeOnLanCluster;

  constructor(view: LiveView, cluster: WakeOnLanCluster) {
    this.#view = view;
    this.#cluster = cluster;
  }

  async startController(): Promise<LabProcess> {
    this.#view.line(
      colors.dim('it defines its kinds, becomes leader, and issues certificates by which agents and controller know each other'),
    );
    const controller = await this.#cluster.startController();
    this.#view.line(`${colors.green('ready')}: the controller has the list of virtual machines, and is deciding about wake-ups`);
    return controller;
  }

  async switchedOff(): Promise<void> {
    this.#view.step('Three virtual machines are switched off: two in namespace office, one in namespace private');
    this.#view.table('VIRTUAL MACHINE', 'MAC ADDRESS', 'RUN STRATEGY', 'STATUS', 'STARTS');
    for (const machine of [BUILD_SERVER, MAIL_SERVER, PAYROLL]) {
      await this.#cluster.addMachine(machine);
      this.#view.set(machine.key, { 'MAC ADDRESS': machine.macAddress, 'RUN STRATEGY': machine.runStrategy });
      await this.#show(machine);
    }
  }

  async allow(): Promise<void> {
    this.#view.step('A WolConfig allows the machines of namespace office to be woken: kubectl apply -f wol-config.yaml');
    const { metadata, spec } = WOL_CONFIG;
    this.#view.line(`WolConfig ${metadata.name}: ${JSON.stringify(spec)}`);
    this.#view.line(colors.dim('until now no agent runs; the controller deploys one on each node, on the network of the node'));
    const { access } = this.#cluster.cluster;
    await access.apply(WOL_CONFIG as KubernetesObject);
    await access.waitForObject(
      'WolConfig',
      metadata.name,
      ({ status }) => readField(status, 'agentStatus', 'numberReady') === NODES.length,
    );
    this.#view.line(`${NODES.length} agents are ready: UDP port 9, and frames with EtherType 0x0842`);
  }

  async wake(): Promise<void> {
    this.#view.step('The computer sends a magic packet for build-server: every node hears it, and the machine starts once');
    await this.#send(BUILD_SERVER);
    await this.#cluster.kubevirt.untilStatus(BUILD_SERVER.key, 'Running');
    await this.#cluster.untilLogged(BUILD_SERVER, 'reported');
    await this.#measure(BUILD_SERVER);
  }

  async showEvent(): Promise<void> {
    this.#view.step('The owner of the machine reads who woke it: kubectl -n office describe vm build-server');
    const event = await waitFor('an Event', async () => {
      const events = await this.#cluster.cluster.access.list('Event');
      return events.find((one) => readText(one, 'reason') === 'WakeUpStarted');
    });
    const [type, reason, message] = ['type', 'reason', 'message'].map((field) => readText(event, field));
    this.#view.line(`${colors.green(`${type} ${reason}`)} ${message}`);
  }

  async ignore(): Promise<void> {
    this.#view.step('A packet for payroll, which no WolConfig allows: the agents have the list of machines, and ignore it');
    await this.#send(PAYROLL);
    for (const [node, count] of await this.#cluster.untilIgnored('not-in-list'))
      this.#view.line(`${colors.yellow(node)}: vmdhcp_agent_wol_packets_total{outcome="not-in-list"} ${count}`);
    await this.#show(PAYROLL);
  }

  async keep(controller: LabProcess): Promise<void> {
    this.#view.step('The controller ends, and a packet for mail-server arrives: the agents keep it until a controller answers');
    await controller.stop();
    await this.#send(MAIL_SERVER);
    await this.#cluster.untilLogged(MAIL_SERVER, 'wake-up');
    this.#view.line('another controller starts');
    await this.startController();
    await this.#cluster.kubevirt.untilStatus(MAIL_SERVER.key, 'Running');
    await this.#cluster.untilLogged(MAIL_SERVER, 'reported');
    await this.#measure(MAIL_SERVER);
  }

  async wakeAgain(): Promise<void> {
    this.#view.step('Another packet for build-server, which runs already: no second start');
    const waitMs = this.#cluster.firstHeardAtMs(BUILD_SERVER) + WINDOW_MS + WINDOW_MARGIN_MS - Date.now();
    if (waitMs > 0) {
      const seconds = (waitMs / 1000).toFixed(1);
      this.#view.line(colors.dim(`waiting ${seconds} s: packets for one machine within ten seconds are one wake-up`));
      await delay(waitMs);
    }
    await this.#send(BUILD_SERVER);
    await this.#cluster.untilLogged(BUILD_SERVER, 'reported', 2);
    await this.#show(BUILD_SERVER);
  }

  async showState(): Promise<void> {
    this.#view.step('The state of the cluster: kubectl get wolconfigs,daemonsets -A');
    const { access } = this.#cluster.cluster;
    for (const { metadata, spec, status } of await access.list('WolConfig')) {
      const [mode, machines] = [readText(spec, 'discoveryMode'), readField(status, 'managedVMs')];
      const agents = readText(status, 'agentStatus', 'daemonSetName');
      this.#view.line(`WolConfig ${metadata.name}   mode ${mode}   machines that may be woken ${machines}   agents ${agents}`);
    }
    for (const { metadata, status } of await access.list('DaemonSet')) {
      const [ready, wanted] = ['numberReady', 'desiredNumberScheduled'].map((field) => readField(status, field));
      this.#view.line(`DaemonSet ${metadata.namespace}/${metadata.name}   ready ${ready} of ${wanted}`);
    }
  }

  async #send(machine: SleepingMachine): Promise<void> {
    await this.#cluster.send(machine, (command) => this.#view.line(`${colors.bold('computer')}: ${command}`));
  }

  /** How often it was started, and how long after the packet. */
  async #measure(machine: SleepingMachine): Promise<void> {
    const starts = this.#cluster.kubevirt.startsOf(machine.key);
    const afterMs = (starts[0]?.receivedAtMs ?? Number.NaN) - this.#cluster.firstHeardAtMs(machine);
    const after = afterMs < 1_000 ? `${afterMs.toFixed(0)} ms` : `${(afterMs / 1000).toFixed(1)} s`;
    this.#view.line(
      `${colors.green('measured')}: ${starts.length} request to start ${machine.key}, ${after} after the first node heard the packet`,
    );
    await this.#show(machine);
  }

  async #show({ key }: SleepingMachine): Promise<void> {
    const machine = await this.#cluster.cluster.access.get('VirtualMachine', key);
    const status = readText(machine?.status, 'printableStatus') ?? '';
    this.#view.set(key, { STATUS: status, STARTS: String(this.#cluster.kubevirt.acceptedStartsOf(key)) });
  }
}

/** What agents do with wake-ups, and nothing else of their log. */
function showAgentLine(view: LiveView, { node, record: { event, level, msg } }: AgentLine): void {
  if (event === 'wake-up') view.line(`${colors.green(node)}: ${msg}`);
  else if (event === 'reported') view.line(`${colors.green(node)}: ${msg}`);
  else if (event?.startsWith('report-') || level === 'error') view.line(`${colors.yellow(node)}: ${inPlainWords(msg ?? '')}`);
}

/** What it does, and what is wrong; not how it starts, nor what only repeats the lines of the agents. */
function showControllerLine(view: LiveView, line: string): void {
  const { level, msg = line, vm } = parseLogLine(line) ?? {};
  const isTrouble = level === 'warn' || level === 'error';
  if (!isTrouble && !DEEDS.some((text) => msg.startsWith(text))) return;
  const text = `controller: ${inPlainWords(msg)}${vm === undefined ? '' : ` ${vm}`}`;
  view.line(isTrouble ? colors.yellow(text) : colors.dim(text));
}

const DEEDS = ['Creating agent DaemonSet', 'Starting VM', 'stopped'];
