/**
 * The page of a controller that `manifests/vmdhcp-ui.yaml` installs: who may see it, by the API server's own reviews, and that the rights which it adds to the
 * controller are used and no others. Always against a simulated API server, whatever KUBECONFIG names.
 */
import { once } from 'node:events';
import http from 'node:http';
import { readField } from '@vmdhcp/kube-runtime';
import type { Overview, PageError, PoolPage, RecentEventsPage } from '@vmdhcp/status-page';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  type ClusterAccess,
  compareRights,
  describeRight,
  has,
  InstalledProgram,
  installedFor,
  installedWith,
  needs,
  PrivateCluster,
  rightsIn,
  rightsOf,
  serviceAccountToken,
  startBrowser,
  virtualMachine,
  waitFor,
} from '../src/index.js';

const CONTROLLER = { namespace: 'vm-dhcp-system', name: 'vm-dhcp-controller' };

let cluster: PrivateCluster;
let admin: ClusterAccess;
let controller: InstalledProgram;
/** May list all that the page shows. */
let reader: string;
/** May list virtual machines, their instances, networks and VirtualMachineNetworkConfigs. */
let other: string;
/** May list the latter alone. */
let configsAlone: string;
/** Has no rights. */
let withoutRights: string;

beforeAll(async () => {
  cluster = await PrivateCluster.start(['crds.yaml', 'page']);
  admin = cluster.admin;
  [reader, other, withoutRights] = [await user('reader'), await user('other'), await user('without-rights')];
  configsAlone = await user('configs-alone');
  await bind('reader', 'vm-dhcp-page-reader');
  const rules = [{ apiGroups: ['network.harvesterhci.io'], resources: ['virtualmachinenetworkconfigs'], verbs: ['list'] }];
  await admin.create({
    apiVersion: 'rbac.authorization.k8s.io/v1',
    kind: 'ClusterRole',
    metadata: { name: 'configs' },
    rules,
  } as never);
  await bind('other', 'configs');
  await bind('configs-alone', 'configs');
  const machines = [
    { apiGroups: ['kubevirt.io'], resources: ['virtualmachines', 'virtualmachineinstances'], verbs: ['list'] },
    { apiGroups: ['k8s.cni.cncf.io'], resources: ['network-attachment-definitions'], verbs: ['list'] },
  ];
  await admin.create({
    apiVersion: 'rbac.authorization.k8s.io/v1',
    kind: 'ClusterRole',
    metadata: { name: 'machines' },
    rules: machines,
  } as never);
  await bind('other', 'machines', 'other-machines');
  const [deployment] = installedWith('vmdhcp-ui.yaml').filter(
    ({ kind, metadata }) => kind === 'Deployment' && metadata.name === CONTROLLER.name,
  );
  const spec = readField(deployment?.spec, 'template', 'spec');
  controller = await InstalledProgram.start(cluster.place, { namespace: CONTROLLER.namespace, name: 'controller', spec });
  await controller.ready();
  await controller.process.line('the page is served');
});

afterAll(async () => {
  await controller?.process.stop();
  await cluster?.close();
});

async function user(name: string): Promise<string> {
  await admin.create({ apiVersion: 'v1', kind: 'ServiceAccount', metadata: { namespace: 'default', name } });
  return await serviceAccountToken(admin, 'default', name);
}

async function bind(name: string, role: string, binding = name): Promise<void> {
  await admin.create({
    apiVersion: 'rbac.authorization.k8s.io/v1',
    kind: 'ClusterRoleBinding',
    metadata: { name: binding },
    roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: role },
    subjects: [{ kind: 'ServiceAccount', namespace: 'default', name }],
  } as never);
}

async function open(path: string, token?: string): Promise<http.IncomingMessage> {
  const headers = token === undefined ? {} : { authorization: `Bearer ${token}` };
  const [response] = (await once(http.get(`http://${controller.listen}${path}`, { headers, agent: false }), 'response')) as [
    http.IncomingMessage,
  ];
  return response.setEncoding('utf8');
}

async function get<Answer>(path: string, token?: string): Promise<{ readonly status: number; readonly body: Answer }> {
  const response = await open(path, token);
  let text = '';
  for await (const part of response) text += part;
  return { status: response.statusCode ?? 0, body: JSON.parse(text) as Answer };
}

function createPool(name: string, third: number): Promise<unknown> {
  const subnet = `10.1.${third}`;
  return admin.create({
    apiVersion: 'network.harvesterhci.io/v1alpha1',
    kind: 'IPPool',
    metadata: { namespace: 'default', name },
    spec: {
      networkName: `default/${name}`,
      ipv4Config: { cidr: `${subnet}.0/24`, serverIP: `${subnet}.2`, pool: { start: `${subnet}.10`, end: `${subnet}.99` } },
    },
  });
}

