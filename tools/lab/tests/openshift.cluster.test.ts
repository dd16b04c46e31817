/** The rules of SecurityContextConstraints by which other tests judge our pods find each fault. No API server is needed. */
import type { KubernetesObject } from '@vmdhcp/kube-runtime';
import { describe, expect, it } from 'vitest';
import { admitOnOpenShift, installedByOlm, installedWith, restrictionPoints } from '../src/index.js';

const objects = installedWith('vmdhcp-openshift.yaml');
const ADDED = ['NET_ADMIN', 'NET_RAW', 'NET_BIND_SERVICE'];
const CONTEXT = {
  ...{ runAsNonRoot: true, runAsUser: 65_532, readOnlyRootFilesystem: true, allowPrivilegeEscalation: false },
  ...{ capabilities: { add: ADDED, drop: ['ALL'] }, seccompProfile: { type: 'RuntimeDefault' } },
};

/** A Deployment of agents, with these differences. */
function agents(pod: object = {}, context: object = {}, container: object = {}, namespace = 'vm-dhcp-agents'): KubernetesObject {
  const containers = [{ name: 'agent', securityContext: { ...CONTEXT, ...context }, ...container }];
  const spec = { template: { spec: { serviceAccountName: 'group', containers, ...pod } } };
  return { apiVersion: 'apps/v1', kind: 'Deployment', metadata: { namespace, name: 'group' }, spec };
}

