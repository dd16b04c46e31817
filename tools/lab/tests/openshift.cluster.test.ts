/** The rules of SecurityContextConstraints by which other tests judge our pods find each fault. No API server is needed. */
import type { KubernetesObject } from '@vmdhcp/kube-runtime';
import { describe, expect, it } from 'vitest';
import { admitOnOpenShift, installedWith } from '../src/index.js';

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

  it('no pod of another namespace, and no agents before the file is applied', () => {
    const refusals = ['NET_ADMIN', 'NET_RAW'].map((one) => `restricted-v2: capability ${one}`);
    for (const [workload, all] of [
      [agents({}, {}, {}, 'default'), objects],
      [agents(), []],
    ] as const)
      expect(admitOnOpenShift(workload, all)).toEqual({ refusals: [...refusals, 'restricted-v2: runAsUser 65532'] });
  });
});
