/**
 * What is in "When something is wrong" of docs/admission.md: the webhook after a time in which none ran, on a host whose clock is wrong, and with
 * certificates and registrations of others. Always against a simulated API server, whatever KUBECONFIG names.
 */
import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { readList, readText } from '@vmdhcp/kube-runtime';
import { createServerCertificate } from '@vmdhcp/kube-simulator';
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest';
import {
  AdmissionWebhook,
  type ClusterAccess,
  CONTROLLER_BIN,
  clockOffset,
  ipPool,
  LabProcess,
  networkAttachment,
  PrivateCluster,
  virtualMachine,
  WEBHOOK_NAME,
  WEBHOOK_NAMESPACE,
  waitFor,
} from '../src/index.js';

const DAY_MS = 86_400_000;
const CONFIGURATIONS = ['MutatingWebhookConfiguration', 'ValidatingWebhookConfiguration'];
const SECRETS = [`${WEBHOOK_NAMESPACE}/${WEBHOOK_NAME}-ca`, `${WEBHOOK_NAMESPACE}/${WEBHOOK_NAME}-tls`];
const WRONG = ipPool('default/wrong', { network: 'default/net', ipv4Config: { pool: { exclude: ['10.9.9.9'] } } });
const DECISION = 'spec.ipv4Config.pool.exclude[0]: 10.9.9.9 is outside 10.1.0.0/24; remove it or widen the cidr';

let cluster: PrivateCluster;
let admin: ClusterAccess;

beforeAll(async () => {
  cluster = await PrivateCluster.start(['crds.yaml']);
  admin = cluster.admin;
  await cluster.defineKinds();
  await admin.create(networkAttachment('default/net'));
});

afterEach(async () => {
  await cluster.killWebhooks();
  for (const kind of CONFIGURATIONS) await admin.delete(kind, WEBHOOK_NAME);
  for (const key of SECRETS) await admin.delete('Secret', key);
});

afterAll(() => cluster.close());

/** Starts one whose clock differs from that of the API server, and resolves when it is registered. */
const startWithClock = (offsetMs: number) => cluster.startWebhookWith({ env: clockOffset(offsetMs) });
const secrets = () => Promise.all(SECRETS.map(async (key) => (await admin.get('Secret', key))?.metadata.resourceVersion));

async function trusted(): Promise<string> {
  const configuration = await admin.get('ValidatingWebhookConfiguration', WEBHOOK_NAME);
  return Buffer.from(readText(readList(configuration, 'webhooks')[0], 'clientConfig', 'caBundle') ?? '', 'base64').toString();
}

/** The API server reaches the webhook over TLS, trusts it, and gets a decision. */
async function expectDecision(): Promise<void> {
  await expect(admin.create(WRONG)).rejects.toThrow(DECISION);
}

async function runOnce(offsetMs: number): Promise<string> {
  const before = await startWithClock(offsetMs);
  const trustedThen = await trusted();
  await before.kill();
  return trustedThen;
}

const logged = (webhook: AdmissionWebhook, text: string) => webhook.process.line(text);

it('the certificate expired while no replica ran: the next one renews it, from the same authority', async () => {
  const before = await runOnce(-100 * DAY_MS);
  await cluster.startWebhook();
  expect(await trusted()).toBe(before);
  await expectDecision();
});

it('the authority expired too: the next replica makes another one, and registers it', async () => {
  const before = await runOnce(-800 * DAY_MS);
  await cluster.startWebhook();
  await waitFor('another authority', async () => (await trusted()) !== before);
  await expectDecision();
});

it('a host’s clock is behind: its replica serves the existing certificate, changes nothing, and logs what to do', async () => {
  await runOnce(0);
  const before = await secrets();
  const webhook = await startWithClock(-2 * DAY_MS);
  await logged(webhook, 'the clock of this host is behind');
  await expectDecision();
  expect(await secrets()).toEqual(before);
});

it('told to end before it serves, it ends at once and registers nothing', async () => {
  // It serves only once it has listed this.
  const requests = { verb: 'list', resource: 'ippools' };
  const fault = cluster.simulator.faults.inject({ requests, effect: { kind: 'delay', delayMs: 600_000 }, times: 0 });
  const webhook = await AdmissionWebhook.start(cluster.place, []);
  await logged(webhook, 'certificate in use');
  webhook.process.kill('SIGTERM');
  expect(await webhook.process.ended()).toMatchObject({ code: 0 });
  cluster.simulator.faults.clear(fault);
  for (const kind of CONFIGURATIONS) expect(await admin.get(kind, WEBHOOK_NAME)).toBeUndefined();
});

it('its port is in use: it says so and ends, so that it is started again', async () => {
  const other = createServer().listen(0, '127.0.0.1');
  await once(other, 'listening');
  const { port } = other.address() as AddressInfo;
  const webhook = await AdmissionWebhook.start(cluster.place, ['--listen', `127.0.0.1:${port}`]);
  try {
    await logged(webhook, `cannot listen on 127.0.0.1:${port}`);
    expect(await webhook.process.ended()).toMatchObject({ code: 69 });
  } finally {
    await webhook.kill();
    other.close();
  }
});

