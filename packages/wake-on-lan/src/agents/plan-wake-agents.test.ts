import { controllerOf, httpPortOf, type KubernetesObject, readField, readList } from '@vmdhcp/kube-runtime';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { ReadWolConfig } from '../config/read-wol-config.js';
import { AGENT_SETTINGS, readConfig } from '../config/wol-config-fixtures.js';
import { planWakeAgents, type WakeAgentsPlan } from './plan-wake-agents.js';
import { WAKE_HTTP_PORTS } from './wake-agent-daemon-set.js';

/** DaemonSets as an API server returns them after these writes. */
function applied(daemonSets: readonly KubernetesObject[], { writes }: WakeAgentsPlan): KubernetesObject[] {
  const byName = new Map(daemonSets.map((one) => [one.metadata.name, one]));
  for (const write of writes) {
    const { name } = write.object.metadata;
    if (write.kind === 'delete') byName.delete(name);
    if (write.kind === 'create') byName.set(name, stored(write.object));
    if (write.kind === 'patch') byName.set(name, stored(merged(write.object, write.patch) as KubernetesObject));
  }
  return [...byName.values()];
}

/** JSON: what is undefined is absent. */
function stored(object: KubernetesObject): KubernetesObject {
  return JSON.parse(JSON.stringify(object)) as KubernetesObject;
}

/** RFC 7396. */
function merged(target: unknown, patch: unknown): unknown {
  if (typeof patch !== 'object' || patch === null || Array.isArray(patch)) return patch;
  const result: Record<string, unknown> = { ...(typeof target === 'object' ? target : {}) };
  for (const [name, value] of Object.entries(patch)) {
    if (value === null) delete result[name];
    else result[name] = merged(result[name], value);
  }
  return result;
}

const plan = (configs: readonly ReadWolConfig[], daemonSets: readonly KubernetesObject[] = []) =>
  planWakeAgents({ configs, daemonSets }, AGENT_SETTINGS);
const after = (configs: readonly ReadWolConfig[], daemonSets: readonly KubernetesObject[] = []) =>
  applied(daemonSets, plan(configs, daemonSets));
const textsOf = ({ writes }: WakeAgentsPlan) => writes.map(({ kind, object }) => `${kind} ${object.metadata.name}`);
const one = (daemonSets: readonly KubernetesObject[]) => daemonSets[0] as KubernetesObject;
const portOf = (daemonSet: KubernetesObject) => httpPortOf(daemonSet, WAKE_HTTP_PORTS);
const containerOf = ({ spec }: KubernetesObject) => readList(spec, 'template', 'spec', 'containers')[0];

/** A DaemonSet of the predecessor: other labels in its selector, another port, and a ServiceAccount. */
function ofPredecessor(config: ReadWolConfig): KubernetesObject {
  const ours = one(after([config]));
  const matchLabels = { app: 'wol-agent', 'app.kubernetes.io/name': 'wol-agent' };
  const container = { name: 'agent', image: 'quay.io/old:1', ports: [{ containerPort: 8080 }] };
  const pod = { serviceAccountName: 'kubevirt-wol-wol-agent', containers: [container] };
  return { ...ours, spec: { selector: { matchLabels }, template: { spec: pod } } };
}

