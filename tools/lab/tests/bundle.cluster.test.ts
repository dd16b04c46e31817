/**
 * bundle/, as Operator Lifecycle Manager installs it: what it has is accepted, and with the rights that its ClusterServiceVersion lists, and no others, the
 * controller and the webhook give a pool its agents, which OpenShift admits. Always against a simulated API server.
 */
import { execPath } from 'node:process';
import { fileURLToPath } from 'node:url';
import { type KubernetesObject, readField, readList, readText } from '@vmdhcp/kube-runtime';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  admitOnOpenShift,
  type ClusterAccess,
  CONTROLLER_BIN,
  compareRights,
  describeRight,
  InstalledProgram,
  installedByOlm,
  installedWith,
  keptByOlm,
  LabProcess,
  networkAttachment,
  PrivateCluster,
  rightsIn,
  waitFor,
} from '../src/index.js';

const KINDS = ['olm', 'openshift'].map((name) => fileURLToPath(new URL(`../kinds/${name}.yaml`, import.meta.url)));
const NAMESPACE = 'operators';
const WEBHOOK = 'vm-dhcp-webhook';
const REGISTRATIONS = ['MutatingWebhookConfiguration', 'ValidatingWebhookConfiguration'];
const objects = installedByOlm(NAMESPACE);
const onOpenShift = installedWith('vmdhcp-openshift-olm.yaml');
const deployments = objects.filter(({ kind }) => kind === 'Deployment');
const account = (name: string) => ({ namespace: NAMESPACE, name });

let cluster: PrivateCluster;
let admin: ClusterAccess;
const programs = new Map<string, InstalledProgram>();

beforeAll(async () => {
  cluster = await PrivateCluster.start(['crds.yaml'], {
    nodes: [{ name: 'node-1', labels: { 'network.harvesterhci.io/mgmt': 'true' } }],
    // As OpenShift does.
    ownerReferencePermissions: true,
  });
  admin = cluster.admin;
  for (const file of KINDS) await admin.applyFile(file);
  const isServed = async () => await admin.list('ClusterServiceVersion').then(Boolean, () => false);
  await waitFor('ClusterServiceVersions to be served', isServed);
  await admin.create({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: NAMESPACE } });
});

afterAll(async () => {
  for (const program of programs.values()) await program.kill();
  await cluster?.close();
});

/** An example of the ClusterServiceVersion. */
function exampleOf(kind: string): KubernetesObject {
  const text = objects[0]?.metadata.annotations?.['alm-examples'] ?? '[]';
  return (JSON.parse(text) as readonly KubernetesObject[]).find((one) => one.kind === kind) as KubernetesObject;
}

