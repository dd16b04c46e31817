/**
 * A controller that names addresses in the annotations of virtual machines (`annotateMachines` of the chart): it can write these, and nothing else of
 * a virtual machine. Always against a simulated API server, whatever KUBECONFIG names.
 */
import { hasRenderer, NEEDS_RENDERER, renderChart } from '@vmdhcp/chart-renderer';
import { type KubernetesObject, readField } from '@vmdhcp/kube-runtime';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  type ClusterAccess,
  compareRights,
  InstalledProgram,
  ipPool,
  networkAttachment,
  PrivateCluster,
  rightsIn,
  serviceAccountToken,
  virtualMachine,
} from '../src/index.js';

const CONTROLLER = { namespace: 'vm-dhcp-system', name: 'vm-dhcp-controller' };
const KEY = 'default/a';
const ADDRESSES = {
  'network.harvesterhci.io/assigned-addresses': '{"default":["10.1.0.10"]}',
  'harvesterhci.io/custom-ip': '10.1.0.10',
};
const OF_THE_OWNER = { 'example.org/owner': 'me' };

describe.skipIf(!hasRenderer())(`a controller that annotates machines ${NEEDS_RENDERER}`, () => {
  let cluster: PrivateCluster;
  let admin: ClusterAccess;
  let controller: InstalledProgram;
  let rendered: readonly KubernetesObject[];

  beforeAll(async () => {
    rendered = renderChart({
      namespace: CONTROLLER.namespace,
      set: ['annotateMachines=true', 'webhook.enabled=false', 'leaderElection.leaseDuration=15s'],
    }) as unknown as readonly KubernetesObject[];
    cluster = await PrivateCluster.start(['crds.yaml']);
    admin = cluster.admin;
    await admin.create({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: CONTROLLER.namespace } });
    await admin.applyAll(rendered.filter(({ kind }) => kind !== 'Deployment'));
    const deployment = rendered.find(({ kind, metadata }) => kind === 'Deployment' && metadata.name === CONTROLLER.name);
    const spec = readField(deployment?.spec, 'template', 'spec');
    expect(JSON.stringify(spec)).toContain('"--annotate-machines"');
    controller = await InstalledProgram.start(cluster.place, { namespace: CONTROLLER.namespace, name: 'controller', spec });
    await controller.ready();
  });

  afterAll(async () => {
    await controller?.process.stop();
    await cluster?.close();
  });

  it('writes the addresses of a machine, and the annotations of its owner stay', async () => {
    await admin.create(networkAttachment('default/net', 'red'));
    await admin.create(ipPool('default/net', { ipv4Config: { pool: { start: '10.1.0.10', end: '10.1.0.19' } } }));
    const made = virtualMachine(KEY, '02:00:00:00:00:0a', 'default/net');
    await admin.create({ ...made, metadata: { ...made.metadata, annotations: OF_THE_OWNER } });
    const { metadata } = await admin.waitForObject(
      'VirtualMachine',
      KEY,
      (one) => one.metadata.annotations?.['harvesterhci.io/custom-ip'] !== undefined,
    );
    expect(metadata.annotations).toEqual({ ...OF_THE_OWNER, ...ADDRESSES });
  });

  it.each([
    ['changes the specification', { spec: { running: false } }],
    ['changes another annotation', { metadata: { annotations: { 'example.org/owner': 'you' } } }],
    ['deletes another annotation', { metadata: { annotations: { 'example.org/owner': null } } }],
    ['adds another annotation', { metadata: { annotations: { 'static-ip.harvesterhci.io/nic': '10.1.0.12' } } }],
    ['adds a label', { metadata: { labels: { 'example.org/role': 'database' } } }],
    ['adds a finalizer', { metadata: { finalizers: ['example.org/stay'] } }],
  ])('its token neither %s nor deletes the machine', async (_, patch) => {
    const token = await serviceAccountToken(admin, CONTROLLER.namespace, CONTROLLER.name);
    const stolen = await cluster.open('stolen', token);
    const before = await admin.get('VirtualMachine', KEY);
    await expect(stolen.patch('VirtualMachine', KEY, patch)).rejects.toThrow(/the controller (writes only|changes nothing)/);
    await expect(stolen.delete('VirtualMachine', KEY)).rejects.toThrow(/forbidden/);
    expect(await admin.get('VirtualMachine', KEY)).toEqual(before);
  });

  it('its right to patch is used, and none that it needs is missing', () => {
    const patch = rightsIn(rendered, CONTROLLER).filter(
      ({ verb, resource }) => verb === 'patch' && resource === 'virtualmachines',
    );
    expect(patch).toHaveLength(1);
    const tried = ({ verb, allowed }: { verb: string; allowed: boolean }) => verb !== 'delete' || allowed;
    const requests = cluster.simulator.audit.requests.filter(tried);
    expect(compareRights(patch, requests, CONTROLLER)).toEqual({ unused: [], refused: [] });
  });
});
