/** Finds everything that keeps a migration from beginning, each problem with a remedy. */
import { CLUSTER_NETWORK_LABEL, HOLD_AGENT_UPGRADE_ANNOTATION, networkKey, parseObject, VERSION } from '@vmdhcp/ippool-api';
import { isBeingDeleted, type KubernetesObject, keyOf, readField, readList, readText } from '@vmdhcp/kube-runtime';
import type { AdmissionProblem } from '@vmdhcp/reconciler';
import { factsOfObjects, legacyPoolOf, reviewIpPool } from '@vmdhcp/reconciler';
import type { MigrationObservation } from './migration-observation.js';
import { workloadsOf } from './plan-migration.js';
import { isAvailable, replicasOf } from './scale-steps.js';
import { entriesUnknownUpstream, excludedInUse, excludedRanges, fieldsUnknownUpstream } from './upstream-limits.js';
import { hasFlag, settingOf } from './upstream-objects.js';

/** A problem: where, what, and what to do. */
export interface MigrationProblem {
  readonly object: string;
  readonly message: string;
  readonly remedy: string;
}

/** Facts that are read once, before anything is changed. */
export interface MigrationFacts {
  readonly networkConfigs: readonly KubernetesObject[];
  readonly networks: readonly KubernetesObject[];
  /** Rights that the ServiceAccount of our controller lacks in the namespace of Harvester's agents, for people. */
  readonly missingControllerRights: readonly string[];
}

export interface MigrationFindings {
  readonly problems: readonly MigrationProblem[];
  /** Problems that do not prevent the migration. */
  readonly warnings: readonly MigrationProblem[];
}

const CHART_RELEASE = 'meta.helm.sh/release-name';
const KEEP_POLICY = 'helm.sh/resource-policy';
const INSTALL = "install it first (docs/install.md): it waits while Harvester's controller is leader";

/** @returns the problems that prevent the way to this controller. */
export function findMigrationProblems(observed: MigrationObservation, facts: MigrationFacts): MigrationFindings {
  const pods = new Set(observed.agentPods.flatMap((pod) => legacyPoolOf(pod) ?? []));
  const isAwaited = (pool: KubernetesObject) => pods.has(keyOf(pool)) || readField(pool.status, 'agentPodRef') !== undefined;
  const ofPools = observed.pools.flatMap((pool) =>
    poolProblems(pool, observed, facts).map((problem) => ({ isServed: isAwaited(pool), problem })),
  );
  return {
    problems: [
      ...foreignBackupProblems(observed),
      ...definitionProblems(observed),
      ...controllerProblems(observed, facts),
      ...ofPools.filter(({ isServed }) => isServed).map(({ problem }) => problem),
      ...facts.networkConfigs.flatMap(networkConfigProblems),
    ],
    warnings: ofPools.filter(({ isServed }) => !isServed).map(({ problem }) => problem),
  };
}

/** @returns the problems that prevent the way back. */
export function findWayBackProblems(
  observed: MigrationObservation,
  { networks }: Pick<MigrationFacts, 'networks'>,
): MigrationFindings {
  const pools = observed.pools.filter(isToBeServed);
  return {
    problems: [
      ...backupProblems(observed),
      ...foreignBackupProblems(observed),
      ...upstreamProblems(observed),
      ...pools.flatMap(rangeProblems),
      ...pools.flatMap((pool) => networkProblems(pool, networks)),
      ...unifiedProblems(observed),
    ],
    warnings: observed.agentDeployments.flatMap(standbyWarnings),
  };
}

/** The losses on the way back, for people. */
export function findLosses({ pools }: MigrationObservation, networkConfigs: readonly KubernetesObject[]): string[] {
  const ofKind = (kind: 'IPPool' | 'VirtualMachineNetworkConfig', objects: readonly KubernetesObject[]) =>
    objects.flatMap(({ metadata, spec }) => {
      const fields = fieldsUnknownUpstream(kind, spec);
      return fields.length === 0 ? [] : [`${kind} ${keyOf({ metadata })}: ${fields.join(', ')}`];
    });
  const entries = pools.flatMap((pool) =>
    entriesUnknownUpstream(pool).map(
      ({ address, value }) => `IPPool ${keyOf(pool)}: address ${address} of ${value}, outside its range`,
    ),
  );
  return [...entries, ...ofKind('IPPool', pools), ...ofKind('VirtualMachineNetworkConfig', networkConfigs)];
}