describe('the bundle for OLM, always against a simulated API server', () => {
  it('each object is accepted by an API server that refuses unknown fields', async () => {
    expect(deployments.map(({ metadata }) => metadata.name)).toEqual(['vm-dhcp-controller', WEBHOOK]);
    for (const object of objects) await admin.createStrictly(object);
  });

  it('a ClusterServiceVersion with a field of another name is refused', async () => {
    const [version] = objects as [KubernetesObject];
    const wrong = {
      ...version,
      metadata: { ...version.metadata, name: 'wrong' },
      spec: { ...(version.spec as object), installMode: [] },
    };
    await expect(admin.createStrictly(wrong)).rejects.toThrow('unknown field "spec.installMode"');
  });

  it('the programs start with these rights, define no kinds, and the example of an IPPool gets agents beside the controller', async () => {
    const definitions = async () =>
      (await admin.list('CustomResourceDefinition')).map(({ metadata }) => metadata.resourceVersion);
    const before = await definitions();
    for (const { metadata, spec } of deployments) {
      const pod = { namespace: NAMESPACE, name: metadata.name, spec: readField(spec, 'template', 'spec') };
      const program = await InstalledProgram.start(cluster.place, pod);
      programs.set(metadata.name, program);
      await program.ready();
    }
    // A webhook that is ready is registered: what is applied next is filled in.
    for (const kind of REGISTRATIONS) {
      const webhooks = readList(await admin.get(kind, WEBHOOK), 'webhooks');
      expect(
        webhooks.map((one) => typeof readText(one, 'clientConfig', 'caBundle')),
        kind,
      ).toContain('string');
    }
    await admin.create(networkAttachment('default/net-48', 'mgmt'));
    for (const kind of ['IPPool', 'VirtualMachineNetworkConfig']) await admin.createStrictly(exampleOf(kind));
    // What an example leaves out, the webhook has filled in.
    const pool = await admin.waitForObject('IPPool', 'default/net-48', () => true);
    expect(readText(pool.spec, 'ipv4Config', 'serverIP')).toBe('192.168.48.2');
    const agents = await waitFor('agents', async () =>
      (await admin.list('Deployment')).find(
        ({ metadata }) => metadata.namespace === NAMESPACE && !deployments.some((one) => one.metadata.name === metadata.name),
      ),
    );
    const admitted = admitOnOpenShift({ ...agents, kind: 'Deployment' }, [...objects, ...onOpenShift]);
    expect(admitted).toEqual({ by: 'vm-dhcp-agent' });
    await admin.waitForObject('IPPool', 'default/net-48', ({ status }) => readField(status, 'ipv4') !== undefined);
    expect(await definitions()).toEqual(before);
  });

  it('no request of the programs is refused for lack of a right', () => {
    for (const { metadata } of deployments) {
      const { refused } = compareRights([], cluster.simulator.audit.requests, account(metadata.name));
      expect(refused, metadata.name).toEqual([]);
    }
  });

  it('OpenShift admits the programs, by the constraints of the agents, which are more restrictive; and without its file no agents', () => {
    for (const deployment of deployments) {
      expect(admitOnOpenShift(deployment, objects)).toEqual({ by: 'nonroot-v2' });
      expect(admitOnOpenShift(deployment, [...objects, ...onOpenShift])).toEqual({ by: 'vm-dhcp-agent' });
    }
    const agents = {
      ...(deployments[0] as KubernetesObject),
      spec: { template: { spec: { containers: [{ securityContext: { capabilities: { add: ['NET_ADMIN'] } } }] } } },
    };
    expect(admitOnOpenShift(agents, objects)).toEqual({ refusals: ['restricted-v2: capability NET_ADMIN'] });
  });

  it('grants what manifests/vmdhcp.yaml grants, in its one namespace; no definitions, and Leases of controllers in every namespace', () => {
    const difference = (name: string) => {
      const inOne = (right: string) => right.replace(/ in vm-dhcp-(agents|system)$/, ` in ${NAMESPACE}`);
      const ours = rightsIn(objects, account(name)).map(describeRight);
      const theirs = rightsIn(installedWith('vmdhcp.yaml'), { namespace: 'vm-dhcp-system', name }).map(describeRight).map(inOne);
      const without = (some: readonly string[], others: readonly string[]) =>
        some.filter((one) => !others.includes(one)).toSorted();
      return { more: without(ours, theirs), less: without(theirs, ours) };
    };
    const constraints = (name: string) => `use securitycontextconstraints.security.openshift.io ${name} in ${NAMESPACE}`;
    const definitions = ['ippools', 'virtualmachinenetworkconfigs'].map(
      (plural) => `update customresourcedefinitions.apiextensions.k8s.io ${plural}.network.harvesterhci.io`,
    );
    const lease = [
      'create leases.coordination.k8s.io',
      ...['get', 'update'].map((verb) => `${verb} leases.coordination.k8s.io vm-dhcp-controllers`),
    ];
    expect(difference('vm-dhcp-controller')).toEqual({
      more: [...lease, constraints('nonroot-v2')],
      less: [
        'create customresourcedefinitions.apiextensions.k8s.io',
        ...lease.map((one) => `${one} in kube-system`),
        ...definitions,
      ].toSorted(),
    });
    expect(difference(WEBHOOK)).toEqual({ more: [constraints('nonroot-v2')], less: [] });
  });

  it('what OLM leaves when it deletes the ClusterServiceVersion refuses changes of IPPools, until uninstall has removed the registrations', async () => {
    const kept = keptByOlm(objects);
    expect(kept.map(({ kind, metadata }) => `${kind} ${metadata.name}`).toSorted()).toEqual([
      'ClusterRole vm-dhcp-webhook',
      'CustomResourceDefinition ippools.network.harvesterhci.io',
      'CustomResourceDefinition virtualmachinenetworkconfigs.network.harvesterhci.io',
      'RoleBinding vm-dhcp-agent',
    ]);
    for (const { process } of programs.values()) process.kill('SIGTERM');
    for (const { process } of programs.values()) await process.ended();
    for (const { kind = '', metadata } of objects.filter((one) => !kept.includes(one)))
      await admin.delete(kind, metadata.namespace === undefined ? metadata.name : `${metadata.namespace}/${metadata.name}`);
    const pause = async () => await admin.patch('IPPool', 'default/net-48', { spec: { paused: true } });
    await expect(pause()).rejects.toThrow('webhook');
    for (const kind of REGISTRATIONS) expect(await admin.get(kind, WEBHOOK), kind).toBeDefined();

    const uninstall = new LabProcess(execPath, [CONTROLLER_BIN, 'uninstall', '--kubeconfig', cluster.adminKubeconfig]);
    const { code } = await uninstall.ended(90_000);
    expect(code, uninstall.lines.join('\n')).toBe(0);
    for (const kind of REGISTRATIONS) expect(await admin.get(kind, WEBHOOK), kind).toBeUndefined();
    await pause();
  });
});
