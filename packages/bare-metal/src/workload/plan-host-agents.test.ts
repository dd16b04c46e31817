import { type KubernetesObject, readField, readList } from '@vmdhcp/kube-runtime';
import { applyMergePatch } from '@vmdhcp/kube-runtime/testing';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  clusterAgentObject,
  HOST_AGENT_SETTINGS,
  HOST_AGENTS_BINDING_OBJECT,
  hostEndpointObject,
} from '../controller/cluster-agent-fixtures.js';
import type { HostAgentSettings } from './host-agent-settings.js';
import { type HostAgentsObservation, type HostAgentsPlan, planHostAgents } from './plan-host-agents.js';

/** JSON: undefined fields are absent. A server omits empty maps of metadata. */
function stored(object: KubernetesObject): KubernetesObject {
  return JSON.parse(
    JSON.stringify(object, (key, value: unknown) =>
      ['annotations', 'labels'].includes(key) && Object.keys(value ?? {}).length === 0 ? undefined : value,
    ),
  ) as KubernetesObject;
}

const identityOf = ({ kind, metadata: { namespace, name } }: KubernetesObject) =>
  `${kind} ${namespace === undefined ? '' : `${namespace}/`}${name}`;
const textsOf = ({ writes }: HostAgentsPlan) => writes.map(({ kind, object }) => `${kind} ${identityOf(object)}`);

function applied(objects: readonly KubernetesObject[], { writes }: HostAgentsPlan): KubernetesObject[] {
  const there = new Map(objects.map((one) => [identityOf(one), one]));
  for (const write of writes) {
    const identity = identityOf(write.object);
    if (write.kind === 'delete') there.delete(identity);
    if (write.kind === 'create')
      there.set(identity, stored({ ...write.object, metadata: { ...write.object.metadata, uid: identity } }));
    if (write.kind === 'patch') there.set(identity, stored(applyMergePatch(write.object, write.patch) as KubernetesObject));
  }
  return [...there.values()];
}

const observe = (
  clusterAgents: readonly KubernetesObject[],
  objects: readonly KubernetesObject[] = [HOST_AGENTS_BINDING_OBJECT],
): HostAgentsObservation => ({
  clusterAgents,
  endpoints: [],
  credentials: new Set(),
  objects,
});
const plan = (observation: HostAgentsObservation, settings: HostAgentSettings = HOST_AGENT_SETTINGS) =>
  planHostAgents(observation, settings);
const after = (observation: HostAgentsObservation, settings = HOST_AGENT_SETTINGS) =>
  applied(observation.objects, plan(observation, settings));
const find = (objects: readonly KubernetesObject[], identity: string) =>
  objects.find((one) => identityOf(one) === identity) as KubernetesObject;
const RACK = 'Deployment vm-dhcp-agents/agent-rack';
const BINDING = 'ClusterRoleBinding vmdhcp-bare-metal-agents';
const podOf = (objects: readonly KubernetesObject[], identity = RACK) =>
  readField(find(objects, identity).spec, 'template', 'spec') as Readonly<Record<string, unknown>>;
const containerOf = (objects: readonly KubernetesObject[], identity = RACK) =>
  readList(podOf(objects, identity), 'containers')[0] as Readonly<Record<string, unknown>>;