describe('the page, always against a simulated API server', () => {
  it('its files are for all; its data is for users with a token and the rights, and a refusal names the right', async () => {
    expect((await open('/')).statusCode).toBe(200);
    expect((await open('/assets/browser/main.js')).headers['content-type']).toContain('javascript');
    expect(await get<PageError>('/api/overview')).toMatchObject({ status: 401, body: { error: 'token-missing' } });
    expect(await get<PageError>('/api/overview', 'made-up')).toMatchObject({ status: 401, body: { error: 'token-refused' } });
    const refused = await get<PageError>('/api/overview', withoutRights);
    expect(refused).toMatchObject({ status: 403, body: { error: 'forbidden' } });
    expect(refused.body.message).toContain('list ippools.network.harvesterhci.io in all namespaces');
    expect(await get<Overview>('/api/overview', reader)).toMatchObject({
      status: 200,
      body: { user: 'system:serviceaccount:default:reader', sections: { pools: { kind: 'shown' }, hosts: { kind: 'off' } } },
    });
  });

  it('a user sees the kinds that the user may list', async () => {
    const { body } = await get<Overview>('/api/overview', other);
    expect(body).toMatchObject({ pools: [], sections: { pools: { kind: 'denied' }, machines: { kind: 'shown' } } });
    expect(await get('/api/leases', other)).toMatchObject({ status: 403 });
    expect(await get('/api/machines-without-address', other)).toMatchObject({ status: 200 });
    const right = 'list virtualmachines.kubevirt.io in all namespaces';
    expect(await get<PageError>('/api/machines-without-address', configsAlone)).toMatchObject({ status: 403 });
    expect(JSON.stringify(await get('/api/overview', configsAlone))).toContain(right);
  });

  it('open pages show a pool as soon as it is created', async () => {
    const events = await open('/api/events', reader);
    await createPool('net-1', 1);
    let text = '';
    for await (const part of events) {
      text += part;
      if (text.includes('"default/net-1"')) break;
    }
    expect(text).toContain('event: pools');
    const { body } = await get<PoolPage>('/api/pools/default/net-1', reader);
    expect(body).toMatchObject({ summary: { cidr: '10.1.1.0/24', counts: { free: 90, used: 0 } }, map: { size: 256 } });
  });

  it('Events of a pool are for users who may list Events, and pools', async () => {
    await createPool('net-9', 9);
    await waitFor('the pool on the page', async () => (await get('/api/pools/default/net-9', reader)).status === 200);
    const involvedObject = {
      apiVersion: 'network.harvesterhci.io/v1alpha1',
      kind: 'IPPool',
      namespace: 'default',
      name: 'net-9',
    };
    const about = { reason: 'PoolExhausted', message: 'all 90 addresses are assigned', type: 'Warning', count: 3 };
    const event = { apiVersion: 'v1', kind: 'Event', metadata: { namespace: 'default', name: 'net-9.1' } };
    const lastTimestamp = '2026-01-01T00:00:00Z';
    await admin.create({ ...event, involvedObject, ...about, lastTimestamp, source: { component: 'test' } } as never);
    const path = '/api/recent-events?of=pools&pool=default/net-9';
    const shown = await get<RecentEventsPage>(path, reader);
    expect(shown.status).toBe(200);
    // The controller has Events of its own about it.
    const written = { kind: 'IPPool', name: 'net-9', reason: 'PoolExhausted', isWarning: true, count: 3 };
    expect(shown.body.rows).toContainEqual(expect.objectContaining(written));
    const refused = await get<PageError>(path, other);
    expect(refused).toMatchObject({ status: 403 });
    expect(refused.body.message).toContain('list events in all namespaces');
  });

  it('Events of virtual machines are those that the controller reports about them', async () => {
    await admin.create(virtualMachine('default/lost', '02:00:5e:00:51:01', 'default/none'));
    const row = await waitFor('the Event of the virtual machine on the page', async () => {
      const { body } = await get<RecentEventsPage>('/api/recent-events?of=machines', reader);
      return body.rows.find(({ name }) => name === 'lost');
    });
    expect(row).toMatchObject({ kind: 'VirtualMachine', namespace: 'default', isWarning: true });
  });

  it.skipIf(!has('chromium'))(
    `is read in a browser with a token: a pool as it is, and a virtual machine that has no address, with what to do ${needs('chromium')}`,
    { timeout: 120_000 },
    async () => {
      const browser = await startBrowser();
      try {
        const page = await browser.newPage();
        page.setDefaultTimeout(20_000);
        const problems: string[] = [];
        page.on('pageerror', (error) => problems.push(String(error)));
        await page.goto(`http://${controller.listen}/#/pools/default/net-1`);
        await page.getByLabel('Token', { exact: true }).fill(reader);
        await page.keyboard.press('Enter');
        await page.locator('[aria-label="10.1.1.2, dhcp server"]').waitFor();
        await page.locator('[aria-label="10.1.1.10, free"]').waitFor();
        await page.getByText(/^0 of 90 used/).waitFor();
        await page.getByRole('link', { name: 'Overview', exact: true }).click();
        await page.getByRole('link', { name: 'default/lost' }).click();
        const card = page.getByRole('listitem').filter({ has: page.getByRole('heading', { name: 'default/lost' }) });
        await card.getByText('NetworkUnknown').waitFor();
        await card.getByText('What to do:').first().waitFor();
        expect(problems).toEqual([]);
      } finally {
        await browser.close();
      }
    },
  );

  it('each right that the page adds was used, and no request was refused', async () => {
    const without = new Set(rightsIn(installedFor('controller'), CONTROLLER).map(describeRight));
    const added = (await rightsOf(admin, CONTROLLER)).filter((right) => !without.has(describeRight(right)));
    expect(added).toHaveLength(3);
    expect(compareRights(added, cluster.simulator.audit.requests, CONTROLLER)).toEqual({ unused: [], refused: [] });
  });

  it('without the right to review, or without an answer, the page is closed to all', async () => {
    const role = await admin.get('ClusterRole', CONTROLLER.name);
    const rules = (readField(role, 'rules') as { resources: string[] }[]).filter(
      ({ resources }) => !resources.includes('tokenreviews'),
    );
    await admin.patch('ClusterRole', CONTROLLER.name, { rules });
    const late = await user('late');
    await bind('late', 'vm-dhcp-page-reader');
    await waitFor('the page to close', async () => (await get('/api/overview', late)).status === 503);
    await controller.process.line('did not decide about a token');
  });
});
