/** WolConfig at an API server, simulated in every run: what its definition accepts of the predecessor's objects, and what it refuses of new ones. */
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { type KubernetesObject, readField } from '@vmdhcp/kube-runtime';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { CONTROLLER_BIN, PrivateCluster } from '../src/index.js';

let cluster: PrivateCluster;

beforeAll(async () => {
  cluster = await PrivateCluster.start([]);
  const args = [CONTROLLER_BIN, 'crds', '--apply', '--wake-on-lan', '--kubeconfig', cluster.adminKubeconfig];
  const { stdout } = await promisify(execFile)(process.execPath, args, { timeout: 30_000 });
  expect(stdout).toContain('wolconfigs.wol.pillon.org created');
});

afterAll(() => cluster.close());

const config = (name: string, spec?: Readonly<Record<string, unknown>>): KubernetesObject => ({
  apiVersion: 'wol.pillon.org/v1beta1',
  kind: 'WolConfig',
  metadata: { name },
  ...(spec !== undefined && { spec }),
});

const client = () => cluster.admin.client('WolConfig');

async function refusal(object: KubernetesObject): Promise<string> {
  const result = await client().create(object);
  return result.ok ? '' : result.message;
}

describe('a WolConfig', () => {
  it('from the predecessor is accepted, with its defaults', async () => {
    const resources = { requests: { cpu: '50m', memory: '64Mi' }, limits: { cpu: 1, memory: '128Mi' } };
    const updateStrategy = { type: 'RollingUpdate', rollingUpdate: { maxUnavailable: 1 } };
    const tolerations = [{ key: 'node-role.kubernetes.io/master', operator: 'Exists', effect: 'NoSchedule' }];
    const stored = await cluster.admin.create(config('office', { agent: { resources, updateStrategy, tolerations } }));
    expect(stored.spec).toEqual({
      discoveryMode: 'All',
      wolPorts: [9],
      cacheTTL: 300,
      agent: { resources, updateStrategy, tolerations, imagePullPolicy: 'IfNotPresent' },
    });
    expect(await refusal(config('bare'))).toBe('');
  });

  it.each([
    ['Explicit without mappings', { discoveryMode: 'Explicit' }, 'DiscoveryMode Explicit needs explicitMappings'],
    ['LabelSelector without selector', { discoveryMode: 'LabelSelector' }, 'DiscoveryMode LabelSelector needs vmSelector'],
    ['port 70000', { wolPorts: [9, 70_000] }, 'write numbers from 1 to 65535'],
    ['port 0', { wolPorts: [0] }, 'write numbers from 1 to 65535'],
    ['no port', { wolPorts: [] }, 'wolPorts'],
  ])('with %s is refused when it is created', async (_, spec, message) => {
    expect(await refusal(config('wrong', spec))).toContain(message);
  });

  it('that the predecessor stored with such a spec stays writable', async () => {
    await cluster.admin.create(config('stored', {}));
    const conditions = [{ type: 'Ready', status: 'False', reason: 'InvalidConfig' }];
    const written = await client().patchStatus({ key: 'stored' }, { status: { conditions } });
    expect(written.ok).toBe(true);
    const changed = await cluster.admin.patch('WolConfig', 'stored', { spec: { discoveryMode: 'Explicit', wolPorts: [70_000] } });
    expect(readField(changed.spec, 'wolPorts')).toEqual([70_000]);
    const again = await client().patchStatus({ key: 'stored' }, { status: { managedVMs: 0, agentStatus: null } });
    expect(again.ok).toBe(true);
  });
});