/** @param missing - rights that the user of the command lacks, for people. */
export function rightsProblems(missing: readonly string[]): MigrationProblem[] {
  if (missing.length === 0) return [];
  const message = `you may not: ${missing.join('; ')}`;
  return [{ object: 'rights', message, remedy: 'run the command as an administrator of the cluster' }];
}

function definitionProblems({ definitions }: MigrationObservation): MigrationProblem[] {
  return definitions.flatMap(({ definition }) => {
    const object = `CustomResourceDefinition ${definition.metadata.name}`;
    const stored = readList(definition.status, 'storedVersions').map(String);
    const others = stored.filter((version) => version !== VERSION);
    if (others.length > 0) {
      const remedy = `write every object again with a controller that knows ${VERSION}, then remove the others from status.storedVersions`;
      return [{ object, message: `objects are stored in version ${others.join(', ')}, and ours has ${VERSION} only`, remedy }];
    }
    const { [CHART_RELEASE]: release, [KEEP_POLICY]: policy } = definition.metadata.annotations ?? {};
    if (release === undefined || policy === 'keep') return [];
    const message = `it belongs to the Helm release ${release}: with the release Helm would delete every object of the kind`;
    const remedy = `kubectl annotate crd ${definition.metadata.name} ${CHART_RELEASE}- helm.sh/resource-policy=keep, and set the same annotation in the chart of that release`;
    return [{ object, message, remedy }];
  });
}

function controllerProblems(observed: MigrationObservation, facts: MigrationFacts): MigrationProblem[] {
  const [own, ...others] = workloadsOf(observed, 'own-controller');
  if (own === undefined) return [{ object: 'vmdhcp-controller', message: 'no Deployment of it is there', remedy: INSTALL }];
  const object = `Deployment ${keyOf(own.deployment)}`;
  if (others.length > 0) {
    const names = others.map(({ deployment }) => keyOf(deployment)).join(', ');
    return [{ object, message: `there is another one: ${names}`, remedy: 'delete one of them' }];
  }
  return [
    ...availabilityProblems(object, own.deployment, observed),
    ...argumentProblems(object, own.deployment),
    ...previousNamespaceProblems(object, own.deployment, observed),
    ...facts.missingControllerRights.map((right) => ({
      object,
      message: `its ServiceAccount may not ${right}`,
      remedy: 'kubectl apply -f examples/cluster/takeover.yaml (in the chart: the value agent.previousNamespace)',
    })),
  ];
}

/** Only while Harvester's controller runs; after that the migration itself waits for ours. */
function availabilityProblems(object: string, deployment: KubernetesObject, observed: MigrationObservation): MigrationProblem[] {
  const isUpstreamRunning = workloadsOf(observed, 'upstream-controller').some((one) => replicasOf(one.deployment) > 0);
  if (!isUpstreamRunning || replicasOf(deployment) === 0 || isAvailable(deployment)) return [];
  const remedy = `kubectl -n ${deployment.metadata.namespace} describe pods, and solve what is reported there`;
  return [{ object, message: 'no pod of it is available', remedy }];
}

function argumentProblems(object: string, deployment: KubernetesObject): MigrationProblem[] {
  const messages = [
    ['--no-leader-election', "it runs with --no-leader-election, beside Harvester's controller"],
    ['--no-agent', 'it runs with --no-agent, and deploys no agents that could serve the pools'],
    ['--no-dhcp', 'it runs with --no-dhcp, so that its agents serve nothing'],
  ] as const;
  return messages
    .filter(([flag]) => hasFlag(deployment, flag))
    .map(([, message]) => ({ object, message, remedy: 'remove that argument' }));
}