describe('whom OpenShift admits', () => {
  it('agents of IPPools, also with the volume that the Network Resources Injector adds', () => {
    const volumes = [{ name: 'podnetinfo', downwardAPI: {} }];
    for (const one of [agents(), agents({ volumes }), agents({ securityContext: { fsGroup: 65_532 } })])
      expect(admitOnOpenShift(one, objects)).toEqual({ by: 'vm-dhcp-agent' });
  });

  it.each<[fault: string, workload: KubernetesObject, refusal: string]>([
    ['the network of the node', agents({ hostNetwork: true }), 'hostNetwork'],
    ['the processes of the node', agents({ hostPID: true }), 'hostPID'],
    ['shared memory of the node', agents({ hostIPC: true }), 'hostIPC'],
    ['a folder of the node', agents({ volumes: [{ name: 'a', hostPath: {} }] }), 'volume hostPath'],
    ['a Secret', agents({ volumes: [{ name: 'a', secret: {} }] }), 'volume secret'],
    ['a group of its own', agents({ securityContext: { fsGroup: 1 } }), 'fsGroup 1'],
    ['one capability more', agents({}, { capabilities: { add: [...ADDED, 'SYS_ADMIN'] } }), 'capability SYS_ADMIN'],
    ['root', agents({}, { runAsUser: 0 }), 'runAsUser 0'],
    ['whoever the image says', agents({}, { runAsUser: undefined, runAsNonRoot: undefined }), 'runAsUser undefined'],
    ['a privileged container', agents({}, { privileged: true }), 'privileged'],
    ['more rights than its parent', agents({}, { allowPrivilegeEscalation: true }), 'allowPrivilegeEscalation'],
    ['a root file system that it may write', agents({}, { readOnlyRootFilesystem: false }), 'root file system'],
    ['no seccomp', agents({}, { seccompProfile: { type: 'Unconfined' } }), 'seccompProfile Unconfined'],
    ['another SELinux context', agents({}, { seLinuxOptions: { type: 'spc_t' } }), 'seLinuxOptions'],
    ['a port of the node', agents({}, {}, { ports: [{ hostPort: 67 }] }), 'hostPort'],
  ])('no agents with %s', (_, workload, refusal) => {
    expect(admitOnOpenShift(workload, objects)).toEqual({
      refusals: expect.arrayContaining([`vm-dhcp-agent: ${refusal}`]) as string[],
    });
  });

  it('tries the most restrictive constraints first, by its own points, and those of these agents before restricted-v2', () => {
    const files = ['', '-wake-on-lan', '-bare-metal'].flatMap((part) => installedWith(`vmdhcp-openshift${part}.yaml`));
    const constraints = files.filter(({ kind }) => kind === 'SecurityContextConstraints');
    expect(Object.fromEntries(constraints.map((one) => [one.metadata.name, restrictionPoints(one)]))).toEqual({
      ...{ 'vm-dhcp-agent': 42_030, 'vm-dhcp-wake-on-lan-agent': 1_242_020, 'vm-dhcp-bare-metal-agent': 1_242_030 },
    });
    const everything = { allowPrivilegedContainer: true, allowHostPorts: true, allowHostNetwork: true, volumes: ['*'] };
    const anyone = { seLinuxContext: { type: 'RunAsAny' }, runAsUser: { type: 'RunAsAny' }, allowedCapabilities: ['*'] };
    const privileged = { kind: 'SecurityContextConstraints', metadata: { name: 'privileged' }, ...everything, ...anyone };
    expect(restrictionPoints(privileged as unknown as KubernetesObject)).toBe(3_089_000);
    // As restricted-v2 would admit it.
    const modest = agents({}, { capabilities: { drop: ['ALL'] }, runAsUser: undefined });
    expect(admitOnOpenShift(modest, objects)).toEqual({ by: 'vm-dhcp-agent' });
    expect(admitOnOpenShift(modest, [])).toEqual({ by: 'restricted-v2' });
    const preferred = objects.map((one) => (one.kind === 'SecurityContextConstraints' ? { ...one, priority: -1 } : one));
    expect(admitOnOpenShift(modest, preferred)).toEqual({ by: 'restricted-v2' });
  });

  describe('with the network of the node', () => {
    const capabilities = { add: ['NET_RAW', 'NET_BIND_SERVICE'], drop: ['ALL'] };
    const taken = agents(
      { serviceAccountName: 'vm-dhcp-wake-on-lan-agent', automountServiceAccountToken: false, hostNetwork: true },
      { capabilities },
    );
    const dhcp = [...installedWith('vmdhcp.yaml'), ...objects];
    const ofWake = [
      ...installedWith('vmdhcp-wake-on-lan.yaml'),
      ...objects,
      ...installedWith('vmdhcp-openshift-wake-on-lan.yaml'),
    ];
    const inRefusals = (refusal: string) => ({ refusals: expect.arrayContaining([refusal]) as string[] });

    it('agents of Wake-on-LAN are admitted where its file was applied, and nobody under their name where it was not', () => {
      expect(admitOnOpenShift(taken, ofWake)).toEqual({ by: 'vm-dhcp-wake-on-lan-agent' });
      expect(admitOnOpenShift(taken, dhcp)).toEqual(inRefusals('vm-dhcp-agent: hostNetwork'));
    });

    it('no pod of a namespace that someone else created, under the name of that of the agents: without it, or after it was deleted', () => {
      const ofOlm = [...installedByOlm('vm-dhcp-system'), ...installedWith('vmdhcp-openshift-olm.yaml')];
      const isLeft = ({ metadata }: KubernetesObject) => !/^vm-dhcp-(agents|system)$/.test(metadata.namespace ?? '');
      for (const all of [ofOlm, ofWake.filter(isLeft), dhcp.filter(isLeft)])
        for (const workload of [taken, agents()])
          expect(admitOnOpenShift(workload, all)).toEqual(inRefusals('restricted-v2: runAsUser 65532'));
      expect(ofWake.filter(isLeft).map(({ kind }) => kind)).toContain('SecurityContextConstraints');
    });
  });

  it('no pod of another namespace, and no agents before the file is applied', () => {
    const refusals = ['NET_ADMIN', 'NET_RAW'].map((one) => `restricted-v2: capability ${one}`);
    for (const [workload, all] of [
      [agents({}, {}, {}, 'default'), objects],
      [agents(), []],
    ] as const)
      expect(admitOnOpenShift(workload, all)).toEqual({ refusals: [...refusals, 'restricted-v2: runAsUser 65532'] });
  });
});
