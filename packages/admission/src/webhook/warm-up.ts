/**
 * Sends made-up requests over TLS to a separate server on the loopback interface, with the rules and the caches of the real one:
 * so the engine compiles the code of a decision before the first request arrives. Without it, the 99th percentile of the first
 * seconds is tens of milliseconds.
 */
import type { Pair } from '@vmdhcp/service-certificates';
import { ADMISSION_PATHS, type AdmissionReviewer, AdmissionServer } from './admission-server.js';

export interface WarmUpSettings {
  readonly certificate: Pair;
  /** Has no effect, and waits for nothing. */
  readonly review: AdmissionReviewer;
  /** The largest number of requests; default 4,000. */
  readonly requests?: number;
  /** How much of a processor it may use, and how long it may take; default 1,000 and 2,000 ms. */
  readonly most?: { readonly workMs: number; readonly wallMs: number };
}

const REQUESTS = 4_000;
const AT_ONCE = 8;
/** If the processor is slow or shared, a replica that responds slowly is better than none. */
const MOST = { workMs: 1_000, wallMs: 2_000 };

/** Resolves when all are answered, or the time is used up. @throws Error for example if there is no loopback interface. */
export async function warmUp({ certificate, review, requests = REQUESTS, most = MOST }: WarmUpSettings): Promise<void> {
  const nothing = () => undefined;
  const server = await AdmissionServer.start({
    listen: { host: '127.0.0.1', port: 0 },
    certificate,
    review,
    onDecided: nothing,
    onMalformed: nothing,
    onError: nothing,
  });
  const { Agent } = process.getBuiltinModule('node:https');
  // The server is this process: there is nothing to verify.
  const agent = new Agent({ keepAlive: true, maxSockets: AT_ONCE, rejectUnauthorized: false });
  // A request without a response must not prevent the webhook from listening.
  let isOver = false;
  const limit = setTimeout(() => {
    isOver = true;
    agent.destroy();
  }, most.wallMs);
  try {
    let next = 0;
    const isTime = timeIsLeft(most);
    const work = async (): Promise<void> => {
      while (next < requests && !isOver && isTime()) await ask(server.port, agent, next++);
    };
    await Promise.all(Array.from({ length: AT_ONCE }, work));
  } catch (error) {
    if (!isOver) throw error;
  } finally {
    clearTimeout(limit);
    agent.destroy();
    await server.stop();
  }
}

function timeIsLeft({ workMs, wallMs }: Required<WarmUpSettings>['most']): () => boolean {
  const [startMs, before] = [performance.now(), process.cpuUsage()];
  let asked = 0;
  let isLeft = workMs > 0 && wallMs > 0;
  return () => {
    // Measuring in the kernel costs as much as a request.
    if (!isLeft || asked++ % AT_ONCE !== 0) return isLeft;
    const { user, system } = process.cpuUsage(before);
    isLeft = performance.now() - startMs < wallMs && (user + system) / 1_000 < workMs;
    return isLeft;
  };
}

async function ask(port: number, agent: import('node:https').Agent, count: number): Promise<void> {
  const { request } = process.getBuiltinModule('node:https');
  const body = bodyOf(count);
  await new Promise<void>((resolve, reject) => {
    const options = { host: '127.0.0.1', port, path: ADMISSION_PATHS[body.path], method: 'POST', agent };
    const sent = request(options, (response) => response.resume());
    sent.once('error', reject);
    // After the whole response, or when the connection ends before it.
    sent.once('close', resolve);
    sent.end(body.text);
  });
}

/** One of each kind in turn, valid and invalid. No object has their names. */
function bodyOf(count: number): { readonly path: keyof typeof ADMISSION_PATHS; readonly text: string } {
  const number = Math.floor(count / KINDS.length) % 250;
  const { path = 'validation', ...request } = (KINDS[count % KINDS.length] ?? machine)(number);
  const about = { uid: 'warm-up', namespace: 'vmdhcp-warm-up', name: `warm-up-${number}` };
  const review = { apiVersion: 'admission.k8s.io/v1', kind: 'AdmissionReview', request: { ...about, ...request } };
  return { path, text: JSON.stringify(review) };
}

interface MadeUp {
  readonly path?: keyof typeof ADMISSION_PATHS;
  readonly operation: string;
  readonly resource: { readonly resource: string };
  readonly object: object;
  readonly oldObject?: object;
}

const NETWORK = 'vmdhcp-warm-up/none';

function machine(number: number): MadeUp {
  const macAddress = `02:00:00:00:00:${number.toString(16).padStart(2, '0')}`;
  const spec = {
    domain: { devices: { interfaces: [{ name: 'nic-1', macAddress, bridge: {} }] } },
    networks: [{ name: 'nic-1', multus: { networkName: NETWORK } }],
  };
  const object = {
    apiVersion: 'kubevirt.io/v1',
    kind: 'VirtualMachine',
    metadata: metadataOf(number),
    spec: { template: { spec } },
  };
  return { operation: 'CREATE', resource: { resource: 'virtualmachines' }, object };
}

function config(number: number): MadeUp {
  const networkConfigs = [{ networkName: NETWORK, macAddress: '02:00:00:00:00:01', ipAddress: `192.0.2.${number}` }];
  const kind = { apiVersion: 'network.harvesterhci.io/v1alpha1', kind: 'VirtualMachineNetworkConfig' };
  const object = { ...kind, metadata: metadataOf(number), spec: { vmName: 'none', networkConfigs } };
  return { operation: 'CREATE', resource: { resource: 'virtualmachinenetworkconfigs' }, object };
}

function newPool(number: number): MadeUp {
  return { operation: 'CREATE', resource: { resource: 'ippools' }, object: poolOf(number, { cidr: `192.0.2.${number}/33` }) };
}

function changedPool(number: number): MadeUp {
  const ipv4Config = { cidr: '192.0.2.0/24', serverIP: '192.0.2.1', pool: { start: '192.0.2.2', end: '192.0.2.99' } };
  const [object, oldObject] = [poolOf(number, { ...ipv4Config, leaseTime: 60 + number }), poolOf(number, ipv4Config)];
  return { operation: 'UPDATE', resource: { resource: 'ippools' }, object, oldObject };
}

function unfilledPool(number: number): MadeUp {
  const object = poolOf(number, { cidr: '192.0.2.0/24' });
  return { path: 'defaulting', operation: 'CREATE', resource: { resource: 'ippools' }, object };
}

const KINDS = [machine, newPool, machine, changedPool, machine, unfilledPool, config];

function poolOf(number: number, ipv4Config: object): object {
  const kind = { apiVersion: 'network.harvesterhci.io/v1alpha1', kind: 'IPPool' };
  return { ...kind, metadata: metadataOf(number), spec: { networkName: NETWORK, ipv4Config } };
}

function metadataOf(number: number): object {
  return { namespace: 'vmdhcp-warm-up', name: `warm-up-${number}` };
}
