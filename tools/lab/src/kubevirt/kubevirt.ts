/**
 * A stand-in for KubeVirt in a simulated cluster: the aggregated API of its subresources, and machines that start, run, stop and fail as it
 * documents, when a test lets them.
 */
import { readText } from '@vmdhcp/kube-runtime';
import { ApiError, type ApiObject, createServerCertificate, type JsonObject, type KubeSimulator } from '@vmdhcp/kube-simulator';
import { waitFor } from '../deadline.js';
import { type Refusal, SUBRESOURCES, type SubresourceDecision } from './decide-subresource.js';
import { conditionsOf, INSTANCES, MACHINES, placeOf } from './kubevirt-objects.js';
import { MachinePlayer } from './machine-player.js';
import { type BlockedPhase, ended, paused } from './plan-instance.js';
import { SUBRESOURCE_GROUP, type SubresourceAnswer, type SubresourceCall, SubresourceServer } from './subresource-server.js';

const NAMESPACE = 'kubevirt';
const SERVICE = 'virt-api';
const API_SERVICES = { group: 'apiregistration.k8s.io', resource: 'apiservices' } as const;

export interface KubeVirtSettings {
  /** Where machines run; `node-1` by default. */
  readonly nodeName?: string;
  /** Called for failures of the stand-in itself; a warning of the process by default. */
  readonly onError?: (error: unknown) => void;
}

/** A request that arrived, and what it was answered with. */
export interface SubresourceRequest extends Omit<SubresourceCall, 'body'> {
  /** HTTP status, or `no-answer`. */
  readonly answered: number | 'no-answer';
  /** Milliseconds since 1970. */
  readonly receivedAtMs: number;
}

/** Requests that are refused, whatever the state of the machine is. */
export interface RefusedRequests {
  /** `virtualmachines/start` by default. */
  readonly subresource?: string;
  /** `namespace/name`; all machines by default. */
  readonly key?: string;
  /** `no-answer`: the request stays open. */
  readonly answer: Refusal | 'no-answer';
  /** How many; all by default. */
  readonly times?: number;
}

/**
 * The point at which a machine is blocked. `request`: the controller ignores it; a phase: its instance does not leave it; `start`: each start fails,
 * and the next one waits; `schedule`: no node has room; `stop`: it does not end.
 */
export type BlockingPoint = 'request' | BlockedPhase | 'start' | 'schedule' | 'stop';

export class KubeVirt {
  readonly #simulator: KubeSimulator;
  readonly #settings: KubeVirtSettings;
  readonly #blocked = new Map<string, Set<BlockingPoint>>();
  readonly #player: MachinePlayer;
  #refusals: RefusedRequests[] = [];
  readonly #requests: SubresourceRequest[] = [];
  #server: SubresourceServer | undefined;

