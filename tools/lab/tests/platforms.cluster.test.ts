/**
 * The ways of docs/install.md to install on each platform, and the commands of each as they are written: what this machine has no program for is done by
 * what stands for it here (Helm: the renderer of the chart; operator-sdk: what OLM creates), and images are not built. Each way ends with a virtual machine that has its
 * address, and with agents where the example wants them. Always against a simulated API server.
 */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { hasRenderer, NEEDS_RENDERER, renderChart } from '@vmdhcp/chart-renderer';
import { type KubernetesObject, readField, readList, readText } from '@vmdhcp/kube-runtime';
import { describe, expect, it } from 'vitest';
import {
  admitOnOpenShift,
  has,
  InstalledProgram,
  installedByOlm,
  installedWith,
  KubectlPlugin,
  LabProcess,
  needs,
  PrivateCluster,
  readYaml,
  waitFor,
} from '../src/index.js';

const ROOT = fileURLToPath(new URL('../../..', import.meta.url));
const NAMESPACE = 'vm-dhcp-system';
const OPENSHIFT = 'OpenShift Virtualization';
const kinds = (name: string) => join(ROOT, `tools/lab/kinds/${name}.yaml`);

interface Way {
  readonly platform: string;
  readonly by: string;
  readonly commands: readonly string[];
}

const [, page = ''] = readFileSync(join(ROOT, 'docs/install.md'), 'utf8').split('\n## Your platform\n');
const [chapter = ''] = page.split('\n## ');
const [introduction = '', ...sections] = chapter.split('\n### ');
const blocksOf = (text: string) =>
  [...text.matchAll(/^```sh\n([\s\S]*?)^```/gm)].map(([, block = '']) => block.split('\n').filter(Boolean));
const [check = []] = blocksOf(introduction);
/** Each block of a section is a whole way. */
const WAYS: readonly Way[] = sections.flatMap((section) =>
  blocksOf(section).map((commands) => ({ platform: section.split('\n')[0] ?? '', by: installerOf(commands), commands })),
);

/** The program that installs. */
function installerOf(commands: readonly string[]): string {
  return ['helm', 'operator-sdk'].find((program) => commands.some((one) => one.startsWith(`${program} `))) ?? 'kubectl';
}

/** Where agents of the pool run, and which pods OpenShift admits. */
const AGENTS: Readonly<Record<string, { readonly label?: string; readonly resource?: string }>> = {
  Harvester: { label: 'network.harvesterhci.io/mgmt' },
  'KubeVirt with nmstate': { label: 'network.example.org/br1' },
  [OPENSHIFT]: { resource: 'bridge.network.kubevirt.io/br1' },
  'Cozystack, kube-ovn': {},
};

/** A cluster of the platform, and a person who types commands. */
class TypedInstallation {
  readonly #cluster: PrivateCluster;
  readonly #home = mkdtempSync(join(tmpdir(), 'vmdhcp-platform-'));
  readonly #plugin = new KubectlPlugin();
  /** By the name of their Deployment. */
  readonly #programs = new Map<string, InstalledProgram>();
  readonly platform: string;

  private constructor(cluster: PrivateCluster, platform: string) {
    this.#cluster = cluster;
    this.platform = platform;
  }

  static async start(platform: string): Promise<TypedInstallation> {
    const labels = { 'network.harvesterhci.io/mgmt': 'true', 'node-role.kubernetes.io/worker': '' };
    const cluster = await PrivateCluster.start(['crds.yaml'], {
      nodes: [{ name: 'node-1', labels }],
      ownerReferencePermissions: platform === OPENSHIFT,
    });
    await cluster.admin.applyFile(kinds('platforms'));
    if (platform === OPENSHIFT) for (const name of ['openshift', 'olm']) await cluster.admin.applyFile(kinds(name));
    return new TypedInstallation(cluster, platform);
  }

