// What the programs and their objects have, as the built packages have it: what docs/reference is generated from, and what the other
// pages are compared with.

import { createWebhookMetrics } from '../../packages/admission/dist/webhook/webhook-metrics.js';
import { program as agent } from '../../packages/agent-cli/dist/program.js';
import { createMetrics as agentMetrics } from '../../packages/agent-process/dist/http/metrics.js';
import { HostEventLog } from '../../packages/bare-metal/dist/linux/host-event-log.js';
import { program as controller } from '../../packages/controller-cli/dist/program.js';
import { createBareMetalMetrics } from '../../packages/controller-process/dist/bare-metal/bare-metal-metrics.js';
import { createControllerMetrics } from '../../packages/controller-process/dist/run/metrics.js';
import { registerWakeMetrics } from '../../packages/controller-process/dist/wake-on-lan/wake-metrics.js';
import { AGENT_PACKET_REASONS } from '../../packages/dhcp-agent/dist/index.js';
import { PACKET_REASONS } from '../../packages/dhcp-allocator/dist/index.js';
import { clusterAgentResource } from '../../packages/ippool-api/dist/bare-metal/index.js';
import { HOST_CONDITIONS, HOST_OBJECT_KEYS, HOST_REASONS } from '../../packages/ippool-api/dist/bare-metal/keys.js';
import {
  CONDITIONS as CONDITIONS_OF_DHCP,
  ipPoolResource,
  OBJECT_KEYS as KEYS_OF_DHCP,
  REASONS as REASONS_OF_DHCP,
  virtualMachineNetworkConfigResource,
  wolConfigResource,
} from '../../packages/ippool-api/dist/index.js';
import { program as plugin } from '../../packages/kubectl-vmdhcp/dist/program.js';
import { ADMISSION_RULES } from '../../packages/reconciler/dist/index.js';
import { EXIT_CODES } from '../../packages/service-process/dist/index.js';
import { registerReportMetrics } from '../../packages/wake-on-lan/dist/linux/report-metrics.js';
import { createWakeMetrics } from '../../packages/wake-on-lan/dist/linux/wake-metrics.js';
import { describeValues } from '../../tools/chart-renderer/dist/index.js';

export { ADMISSION_RULES, EXIT_CODES };

export const CONDITIONS = { ...CONDITIONS_OF_DHCP, ...HOST_CONDITIONS };

export const REASONS = { ...REASONS_OF_DHCP, ...HOST_REASONS };

export const OBJECT_KEYS = { ...KEYS_OF_DHCP, ...HOST_OBJECT_KEYS };

/** By reason; `by` names the package that decides it. */
export const packetReasons = Object.entries({ ...PACKET_REASONS, ...AGENT_PACKET_REASONS }).toSorted(byName);

/** The values of charts/vmdhcp. */
export const values = describeValues();

export const resources = [ipPoolResource, virtualMachineNetworkConfigResource, wolConfigResource, clusterAgentResource];

export const programs = [agent, controller, plugin].map(({ name, commands, environment }) => ({
  name,
  environment,
  commands: commands.map((command) => ({
    name: command.name(),
    description: command.description(),
    arguments: command.registeredArguments.map((argument) => ({
      name: argument.name(),
      required: argument.required,
      description: argument.description,
    })),
    options: command.options.filter(({ hidden }) => !hidden).map(toOption),
    exitCodes: exitCodesOf(command),
  })),
}));

function toOption(option) {
  return {
    flags: option.flags,
    description: option.description,
    default: describeDefault(option),
    choices: option.argChoices,
    variable: option.envVar,
  };
}

/** Commander's own text where it has one: a value may be an object. */
function describeDefault({ defaultValue, defaultValueDescription, negate }) {
  if (defaultValueDescription !== undefined) return defaultValueDescription;
  if (negate || defaultValue === undefined) return undefined;
  return String(defaultValue);
}

/** Number and meaning, as the help of the command has them: `Exit codes: 0 done, 64 wrong usage.` */
function exitCodesOf(command) {
  let help = '';
  const show = (text) => {
    help += text;
  };
  command.configureOutput({ writeOut: show, writeErr: show });
  command.outputHelp();
  const [, list = ''] = /Exit codes: ([\s\S]*?)\.\n/.exec(help) ?? [];
  return list
    .replaceAll('\n', ' ')
    .split(/[,;] (?=\d+ )/)
    .filter((part) => part !== '')
    .map((part) => ({ code: Number(part.slice(0, part.indexOf(' '))), meaning: part.slice(part.indexOf(' ') + 1) }));
}

const none = () => new Map();
const agentRegistry = agentMetrics({
  counters: {},
  leaseEvents: none,
  served: none,
  allocation: { poolCounts: none, refusedClaims: none },
  open: { counts: none, failures: () => 0 },
  election: { isLeading: () => false, standbyAnswers: () => 0 },
  otherServers: () => 0,
  observedUses: none,
}).registry;
new HostEventLog({}, agentRegistry, () => 0);
const ofWakeOnLan = createWakeMetrics({ packets: none, wakeUps: () => ({}), listeners: () => ({}) });
registerReportMetrics(ofWakeOnLan, { info: { ports: [] } });
const ofController = createControllerMetrics();
const ofWebhook = createWebhookMetrics();
createBareMetalMetrics(ofController.registry, { ready: none, addresses: none, isLeading: () => false });
registerWakeMetrics(ofController.registry, { managedMachines: () => 0, managedBy: none, waiting: () => 0, followers: () => 0 });
ofController.follow({}, () => false);

/** Our own metrics by program; those of Node come from prom-client. */
export const metrics = [
  { program: agent.name, metrics: [...ownMetrics(agentRegistry), ...ownMetrics(ofWakeOnLan)] },
  { program: controller.name, metrics: [...ownMetrics(ofController.registry), ...ownMetrics(ofWebhook.registry)] },
];

function ownMetrics(registry) {
  return registry
    .getMetricsAsArray()
    .filter(({ name }) => name.startsWith('vmdhcp') || name.startsWith('wol_'))
    .map(({ name, type, help, labelNames }) => ({ name, type, help, labels: labelNames ?? [] }))
    .toSorted((one, other) => (one.name < other.name ? -1 : 1));
}

function byName([one], [other]) {
  return one < other ? -1 : 1;
}
