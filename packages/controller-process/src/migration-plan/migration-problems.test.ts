import type { KubernetesObject } from '@vmdhcp/kube-runtime';
import { describe, expect, it } from 'vitest';
import { agentPod, definitions, deploymentOf, poolOf, SERVED_HERE, SERVED_UPSTREAM, workload } from './migration-fixtures.js';
import type { MigrationObservation } from './migration-observation.js';
import {
  findLosses,
  findMigrationProblems,
  findWayBackProblems,
  type MigrationFacts,
  rightsProblems,
} from './migration-problems.js';
import { describeRight, neededRights } from './migration-rights.js';
import { hasFlag, isAboutOurKinds, isUpstreamAddOn, roleOf, settingOf } from './upstream-objects.js';

const NETWORK: KubernetesObject = {
  apiVersion: 'k8s.cni.cncf.io/v1',
  kind: 'NetworkAttachmentDefinition',
  metadata: { namespace: 'default', name: 'net' },
  spec: { config: '{}' },
};
const FACTS: MigrationFacts = { networkConfigs: [], networks: [NETWORK], missingControllerRights: [] };
const texts = (found: readonly { readonly object: string; readonly message: string; readonly remedy: string }[]) =>
  found.map(({ object, message, remedy }) => `${object}: ${message}; ${remedy}`);
const forward = (observed: Partial<MigrationObservation>, facts: Partial<MigrationFacts> = {}) =>
  texts(findMigrationProblems({ ...SERVED_UPSTREAM, ...observed }, { ...FACTS, ...facts }).problems);
const LABELLED = { ...NETWORK, metadata: { ...NETWORK.metadata, labels: { 'network.harvesterhci.io/clusternetwork': 'mgmt' } } };
const findBack = (observed: Partial<MigrationObservation>, networks: readonly KubernetesObject[] = [LABELLED]) =>
  findWayBackProblems({ ...SERVED_HERE, ...observed }, { networks });
const back = (...subject: Parameters<typeof findBack>) => texts(findBack(...subject).problems);

const poolWith = (spec: object): KubernetesObject => ({ ...poolOf(), spec: { ...(poolOf().spec as object), ...spec } });

function ownWith(change: (container: Record<string, unknown>) => void): MigrationObservation['workloads'] {
  const deployment = structuredClone(deploymentOf('own-controller'));
  const { containers } = (deployment.spec as { template: { spec: { containers: Record<string, unknown>[] } } }).template.spec;
  if (containers[0] !== undefined) change(containers[0]);
  return [workload('upstream-controller'), { role: 'own-controller', deployment, pods: 1 }];
}