describe('a story of ClusterAgents and their agents', () => {
  const rack = clusterAgentObject('rack');

  it('one has a ServiceAccount, a Lease and rights before it has agents; without it everything with a namespace is deleted, agents first', () => {
    expect(textsOf(plan(observe([])))).toEqual([]);
    expect(textsOf(plan(observe([rack])))).toEqual([
      'patch ClusterRoleBinding vmdhcp-bare-metal-agents',
      'create ServiceAccount vm-dhcp-agents/agent-rack',
      'create Lease vm-dhcp-agents/agent-rack',
      'create Role vm-dhcp-agents/agent-rack',
      'create RoleBinding vm-dhcp-agents/agent-rack',
      `create ${RACK}`,
    ]);
    expect(textsOf(plan(observe([], after(observe([rack])))))).toEqual([
      `delete ${RACK}`,
      'delete ServiceAccount vm-dhcp-agents/agent-rack',
      'delete Lease vm-dhcp-agents/agent-rack',
      'delete Role vm-dhcp-agents/agent-rack',
      'delete RoleBinding vm-dhcp-agents/agent-rack',
      'patch ClusterRoleBinding vmdhcp-bare-metal-agents',
    ]);
  });

  it('the one ClusterRoleBinding has the ServiceAccounts of exactly the ClusterAgents; roles without a namespace are never written', () => {
    const others = [clusterAgentObject('b', { age: 3 }), clusterAgentObject('a', { age: 9, yaml: { underlayInterface: 'x' } })];
    const subjectsOf = (objects: readonly KubernetesObject[]) =>
      readList(find(objects, BINDING), 'subjects').map(
        (one) => `${String(readField(one, 'namespace'))}/${String(readField(one, 'name'))}`,
      );
    const all = ['vm-dhcp-agents/agent-a', 'vm-dhcp-agents/agent-b', 'vm-dhcp-agents/agent-rack'];
    const there = after(observe([rack, ...others]));
    expect(subjectsOf(there)).toEqual(all);
    const edited = there.map((one) =>
      identityOf(one) === BINDING ? { ...one, ...{ subjects: [{ kind: 'Group', name: 'all' }] } } : one,
    );
    expect(subjectsOf(after(observe([rack, ...others], edited)))).toEqual(all);
    expect(subjectsOf(after(observe([], there)))).toEqual([]);
    const kinds = plan(observe([rack, ...others])).writes.map(({ kind, object }) => `${kind} ${object.kind}`);
    expect(kinds.filter((one) => one.includes('ClusterRole'))).toEqual(['patch ClusterRoleBinding']);
  });

  it('without the ClusterRoleBinding of the chart, the condition of each says what to do', () => {
    const { agents, writes } = plan(observe([rack], []));
    expect(writes.map(({ object }) => object.kind)).not.toContain('ClusterRoleBinding');
    expect(agents.get('rack')?.refusals).toEqual([
      'ClusterRoleBinding vmdhcp-bare-metal-agents does not exist, so agents have no rights: upgrade the chart with bareMetal.enabled=true, or apply manifests/vmdhcp-bare-metal.yaml of this version',
    ]);
  });

  it.each<[leases: HostAgentSettings['leases'], rules: number]>([
    [{ kind: 'api' }, 1],
    [{ kind: 'host-path', path: '/var/lib/vmdhcp' }, 0],
    [{ kind: 'pvc', size: '1Gi', storageClass: undefined }, 0],
  ])('agents may write LeaseSlices only if they keep leases in them and the controller may: %j', (leases, rules) => {
    const objects = after(observe([rack]), { ...HOST_AGENT_SETTINGS, leases });
    const found = objects.flatMap((one) => readList(one, 'rules')).filter((rule) => JSON.stringify(rule).includes('leaseslices'));
    expect(found).toHaveLength(rules);
  });

  it('every object has the ClusterAgent as its owner', () => {
    for (const { metadata } of after(observe([rack])).filter((one) => identityOf(one) !== BINDING))
      expect(metadata.ownerReferences).toMatchObject([{ kind: 'ClusterAgent', uid: 'uid-rack', controller: true }]);
  });

  it('edits are restored, and additions by others stay', () => {
    const there = after(observe([rack]));
    const drifted = there.map((object) =>
      identityOf(object) === RACK
        ? (applyMergePatch(object, {
            metadata: { labels: { team: 'x' } },
            spec: { replicas: 3, template: { spec: { hostNetwork: true, hostPID: true, initContainers: [{ name: 'other' }] } } },
          }) as KubernetesObject)
        : object.kind === 'Role'
          ? { ...object, ...{ rules: [{ apiGroups: ['*'], resources: ['*'], verbs: ['*'] }] } }
          : object,
    );
    const repaired = after(observe([rack], drifted));
    expect(find(repaired, RACK).spec).toEqual(find(there, RACK).spec);
    expect(find(repaired, RACK).metadata.labels).toMatchObject({ team: 'x' });
    expect(find(repaired, 'Role vm-dhcp-agents/agent-rack')).toEqual(find(there, 'Role vm-dhcp-agents/agent-rack'));
  });

  it('changes of DHCP, management controllers, and status restart no agent', () => {
    const there = after(observe([rack]));
    const changed = clusterAgentObject('rack', {
      dhcp: { ipRange: '192.168.0.20-192.168.0.90', gateway: '192.168.0.3', selfIp: '192.168.0.4/24', enableBindDhcpIP: false },
      endpoint: { port: 8443, https: false },
    });
    expect(textsOf(plan(observe([{ ...changed, status: { ready: true } }], there)))).toEqual([]);
  });

  it('with 0 replicas there are no agents, and the Deployment stays', () => {
    const off = clusterAgentObject('rack', { yaml: { replicas: 0 } });
    expect(readField(find(after(observe([off], after(observe([rack])))), RACK).spec, 'replicas')).toBe(0);
  });

  it('one that was recreated with the same name has its own objects', () => {
    const again = { ...rack, metadata: { ...rack.metadata, uid: 'another' } };
    const texts = textsOf(plan(observe([again], after(observe([rack])))));
    expect(texts[0]).toBe('delete ServiceAccount vm-dhcp-agents/agent-rack');
    expect(texts).toContain(`delete ${RACK}`);
  });

  it('one that is invalid keeps the agents that it has, unchanged, and gets no new ones', () => {
    const wrong = clusterAgentObject('rack', { yaml: { underlayInterface: '', image: 'other:2' } });
    expect(textsOf(plan(observe([wrong])))).toEqual([]);
    expect(textsOf(plan(observe([wrong], after(observe([rack])))))).toEqual([]);
    expect(
      plan(observe([wrong]))
        .agents.get('rack')
        ?.workload.problems.map(({ path }) => path.at(-1)),
    ).toEqual(['underlayInterface']);
  });

  it('one with invalid DHCP settings has agents: they follow its HostEndpoints', () => {
    expect(textsOf(plan(observe([clusterAgentObject('rack', { dhcp: { subnet: 'x' } })])))).toContain(`create ${RACK}`);
  });

  it('the annotation keeps the image that the agents run, with its user', () => {
    const there = after(observe([rack]));
    const pinned = clusterAgentObject('rack', {
      annotations: { 'bmc.spidernet.io/hold-agent-upgrade': 'true' },
      yaml: { image: 'new:2' },
    });
    expect(containerOf(after(observe([pinned], there)))['image']).toBe('registry.local/vmdhcp-agent:1');
    expect(containerOf(after(observe([clusterAgentObject('rack', { yaml: { image: 'new:2' } })], there)))['image']).toBe('new:2');
  });

  it('a Deployment of others is left alone, and the plan says what to do', () => {
    const other: KubernetesObject = {
      apiVersion: 'apps/v1',
      kind: 'Deployment',
      metadata: { namespace: 'vm-dhcp-agents', name: 'agent-rack' },
    };
    const { agents, writes } = plan(observe([rack], [other, HOST_AGENTS_BINDING_OBJECT]));
    expect(writes.filter(({ object }) => object.kind === 'Deployment')).toEqual([]);
    expect(agents.get('rack')?.refusals).toEqual([expect.stringContaining('was not created for ClusterAgent rack')]);
  });
});

