/** Decides which objects belong to Harvester's vm-dhcp-controller, and which to this one. Source: the labels of both charts. */
import { GROUP } from '@vmdhcp/ippool-api';
import { isRecord, type KubernetesObject, readField, readList, readText } from '@vmdhcp/kube-runtime';
import type { WorkloadRole } from './migration-observation.js';

/** The chart of Harvester, and the value of the label `app.kubernetes.io/name` that it gives its objects. */
export const UPSTREAM_CHART = 'harvester-vm-dhcp-controller';
const CHART_LABEL = 'helm.sh/chart';
const NAME_LABEL = 'app.kubernetes.io/name';
const COMPONENT_LABEL = 'app.kubernetes.io/component';
const OWN_SETTINGS: ReadonlySet<string> = new Set(['AGENT_IMAGE', 'AGENT_NAMESPACE', 'AGENT_DEPLOYMENT_NAME']);
const WEBHOOK_PATHS: ReadonlySet<string> = new Set(['/v1/webhook/validation', '/v1/webhook/mutation']);
/** The words that our program, as those written in Go, reads as true. Source: strconv.ParseBool. */
const TRUE_WORDS: ReadonlySet<string> = new Set(['1', 't', 'T', 'true', 'TRUE', 'True']);
const OUR_KINDS: ReadonlySet<string> = new Set(['ippools', 'virtualmachinenetworkconfigs']);

/** True for objects that Harvester's chart installed. */
export function isOfUpstreamChart({ metadata: { labels = {} } }: KubernetesObject): boolean {
  const name = labels[NAME_LABEL] ?? '';
  const isNamed = name === UPSTREAM_CHART || name === `${UPSTREAM_CHART}-webhook`;
  return isNamed || (labels[CHART_LABEL] ?? '').startsWith(`${UPSTREAM_CHART}-`);
}

/** The component that a Deployment runs; undefined for other Deployments. */
export function roleOf(deployment: KubernetesObject): WorkloadRole | undefined {
  const component = deployment.metadata.labels?.[COMPONENT_LABEL];
  if (component !== 'controller' && component !== 'webhook') return undefined;
  if (isOfUpstreamChart(deployment)) return `upstream-${component}`;
  if (deployment.metadata.labels?.['app.kubernetes.io/part-of'] === 'vmdhcp') return `own-${component}`;
  const container = containersOf(deployment).find((one) => firstArgument(one) === (component === 'webhook' ? 'webhook' : 'run'));
  if (container === undefined) return undefined;
  const isOwn = component === 'controller' ? hasOwnSettings(container) : isOwnName(deployment);
  return isOwn ? `own-${component}` : undefined;
}

/** True for the Addon of Harvester that installs its vm-dhcp-controller. */
export function isUpstreamAddOn(object: KubernetesObject): boolean {
  return readText(object.spec, 'chart') === UPSTREAM_CHART || object.metadata.name === UPSTREAM_CHART;
}

/**
 * True for configurations that Harvester's webhook registers, recognized by the paths of its webhook library, because policy engines have rules for
 * our kinds too.
 */
export function isUpstreamRegistration(configuration: KubernetesObject): boolean {
  const webhooks = readList(configuration, 'webhooks');
  const paths = webhooks.map((webhook) => readText(webhook, 'clientConfig', 'service', 'path') ?? '');
  return isAboutOurKinds(configuration) && paths.every((path) => WEBHOOK_PATHS.has(path));
}

/** True for a webhook configuration that has a rule for IPPools or VirtualMachineNetworkConfigs by name. */
export function isAboutOurKinds(configuration: KubernetesObject): boolean {
  const rules = readList(configuration, 'webhooks').flatMap((webhook) => readList(webhook, 'rules'));
  return rules.some(
    (rule) =>
      readList(rule, 'apiGroups').includes(GROUP) &&
      readList(rule, 'resources').some((one) => OUR_KINDS.has(String(one).split('/', 1)[0] ?? '')),
  );
}

/** The value of a controller's setting: from its arguments (`--name value`, `--name=value`), otherwise from its environment. */
export function settingOf(deployment: KubernetesObject, flag: string, variable: string): string | undefined {
  for (const container of containersOf(deployment)) {
    const parameters = readList(container, 'args').map(String);
    const joined = parameters.find((one) => one.startsWith(`${flag}=`));
    if (joined !== undefined) return joined.slice(flag.length + 1);
    const index = parameters.indexOf(flag);
    if (index >= 0) return parameters[index + 1];
    const entry = readList(container, 'env').find((one) => readText(one, 'name') === variable);
    const value = readText(entry, 'value');
    if (value !== undefined && value !== '') return value;
  }
  return undefined;
}

/**
 * True if the arguments of our program set this flag. The last one counts, and its value may be the next argument (`--no-dhcp false`); Harvester's
 * programs do not read values so.
 */
export function hasFlag(deployment: KubernetesObject, flag: string): boolean {
  return containersOf(deployment).some((container) => {
    const parameters = readList(container, 'args').map(String);
    const index = parameters.findLastIndex((one) => one === flag || one.startsWith(`${flag}=`));
    if (index < 0) return false;
    const [found = '', next = ''] = parameters.slice(index);
    const value = found === flag ? next : found.slice(flag.length + 1);
    return value === '' || value.startsWith('-') || TRUE_WORDS.has(value);
  });
}

function containersOf(deployment: KubernetesObject): readonly unknown[] {
  return readList(deployment.spec, 'template', 'spec', 'containers');
}

function firstArgument(container: unknown): unknown {
  return readList(container, 'args')[0];
}

function hasOwnSettings(container: unknown): boolean {
  const names = readList(container, 'env').map((one) => readText(one, 'name') ?? '');
  const flags = readList(container, 'args').map(String);
  return names.some((name) => OWN_SETTINGS.has(name)) || flags.some((flag) => /^--(image|agent-topology|no-agent)\b/.test(flag));
}

function isOwnName({ metadata, spec }: KubernetesObject): boolean {
  const images = readList(spec, 'template', 'spec', 'containers').map((one) => (isRecord(one) ? readField(one, 'image') : ''));
  return /vm-?dhcp/.test(`${metadata.name} ${images.join(' ')}`);
}