describe('findMigrationProblems', () => {
  it('finds none if everything is prepared', () => {
    expect(forward({})).toEqual([]);
  });

  it.each<[what: string, observed: Partial<MigrationObservation>, facts: Partial<MigrationFacts>, expected: string]>([
    [
      'our controller is not installed',
      { workloads: [workload('upstream-controller')] },
      {},
      'no Deployment of it is there; install it first',
    ],
    [
      'there are two of ours',
      { workloads: [workload('own-controller'), workload('own-controller')] },
      {},
      'there is another one',
    ],
    [
      'it runs without election',
      { workloads: ownWith((one) => (one['args'] = ['run', '--no-leader-election'])) },
      {},
      'remove that argument',
    ],
    [
      'it does not look where the agents are',
      { workloads: ownWith((one) => (one['env'] = [{ name: 'AGENT_NAMESPACE', value: 'vm-dhcp-agents' }])) },
      {},
      'set env deployment/vm-dhcp-controller AGENT_PREVIOUS_NAMESPACE=harvester-system',
    ],
    [
      'it may not delete the pods',
      {},
      { missingControllerRights: ['delete pods in namespace harvester-system'] },
      'its ServiceAccount may not delete pods in namespace harvester-system; kubectl apply -f',
    ],
    [
      'a pool holds its agent',
      {
        pools: [
          {
            ...poolOf(),
            metadata: { ...poolOf().metadata, annotations: { 'network.harvesterhci.io/hold-ippool-agent-upgrade': '' } },
          },
        ],
      },
      {},
      'annotate ippool net network.harvesterhci.io/hold-ippool-agent-upgrade-',
    ],
    [
      'a pool is wrong by our rules',
      { pools: [poolOf({}, { cidr: '10.2.0.0/24' })] },
      {},
      'IPPool default/net: spec.ipv4Config.',
    ],
    [
      'a network config is wrong',
      {},
      {
        networkConfigs: [
          {
            apiVersion: 'network.harvesterhci.io/v1alpha1',
            kind: 'VirtualMachineNetworkConfig',
            metadata: { namespace: 'default', name: 'vm' },
            spec: { networkConfigs: [{ networkName: 'default/net', macAddress: '02:00:00:00:00:01' }] },
          },
        ],
      },
      'VirtualMachineNetworkConfig default/vm: spec.vmName',
    ],
    [
      'objects are stored in another version',
      {
        definitions: [
          {
            ...definitions(false)[0],
            definition: { metadata: { name: 'ippools' }, status: { storedVersions: ['v1alpha1', 'v1'] } },
          } as MigrationObservation['definitions'][number],
        ],
      },
      {},
      'objects are stored in version v1,',
    ],
    [
      'ours deploys no agents',
      {
        workloads: ownWith((container) => {
          container['args'] = ['run', '--no-agent'];
        }),
      },
      {},
      'it runs with --no-agent, and deploys no agents that could serve the pools; remove that argument',
    ],
    [
      'its agents serve nothing',
      { workloads: ownWith((one) => (one['args'] = ['run', '--no-dhcp'])) },
      {},
      'it runs with --no-dhcp, so that its agents serve nothing; remove that argument',
    ],
    [
      'Helm would delete the objects',
      {
        definitions: [
          {
            ...definitions(false)[0],
            definition: { metadata: { name: 'ippools', annotations: { 'meta.helm.sh/release-name': 'r' } } },
          } as MigrationObservation['definitions'][number],
        ],
      },
      {},
      'it belongs to the Helm release r',
    ],
  ])('says what to do if %s', (_what, observed, facts, expected) => {
    expect(forward(observed, facts).join('\n')).toContain(expected);
  });

  it('only warns of a pool that nothing serves now', () => {
    const found = findMigrationProblems(
      { ...SERVED_UPSTREAM, agentPods: [], pools: [poolOf({}, { cidr: '10.2.0.0/24' })] },
      FACTS,
    );
    expect(found.problems).toEqual([]);
    expect(found.warnings.length).toBeGreaterThan(0);
  });

  it('refuses to begin with a broken pool whose pod is gone and still recorded: the migration would wait for it', () => {
    const pools = [poolOf({ agentPodRef: { name: 'p' } }, { cidr: '10.2.0.0/24' })];
    expect(forward({ agentPods: [], pools }).join('\n')).toContain('IPPool default/net: spec.ipv4Config');
  });

  it('refuses to stop Harvester’s controller while no pod of ours is available; continues if it has stopped', () => {
    const own = workload('own-controller');
    const failing = { ...own, deployment: { ...own.deployment, status: {} } };
    const text = forward({ workloads: [workload('upstream-controller'), failing] }).join('\n');
    expect(text).toContain('no pod of it is available; kubectl -n harvester-system describe pods');
    expect(forward({ workloads: [workload('upstream-controller', 0), failing] })).toEqual([]);
  });

  it('refuses a backup of another cluster, in both directions', () => {
    expect(forward({ isForeignBackup: true }).join('\n')).toContain('the file is of another cluster');
    expect(back({ isForeignBackup: true }).join('\n')).toContain('the file is of another cluster');
  });

  it('counts agents of each namespace', () => {
    const elsewhere = { ...agentPod(), metadata: { ...agentPod().metadata, namespace: 'other' } };
    expect(forward({ agentPods: [agentPod(), elsewhere] }).join('\n')).toContain('agents are in namespace other');
  });
});