describe('pods', () => {
  it('run `vmdhcp-agent hosts` on the network of the ClusterAgent, without root', () => {
    const there = after(observe([clusterAgentObject('rack')]));
    expect(containerOf(there)).toMatchObject({
      args: ['hosts', '--cluster-agent', 'rack', '--listen', '$(POD_IP):8080', '--leases', 'api'],
      securityContext: { runAsNonRoot: true, capabilities: { drop: ['ALL'], add: ['NET_BIND_SERVICE', 'NET_RAW', 'NET_ADMIN'] } },
    });
    expect(readField(find(there, RACK).spec, 'template', 'metadata', 'annotations')).toEqual({
      'k8s.v1.cni.cncf.io/networks': 'kube-system/management@net1',
    });
  });

  it.each([
    ['a list for Multus is passed as it is', { underlayInterface: 'a/b@x,c/d@y' }, {}, 'a/b@x,c/d@y'],
    ['the first interface of a pod is not renamed', {}, { dhcpServerInterface: 'eth0' }, 'kube-system/management'],
  ])('%s', (_, yaml, dhcp, expected) => {
    const there = after(observe([clusterAgentObject('rack', { yaml, dhcp })]));
    expect(readField(find(there, RACK).spec, 'template', 'metadata', 'annotations', 'k8s.v1.cni.cncf.io/networks')).toBe(
      expected,
    );
  });

  it('on the network of the nodes each ClusterAgent has a port, and keeps it; the old pod ends first', () => {
    const named = ['a', 'b', 'c'].map((name, age) =>
      clusterAgentObject(name, { age, yaml: { hostNetwork: true }, dhcp: { dhcpServerInterface: `bond${age}` } }),
    );
    const portsOf = (objects: readonly KubernetesObject[], names: readonly string[]) =>
      names.map((name) =>
        readField(readList(containerOf(objects, `Deployment vm-dhcp-agents/agent-${name}`), 'ports')[0], 'hostPort'),
      );
    const there = after(observe(named));
    expect(portsOf(there, ['a', 'b', 'c'])).toEqual([20_420, 20_421, 20_422]);
    expect(plan(observe(named, there)).writes).toEqual([]);
    expect(portsOf(after(observe(named.slice(1), there)), ['b', 'c'])).toEqual([20_421, 20_422]);
    expect(readField(find(there, 'Deployment vm-dhcp-agents/agent-a').spec, 'strategy', 'rollingUpdate')).toEqual({
      maxUnavailable: 1,
      maxSurge: 0,
    });
    expect(
      readField(find(there, 'Deployment vm-dhcp-agents/agent-a').spec, 'template', 'metadata', 'annotations'),
    ).toBeUndefined();
  });

  it.each([
    [true, 'host'],
    [false, 'own'],
  ])('with hostNetwork %s know whether they have the network of the node: %s', (hostNetwork, whose) => {
    const there = after(observe([clusterAgentObject('rack', { yaml: { hostNetwork } })]));
    expect(readList(containerOf(there, RACK), 'env')).toContainEqual({ name: 'AGENT_POD_NETWORK', value: whose });
  });

  it('are on the nodes that the ClusterAgent selects, and a removed part of an affinity is removed', () => {
    const terms = [{ matchExpressions: [{ key: 'rack', operator: 'In', values: ['1'] }] }];
    const required = { requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms: terms } };
    const there = after(observe([clusterAgentObject('rack', { yaml: { nodeAffinity: required, nodeName: 'node-1' } })]));
    expect(podOf(there)).toMatchObject({ nodeName: 'node-1', affinity: { nodeAffinity: required } });
    const preferred = {
      preferredDuringSchedulingIgnoredDuringExecution: [
        { weight: 1, preference: { matchExpressions: [{ key: 'rack', operator: 'Exists' }] } },
      ],
    };
    const changed = after(observe([clusterAgentObject('rack', { yaml: { nodeAffinity: preferred } })], there));
    expect(podOf(changed)['affinity']).toEqual({ nodeAffinity: preferred });
    expect(podOf(after(observe([clusterAgentObject('rack')], changed)))['affinity']).toBeUndefined();
  });
});