describe('a story of WolConfigs and DaemonSets', () => {
  const office = readConfig('office', {}, 1);

  it('no WolConfig, no DaemonSet; one, and there is one; gone, and it is deleted at once', () => {
    expect(textsOf(plan([]))).toEqual([]);
    expect(textsOf(plan([office]))).toEqual(['create wol-agent-office']);
    expect(textsOf(plan([], after([office])))).toEqual(['delete wol-agent-office']);
  });

  it('what drifts is repaired, and what others add stays', () => {
    const there = one(after([office]));
    const container = { ...(containerOf(there) as object), image: 'evil:1' };
    const drifted = merged(there, {
      metadata: { labels: { team: 'x' } },
      spec: { template: { metadata: { annotations: { restartedAt: 'now' } }, spec: { containers: [container] } } },
    }) as KubernetesObject;
    const repaired = one(after([office], [drifted]));
    expect(containerOf(repaired)).toEqual(containerOf(there));
    expect(repaired.metadata.labels).toMatchObject({ team: 'x' });
    expect(readField(repaired.spec, 'template', 'metadata', 'annotations')).toEqual({ restartedAt: 'now' });
  });

  it('labels of nodes and resources that are no longer wanted are removed', () => {
    const before = readConfig('office', {
      agent: { nodeSelector: { zone: 'a', disk: 'ssd' }, resources: { limits: { cpu: '1', memory: '1Gi' } } },
    });
    const now = readConfig('office', { agent: { nodeSelector: { zone: 'b' }, resources: { limits: { cpu: '2' } } } });
    const [changed] = after([now], after([before]));
    expect(readField(changed?.spec, 'template', 'spec', 'nodeSelector')).toEqual({ zone: 'b' });
    expect(readField(containerOf(changed as KubernetesObject), 'resources')).toEqual({ limits: { cpu: '2' } });
    expect(
      readField(one(after([office], [changed as KubernetesObject])).spec, 'template', 'spec', 'nodeSelector'),
    ).toBeUndefined();
  });

  it('amounts that the API server spells differently are equal', () => {
    const config = readConfig('office', { agent: { resources: { limits: { cpu: '0.5', memory: '1024Mi' } } } });
    const there = one(after([config]));
    const container = { ...(containerOf(there) as object), resources: { limits: { cpu: '500m', memory: '1Gi' } } };
    const written = merged(there, { spec: { template: { spec: { containers: [container] } } } }) as KubernetesObject;
    expect(textsOf(plan([config], [written]))).toEqual([]);
  });

  it('what was added to its pods by hand is removed', () => {
    const there = one(after([office]));
    const initContainers = [{ name: 'other', image: 'other' }];
    const added = { hostPID: true, initContainers, nodeName: 'node-b', nodeSelector: { zone: 'b' } };
    const drifted = merged(there, { spec: { template: { spec: added } } }) as KubernetesObject;
    expect(one(after([office], [drifted])).spec).toEqual(there.spec);
  });

  it('a WolConfig that shares all of its ports has no DaemonSet, and names the one whose agents listen', () => {
    const young = readConfig('young', { agent: { nodeSelector: { zone: 'a' } } }, 2);
    const { agents, writes } = plan([young, office]);
    expect(writes.map(({ object }) => object.metadata.name)).toEqual(['wol-agent-office']);
    expect(agents.get('young')?.daemonSetName).toBe('wol-agent-office');
    const alone = plan([young], after([young, office]));
    expect(textsOf(alone), 'the older one is gone').toEqual(['delete wol-agent-office', 'create wol-agent-young']);
  });

  it('a WolConfig whose port is refused has no DaemonSet, and one whose other port is free opens that port', () => {
    const some = readConfig('some', { agent: { nodeSelector: { zone: 'a' } } }, 0);
    expect(textsOf(plan([some, office]))).toEqual(['create wol-agent-some']);
    expect(plan([some, office]).agents.get('office')).toMatchObject({ daemonSetName: undefined });
    const both = readConfig('office', { wolPorts: [9, 7] }, 1);
    const [, daemonSet] = after([some, both]);
    expect(readField(containerOf(daemonSet as KubernetesObject), 'args')).toEqual(expect.arrayContaining(['--port', '7']));
    expect(readField(containerOf(daemonSet as KubernetesObject), 'args')).not.toContain('9');
  });

  it('a WolConfig that is recreated under its name has its own agents', () => {
    const former = { ...office, object: { ...office.object, metadata: { ...office.object.metadata, uid: 'former' } } };
    const [first, second] = [plan([office], after([former])), after([office], after([former]))];
    expect(textsOf(first)).toEqual(['delete wol-agent-office']);
    expect(controllerOf(one(after([office], second)))?.uid).toBe('uid-office');
  });

  it('a DaemonSet of another owner is left alone, and the problem names it', () => {
    const other = { ...one(after([office])), metadata: { namespace: 'vm-dhcp-system', name: 'wol-agent-office', uid: 'x' } };
    const planned = plan([office], [other]);
    expect(planned.writes).toEqual([]);
    expect(planned.agents.get('office')?.refusal).toContain('exists and was not created for WolConfig office');
    expect(textsOf(plan([], [other]))).toEqual([]);
  });

  it('the DaemonSet of the predecessor, whose selector has other labels, is deleted and recreated', () => {
    const old = ofPredecessor(office);
    expect(plan([office], [old]).writes).toMatchObject([{ kind: 'delete', isReplaced: true }]);
    expect(textsOf(plan([office], after([office], [old])))).toEqual(['create wol-agent-office']);
  });

  it('the kept image stays, with the user that it needs; a DaemonSet that would have to be recreated stays as it is', () => {
    const keeping = { ...office, agent: { ...office.agent, holdsImage: true } };
    const there = one(after([office]));
    const container = { ...(containerOf(there) as object), image: 'former:1', securityContext: { runAsUser: 0 }, args: ['x'] };
    const former = merged(there, { spec: { template: { spec: { containers: [container] } } } }) as KubernetesObject;
    const kept = containerOf(one(after([keeping], [former])));
    expect(kept).toMatchObject({ image: 'former:1', securityContext: { runAsUser: 0 } });
    expect(readField(kept, 'args')).toContain('--manager');
    expect(textsOf(plan([keeping], [ofPredecessor(office)]))).toEqual([]);
  });

  it('the plan waits for objects that are being deleted', () => {
    const there = one(after([office]));
    const leaving = { ...there, metadata: { ...there.metadata, deletionTimestamp: '2026-01-01T00:00:00Z' } };
    expect(textsOf(plan([office], [leaving]))).toEqual([]);
    expect(textsOf(plan([], [leaving]))).toEqual([]);
  });

  it('each DaemonSet has a separate HTTP port, and keeps it', () => {
    const zones = ['a', 'b', 'c'].map((zone, age) => readConfig(zone, { agent: { nodeSelector: { zone } } }, age));
    const all = after(zones);
    expect(all.map(portOf)).toEqual([0, 1, 2].map((more) => WAKE_HTTP_PORTS.first + more));
    const [, ...others] = zones;
    const without = after(others, all);
    expect(without.map(portOf)).toEqual([1, 2].map((more) => WAKE_HTTP_PORTS.first + more));
    const added = after([...others, readConfig('d', { agent: { nodeSelector: { zone: 'd' } } }, 9)], without);
    expect(added.map(portOf)).toEqual([1, 2, 0].map((more) => WAKE_HTTP_PORTS.first + more));
  });
});