describe('findWayBackProblems', () => {
  it.each<[what: string, observed: Partial<MigrationObservation>, expected: string]>([
    ['there is no backup', { hasBackup: false }, '--backup FILE'],
    [
      'nothing of Harvester’s is there',
      { workloads: [workload('own-controller')], addOns: [] },
      'neither its Deployment nor its add-on is there',
    ],
    [
      'a pool excludes a range',
      { pools: [poolOf({}, { pool: { start: '10.1.0.10', end: '10.1.0.99', exclude: ['10.1.0.20-10.1.0.29'] } })] },
      'has 10.1.0.20-10.1.0.29',
    ],
    [
      'a pool has several ranges',
      { pools: [poolOf({}, { pool: { start: '10.1.0.10', end: '10.1.0.99', ranges: ['10.1.0.10', '10.1.0.99'] } })] },
      'ranges has 10.1.0.10, 10.1.0.99, and',
    ],
    [
      'a client has an address that was excluded later',
      {
        pools: [
          poolOf(
            {
              ipv4: {
                allocated: { '10.1.0.10': '02:00:00:00:00:01', '10.1.0.20': '02:00:00:00:00:02', '10.1.0.21': 'EXCLUDED' },
              },
            },
            { pool: { start: '10.1.0.10', end: '10.1.0.99', exclude: ['10.1.0.20', '10.1.0.21'] } },
          ),
        ],
      },
      "IPPool default/net: clients have 10.1.0.20 (02:00:00:00:00:02), excluded or the router's",
    ],
    [
      'a client has the address of the router',
      { pools: [poolOf({ ipv4: { allocated: { '10.1.0.30': '02:00:00:00:00:02' } } }, { router: '10.1.0.30' })] },
      'clients have 10.1.0.30 (02:00:00:00:00:02)',
    ],
    [
      'a chart owns the agents',
      { pools: [poolOf({ agentDeploymentRef: { name: 'chart' } })] },
      'Deployment chart: the controller did not create these agents',
    ],
  ])('says what to do if %s', (_what, observed, expected) => {
    expect(back(observed).join('\n')).toContain(expected);
  });

  it('names pools that Harvester’s controller could not serve: their network is gone, or has no cluster network', () => {
    const remedy = `kubectl -n default patch ippool net --type merge -p '{"spec":{"paused":true}}'`;
    expect(back({}, [])).toEqual([
      `IPPool default/net: its network default/net does not exist: Harvester's controller would not serve it; ${remedy}`,
    ]);
    expect(back({}, [NETWORK]).join()).toContain('its network default/net has no label network.harvesterhci.io/clusternetwork');
  });

  it('names a pool whose networkName has no namespace: Harvester’s agent would look for the network in none', () => {
    const bare = poolWith({ networkName: 'net' });
    expect(back({ pools: [bare] })).toEqual([
      `IPPool default/net: its networkName net has no namespace, and Harvester's agent does not add one: it would not serve it; kubectl -n default patch ippool net --type merge -p '{"spec":{"paused":true}}', or delete it and create it again with networkName default/net`,
    ]);
  });

  const ofExcluded = [
    { allocated: { '10.1.0.20': '02:00:00:00:00:02' } },
    { pool: { start: '10.1.0.10', end: '10.1.0.99', exclude: ['10.1.0.20', '10.1.0.30-10.1.0.39'] } },
  ] as const;
  const unserved = poolOf({ ipv4: ofExcluded[0] }, ofExcluded[1]);

  it.each<[what: string, pool: KubernetesObject]>([
    ['is paused', { ...unserved, spec: { ...(unserved.spec as object), paused: true } }],
    ['is being deleted', { ...unserved, metadata: { ...unserved.metadata, deletionTimestamp: '2026-01-01T00:00:00Z' } }],
  ])('finds none in a pool that %s: Harvester’s controller will not serve it', (_what, pool) => {
    expect(back({ pools: [pool] }, [])).toEqual([]);
    expect(back({ pools: [unserved] }, [])).toHaveLength(3);
  });

  it('warns of agents that are not all available: a standby may not answer yet', () => {
    const [deployment] = SERVED_HERE.agentDeployments;
    const warningsAt = (availableReplicas: number) => {
      const agentDeployments = [{ ...deployment, spec: { replicas: 2 }, status: { availableReplicas } } as KubernetesObject];
      return texts(findBack({ agentDeployments }).warnings);
    };
    expect(warningsAt(1).join()).toContain('1 of 2 agents are available, so a client may wait longer');
    expect(warningsAt(2)).toEqual([]);
  });

  it('finds none if everything is prepared', () => {
    expect(back({})).toEqual([]);
  });
});

it('findLosses names fields and addresses that Harvester’s controller does not have', () => {
  const pool = poolOf({ ipv4: { allocated: { '10.1.0.200': 'bb' } } }, { mtu: 1400, reservations: [{}] });
  expect(findLosses({ ...SERVED_HERE, pools: [pool] }, [])).toEqual([
    'IPPool default/net: address 10.1.0.200 of bb, outside its range',
    'IPPool default/net: spec.ipv4Config.mtu, spec.ipv4Config.reservations',
  ]);
});