describe('leases in a volume or in a folder of the node', () => {
  const many = clusterAgentObject('rack', { yaml: { replicas: 3 } });
  const pvc: HostAgentSettings = { ...HOST_AGENT_SETTINGS, leases: { kind: 'pvc', size: '100M', storageClass: 'fast' } };
  const folder: HostAgentSettings = { ...HOST_AGENT_SETTINGS, leases: { kind: 'host-path', path: '/var/lib/dhcp' } };

  it.each([
    ['a volume', pvc],
    ['a folder', folder],
  ])('in %s have one writer: one agent, which ends before the next one starts', (_, settings) => {
    const there = after(observe([many]), settings);
    expect(find(there, RACK).spec).toMatchObject({ replicas: 1, strategy: { type: 'Recreate' } });
    expect(plan(observe([many]), settings).agents.get('rack')?.limit).toContain(
      'spec.agentYaml.replicas is 3, but only one agent runs',
    );
    expect(plan(observe([many], there), settings).writes).toEqual([]);
  });

  it.each([
    ['a volume, into which the user of the container may write', pvc, 65_532],
    ['a folder, whose owner a person has chosen', folder, undefined],
    ['objects', HOST_AGENT_SETTINGS, undefined],
  ])('set the group of files of agents with %s', (_, settings, fsGroup) => {
    expect((podOf(after(observe([many]), settings))['securityContext'] as { fsGroup?: number }).fsGroup).toBe(fsGroup);
  });

  it('keep their volume when they move elsewhere, with the size that it was created with', () => {
    const there = after(observe([many]), pvc);
    expect(find(there, 'PersistentVolumeClaim vm-dhcp-agents/agent-rack-dhcp-data').spec).toEqual({
      accessModes: ['ReadWriteOnce'],
      storageClassName: 'fast',
      resources: { requests: { storage: '100M' } },
    });
    expect(
      textsOf(plan(observe([many], there), { ...pvc, leases: { kind: 'pvc', size: '1G', storageClass: undefined } })),
    ).toEqual([]);
    expect(textsOf(plan(observe([many], there)))).toEqual(['patch Role vm-dhcp-agents/agent-rack', `patch ${RACK}`]);
    expect(podOf(after(observe([many], there)))['volumes']).toBeUndefined();
  });

  it('in a folder of the node, which belongs to root, need an agent that is root, with the same capabilities', () => {
    const there = after(observe([many]), folder);
    expect(podOf(there)['volumes']).toEqual([
      { name: 'leases', hostPath: { path: '/var/lib/dhcp/rack', type: 'DirectoryOrCreate' } },
    ]);
    expect(containerOf(there)['securityContext']).toMatchObject({ runAsUser: 0, capabilities: { drop: ['ALL'] } });
  });
});