  private constructor(simulator: KubeSimulator, settings: KubeVirtSettings) {
    this.#simulator = simulator;
    this.#settings = settings;
    this.#player = new MachinePlayer({
      simulator,
      worldOf: (key) => this.#worldOf(key),
      isIgnored: (key) => this.#isBlocked(key, 'request'),
      backsOff: (key) => this.#isBlocked(key, 'start') && this.#hasFailed(key),
      onError: settings.onError ?? ((error) => process.emitWarning(error instanceof Error ? error : String(error))),
    });
  }

  /** Starts it in a cluster that has the kinds of KubeVirt, and waits until the API server sends it requests. */
  static async start(simulator: KubeSimulator, settings: KubeVirtSettings = {}): Promise<KubeVirt> {
    await waitFor('the kinds of KubeVirt to be served', () => areKindsServed(simulator));
    const kubevirt = new KubeVirt(simulator, settings);
    const certificate = await createServerCertificate([`${SERVICE}.${NAMESPACE}.svc`]);
    const { allowedNames, clientAuthority } = frontProxyOf(simulator);
    const answer = (call: SubresourceCall) => kubevirt.#answer(call);
    kubevirt.#server = await SubresourceServer.start({ certificate, allowedNames, clientAuthority, answer });
    simulator.serveService(NAMESPACE, SERVICE, kubevirt.#server.endpoint);
    await register(simulator, certificate.authority);
    await waitFor('the API server to reach virt-api', () => isAvailable(simulator));
    return kubevirt;
  }

  /** All requests for subresources so far, in their order. */
  get requests(): readonly SubresourceRequest[] {
    return this.#requests;
  }

  /** The requests to start a machine. @param key - `namespace/name`. */
  startsOf(key: string): readonly SubresourceRequest[] {
    return this.#requests.filter((request) => request.subresource === 'virtualmachines/start' && request.key === key);
  }

  /** How often a machine was started: requests that were accepted. */
  acceptedStartsOf(key: string): number {
    return this.startsOf(key).filter(({ answered }) => answered === 202).length;
  }

  /** From now on these requests are refused. @returns a function that stops this. */
  refuse(requests: RefusedRequests): () => void {
    this.#refusals.push(requests);
    return () => {
      this.#refusals = this.#refusals.filter((one) => one !== requests);
    };
  }

  /** Blocks a machine that reaches this point. @returns a function that unblocks it. */
  block(key: string, point: BlockingPoint): () => void {
    const points = this.#blocked.get(key) ?? new Set();
    this.#blocked.set(key, points.add(point));
    this.#player.look(key);
    return () => {
      points.delete(point);
      this.#player.look(key);
    };
  }

  /** The operating system shuts the machine down. */
  shutDown(key: string): Promise<void> {
    return this.#changeInstance(key, (instance) => ended(instance, 'Succeeded', now()));
  }

  /** The process of the machine ends with a failure. */
  crash(key: string): Promise<void> {
    return this.#changeInstance(key, (instance) => ended(instance, 'Failed', now()));
  }

  /** A migration to another node begins. @returns what completes it. */
  async migrate(key: string): Promise<() => Promise<void>> {
    const change = (completed: boolean) =>
      this.#changeInstance(key, ({ status }) => ({
        ...(status as JsonObject),
        migrationState: { startTimestamp: now(), completed },
      }));
    await change(false);
    return () => change(true);
  }

  /** Resolves when the machine has this `status.printableStatus`. */
  async untilStatus(key: string, printableStatus: string): Promise<ApiObject> {
    const seen = () => this.#simulator.client.get({ ...MACHINES, ...placeOf(key) });
    return await waitFor(`${key} to be ${printableStatus}, which is ${readText(seen(), 'status', 'printableStatus')}`, () => {
      const machine = seen();
      return readText(machine, 'status', 'printableStatus') === printableStatus ? machine : undefined;
    });
  }

  /** Continues after the simulator was restarted. */
  resume(): void {
    this.#player.watch();
  }

  /** Stops its API; machines stay as they are. */
  async stop(): Promise<void> {
    await this.#player.stop();
    await this.#server?.stop();
  }

  async #answer(call: SubresourceCall): Promise<SubresourceAnswer> {
    const receivedAtMs = performance.timeOrigin + performance.now();
    const answer = this.#refusalOf(call) ?? (await this.#decide(call));
    const { body: _body, ...request } = call;
    this.#requests.push({ ...request, receivedAtMs, answered: typeof answer === 'object' ? answer.code : answer });
    return answer;
  }

  #refusalOf({ subresource, key }: SubresourceCall): Refusal | 'no-answer' | undefined {
    const index = this.#refusals.findIndex(
      (one) => (one.subresource ?? 'virtualmachines/start') === subresource && (one.key ?? key) === key,
    );
    const found = this.#refusals[index];
    if (found === undefined) return undefined;
    if (found.times !== undefined)
      this.#refusals.splice(index, 1, ...(found.times > 1 ? [{ ...found, times: found.times - 1 }] : []));
    return found.answer;
  }

  async #decide({ subresource, key, body }: SubresourceCall): Promise<SubresourceAnswer> {
    if (body['paused'] === true)
      return { code: 400, reason: 'BadRequest', message: 'the KubeVirt stand-in does not start machines that are paused' };
    const { client } = this.#simulator;
    const place = placeOf(key);
    const observed = { machine: client.get({ ...MACHINES, ...place }), instance: client.get({ ...INSTANCES, ...place }) };
    const decision = SUBRESOURCES.get(subresource)?.({ name: place.name, ...observed });
    if (decision === undefined) throw new Error(`no subresource ${subresource}`);
    return await this.#apply(key, decision, Array.isArray(body['dryRun']));
  }

  async #apply(key: string, decision: SubresourceDecision, dryRun: boolean): Promise<SubresourceAnswer> {
    if (decision.kind === 'refused') return decision.refusal;
    if (decision.kind !== 'patch-machine') {
      if (!dryRun) await this.#changeInstance(key, (instance) => paused(instance, decision.kind === 'pause', now()));
      return 200;
    }
    const { subresource, patch } = decision;
    const path = { ...MACHINES, ...placeOf(key), ...(subresource === '' ? {} : { subresource }) };
    try {
      await this.#simulator.client.patch(path, { type: 'json', body: patch }, { dryRun });
      return 202;
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      return { code: 500, reason: 'InternalError', message: `Internal error occurred: ${error.message}` };
    }
  }

  async #changeInstance(key: string, change: (instance: ApiObject) => JsonObject): Promise<void> {
    const path = { ...INSTANCES, ...placeOf(key) };
    const instance = this.#simulator.client.get(path);
    if (instance === undefined) throw new Error(`${key} has no VirtualMachineInstance`);
    await this.#simulator.client.update(path, { ...instance, status: change(instance) });
  }

  #worldOf(key: string) {
    const phases: readonly BlockedPhase[] = ['Pending', 'Scheduling', 'Scheduled'];
    return {
      nodeName: this.#settings.nodeName ?? 'node-1',
      blockedIn: phases.find((phase) => this.#isBlocked(key, phase)),
      isUnschedulable: this.#isBlocked(key, 'schedule'),
      failsToStart: this.#isBlocked(key, 'start'),
      ignoresStop: this.#isBlocked(key, 'stop'),
      now: now(),
    };
  }

  #isBlocked(key: string, point: BlockingPoint): boolean {
    return this.#blocked.get(key)?.has(point) ?? false;
  }

  #hasFailed(key: string): boolean {
    const machine = this.#simulator.client.get({ ...MACHINES, ...placeOf(key) });
    return (machine?.['status'] as JsonObject | undefined)?.['startFailure'] !== undefined;
  }
}