it('the rights requested at the beginning include those of every list during the run', () => {
  const listed = ['roles.rbac.authorization.k8s.io', 'rolebindings.rbac.authorization.k8s.io', 'serviceaccounts'];
  const leftovers = ['services', 'clusterroles.rbac.authorization.k8s.io', 'clusterrolebindings.rbac.authorization.k8s.io'];
  const forwardRights = neededRights('forward').map(describeRight);
  expect(forwardRights).toEqual(expect.arrayContaining([...listed, ...leftovers].map((resource) => `list ${resource}`)));
  expect(forwardRights).toContain('create subjectaccessreviews.authorization.k8s.io');
  expect(neededRights('back').map(describeRight)).toContain('list virtualmachinenetworkconfigs.network.harvesterhci.io');
});

it('rights are named as RBAC has them', () => {
  expect(rightsProblems([])).toEqual([]);
  expect(neededRights('back').map(describeRight)).toContain('patch ippools/status.network.harvesterhci.io');
  expect(neededRights('forward').map(describeRight)).toContain('list pods');
});

describe('which objects belong to which controller', () => {
  const labels = (more: Readonly<Record<string, string>>): KubernetesObject => ({
    ...deploymentOf('own-controller'),
    metadata: { name: 'x', labels: more },
  });

  it.each<[what: string, object: KubernetesObject, expected: string | undefined]>([
    ['Harvester’s chart', deploymentOf('upstream-controller'), 'upstream-controller'],
    ['Harvester’s webhook', deploymentOf('upstream-webhook'), 'upstream-webhook'],
    ['ours', deploymentOf('own-controller'), 'own-controller'],
    ['our webhook', deploymentOf('own-webhook'), 'own-webhook'],
    [
      'Harvester’s chart under another name',
      labels({ 'helm.sh/chart': 'harvester-vm-dhcp-controller-1.6.0', 'app.kubernetes.io/component': 'controller' }),
      'upstream-controller',
    ],
    ['something without a component', labels({}), undefined],
    [
      'a controller of something else',
      { ...deploymentOf('own-controller'), spec: { template: { spec: { containers: [{ args: ['run'] }] } } } },
      undefined,
    ],
  ])('%s', (_what, object, expected) => {
    expect(roleOf(object)).toBe(expected);
  });

  it('settings come from arguments, then from the environment', () => {
    const deployment = ownWith((one) => {
      one['args'] = ['run', '--namespace', 'a', '--image=b', '--no-agent=true'];
    })[1]?.deployment as KubernetesObject;
    expect(settingOf(deployment, '--namespace', 'AGENT_NAMESPACE')).toBe('a');
    expect(settingOf(deployment, '--image', 'AGENT_IMAGE')).toBe('b');
    expect(settingOf(deployment, '--previous-namespace', 'AGENT_PREVIOUS_NAMESPACE')).toBe('harvester-system');
    expect(settingOf(deployment, '--name', 'NO_SUCH')).toBeUndefined();
    expect([hasFlag(deployment, '--no-agent'), hasFlag(deployment, '--no-dhcp')]).toEqual([true, false]);
  });

  it.each<[parameters: readonly string[], expected: boolean]>([
    [['--no-dhcp'], true],
    [['--no-dhcp', '--namespace', 'a'], true],
    [['--no-dhcp=true'], true],
    [['--no-dhcp=1'], true],
    [['--no-dhcp=T'], true],
    [['--no-dhcp=TRUE'], true],
    [['--no-dhcp', 'true'], true],
    [['--no-dhcp', 'false'], false],
    [['--no-dhcp=F'], false],
    [['--no-dhcp', '--no-dhcp=false'], false],
    [['--no-dhcpv6'], false],
  ])('a flag is set as our program reads it: %j', (parameters, expected) => {
    const deployment = ownWith((one) => (one['args'] = ['run', ...parameters]))[1]?.deployment as KubernetesObject;
    expect(hasFlag(deployment, '--no-dhcp')).toBe(expected);
  });

  it('a webhook for other resources of the group is not touched', () => {
    const rules = [{ apiGroups: ['network.harvesterhci.io'], resources: ['vlanconfigs', '*'] }];
    const other = { metadata: { name: 'x' }, webhooks: [{ rules }] } as unknown as KubernetesObject;
    expect(isAboutOurKinds(other)).toBe(false);
    expect(isUpstreamAddOn({ metadata: { name: 'pcidevices-controller' }, spec: { chart: 'pcidevices' } })).toBe(false);
  });
});