/** The namespaces in which agents of Harvester run, or ran. */
export function namespacesOfUpstreamAgents({ agentPods, pools }: MigrationObservation): string[] {
  const ofPods = agentPods.filter((pod) => legacyPoolOf(pod) !== undefined).map(({ metadata }) => metadata.namespace ?? '');
  const recorded = pools.flatMap(({ status }) => readText(status, 'agentPodRef', 'namespace') || []);
  return [...new Set([...ofPods, ...recorded])].toSorted();
}

function previousNamespaceProblems(
  object: string,
  deployment: KubernetesObject,
  observed: MigrationObservation,
): MigrationProblem[] {
  const own = settingOf(deployment, '--namespace', 'AGENT_NAMESPACE') ?? deployment.metadata.namespace;
  const previous = settingOf(deployment, '--previous-namespace', 'AGENT_PREVIOUS_NAMESPACE');
  return namespacesOfUpstreamAgents(observed)
    .filter((namespace) => namespace !== own && namespace !== previous)
    .map((namespace) => ({
      object,
      message: `Harvester's agents are in namespace ${namespace}, and it does not take over from there (AGENT_PREVIOUS_NAMESPACE: ${previous ?? 'not set'})`,
      remedy: `kubectl -n ${deployment.metadata.namespace} set env deployment/${deployment.metadata.name} AGENT_PREVIOUS_NAMESPACE=${namespace} (in the chart: the value agent.previousNamespace)`,
    }));
}

function poolProblems(pool: KubernetesObject, { pools }: MigrationObservation, { networks }: MigrationFacts): MigrationProblem[] {
  const object = `IPPool ${keyOf(pool)}`;
  const { namespace = '', name } = pool.metadata;
  const { status: _, ...written } = pool;
  const review = reviewIpPool({ operation: 'CREATE', object: written, namespace, name }, factsOfObjects([...pools, ...networks]));
  const holds = pool.metadata.annotations?.[HOLD_AGENT_UPGRADE_ANNOTATION] !== undefined;
  return [
    ...review.problems.map((problem) => toProblem(object, problem)),
    ...(holds
      ? [
          {
            object,
            message: `the annotation ${HOLD_AGENT_UPGRADE_ANNOTATION} keeps its pod`,
            remedy: `kubectl -n ${namespace} annotate ippool ${name} ${HOLD_AGENT_UPGRADE_ANNOTATION}-`,
          },
        ]
      : []),
  ];
}

function networkConfigProblems(config: KubernetesObject): MigrationProblem[] {
  const { status: _, ...written } = config;
  const parsed = parseObject(written);
  const object = `VirtualMachineNetworkConfig ${keyOf(config)}`;
  return parsed.ok ? [] : parsed.problems.map((problem) => toProblem(object, problem));
}

function toProblem(
  object: string,
  { path, message, remedy }: Pick<AdmissionProblem, 'path' | 'message' | 'remedy'>,
): MigrationProblem {
  const field = path.join('.');
  return { object, message: field === '' ? message : `${field}: ${message}`, remedy };
}

function backupProblems({ hasBackup }: MigrationObservation): MigrationProblem[] {
  if (hasBackup) return [];
  const message = 'the file does not exist: it has the definitions of Harvester';
  return [{ object: 'backup', message, remedy: '--backup FILE names the file that the migration wrote' }];
}

function foreignBackupProblems({ isForeignBackup = false }: MigrationObservation): MigrationProblem[] {
  if (!isForeignBackup) return [];
  const message = 'the file is of another cluster: no object in it is one of this cluster';
  return [{ object: 'backup', message, remedy: '--backup FILE names the file of this cluster, or a new one' }];
}

function upstreamProblems(observed: MigrationObservation): MigrationProblem[] {
  if (workloadsOf(observed, 'upstream-controller').length > 0 || observed.addOns.length > 0) return [];
  const message = 'neither its Deployment nor its add-on is there';
  const remedy = 'apply the add-on, disabled; or install the chart harvester-vm-dhcp-controller with --set replicaCount=0';
  return [{ object: "Harvester's vm-dhcp-controller", message, remedy }];
}

