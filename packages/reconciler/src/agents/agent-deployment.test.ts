import { readField, readList } from '@vmdhcp/kube-runtime';
import { describe, expect, it } from 'vitest';
import { onClusterNetwork } from '../network/placement-fixtures.js';
import { type AgentPodSettings, toAgentDeployment } from './agent-deployment.js';
import { agentInterfaceName } from './interface-name.js';
import { perPoolGroupName } from './topology.js';

const SETTINGS: AgentPodSettings = {
  namespace: 'harvester-system',
  image: 'agent:1',
  imagePullPolicy: 'IfNotPresent',
  imagePullSecrets: [],
  serviceAccountName: 'agent',
  priorityClassName: undefined,
  replicas: 2,
  resources: { cpu: '10m', memory: '96Mi', memoryLimit: '256Mi' },
  leaseSeconds: 2.75,
  dryRun: false,
};

function argumentsOf(settings: Partial<AgentPodSettings>): readonly unknown[] {
  const parts = { group: 'g', placement: undefined, pools: [], image: 'agent:1' };
  const { spec } = toAgentDeployment(parts, { ...SETTINGS, ...settings });
  return readList(readList(spec, 'template', 'spec', 'containers')[0], 'args');
}

it('agents listen on the address of their pod, and show their leases only if configured', () => {
  expect(argumentsOf({})).toEqual(['serve', '--http', '$(POD_IP):8080', '--lease-seconds', '2.75']);
  expect(argumentsOf({ showsLeases: true })).toContain('--enable-cache-dump-api');
  expect(argumentsOf({ dryRun: true })).toContain('--dry-run');
});

it('the address of the pod comes from Kubernetes', () => {
  const parts = { group: 'g', placement: undefined, pools: [], image: 'agent:1' };
  const { spec } = toAgentDeployment(parts, SETTINGS);
  const [container] = readList(spec, 'template', 'spec', 'containers');
  const variable = readList(container, 'env').find((entry) => readField(entry, 'name') === 'POD_IP');
  expect(readField(variable, 'valueFrom', 'fieldRef', 'fieldPath')).toBe('status.podIP');
});

const POOL = { key: 'default/net-48', network: 'default/vlan-48', serverIP: '192.168.48.2', cidr: '192.168.48.0/24' };
const GROUP = 'vm-dhcp-agent-vlan-1';

function made(settings: Partial<AgentPodSettings> = {}, parts: Partial<Parameters<typeof toAgentDeployment>[0]> = {}) {
  const all = { group: GROUP, placement: onClusterNetwork('vlan'), pools: [POOL], image: 'agent:2', ...parts };
  return toAgentDeployment(all, { ...SETTINGS, ...settings });
}