describe('Secrets', () => {
  it('agents read those of their hosts, by name, in allowed namespaces, and lose the right when they are no longer named', () => {
    const rack = clusterAgentObject('rack', { endpoint: { secretName: 'default', secretNamespace: 'bmc-secrets' } });
    const endpoints = [
      hostEndpointObject('one', { ipAddr: '10.0.0.1', secretName: 'one', secretNamespace: 'bmc-secrets' }),
      hostEndpointObject('two', { ipAddr: '10.0.0.2', secretName: 'two', secretNamespace: 'kube-system' }),
    ];
    const credentials = new Set(['bmc-secrets/default', 'bmc-secrets/one']);
    const there = applied([], plan({ clusterAgents: [rack], endpoints, credentials, objects: [] }));
    const role = find(there, 'Role bmc-secrets/agent-rack') as KubernetesObject & { readonly rules: readonly unknown[] };
    expect(role.rules).toEqual([
      { apiGroups: [''], resources: ['secrets'], resourceNames: ['default', 'one'], verbs: ['list', 'watch'] },
    ]);
    expect(there.map(identityOf).filter((one) => one.includes('kube-system'))).toEqual([]);
    expect(textsOf(plan(observe([clusterAgentObject('rack')], there)))).toEqual([
      'delete Role bmc-secrets/agent-rack',
      'delete RoleBinding bmc-secrets/agent-rack',
    ]);
  });
});

describe('a Secret that is not labelled as credentials of hosts', () => {
  it.each(['vmdhcp-wake-on-lan-ca', 'vmdhcp-webhook-ca', 'other'])(
    'is granted to no agent, even if an object names it: %s',
    (secretName) => {
      const named = { secretName, secretNamespace: 'vm-dhcp-agents' };
      const clusterAgents = [clusterAgentObject('rack', { endpoint: named })];
      const endpoints = [hostEndpointObject('one', { ipAddr: '10.0.0.1', ...named })];
      const credentials = new Set(['vm-dhcp-agents/redfish', `bmc-secrets/${secretName}`]);
      const { writes } = plan({ clusterAgents, endpoints, credentials, objects: [] });
      expect(writes.map(({ object }) => identityOf(object))).toContain('Role vm-dhcp-agents/agent-rack');
      expect(JSON.stringify(writes)).not.toContain(secretName);
    },
  );
});

describe('laws', () => {
  const agent = fc.record({
    replicas: fc.integer({ min: 0, max: 3 }),
    hostNetwork: fc.boolean(),
    nodeName: fc.constantFrom(undefined, '', 'node-1'),
    underlayInterface: fc.constantFrom('a', 'kube-system/a', 'x/y@z'),
  });
  const settings = fc.constantFrom<HostAgentSettings['leases']>(
    { kind: 'api' },
    { kind: 'host-path', path: '/x' },
    { kind: 'pvc', size: '1G', storageClass: undefined },
  );

  it('after a plan there is nothing to do, whatever existed; and the order of ClusterAgents does not matter', () => {
    const agents = fc.array(agent, { maxLength: 4 });
    fc.assert(
      fc.property(agents, agents, settings, (before, now, leases) => {
        const objectsOf = (specs: readonly object[]) =>
          specs.map((yaml, age) => clusterAgentObject(`agent${age}`, { yaml: { ...yaml }, age }));
        const used = { ...HOST_AGENT_SETTINGS, leases };
        const there = after(observe(objectsOf(now), after(observe(objectsOf(before)))), used);
        expect(textsOf(plan(observe(objectsOf(now), there), used))).toEqual([]);
        expect(plan(observe(objectsOf(now).toReversed()), used)).toEqual(plan(observe(objectsOf(now)), used));
      }),
      { numRuns: 60 },
    );
  });
});
