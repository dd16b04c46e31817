import { readFileSync } from 'node:fs';
import { Resource } from '@vmdhcp/ippool-api/resources';
import { type ApiResource, type KubernetesObject, readField, readList, readText } from '@vmdhcp/kube-runtime';
import { ApiConnection, ApiObjectClient, type ClusterConnection, connectByKubeConfig } from '@vmdhcp/kube-runtime/node';
import { parse, parseAllDocuments } from 'yaml';
import { waitFor } from './deadline.js';

const NAMESPACED = { version: 'v1', namespaced: true } as const;
const REGISTRATION = { group: 'admissionregistration.k8s.io', version: 'v1', namespaced: false } as const;

/** Kinds that tests and the demo apply, by the name they have in YAML. */
const RESOURCES: Readonly<Record<string, ApiResource>> = {
  Addon: { group: 'harvesterhci.io', version: 'v1beta1', plural: 'addons', namespaced: true },
  Certificate: { group: 'cert-manager.io', ...NAMESPACED, plural: 'certificates' },
  ClusterServiceVersion: {
    group: 'operators.coreos.com',
    version: 'v1alpha1',
    plural: 'clusterserviceversions',
    namespaced: true,
  },
  ConfigMap: Resource.configMaps,
  CustomResourceDefinition: Resource.customResourceDefinitions,
  DaemonSet: Resource.daemonSets,
  Deployment: Resource.deployments,
  Event: Resource.events,
  IPPool: Resource.ipPools,
  Issuer: { group: 'cert-manager.io', ...NAMESPACED, plural: 'issuers' },
  Lease: Resource.leases,
  Namespace: { group: '', version: 'v1', plural: 'namespaces', namespaced: false },
  NetworkAttachmentDefinition: Resource.networks,
  NetworkPolicy: { group: 'networking.k8s.io', ...NAMESPACED, plural: 'networkpolicies' },
  Node: { group: '', version: 'v1', plural: 'nodes', namespaced: false },
  PersistentVolumeClaim: { group: '', version: 'v1', plural: 'persistentvolumeclaims', namespaced: true },
  Pod: { group: '', version: 'v1', plural: 'pods', namespaced: true },
  PodDisruptionBudget: { group: 'policy', ...NAMESPACED, plural: 'poddisruptionbudgets' },
  PodMonitor: { group: 'monitoring.coreos.com', ...NAMESPACED, plural: 'podmonitors' },
  Secret: { group: '', version: 'v1', plural: 'secrets', namespaced: true },
  SecurityContextConstraints: {
    group: 'security.openshift.io',
    version: 'v1',
    plural: 'securitycontextconstraints',
    namespaced: false,
  },
  Service: { group: '', version: 'v1', plural: 'services', namespaced: true },
  ServiceAccount: { group: '', version: 'v1', plural: 'serviceaccounts', namespaced: true },
  PrometheusRule: { group: 'monitoring.coreos.com', ...NAMESPACED, plural: 'prometheusrules' },
  ServiceMonitor: { group: 'monitoring.coreos.com', ...NAMESPACED, plural: 'servicemonitors' },
  ClusterRole: { group: 'rbac.authorization.k8s.io', version: 'v1', plural: 'clusterroles', namespaced: false },
  ClusterRoleBinding: { group: 'rbac.authorization.k8s.io', version: 'v1', plural: 'clusterrolebindings', namespaced: false },
  Role: { group: 'rbac.authorization.k8s.io', version: 'v1', plural: 'roles', namespaced: true },
  RoleBinding: { group: 'rbac.authorization.k8s.io', version: 'v1', plural: 'rolebindings', namespaced: true },
  MutatingWebhookConfiguration: { ...REGISTRATION, plural: 'mutatingwebhookconfigurations' },
  ValidatingWebhookConfiguration: { ...REGISTRATION, plural: 'validatingwebhookconfigurations' },
  ValidatingAdmissionPolicy: { ...REGISTRATION, plural: 'validatingadmissionpolicies' },
  ValidatingAdmissionPolicyBinding: { ...REGISTRATION, plural: 'validatingadmissionpolicybindings' },
  VirtualMachine: Resource.virtualMachines,
  VirtualMachineInstance: Resource.virtualMachineInstances,
  VirtualMachineNetworkConfig: Resource.networkConfigs,
  WolConfig: Resource.wolConfigs,
  ClusterAgent: Resource.clusterAgents,
  HostEndpoint: Resource.hostEndpoints,
  HostStatus: Resource.hostStatuses,
  HostOperation: Resource.hostOperations,
  LeaseSlice: { group: 'bmc.spidernet.io', version: 'v1beta1', plural: 'leaseslices', namespaced: true },
};

function resourceOf(kind: string): ApiResource {
  const resource = RESOURCES[kind];
  if (resource === undefined) throw new Error(`nothing is known of the kind ${kind}`);
  return resource;
}

/** The context of the simulator's kubeconfigs. */
const SIMULATOR = 'kube-simulator';
/** Rollouts of pods included. */
const OBJECT_TIMEOUT_MS = 60_000;

/** A real or simulated cluster, as the owner of a kubeconfig sees it. */
export class ClusterAccess {
  readonly connection: ApiConnection;

  private constructor(connection: ApiConnection) {
    this.connection = connection;
  }