describe('the Deployment of a group', () => {
  const selected = {
    'network.harvesterhci.io/vm-dhcp-controller': 'agent',
    'network.harvesterhci.io/agent-group': GROUP,
  };
  const labels = { ...selected, 'app.kubernetes.io/managed-by': 'vm-dhcp-controller' };
  const interfaceName = agentInterfaceName(POOL.key);
  const template = () => readField(made().spec, 'template');
  const container = () => readList(template(), 'spec', 'containers')[0];

  it('has the name of the group, and is the only one to select its pods', () => {
    expect(made()).toMatchObject({
      apiVersion: 'apps/v1',
      kind: 'Deployment',
      metadata: { namespace: 'harvester-system', name: GROUP, labels },
      spec: { replicas: 2, selector: { matchLabels: selected } },
    });
    expect(readField(template(), 'metadata')).toEqual({
      labels,
      annotations: { 'k8s.v1.cni.cncf.io/networks': `default/vlan-48@${interfaceName}` },
    });
  });

  it('replaces a pod only once its successor is ready', () => {
    const rollingUpdate = { maxUnavailable: 0, maxSurge: 1 };
    expect(readField(made().spec, 'strategy')).toEqual({ type: 'RollingUpdate', rollingUpdate });
  });

  it('spreads its pods over nodes, and leaves a lost node after ten seconds', () => {
    expect(readField(template(), 'spec', 'topologySpreadConstraints')).toEqual([
      {
        maxSkew: 1,
        topologyKey: 'kubernetes.io/hostname',
        whenUnsatisfiable: 'ScheduleAnyway',
        labelSelector: { matchLabels: selected },
      },
    ]);
    const tolerated = { operator: 'Exists', effect: 'NoExecute', tolerationSeconds: 10 };
    expect(readField(template(), 'spec', 'tolerations')).toEqual([
      { key: 'node.kubernetes.io/not-ready', ...tolerated },
      { key: 'node.kubernetes.io/unreachable', ...tolerated },
    ]);
  });

  it('has pods on nodes that are attached to the cluster network, and on any node without one', () => {
    const affinityOf = (clusterNetwork: string | undefined) =>
      readField(made({}, { placement: onClusterNetwork(clusterNetwork) }).spec, 'template', 'spec', 'affinity');
    const matchExpressions = [{ key: 'network.harvesterhci.io/vlan', operator: 'In', values: ['true'] }];
    expect(affinityOf('vlan')).toEqual({
      nodeAffinity: { requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms: [{ matchExpressions }] } },
    });
    expect(affinityOf(undefined)).toBeUndefined();
  });

  it('has pods on nodes with the labels that the pool selects, and with each resource of its networks', () => {
    const placement = { ...onClusterNetwork('vlan'), nodeSelector: { rack: 'b' } };
    const resources = new Map([
      ['bridge.network.kubevirt.io/br1', 2],
      ['bridge.network.kubevirt.io/old', 0],
    ]);
    const spec = readField(made({}, { placement, resources }).spec, 'template', 'spec');
    expect(readField(spec, 'affinity')).toEqual({
      nodeAffinity: {
        requiredDuringSchedulingIgnoredDuringExecution: {
          nodeSelectorTerms: [
            {
              matchExpressions: [
                { key: 'network.harvesterhci.io/vlan', operator: 'In', values: ['true'] },
                { key: 'rack', operator: 'In', values: ['b'] },
              ],
            },
          ],
        },
      },
    });
    const marked = { 'bridge.network.kubevirt.io/br1': '2', 'bridge.network.kubevirt.io/old': undefined };
    expect(readField(readList(spec, 'containers')[0], 'resources')).toStrictEqual({
      requests: { cpu: '10m', memory: '96Mi', ...marked },
      limits: { memory: '256Mi', ...marked },
    });
  });

  it('runs under the configured ServiceAccount, otherwise under that of the group', () => {
    const accountsOf = (serviceAccountName: string | undefined) => {
      const spec = readField(made({ serviceAccountName }).spec, 'template', 'spec');
      return [readField(spec, 'serviceAccountName'), readField(spec, 'serviceAccount')];
    };
    expect(accountsOf('agent')).toEqual(['agent', 'agent']);
    expect(accountsOf(undefined)).toEqual([GROUP, GROUP]);
  });

  it('names the Secrets of its image if there are any', () => {
    const secretsOf = (imagePullSecrets: readonly string[]) =>
      readField(made({ imagePullSecrets }).spec, 'template', 'spec', 'imagePullSecrets');
    expect(secretsOf(['one', 'two'])).toEqual([{ name: 'one' }, { name: 'two' }]);
    expect(secretsOf([]), 'an API server stores no empty list').toBeUndefined();
  });

  it('tells its agents their Lease and their pools', () => {
    const values = readList(container(), 'env').flatMap((entry) => {
      const value = readField(entry, 'value');
      return value === undefined ? [] : [[readField(entry, 'name'), value]];
    });
    const configs = [
      {
        interfaceName,
        serverIP: POOL.serverIP,
        cidr: POOL.cidr,
        ipPoolName: POOL.key,
        ipPoolRef: POOL.key,
        nadName: POOL.network,
      },
    ];
    expect(values).toEqual([
      ['AGENT_LEASE_NAME', GROUP],
      ['AGENT_NETWORK_CONFIGS', JSON.stringify(configs)],
      ['IPPOOL_REFS_JSON', '["default/net-48"]'],
    ]);
  });

  it('has agents with the least rights that raw sockets and server addresses need', () => {
    expect(readField(container(), 'securityContext')).toEqual({
      runAsNonRoot: true,
      runAsUser: 65_532,
      runAsGroup: 65_532,
      allowPrivilegeEscalation: false,
      readOnlyRootFilesystem: true,
      capabilities: { drop: ['ALL'], add: ['NET_BIND_SERVICE', 'NET_RAW', 'NET_ADMIN'] },
      seccompProfile: { type: 'RuntimeDefault' },
    });
  });

  it('has agents with the resources that are set, whose status Kubernetes and Prometheus read at one port', () => {
    const probe = (path: string) => ({ httpGet: { path, port: 8080, scheme: 'HTTP' }, timeoutSeconds: 1, successThreshold: 1 });
    expect(container()).toMatchObject({
      name: 'agent',
      image: 'agent:2',
      imagePullPolicy: 'IfNotPresent',
      ports: [{ name: 'metrics', containerPort: 8080, protocol: 'TCP' }],
      resources: { requests: { cpu: '10m', memory: '96Mi' }, limits: { memory: '256Mi' } },
      livenessProbe: { ...probe('/healthz'), periodSeconds: 10, failureThreshold: 3, initialDelaySeconds: 5 },
      readinessProbe: { ...probe('/readyz'), periodSeconds: 1, failureThreshold: 3 },
    });
  });
});

describe('the labels with the pool', () => {
  const longest = { ...POOL, key: `default/${'n'.repeat(63)}` };
  const longer = { ...POOL, key: `default/${'n'.repeat(64)}` };

  it.each([
    ['name the only pool of a group', perPoolGroupName(POOL.key), [POOL], 'net-48'],
    ['name the only pool of a group if a label has room for it', perPoolGroupName(longest.key), [longest], 'n'.repeat(63)],
    ['are left out if a label has no room for its name', perPoolGroupName(longer.key), [longer], undefined],
    ['are left out of a group of several pools, also while it has one', GROUP, [POOL], undefined],
    ['are left out without a pool', GROUP, [], undefined],
  ])('%s', (_, group, pools, name) => {
    const { metadata, spec } = made({}, { group, pools });
    for (const labels of [metadata.labels, readField(spec, 'template', 'metadata', 'labels')]) {
      expect(readField(labels, 'network.harvesterhci.io/ippool-name')).toBe(name);
      expect(readField(labels, 'network.harvesterhci.io/ippool-namespace')).toBe(name && 'default');
    }
  });
});