const anyConfig = fc
  .record({
    name: fc.constantFrom('c1', 'c2', 'c3', 'c4'),
    age: fc.nat(3),
    ports: fc.uniqueArray(fc.constantFrom(7, 9), { minLength: 1 }),
    zone: fc.constantFrom(undefined, 'a', 'b'),
    promiscuous: fc.boolean(),
    cpu: fc.constantFrom(undefined, '1', '0.5'),
  })
  .map(({ name, age, ports, zone, promiscuous, cpu }) => {
    const agent = { promiscuous, ...(zone && { nodeSelector: { zone } }), ...(cpu && { resources: { limits: { cpu } } }) };
    return readConfig(name, { wolPorts: ports, agent }, age);
  });
const anyConfigs = fc.uniqueArray(anyConfig, { selector: ({ name }) => name, maxLength: 4 });

describe('laws of the plan', () => {
  it('after the plan is applied there is nothing to write, whatever was there before', () => {
    fc.assert(
      fc.property(anyConfigs, anyConfigs, (before, now) => {
        const there = after(now, after(before));
        expect(textsOf(plan(now, there))).toEqual([]);
        expect(new Set(there.map(portOf)).size).toBe(there.length);
      }),
    );
  });

  it('the order of what is read makes no difference', () => {
    fc.assert(
      fc.property(anyConfigs, anyConfigs, (before, now) => {
        const there = after(before);
        const sorted = (planned: WakeAgentsPlan) => textsOf(planned).toSorted();
        expect(sorted(plan(now.toReversed(), there.toReversed()))).toEqual(sorted(plan(now, there)));
        expect(new Map(after(now.toReversed(), there).map((item) => [item.metadata.name, item]))).toEqual(
          new Map(after(now, there).map((item) => [item.metadata.name, item])),
        );
      }),
    );
  });
});