it('ready means registered: what is created next is decided by it', async () => {
  const requests = { verb: 'create', resource: 'validatingwebhookconfigurations' };
  const fault = cluster.simulator.faults.inject({ requests, effect: { kind: 'delay', delayMs: 2_000 }, times: 0 });
  const webhook = await AdmissionWebhook.start(cluster.place, []);
  await logged(webhook, 'listening for AdmissionReviews');
  expect(await (await fetch(`${webhook.url}/readyz`)).text()).toContain('registering');
  await webhook.ready();
  cluster.simulator.faults.clear(fault);
  await expectDecision();
  await webhook.kill();
});

it('certificates and trust of cert-manager: both are used and neither is written', async () => {
  const host = `${WEBHOOK_NAME}.${WEBHOOK_NAMESPACE}.svc`;
  const { certificate, key, authority } = await createServerCertificate([host]);
  const encode = (text: string) => Buffer.from(text).toString('base64');
  const metadata = { namespace: WEBHOOK_NAMESPACE, name: `${WEBHOOK_NAME}-tls` };
  const data = { 'tls.crt': encode(certificate), 'tls.key': encode(key) };
  await admin.create({ apiVersion: 'v1', kind: 'Secret', metadata, ...{ data, type: 'kubernetes.io/tls' } });
  const before = await secrets();
  const from = `${WEBHOOK_NAMESPACE}/vm-dhcp`;
  const webhook = await cluster.startWebhook('--certificate-secret', `${WEBHOOK_NAME}-tls`, '--inject-ca-from', from);
  // What cert-manager's injector does.
  for (const kind of CONFIGURATIONS) {
    const configuration = await admin.get(kind, WEBHOOK_NAME);
    expect(configuration?.metadata.annotations?.['cert-manager.io/inject-ca-from']).toBe(from);
    const webhooks = readList(configuration, 'webhooks').map((one) => {
      const { clientConfig, ...rest } = one as { readonly clientConfig: object };
      return { ...rest, clientConfig: { ...clientConfig, caBundle: encode(authority) } };
    });
    await admin.patch(kind, WEBHOOK_NAME, { webhooks });
  }
  await expectDecision();
  await webhook.kill();
  // Its first look at the registration leaves what was injected.
  const again = await cluster.startWebhook('--certificate-secret', `${WEBHOOK_NAME}-tls`, '--inject-ca-from', from);
  await logged(again, 'listening for AdmissionReviews');
  await expectDecision();
  expect(await trusted()).toBe(authority);
  expect(await secrets()).toEqual(before);
});

it('a configuration of this name that is not ours is left alone, and an error is logged', async () => {
  const kind = 'ValidatingWebhookConfiguration';
  const apiVersion = 'admissionregistration.k8s.io/v1';
  const theirs = await admin.create({ apiVersion, kind, metadata: { name: WEBHOOK_NAME }, ...{ webhooks: [] } });
  const webhook = await cluster.startWebhook();
  await logged(webhook, 'the webhook cannot be registered');
  expect((await admin.get(kind, WEBHOOK_NAME))?.metadata.resourceVersion).toBe(theirs.metadata.resourceVersion);
});

it('watches its objects by name, and recreates deleted ones', async () => {
  await cluster.startWebhook();
  const watched = () =>
    cluster.simulator.audit.requests
      .filter(({ verb, user }) => verb === 'watch' && user.endsWith(`:${WEBHOOK_NAME}`))
      .map(({ resource, name }) => `${resource} ${name}`);
  const kept = [
    ...[`secrets ${WEBHOOK_NAME}-ca`, `secrets ${WEBHOOK_NAME}-tls`, `clusterroles ${WEBHOOK_NAME}`],
    ...[`mutatingwebhookconfigurations ${WEBHOOK_NAME}`, `validatingwebhookconfigurations ${WEBHOOK_NAME}`],
  ];
  await waitFor('each to be watched', () => kept.every((one) => watched().includes(one)));
  for (const kind of CONFIGURATIONS) await admin.delete(kind, WEBHOOK_NAME);
  for (const kind of CONFIGURATIONS) await admin.waitForObject(kind, WEBHOOK_NAME, () => true);
  await waitFor('a decision', () =>
    expectDecision().then(
      () => true,
      () => undefined,
    ),
  );
});

it('without the webhook but with its registration, virtual machines are created, IPPools are not, until uninstall', async () => {
  const webhook = await cluster.startWebhook();
  await webhook.kill();
  await admin.create(virtualMachine('default/vm', '02:00:00:00:00:01', 'default/net'));
  await expect(admin.create(ipPool('default/net'))).rejects.toThrow('failed calling webhook "defaults.ippools');
  const flags = ['--kubeconfig', cluster.adminKubeconfig];
  const uninstall = new LabProcess(process.execPath, [CONTROLLER_BIN, 'uninstall', ...flags]);
  expect(await uninstall.ended()).toMatchObject({ code: 0 });
  await waitFor('the registration to have no effect', () => admin.create(ipPool('default/net')));
});

it('is uninstalled, or left out by webhook.enabled=false: its registration goes with its ClusterRole, and IPPools can be changed', async () => {
  const webhook = await cluster.startWebhook();
  await expectDecision();
  await webhook.kill();
  const pool = ipPool('default/later', { network: 'default/net' });
  await expect(admin.create(pool)).rejects.toThrow('failed calling webhook');
  await admin.delete('ClusterRole', WEBHOOK_NAME);
  for (const kind of CONFIGURATIONS)
    await waitFor(`the ${kind} to go`, async () => (await admin.get(kind, WEBHOOK_NAME)) === undefined);
  await waitFor('the registration to have no effect', () => admin.create(pool));
});