  static async open(kubeconfigPath: string): Promise<ClusterAccess> {
    const connection = connectToSimulator(kubeconfigPath) ?? (await connectByKubeConfig({ path: kubeconfigPath }));
    return new ClusterAccess(new ApiConnection(connection, { userAgent: 'vmdhcp-lab' }));
  }

  client(kind: string): ApiObjectClient<KubernetesObject> {
    return new ApiObjectClient(this.connection, resourceOf(kind));
  }

  /** @param key - `namespace/name`, or the name alone of what has no namespace. */
  get(kind: string, key: string): Promise<KubernetesObject | undefined> {
    return this.client(kind).get(key);
  }

  async list(kind: string): Promise<readonly KubernetesObject[]> {
    return (await this.client(kind).list({ limit: 100_000 })).items;
  }

  /** Creates an object, as soon as its kind is served. @throws Error if the server refuses it. */
  async create(object: KubernetesObject): Promise<KubernetesObject> {
    const result = await waitFor(`${object.kind} to be served`, async () => {
      const tried = await this.client(object.kind ?? '').create(object);
      return !tried.ok && tried.reason === 'parent-not-found' ? undefined : tried;
    });
    if (!result.ok) throw new Error(`${object.kind} ${object.metadata.name}: ${result.message}`);
    return result.object;
  }

  /** Changes an object by a merge patch. */
  async patch(kind: string, key: string, patch: Readonly<Record<string, unknown>>): Promise<KubernetesObject> {
    const result = await this.client(kind).patch({ key }, patch);
    if (!result.ok) throw new Error(`${kind} ${key}: ${result.message}`);
    return result.object;
  }

  /** Deletes an object; does not fail if it is gone already. */
  async delete(kind: string, key: string): Promise<void> {
    const { uid = '' } = (await this.get(kind, key))?.metadata ?? {};
    if (uid === '') return;
    const result = await this.client(kind).delete(key, uid);
    if (!result.ok && result.reason !== 'not-found') throw new Error(`${kind} ${key}: ${result.message}`);
  }

  /** Creates every object of a YAML file, in its order; kinds that are defined in it are waited for. */
  async applyFile(path: string, onApplied: (object: KubernetesObject) => void = () => undefined): Promise<void> {
    await this.applyAll(readYaml(path), onApplied);
  }

  /** The same with objects. */
  async applyAll(
    objects: readonly KubernetesObject[],
    onApplied: (object: KubernetesObject) => void = () => undefined,
  ): Promise<void> {
    for (const object of objects) {
      await this.apply(object);
      onApplied(object);
    }
  }

  /** Creates an object if none has its name, as soon as its kind is served. */
  async apply(object: KubernetesObject): Promise<void> {
    await waitFor(`${object.kind} to be served`, () => this.#tryCreate(object));
  }

  /** Creates an object without unknown fields. @throws Error with the refusal of the server. */
  async createStrictly(object: KubernetesObject): Promise<void> {
    const kind = object.kind ?? '';
    const { group, version, plural, namespaced } = resourceOf(kind);
    const base = group === '' ? `/api/${version}` : `/apis/${group}/${version}`;
    const folder = namespaced ? `${base}/namespaces/${object.metadata.namespace}` : base;
    const request = { method: 'POST', path: `${folder}/${plural}?fieldValidation=Strict`, body: object } as const;
    await this.connection.request(request).catch((error: unknown) => {
      throw new Error(`${kind} ${object.metadata.name}: ${(error as Error).message}`, { cause: error });
    });
  }

  /** Waits until `matches` accepts an object; returns it. */
  async waitForObject(kind: string, key: string, matches: (object: KubernetesObject) => boolean): Promise<KubernetesObject> {
    return await waitFor(
      `${kind} ${key}`,
      async () => {
        const object = await this.get(kind, key);
        return object !== undefined && matches(object) ? object : undefined;
      },
      OBJECT_TIMEOUT_MS,
    );
  }

  close(): void {
    this.connection.close();
  }

  /** A kind that was defined a moment ago is not served yet: 404. */
  async #tryCreate(object: KubernetesObject): Promise<boolean> {
    const result = await this.client(object.kind ?? '').create(object);
    if (result.ok || result.reason === 'already-exists') return true;
    if (result.reason === 'parent-not-found') return false;
    throw new Error(`${object.kind} ${object.metadata.name}: ${result.message}`);
  }
}

/** The library that reads every kubeconfig takes half a second to load: those of the simulator have a CA and a token only. */
function connectToSimulator(path: string): ClusterConnection | undefined {
  const config: unknown = parse(readFileSync(path, 'utf8'));
  if (readText(config, 'current-context') !== SIMULATOR) return undefined;
  const cluster = readField(readList(config, 'clusters')[0], 'cluster');
  const token = readText(readList(config, 'users')[0], 'user', 'token');
  const authority = readText(cluster, 'certificate-authority-data');
  return {
    server: readText(cluster, 'server') ?? '',
    tls: authority === undefined ? {} : { ca: Buffer.from(authority, 'base64') },
    authorization: async () => (token ? `Bearer ${token}` : undefined),
    namespace: 'default',
  };
}

/** The objects of a YAML file. @throws Error if it is not YAML. */
export function readYaml(path: string): KubernetesObject[] {
  return parseAllDocuments(readFileSync(path, 'utf8')).flatMap((document) => {
    const [error] = document.errors;
    if (error !== undefined) throw new Error(`${path}: ${error.message}`);
    const object = document.toJS() as KubernetesObject | null;
    return object === null ? [] : [object];
  });
}
