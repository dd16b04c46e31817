/** The options of the controller about bare-metal hosts. */
import type { HostAgentSettings, LeaseStorage } from '@vmdhcp/bare-metal/controller';
import { ownNamespace } from '@vmdhcp/controller-process/own-namespace';
import { booleanOption, CommandError, ExitCode } from '@vmdhcp/service-process';
import { InvalidArgumentError, Option } from 'commander';
import type { AgentOptions } from './agent-options.js';

const LEASES = ['api', 'host-path', 'pvc'] as const;
const FOLDER = '/var/lib/vmdhcp';
const SIZE = '100M';

export interface BareMetalOptions
  extends Pick<
    AgentOptions,
    'agentPriorityClass' | 'image' | 'imagePullPolicy' | 'imagePullSecret' | 'namespace' | 'onlyNamespace'
  > {
  readonly bareMetal?: boolean;
  readonly bareMetalLeases: (typeof LEASES)[number];
  readonly bareMetalLeasesPath?: string;
  readonly bareMetalLeasesSize?: string;
  readonly bareMetalLeasesStorageClass?: string;
  readonly bareMetalSecretNamespace: readonly string[];
  readonly bareMetalStatusSeconds: number;
}

export const bareMetalOptions = (): Option[] => [
  booleanOption(
    '--bare-metal',
    'deploys agents that give bare-metal hosts their addresses and follow them, as ClusterAgents describe',
  ),
  new Option(
    '--bare-metal-leases <place>',
    'where agents of bare-metal hosts keep leases; host-path and pvc: one agent for each ClusterAgent',
  )
    .choices(LEASES)
    .default('api'),
  new Option(
    '--bare-metal-leases-path <folder>',
    `with host-path: the folder of the node, with a folder for each ClusterAgent; default: ${FOLDER}`,
  ).argParser(parseFolder),
  new Option('--bare-metal-leases-size <quantity>', `with pvc: the size of each volume; default: ${SIZE}`).argParser(parseSize),
  new Option('--bare-metal-leases-storage-class <name>', 'with pvc: its StorageClass; default: that of the cluster'),
  new Option(
    '--bare-metal-secret-namespace <namespace>',
    'namespace whose Secrets agents of bare-metal hosts may read, where an object names one; may be given several times; default: that of the agents',
  )
    .argParser((text, before: readonly string[]) => [...before, parseNamespace(text)])
    .default([] as readonly string[], 'none'),
  new Option('--bare-metal-status-seconds <seconds>', 'how often agents check the health of bare-metal hosts')
    .argParser(parseStatusSeconds)
    .default(60),
];

/** Undefined if there are no bare-metal hosts. @throws CommandError with every option that is missing or has no effect. */
export function toBareMetal(options: BareMetalOptions): HostAgentSettings | undefined {
  const problems = [...imageProblems(options), ...withoutEffect(options)];
  if (problems.length > 0) throw new CommandError(problems.join('\n'), ExitCode.usage);
  const { image, imagePullPolicy, imagePullSecret, onlyNamespace } = options;
  if (options.bareMetal !== true || image === undefined) return undefined;
  const namespace = options.namespace || onlyNamespace || ownNamespace();
  return {
    namespace,
    image,
    imagePullPolicy,
    imagePullSecrets: imagePullSecret,
    priorityClassName: options.agentPriorityClass || undefined,
    leases: toLeases(options),
    secretNamespaces:
      options.bareMetalSecretNamespace.length === 0 ? [namespace] : [...new Set(options.bareMetalSecretNamespace)],
    statusIntervalSeconds: options.bareMetalStatusSeconds,
  };
}

function imageProblems({ bareMetal, image }: BareMetalOptions): readonly string[] {
  if (bareMetal !== true || image !== undefined) return [];
  return ['with --bare-metal the controller creates the Deployments of agents: give their image (--image, AGENT_IMAGE)'];
}

/** Options without effect beside the others: a person who gives one expects an effect. */
function withoutEffect(options: BareMetalOptions): readonly string[] {
  const { bareMetal = false, bareMetalLeases: place, bareMetalSecretNamespace } = options;
  const given: readonly (readonly [flag: string, isGiven: boolean, needs: (typeof LEASES)[number] | undefined])[] = [
    ['--bare-metal-leases', !bareMetal && place !== 'api', undefined],
    ['--bare-metal-leases-path', options.bareMetalLeasesPath !== undefined, 'host-path'],
    ['--bare-metal-leases-size', options.bareMetalLeasesSize !== undefined, 'pvc'],
    ['--bare-metal-leases-storage-class', Boolean(options.bareMetalLeasesStorageClass), 'pvc'],
    ['--bare-metal-secret-namespace', bareMetalSecretNamespace.length > 0, undefined],
  ];
  return given.flatMap(([flag, isGiven, needs]) => {
    if (!isGiven) return [];
    if (!bareMetal) return [`${flag} has no effect without --bare-metal: give --bare-metal too, or omit it`];
    if (needs === undefined || needs === place) return [];
    return [`${flag} has no effect with --bare-metal-leases ${place}: give --bare-metal-leases ${needs}, or omit it`];
  });
}

function toLeases(options: BareMetalOptions): LeaseStorage {
  switch (options.bareMetalLeases) {
    case 'api':
      return { kind: 'api' };
    case 'host-path':
      return { kind: 'host-path', path: options.bareMetalLeasesPath ?? FOLDER };
    case 'pvc':
      return {
        kind: 'pvc',
        size: options.bareMetalLeasesSize ?? SIZE,
        storageClass: options.bareMetalLeasesStorageClass || undefined,
      };
  }
}

function parseFolder(text: string): string {
  if (!/^\/[^:]+$/.test(text) || text.split('/').includes('..'))
    throw new InvalidArgumentError('write an absolute path, as in /var/lib/vmdhcp.');
  return text.replace(/\/+$/, '');
}

function parseSize(text: string): string {
  if (!/^[1-9]\d*([KMGTPE]i|[kMGTPE])?$/.test(text)) throw new InvalidArgumentError('write a quantity, for example 100M or 1Gi.');
  return text;
}

function parseStatusSeconds(text: string): number {
  const seconds = Number(text);
  if (!Number.isInteger(seconds) || seconds < 1 || seconds > 86_400)
    throw new InvalidArgumentError('write a whole number of seconds, 1 to 86400.');
  return seconds;
}

function parseNamespace(text: string): string {
  if (!/^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$/.test(text))
    throw new InvalidArgumentError('write the name of a namespace: lower-case letters, digits and hyphens.');
  return text;
}