  get admin() {
    return this.#cluster.admin;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const program of this.#programs.values()) await program.kill();
    await this.#cluster.close();
    this.#plugin.close();
    rmSync(this.#home, { recursive: true });
  }

  /** What a person who types it sees. @throws Error for a command that nothing here can run. */
  async type(command: string): Promise<string> {
    const [program = ''] = command.split(' ', 1);
    switch (program) {
      case 'kubectl':
        return command.includes(' rollout status ') ? await this.#rolledOut(command) : await this.#run(command);
      case 'helm':
        await this.#install(this.#rendered(command));
        return command.includes(' --wait') ? await this.#ready() : '';
      case 'operator-sdk':
        await this.#install(installedByOlm(optionOf(command, '--namespace')));
        // It waits until the ClusterServiceVersion has succeeded, and so have its Deployments.
        return await this.#ready();
      case 'docker':
        return '';
      default:
        throw new Error(`nothing here runs ${program}`);
    }
  }

  async #run(command: string): Promise<string> {
    const shell = new LabProcess('sh', ['-c', `cd '${ROOT}' && ${command}`], {
      env: { KUBECONFIG: this.#cluster.adminKubeconfig, HOME: this.#home, PATH: this.#plugin.path },
    });
    const { code } = await shell.ended();
    const output = shell.lines.join('\n');
    // No pods of agents run here, so that the way to the address is broken there.
    expect(command.startsWith('kubectl vmdhcp why') ? [1] : [0], `${command}\n${output}`).toContain(code);
    if (command.includes('manifests/vmdhcp.yaml')) await this.#start(installedWith('vmdhcp.yaml'));
    return output;
  }

  #rendered(command: string): readonly KubernetesObject[] {
    expect(command).toMatch(/^helm install vmdhcp oci:\/\/\S+\/charts\/vmdhcp --namespace vm-dhcp-system --create-namespace/);
    const set = [...command.matchAll(/--set '([^']+)'/g)].map(([, values = '']) => values);
    const apiVersions = this.platform === OPENSHIFT ? ['security.openshift.io/v1'] : [];
    const objects = renderChart({ namespace: NAMESPACE, set, apiVersions }) as unknown as readonly KubernetesObject[];
    const namespace = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: NAMESPACE } };
    return [namespace, ...objects.filter(({ metadata }) => metadata.annotations?.['helm.sh/hook'] === undefined)];
  }

  async #install(objects: readonly KubernetesObject[]): Promise<void> {
    for (const object of objects) await this.admin.apply(object);
    await this.#start(objects);
  }

  /** Nothing of a cluster starts pods here, so kubectl would wait for ever. */
  async #rolledOut(command: string): Promise<string> {
    const [, name = ''] = /^kubectl -n vm-dhcp-system rollout status deployment\/(\S+)$/.exec(command) ?? [];
    const program = this.#programs.get(name);
    if (program === undefined) throw new Error(`nothing was started that ${command} waits for`);
    await program.ready();
    return '';
  }

  async #ready(): Promise<string> {
    for (const program of this.#programs.values()) await program.ready();
    return '';
  }

  async #start(objects: readonly KubernetesObject[]): Promise<void> {
    for (const { metadata, spec } of objects.filter(({ kind }) => kind === 'Deployment')) {
      const { namespace = '', name } = metadata;
      const program = await InstalledProgram.start(this.#cluster.place, {
        namespace,
        name,
        spec: readField(spec, 'template', 'spec'),
      });
      this.#programs.set(name, program);
    }
  }

  /** With their kinds, which lists of objects do not have. */
  async objects(...names: readonly string[]): Promise<readonly KubernetesObject[]> {
    const listed = await Promise.all(names.map(async (kind) => (await this.admin.list(kind)).map((one) => ({ ...one, kind }))));
    return listed.flat();
  }
}

function optionOf(command: string, option: string): string {
  const words = command.split(' ');
  return words[words.indexOf(option) + 1] ?? '';
}