const now = (): string => `${new Date().toISOString().slice(0, 19)}Z`;

/** A kind is served some time after it was defined. */
function areKindsServed({ client }: KubeSimulator): boolean {
  const definitions = { group: 'apiextensions.k8s.io', resource: 'customresourcedefinitions' };
  return [MACHINES, INSTANCES].every(({ group, resource }) => {
    const definition = client.get({ ...definitions, name: `${resource}.${group}` });
    return conditionsOf(definition ?? {}).some(({ type, status }) => type === 'Established' && status === 'True');
  });
}

/** The authority that may forward users, as every aggregated server reads it. */
function frontProxyOf({ client }: KubeSimulator): { readonly clientAuthority: string; readonly allowedNames: readonly string[] } {
  const config = client.get({ resource: 'configmaps', namespace: 'kube-system', name: 'extension-apiserver-authentication' });
  const clientAuthority = readText(config, 'data', 'requestheader-client-ca-file') ?? '';
  const allowedNames = JSON.parse(readText(config, 'data', 'requestheader-allowed-names') ?? '[]') as string[];
  return { clientAuthority, allowedNames };
}

async function register({ client }: KubeSimulator, authority: string): Promise<void> {
  if (client.get({ resource: 'namespaces', name: NAMESPACE }) === undefined)
    await client.create({ resource: 'namespaces' }, { metadata: { name: NAMESPACE } });
  await client.create(
    { resource: 'services', namespace: NAMESPACE },
    { metadata: { name: SERVICE }, spec: { ports: [{ port: 443, targetPort: 8443 }], selector: { 'kubevirt.io': SERVICE } } },
  );
  await client.create(API_SERVICES, {
    metadata: { name: `v1.${SUBRESOURCE_GROUP}` },
    spec: {
      group: SUBRESOURCE_GROUP,
      version: 'v1',
      caBundle: Buffer.from(authority).toString('base64'),
      groupPriorityMinimum: 1000,
      versionPriority: 15,
      service: { namespace: NAMESPACE, name: SERVICE },
    },
  });
}

function isAvailable({ client }: KubeSimulator): boolean {
  const registered = client.get({ ...API_SERVICES, name: `v1.${SUBRESOURCE_GROUP}` });
  return registered !== undefined && conditionsOf(registered).some(({ reason }) => reason === 'Passed');
}
