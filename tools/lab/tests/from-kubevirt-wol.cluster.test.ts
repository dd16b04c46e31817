/** A cluster in which kubevirt-wol was: its definition, a WolConfig and its agents are there when the controller starts. Always against a simulated API server. */
import { toCustomResourceDefinition, wolConfigResource } from '@vmdhcp/ippool-api';
import { type KubernetesObject, readConditions, readField, readList, readText } from '@vmdhcp/kube-runtime';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { CONTROLLER_BIN, freePort, LabProcess, PrivateCluster, waitFor } from '../src/index.js';

const THEIRS = 'kubevirt-wol-system/wol-agent-office';
const OURS = 'vm-dhcp-agents/wol-agent-office';
/** What its kind does not have. */
const NEW_FIELDS = ['unpause', 'passwordSecret'];

let cluster: PrivateCluster;
let before: KubernetesObject;

/** The definition as kubevirt-wol installs it, without the fields of this product. */
function formerDefinition(): KubernetesObject {
  const definition = structuredClone(toCustomResourceDefinition(wolConfigResource)) as unknown as KubernetesObject;
  const [version] = readList(definition.spec, 'versions');
  const properties = readField(version, 'schema', 'openAPIV3Schema', 'properties', 'spec', 'properties') as Record<
    string,
    unknown
  >;
  for (const name of NEW_FIELDS) delete properties[name];
  return definition;
}

/** Its agents, as its manager wrote them. */
function formerAgents(config: KubernetesObject): KubernetesObject {
  const labels = { app: 'wol-agent', 'wol.pillon.org/wolconfig': 'office', 'app.kubernetes.io/name': 'wol-agent' };
  const { uid = '', name } = config.metadata;
  const owner = {
    apiVersion: 'wol.pillon.org/v1beta1',
    kind: 'WolConfig',
    name,
    uid,
    controller: true,
    blockOwnerDeletion: true,
  };
  const args = ['--node-name=$(NODE_NAME)', '--operator-address=kubevirt-wol-grpc.kubevirt-wol-system.svc:9090', '--ports=9'];
  const spec = { hostNetwork: true, containers: [{ name: 'agent', image: 'quay.io/kubevirt-wol/agent', args }] };
  return {
    apiVersion: 'apps/v1',
    kind: 'DaemonSet',
    metadata: { namespace: 'kubevirt-wol-system', name: 'wol-agent-office', labels, ownerReferences: [owner] },
    spec: { selector: { matchLabels: labels }, template: { metadata: { labels }, spec } },
  };
}

beforeAll(async () => {
  cluster = await PrivateCluster.start(['crds.yaml', 'Wake-on-LAN'], { nodes: [{ name: 'node-1', labels: {} }] });
  const { admin } = cluster;
  await admin.create({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'kubevirt-wol-system' } });
  await admin.create(formerDefinition());
  const config = await admin.create({
    apiVersion: 'wol.pillon.org/v1beta1',
    kind: 'WolConfig',
    metadata: { name: 'office' },
    spec: { discoveryMode: 'All', wolPorts: [9], cacheTTL: 600 },
  });
  before = await admin.create(formerAgents(config));
});

afterAll(() => cluster?.close());

describe('what kubevirt-wol left, always against a simulated API server', () => {
  it('its WolConfigs work as they are, the definition gets the new fields, and its own agents are left alone', async () => {
    const { admin } = cluster;
    const flags = ['--namespace', 'vm-dhcp-agents', '--no-agent', '--image', 'agent:v1', '--wake-on-lan'];
    const controller = await cluster.startController(...flags, '--wake-on-lan-listen', `127.0.0.1:${await freePort()}`);
    const { spec } = await admin.waitForObject('WolConfig', 'office', ({ status }) =>
      readConditions(status).some(({ type, reason }) => type === 'Ready' && reason === 'MappingUpdated'),
    );
    expect(spec).toEqual({ discoveryMode: 'All', wolPorts: [9], cacheTTL: 600 });
    const agents = await admin.waitForObject('DaemonSet', OURS, () => true);
    expect(readList(readList(agents.spec, 'template', 'spec', 'containers')[0], 'args')).toEqual(
      expect.arrayContaining(['wol', '9']),
    );
    const definition = await admin.get('CustomResourceDefinition', 'wolconfigs.wol.pillon.org');
    const properties = readField(readList(definition?.spec, 'versions')[0], 'schema', 'openAPIV3Schema', 'properties', 'spec');
    expect(Object.keys(readField(properties, 'properties') ?? {})).toEqual(expect.arrayContaining(NEW_FIELDS));
    expect((await admin.get('DaemonSet', THEIRS))?.spec).toEqual(before.spec);
    await controller.stop();
  });

  it('uninstall ends our agents and not its', async () => {
    const running = new LabProcess(process.execPath, [CONTROLLER_BIN, 'uninstall', '--kubeconfig', cluster.adminKubeconfig]);
    expect((await running.ended(50_000)).code, running.lines.join('\n')).toBe(0);
    await waitFor('our agents to go', async () => (await cluster.admin.get('DaemonSet', OURS)) === undefined);
    expect(readText(await cluster.admin.get('DaemonSet', THEIRS), 'metadata', 'uid')).toBe(before.metadata.uid);
  });
});