/** What the parts of an example say: those that create it first, then those that use it. */
function partsOf(example: string): Readonly<Record<'bridges' | 'vlans' | 'networks' | 'nodes', readonly unknown[]>> {
  const objects = readYaml(join(ROOT, `examples/platforms/${example}.yaml`));
  const of = (kind: string) => objects.find((one) => one.kind === kind);
  const [policy, network] = [of('NodeNetworkConfigurationPolicy'), of('NetworkAttachmentDefinition')];
  const [pool, machine] = [of('IPPool'), of('VirtualMachine')];
  const [provider, vlan, subnet] = [of('ProviderNetwork'), of('Vlan'), of('Subnet')];
  const config = JSON.parse(readText(network?.spec, 'config') ?? '') as unknown;
  const { labels = {}, annotations = {} } = network?.metadata ?? {};
  const clusterNetwork = labels['network.harvesterhci.io/clusternetwork'];
  const parts = {
    bridges: [
      readText(readList(policy?.spec, 'desiredState', 'interfaces')[0], 'name'),
      readText(config, 'bridge'),
      annotations['k8s.v1.cni.cncf.io/resourceName']?.replace(/^bridge\.network\.kubevirt\.io\//, ''),
      clusterNetwork && `${clusterNetwork}-br`,
      provider?.metadata.name,
      readText(vlan?.spec, 'provider'),
    ],
    vlans: [
      ...[readField(config, 'vlan') ?? readField(vlan?.spec, 'id')].map(String),
      labels['network.harvesterhci.io/vlan-id'],
      vlan?.metadata.name,
      readText(subnet?.spec, 'vlan'),
    ],
    networks: [
      `${network?.metadata.namespace}/${network?.metadata.name}`,
      readText(pool?.spec, 'networkName'),
      ...readList(machine?.spec, 'template', 'spec', 'networks').map((one) => readText(one, 'multus', 'networkName')),
      readText(subnet?.spec, 'provider'),
      readText(config, 'provider'),
    ],
    nodes: [
      readField(policy?.spec, 'nodeSelector'),
      readField(pool?.spec, 'agentNodeSelector'),
      readField(machine?.spec, 'template', 'spec', 'nodeSelector'),
    ],
  };
  const said = (each: readonly unknown[]) => each.filter((one) => one !== undefined);
  return { bridges: said(parts.bridges), vlans: said(parts.vlans), networks: said(parts.networks), nodes: said(parts.nodes) };
}

/** The Deployment of the agents of the pool. */
async function agentsOf(installation: TypedInstallation): Promise<KubernetesObject> {
  return await waitFor('agents', async () =>
    (await installation.admin.list('Deployment')).find(
      ({ metadata }) => metadata.labels?.['network.harvesterhci.io/agent-group'] !== undefined,
    ),
  );
}

describe('the ways to install of docs/install.md, always against a simulated API server', () => {
  it('there is one for each platform, three for OpenShift, and all end with the same check', () => {
    expect(WAYS.map(({ platform, by }) => `${platform}: ${by}`)).toEqual([
      'Harvester: helm',
      'KubeVirt with nmstate: helm',
      ...['helm', 'kubectl', 'operator-sdk'].map((by) => `${OPENSHIFT}: ${by}`),
      'Cozystack, kube-ovn: helm',
    ]);
    expect(check.map((command) => command.split(/ {2,}/)[0])).toHaveLength(4);
  });

  it('operator-sdk removes the bundle without the definitions, with which it would delete all pools and addresses', () => {
    const [, uninstall = ''] = readFileSync(join(ROOT, 'docs/install.md'), 'utf8').split('\n## Uninstall\n');
    const cleanups = blocksOf(uninstall).flatMap((commands) => commands.filter((one) => one.startsWith('operator-sdk cleanup')));
    expect(cleanups).toEqual(['operator-sdk cleanup vmdhcp --namespace vm-dhcp-system --delete-all=false --delete-crds=false']);
  });

  it('no network of an example has addresses of its own, which KubeVirt would offer inside the pod of the virtual machine', () => {
    const files = ['harvester', 'nmstate', 'openshift', 'kube-ovn'].map((name) => join(ROOT, `examples/platforms/${name}.yaml`));
    const objects = files.flatMap((file) => readYaml(file));
    const networks = objects.filter(({ kind }) => kind === 'NetworkAttachmentDefinition');
    const plugins = networks.map(({ spec }) => JSON.parse(readText(spec, 'config') ?? '') as unknown);
    expect(plugins.map((plugin) => readText(plugin, 'ipam', 'type'))).toEqual(files.map(() => undefined));
    expect(objects.filter(({ kind }) => kind === 'Subnet').map(({ spec }) => readField(spec, 'cidrBlock'))).toEqual([undefined]);
  });

  it('all parts of an example name the same bridge, VLAN, network and nodes', () => {
    const networks = ['default/net-48', 'default/net-48', 'default/net-48'];
    const vlan = { vlans: ['48'], networks };
    const bridge = { ...vlan, bridges: ['br1', 'br1'] };
    const label = { 'network.example.org/br1': 'true' };
    expect(partsOf('harvester')).toEqual({ bridges: ['mgmt-br', 'mgmt-br'], vlans: ['48', '48'], networks, nodes: [] });
    expect(partsOf('nmstate')).toEqual({ ...bridge, nodes: [label, label, label] });
    const workers = { 'node-role.kubernetes.io/worker': '' };
    expect(partsOf('openshift')).toEqual({ ...bridge, bridges: ['br1', 'br1', 'br1'], nodes: [workers] });
    // The ProviderNetwork and its Vlan instead of a bridge; the Vlan and its Subnet; the Subnet and the network.
    expect(partsOf('kube-ovn')).toEqual({
      ...{ bridges: ['uplink', 'uplink'], vlans: ['48', 'vlan-48', 'vlan-48'], nodes: [] },
      networks: [...networks, 'net-48.default.ovn', 'net-48.default.ovn'],
    });
  });

  describe.skipIf(!hasRenderer() || !has('kubectl'))(`typed ${NEEDS_RENDERER}${needs('kubectl')}`, () => {
    it.concurrent.each(WAYS.map((way) => [way.platform, way.by, way] as const))(
      '%s, installed by %s: the commands work as they are written',
      { tags: ['nightly'] },
      async (_, __, { platform, commands }) => {
        await using installation = await TypedInstallation.start(platform);
        for (const command of commands) await installation.type(command);
        await installation.admin.waitForObject('VirtualMachineNetworkConfig', 'default/web', ({ status }) =>
          readList(status, 'networkConfigs').some((one) => readText(one, 'allocatedIPAddress') === '192.168.48.3'),
        );
        const outputs: string[] = [];
        for (const command of check) outputs.push(await installation.type(command));
        expect(outputs[2]).toContain('192.168.48.3');
        expect(outputs[3]).toContain('192.168.48.3');
        await expectAgents(installation);
      },
    );
  });
});

/** Agents run where the example wants them, and OpenShift admits all pods. */
async function expectAgents(installation: TypedInstallation): Promise<void> {
  const agents = await agentsOf(installation);
  const pod = readField(agents.spec, 'template', 'spec');
  const { label, resource } = AGENTS[installation.platform] ?? {};
  const terms = readList(pod, 'affinity', 'nodeAffinity', 'requiredDuringSchedulingIgnoredDuringExecution', 'nodeSelectorTerms');
  const labels = terms.flatMap((term) => readList(term, 'matchExpressions').map((one) => readText(one, 'key')));
  expect(labels).toEqual(label === undefined ? [] : [label]);
  const requests = readField(readList(pod, 'containers')[0], 'resources', 'requests') as Readonly<Record<string, string>>;
  expect(Object.keys(requests).filter((one) => one.includes('/'))).toEqual(resource === undefined ? [] : [resource]);
  if (installation.platform !== OPENSHIFT) return;
  const rights = await installation.objects(
    'ClusterRole',
    'ClusterRoleBinding',
    'Role',
    'RoleBinding',
    'SecurityContextConstraints',
  );
  for (const deployment of await installation.admin.list('Deployment')) {
    // The constraints of the agents are the most restrictive ones.
    const isBesideAgents = deployment.metadata.namespace === agents.metadata.namespace;
    expect(admitOnOpenShift(deployment, rights), deployment.metadata.name).toEqual({
      by: isBesideAgents ? 'vm-dhcp-agent' : 'nonroot-v2',
    });
  }
}