function rangeProblems(pool: KubernetesObject): MigrationProblem[] {
  const excluded = excludedRanges(pool).join(', ');
  const ranges = readList(pool.spec, 'ipv4Config', 'pool', 'ranges').join(', ');
  const inUse = excludedInUse(pool).map(({ address, value }) => `${address} (${value})`);
  const found = [
    {
      written: inUse.join(', '),
      message: `clients have ${inUse.join(', ')}, excluded or the router's: Harvester's controller would not serve the pool`,
      remedy:
        'pin another address for each of these virtual machines (kubectl vmdhcp why ADDRESS names it), or take the address out of exclude',
    },
    {
      written: excluded,
      message: `spec.ipv4Config.pool.exclude has ${excluded}, and Harvester's controller reads single addresses only: it would not serve the pool`,
      remedy: 'exclude single addresses instead, or delete the pool',
    },
    {
      written: ranges,
      message: `spec.ipv4Config.pool.ranges has ${ranges}, and Harvester's controller reads only start and end: it would assign what lies between, too`,
      remedy: 'remove ranges, set start and end, and exclude the addresses between them, one by one',
    },
  ];
  return found.flatMap(({ written, ...problem }) => (written === '' ? [] : [{ object: `IPPool ${keyOf(pool)}`, ...problem }]));
}

/** The command waits for each pool that Harvester's controller is to serve. */
function isToBeServed(pool: KubernetesObject): boolean {
  return readField(pool.spec, 'paused') !== true && !isBeingDeleted(pool);
}

/** Harvester's controller deploys an agent where a label of the network says; the agent looks for the network as `networkName` is written. */
function networkProblems(pool: KubernetesObject, networks: readonly KubernetesObject[]): MigrationProblem[] {
  const { namespace = '', name } = pool.metadata;
  const networkName = readText(pool.spec, 'networkName') ?? '';
  const key = networkKey(networkName, namespace);
  const network = networks.find((one) => keyOf(one) === key);
  const object = `IPPool ${keyOf(pool)}`;
  const remedy = `kubectl -n ${namespace} patch ippool ${name} --type merge -p '{"spec":{"paused":true}}'`;
  if (network?.metadata.labels?.[CLUSTER_NETWORK_LABEL] === undefined) {
    const message = `its network ${key} ${network === undefined ? 'does not exist' : `has no label ${CLUSTER_NETWORK_LABEL}`}: Harvester's controller would not serve it`;
    return [{ object, message, remedy }];
  }
  if (networkName === key) return [];
  const message = `its networkName ${networkName} has no namespace, and Harvester's agent does not add one: it would not serve it`;
  return [{ object, message, remedy: `${remedy}, or delete it and create it again with networkName ${key}` }];
}

/** Our agents answer as standbys until Harvester's are ready. */
function standbyWarnings(deployment: KubernetesObject): MigrationProblem[] {
  const [wanted, available] = [replicasOf(deployment), Number(readField(deployment.status, 'availableReplicas') ?? 0)];
  if (available >= wanted) return [];
  const { namespace = '', name } = deployment.metadata;
  const message = `${available} of ${wanted} agents are available, so a client may wait longer than until it asks again`;
  return [
    { object: `Deployment ${keyOf(deployment)}`, message, remedy: `kubectl -n ${namespace} rollout status deployment/${name}` },
  ];
}

/** Agents that a chart installed stay when the controller ends, and have a Lease that this command could not delete. */
function unifiedProblems({ pools, agentDeployments }: MigrationObservation): MigrationProblem[] {
  const ours = new Set(agentDeployments.map(({ metadata }) => metadata.name));
  const names = pools.flatMap(({ status }) => readText(status, 'agentDeploymentRef', 'name') ?? []);
  const others = [...new Set(names)].filter((name) => !ours.has(name));
  return others.map((name) => ({
    object: `Deployment ${name}`,
    message: 'the controller did not create these agents (topology unified), so the command cannot end them',
    remedy: 'start vmdhcp-controller with --agent-topology per-network, and wait until the pools have moved',
  }));
}
