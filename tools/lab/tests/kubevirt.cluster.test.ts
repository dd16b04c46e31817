/** The stand-in for KubeVirt: subresources and run strategies, as they are documented. Always against a simulated API server. */
import { readField, readList, readText } from '@vmdhcp/kube-runtime';
import { ApiConnection, connectByKubeConfig } from '@vmdhcp/kube-runtime/node';
import type { Fault } from '@vmdhcp/kube-simulator';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import {
  type BlockingPoint,
  has,
  KubectlPlugin,
  KubeVirt,
  type LabProcess,
  needs,
  PrivateCluster,
  rightsOf,
  runKubectl,
  serviceAccountToken,
  waitFor,
} from '../src/index.js';

const RUNNING = 'Running';
const STOPPED = 'Stopped';
const MAC = '02:00:00:00:00:0a';

let cluster: PrivateCluster;
let kubevirt: KubeVirt;
const plugin = new KubectlPlugin();
let count = 0;
let released: (() => void)[] = [];

beforeAll(async () => {
  cluster = await PrivateCluster.start(['crds.yaml']);
  kubevirt = await KubeVirt.start(cluster.simulator);
});

afterEach(() => {
  for (const release of released) release();
  released = [];
  cluster.simulator.faults.clear();
});

afterAll(async () => {
  plugin.close();
  await kubevirt?.stop();
  await cluster?.close();
});

/** Until the test is over, or unblocks it. */
function block(key: string, point: BlockingPoint): () => void {
  const release = kubevirt.block(key, point);
  released.push(release);
  return release;
}

type Intent = { readonly runStrategy: string } | { readonly running: boolean };

/** @returns `namespace/name` of a new machine. */
async function machine(intent: Intent, interfaces: readonly object[] = [], point?: BlockingPoint): Promise<string> {
  const key = `default/vm-${++count}`;
  if (point !== undefined) block(key, point);
  const spec = { ...intent, template: { spec: { domain: { devices: { interfaces } } } } };
  const metadata = { namespace: 'default', name: `vm-${count}` };
  await cluster.admin.create({ apiVersion: 'kubevirt.io/v1', kind: 'VirtualMachine', metadata, spec });
  return key;
}

function pathOf(key: string, subresource: string, resource = 'virtualmachines'): string {
  const [namespace = '', name = ''] = key.split('/');
  return `/apis/subresources.kubevirt.io/v1/namespaces/${namespace}/${resource}/${name}/${subresource}`;
}

/** @returns `accepted`, or the code and the message of the refusal. */
async function put(key: string, subresource: string, resource?: string): Promise<string> {
  const path = pathOf(key, subresource, resource);
  try {
    await cluster.admin.connection.request({ method: 'PUT', path, body: {} });
    return 'accepted';
  } catch (error) {
    return (error as Error).message.replace(`PUT ${path}: `, '');
  }
}

const instanceOf = (key: string) => cluster.admin.get('VirtualMachineInstance', key);
const specOf = async (key: string) => (await cluster.admin.get('VirtualMachine', key))?.spec;
const is = (key: string, status: string) => kubevirt.untilStatus(key, status);
const refusal = (key: string, why: string) =>
  `409 Operation cannot be fulfilled on virtualmachine.kubevirt.io "${key.split('/')[1]}": ${why}`;

describe('a new machine', () => {
  it.each([
    [{ runStrategy: 'Always' }, RUNNING],
    [{ runStrategy: 'RerunOnFailure' }, RUNNING],
    [{ runStrategy: 'Once' }, RUNNING],
    [{ runStrategy: 'Manual' }, STOPPED],
    [{ runStrategy: 'Halted' }, STOPPED],
    [{ running: true }, RUNNING],
    [{ running: false }, STOPPED],
  ])('with %j is %s', async (intent, expected) => {
    const key = await machine(intent);
    const { status } = await is(key, expected);
    const isUp = expected === RUNNING;
    expect(status).toMatchObject({ created: isUp, ready: isUp });
    expect((await instanceOf(key)) !== undefined).toBe(isUp);
  });
});

describe('start of a machine that is stopped', () => {
  it.each([
    [{ runStrategy: 'Halted' }, { runStrategy: 'Always' }],
    [{ running: false }, { running: true }],
    [{ runStrategy: 'Manual' }, { runStrategy: 'Manual' }],
  ])('with %j makes it run, and leaves %j', async (intent, after) => {
    const key = await machine(intent);
    await is(key, STOPPED);
    expect(await put(key, 'start')).toBe('accepted');
    await is(key, RUNNING);
    expect(await specOf(key)).toMatchObject(after);
    expect(kubevirt.startsOf(key)).toMatchObject([{ subresource: 'virtualmachines/start', key, user: 'admin', answered: 202 }]);
    expect(await put(key, 'start')).toBe(refusal(key, 'VM is already running'));
    expect(kubevirt.acceptedStartsOf(key)).toBe(1);
  });

  it('with RerunOnFailure, after it shut down by itself, makes it run again', async () => {
    const key = await machine({ runStrategy: 'RerunOnFailure' });
    await is(key, RUNNING);
    await kubevirt.shutDown(key);
    await is(key, STOPPED);
    await waitFor('its instance to go', async () => (await instanceOf(key)) === undefined);
    expect(await put(key, 'start')).toBe('accepted');
    await is(key, RUNNING);
    expect(await specOf(key)).toMatchObject({ runStrategy: 'RerunOnFailure' });
  });

  it('with Once, after it shut down by itself, is refused', async () => {
    const key = await machine({ runStrategy: 'Once' });
    await is(key, RUNNING);
    await kubevirt.shutDown(key);
    await is(key, STOPPED);
    expect(await put(key, 'start')).toBe(refusal(key, 'Once does not support manual start requests'));
  });

  it('with Always, before the controller has seen it, is refused', async () => {
    const key = await machine({ runStrategy: 'Always' }, [], 'request');
    expect(await put(key, 'start')).toBe(refusal(key, 'Always does not support manual start requests'));
  });

  it('with Manual is recorded; the second request fails until the first is fulfilled', async () => {
    const key = await machine({ runStrategy: 'Manual' });
    await is(key, STOPPED);
    const release = block(key, 'request');
    expect(await put(key, 'start')).toBe('accepted');
    const { status } = await is(key, STOPPED);
    expect(readList(status, 'stateChangeRequests')).toEqual([{ action: 'Start' }]);
    expect(await put(key, 'start')).toBe('500 Internal error occurred: unable to complete request: stop/start already underway');
    release();
    const { status: after } = await is(key, RUNNING);
    expect(readField(after, 'stateChangeRequests')).toBeUndefined();
  });

  it('is not there', async () => {
    expect(await put('default/nothing', 'start')).toBe('404 virtualmachine.kubevirt.io "nothing" not found');
  });
});

describe('stop', () => {
  it.each([
    [{ runStrategy: 'Always' }, { runStrategy: 'Halted' }],
    [{ running: true }, { running: false }],
    [{ runStrategy: 'Once' }, { runStrategy: 'Halted' }],
    [{ runStrategy: 'RerunOnFailure' }, { runStrategy: 'RerunOnFailure' }],
  ])('ends a machine with %j, and leaves %j', async (intent, after) => {
    const key = await machine(intent);
    await is(key, RUNNING);
    const release = block(key, 'stop');
    expect(await put(key, 'stop')).toBe('accepted');
    await is(key, 'Stopping');
    release();
    await is(key, STOPPED);
    expect(await specOf(key)).toMatchObject(after);
  });

  it.each(['Manual', 'Halted'])('is refused for a machine with %s that is down', async (runStrategy) => {
    const key = await machine({ runStrategy });
    await is(key, STOPPED);
    expect(await put(key, 'stop')).toBe(refusal(key, 'VM is not running'));
  });
});

describe('restart', () => {
  it.each(['Always', 'Manual', 'RerunOnFailure'])('makes another instance of a machine with %s', async (runStrategy) => {
    const key = await machine({ runStrategy });
    if (runStrategy === 'Manual') await put(key, 'start');
    await is(key, RUNNING);
    const before = (await instanceOf(key))?.metadata.uid;
    expect(await put(key, 'restart')).toBe('accepted');
    await waitFor('another instance that runs', async () => {
      const instance = await instanceOf(key);
      return instance?.metadata.uid !== before && readText(instance, 'status', 'phase') === RUNNING;
    });
    expect(await specOf(key)).toMatchObject({ runStrategy });
  });

  it.each([
    ['Halted', 'RunStategy Halted does not support manual restart requests'],
    ['Once', 'RunStategy Once does not support manual restart requests'],
    ['Manual', 'VM is not running: Halted'],
  ])('is refused for a machine with %s', async (runStrategy, why) => {
    const key = await machine({ runStrategy });
    expect(await put(key, 'restart')).toBe(refusal(key, why));
  });
});

describe('a machine that runs', () => {
  it('is paused and continues', async () => {
    const key = await machine({ runStrategy: 'Always' });
    await is(key, RUNNING);
    expect(await put(key, 'unpause', 'virtualmachineinstances')).toContain('VMI is not paused');
    expect(await put(key, 'pause', 'virtualmachineinstances')).toBe('accepted');
    await is(key, 'Paused');
    expect(await put(key, 'pause', 'virtualmachineinstances')).toContain('VMI is already paused');
    expect(await put(key, 'start')).toBe(refusal(key, 'VM is already running'));
    expect(await put(key, 'unpause', 'virtualmachineinstances')).toBe('accepted');
    await is(key, RUNNING);
  });

  it('migrates', async () => {
    const key = await machine({ runStrategy: 'Always' });
    await is(key, RUNNING);
    const complete = await kubevirt.migrate(key);
    await is(key, 'Migrating');
    await complete();
    await is(key, RUNNING);
  });

  it.each(['Always', 'RerunOnFailure'])('and crashes is started again with %s', async (runStrategy) => {
    const key = await machine({ runStrategy });
    await is(key, RUNNING);
    const before = (await instanceOf(key))?.metadata.uid;
    await kubevirt.crash(key);
    await waitFor('another instance', async () => ![undefined, before].includes((await instanceOf(key))?.metadata.uid));
    await is(key, RUNNING);
  });

  it('has the addresses of its specification, and those that KubeVirt chooses', async () => {
    const key = await machine({ runStrategy: 'Always' }, [
      { name: 'a', macAddress: MAC, bridge: {} },
      { name: 'b', bridge: {} },
    ]);
    await is(key, RUNNING);
    const [first, second] = readList(await instanceOf(key), 'status', 'interfaces');
    expect(first).toMatchObject({ name: 'a', mac: MAC });
    expect(second).toMatchObject({ name: 'b', mac: expect.stringMatching(/^02(:[0-9a-f]{2}){5}$/) });
  });

  it('without interfaces in its specification is on the pod network', async () => {
    const key = await machine({ runStrategy: 'Always' });
    await is(key, RUNNING);
    const instance = await instanceOf(key);
    expect(readList(instance, 'spec', 'networks')).toEqual([{ name: 'default', pod: {} }]);
    expect(readList(instance, 'status', 'interfaces')).toMatchObject([{ name: 'default' }]);
  });
});

describe('a machine that starts', () => {
  it.each(['Pending', 'Scheduling', 'Scheduled'] as const)('is Starting while its instance is %s', async (phase) => {
    const key = await machine({ runStrategy: 'Always' }, [], phase);
    await is(key, 'Starting');
    await waitFor(phase, async () => readText(await instanceOf(key), 'status', 'phase') === phase);
  });

  it('is ErrorUnschedulable until a node has room', async () => {
    const key = await machine({ runStrategy: 'Halted' });
    const release = block(key, 'schedule');
    expect(await put(key, 'start')).toBe('accepted');
    await is(key, 'ErrorUnschedulable');
    release();
    await is(key, RUNNING);
  });

  it('is in CrashLoopBackOff while it fails', async () => {
    const key = await machine({ runStrategy: 'Halted' });
    const release = block(key, 'start');
    expect(await put(key, 'start')).toBe('accepted');
    await is(key, 'CrashLoopBackOff');
    release();
    const { status } = await is(key, RUNNING);
    expect(readField(status, 'startFailure')).toBeUndefined();
  });
});

describe('a machine that is deleted', () => {
  it('is Terminating until its instance is gone', async () => {
    const key = await machine({ runStrategy: 'Always' });
    await is(key, RUNNING);
    const release = block(key, 'stop');
    await cluster.admin.delete('VirtualMachine', key);
    await is(key, 'Terminating');
    release();
    await waitFor('it to be gone', async () => (await cluster.admin.get('VirtualMachine', key)) === undefined);
    expect(await instanceOf(key)).toBeUndefined();
  });
});

describe('kubectl vmdhcp renew', () => {
  const INTERFACES = [
    { name: 'front', bridge: {} },
    { name: 'back', bridge: {}, state: 'up' },
  ];
  const renew = (key: string, ...words: readonly string[]) => plugin.run(cluster.adminKubeconfig, ['renew', key, ...words]);
  const interfacesOf = async (key: string) => readList(await specOf(key), 'template', 'spec', 'domain', 'devices', 'interfaces');
  const isOff = async (key: string) => (await interfacesOf(key)).some((one) => readText(one, 'state') === 'down');
  /** The links that the instance of the machine reports from now on: `front down`. */
  function reportedLinks(key: string): ReadonlySet<string> {
    const links = new Set<string>();
    const unwatch = cluster.simulator.client.watch(
      { group: 'kubevirt.io', resource: 'virtualmachineinstances' },
      ({ object }) => {
        if (`${object.metadata.namespace}/${object.metadata.name}` !== key) return;
        const interfaces = readList(object, 'status', 'interfaces');
        for (const one of interfaces) links.add(`${readText(one, 'name')} ${readText(one, 'linkState')}`);
      },
    );
    released.push(unwatch);
    return links;
  }

  it.each(['front', 'back'])(
    'switches the link of one interface off and on, and leaves the machine as it was: %s',
    async (name) => {
      const key = await machine({ runStrategy: 'Always' }, INTERFACES);
      await is(key, RUNNING);
      const links = reportedLinks(key);
      const what = `switch the link of interface ${name} of VirtualMachine ${key} off and on`;
      expect(await renew(key, name, '--dry-run')).toMatchObject({ code: 0, stdout: `would ${what}\n` });
      expect([...links]).not.toContain(`${name} down`);
      expect(await renew(key, name)).toMatchObject({ code: 0, stdout: `done: ${what}\n`, stderr: '' });
      expect([...links].filter((one) => one.endsWith('down'))).toEqual([`${name} down`]);
      expect(readList(await instanceOf(key), 'status', 'interfaces')).toMatchObject([{ linkState: 'up' }, { linkState: 'up' }]);
      expect(await interfacesOf(key)).toEqual(INTERFACES);
    },
  );

  /** A command whose link is off until the test unblocks KubeVirt. */
  async function renewalWithLinkOff(): Promise<{ key: string; running: LabProcess; unblock: () => void }> {
    const key = await machine({ runStrategy: 'Always' }, INTERFACES);
    await is(key, RUNNING);
    const unblock = block(key, 'request');
    const running = plugin.start(cluster.adminKubeconfig, ['renew', key, 'front']);
    await waitFor('the link to be off', () => isOff(key));
    return { key, running, unblock };
  }
  const VIRTUAL_MACHINES = { verb: 'patch', resource: 'virtualmachines' } as const;
  const INSTANCES = { verb: 'get', resource: 'virtualmachineinstances' } as const;
  /** Until the next requests were hit by it. */
  async function disturbed(fault: Fault): Promise<void> {
    const id = cluster.simulator.faults.inject(fault);
    await waitFor('the fault to be over', async () => !cluster.simulator.faults.isPending(id));
  }
  const putInterfaces = (key: string, interfaces: readonly unknown[]) =>
    cluster.admin.patch('VirtualMachine', key, { spec: { template: { spec: { domain: { devices: { interfaces } } } } } });

  it.each(['SIGINT', 'SIGTERM', 'SIGHUP'] as const)(
    'switches the link on if it is interrupted by %s, and if the machine has changed meanwhile',
    async (signal) => {
      const { key, running } = await renewalWithLinkOff();
      await cluster.admin.patch('VirtualMachine', key, { metadata: { annotations: { note: 'changed' } } });
      running.kill(signal);
      if (signal === 'SIGHUP') {
        // The shell sends one, and the kernel another one, while the link is being switched on.
        await disturbed({ requests: { verb: 'get', resource: 'virtualmachines' }, effect: { kind: 'delay', delayMs: 500 } });
        running.kill(signal);
      }
      expect((await running.ended()).code).toBe(1);
      expect(running.lines.join('\n')).toContain('interrupted; the link is switched on');
      expect(await interfacesOf(key)).toEqual(INTERFACES);
    },
  );

  it('waits until KubeVirt reports the link as off, and then as on, although some requests fail', async () => {
    const { key, running, unblock } = await renewalWithLinkOff();
    await disturbed({ requests: INSTANCES, effect: { kind: 'answer', status: 503 }, times: 8 });
    expect(await isOff(key)).toBe(true);
    unblock();
    await waitFor('KubeVirt to report it', async () =>
      readList(await instanceOf(key), 'status', 'interfaces').some((one) => readText(one, 'linkState') === 'down'),
    );
    const unblockAgain = block(key, 'request');
    await waitFor('the link to be on', async () => !(await isOff(key)));
    await disturbed({ requests: INSTANCES, effect: { kind: 'answer', status: 503 }, times: 4 });
    expect(running.hasEnded).toBe(false);
    unblockAgain();
    expect((await running.ended()).code).toBe(0);
  });

  it('switches the link on if the machine ends meanwhile, and says so', async () => {
    const { key, running, unblock } = await renewalWithLinkOff();
    await cluster.admin.patch('VirtualMachine', key, { spec: { runStrategy: 'Halted' } });
    unblock();
    expect((await running.ended()).code).toBe(1);
    expect(running.lines.join('\n')).toContain(
      'does not run any more; its guest asks for its address when it starts; the link is switched on',
    );
    expect(await interfacesOf(key)).toEqual(INTERFACES);
  });

  it('overwrites nothing that somebody else changes between reading and writing', async () => {
    const third = { name: 'third', bridge: {} };
    const idle = await machine({ runStrategy: 'Always' }, INTERFACES);
    await is(idle, RUNNING);
    const refused = renew(idle, 'front');
    await disturbed({ requests: INSTANCES, effect: { kind: 'delay', delayMs: 1_000 } });
    await putInterfaces(idle, [...INTERFACES, third]);
    expect(await refused).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('it has changed meanwhile; run the command again'),
    });
    expect(await interfacesOf(idle)).toEqual([...INTERFACES, third]);
    const { key, running } = await renewalWithLinkOff();
    running.kill('SIGINT');
    await disturbed({ requests: VIRTUAL_MACHINES, effect: { kind: 'delay', delayMs: 1_000 } });
    await putInterfaces(key, [...(await interfacesOf(key)), third]);
    await running.ended();
    expect(await interfacesOf(key)).toEqual([...INTERFACES, third]);
  });

  it.skipIf(!has('kubectl'))(
    `says at once how to switch the link on if it cannot, by a command that is right or refused ${needs('kubectl')}`,
    async () => {
      const { key, running } = await renewalWithLinkOff();
      const fault = cluster.simulator.faults.inject({
        requests: VIRTUAL_MACHINES,
        effect: { kind: 'answer', status: 503 },
        times: 0,
      });
      running.kill('SIGINT');
      await running.line('kubectl patch vm');
      running.kill('SIGINT');
      await running.ended().catch(() => undefined);
      cluster.simulator.faults.clear(fault);
      const text = running.lines.join('\n');
      expect(text).toContain('is still off');
      const [, name = '', patch = ''] = /kubectl patch vm -n default (\S+) --type=json -p '(.*)'/.exec(text) ?? [];
      const access = { kubeconfig: cluster.adminKubeconfig, namespace: 'default' };
      const switchOn = () => runKubectl(access, ['patch', 'vm', name, '--type=json', '-p', patch]);
      const now = await interfacesOf(key);
      const other = { name: 'new', bridge: {}, state: 'down' };
      await putInterfaces(key, [other, ...now]);
      expect((await switchOn()).code).not.toBe(0);
      expect(await interfacesOf(key)).toEqual([other, ...now]);
      await putInterfaces(key, now);
      expect((await switchOn()).code).toBe(0);
      expect(await interfacesOf(key)).toEqual(INTERFACES);
    },
  );

  it('does not say that a link is off which it has not switched off', async () => {
    const key = await machine({ runStrategy: 'Always' }, INTERFACES);
    await is(key, RUNNING);
    const running = plugin.start(cluster.adminKubeconfig, ['renew', key, 'front']);
    await disturbed({ requests: INSTANCES, effect: { kind: 'delay', delayMs: 2_000 } });
    const fault = cluster.simulator.faults.inject({
      requests: { resource: 'virtualmachines' },
      effect: { kind: 'close', when: 'before' },
      times: 0,
    });
    await running.line('may be off');
    cluster.simulator.faults.clear(fault);
    expect((await running.ended()).code).toBe(69);
    expect(running.lines.join('\n')).not.toContain('is still off');
    expect(await interfacesOf(key)).toEqual(INTERFACES);
  });

  it('switches the link on if the answer to switching it off is lost, and tries again if switching it on fails', async () => {
    const key = await machine({ runStrategy: 'Always' }, INTERFACES);
    await is(key, RUNNING);
    const requests = { verb: 'patch', resource: 'virtualmachines' } as const;
    cluster.simulator.faults.inject({ requests, effect: { kind: 'close', when: 'after' } });
    expect(await renew(key, 'front')).toMatchObject({ code: 69, stderr: expect.stringContaining('the cluster does not answer') });
    expect(await interfacesOf(key)).toEqual(INTERFACES);
    const links = reportedLinks(key);
    const running = renew(key, 'front');
    await waitFor('the link to be off', async () => links.has('front down'));
    cluster.simulator.faults.inject({ requests, effect: { kind: 'answer', status: 503 } });
    expect((await running).code).toBe(0);
    expect(await interfacesOf(key)).toEqual(INTERFACES);
  });

  it.each([
    ['an interface that does not exist', { runStrategy: 'Always' }, 'nic', 'has no interface nic: it has front, back'],
    ['a machine that is stopped', { runStrategy: 'Halted' }, 'front', 'does not run'],
  ])('refuses %s, and writes nothing', async (_, intent, name, why) => {
    const key = await machine(intent, INTERFACES);
    await is(key, intent.runStrategy === 'Always' ? RUNNING : STOPPED);
    expect(await renew(key, name)).toMatchObject({ code: 1, stderr: expect.stringContaining(why) });
    expect(await interfacesOf(key)).toEqual(INTERFACES);
  });

  it.skipIf(!has('kubectl'))(`says how to switch on a link that somebody else has switched off ${needs('kubectl')}`, async () => {
    const key = await machine({ runStrategy: 'Always' }, [{ name: 'front', bridge: {}, state: 'down' }]);
    await is(key, RUNNING);
    const { code, stderr } = await renew(key, 'front');
    expect(code).toBe(1);
    const [, name = '', patch = ''] = /kubectl patch vm -n default (\S+) --type=json -p '(.*)'/.exec(stderr) ?? [];
    const access = { kubeconfig: cluster.adminKubeconfig, namespace: 'default' };
    const { stderr: problem } = await runKubectl(access, ['patch', 'vm', name, '--type=json', '-p', patch]);
    expect([problem, await interfacesOf(key)]).toEqual(['', [{ name: 'front', bridge: {} }]]);
  });
});

describe('requests that a test refuses', () => {
  it.each([403, 409, 500])('get %i as often as the test wants', async (code) => {
    const key = await machine({ runStrategy: 'Manual' });
    released.push(kubevirt.refuse({ key, times: 2, answer: { code, reason: 'Other', message: 'not today' } }));
    expect(await put(key, 'start')).toBe(`${code} not today`);
    expect(await put(key, 'start')).toBe(`${code} not today`);
    expect(await put(key, 'start')).toBe('accepted');
    expect(kubevirt.startsOf(key).map(({ answered }) => answered)).toEqual([code, code, 202]);
  });

  it('get no answer', async () => {
    const key = await machine({ runStrategy: 'Manual' });
    released.push(kubevirt.refuse({ key, answer: 'no-answer' }));
    const settings = { userAgent: 'vmdhcp-lab', timeoutMs: 1_000 };
    const impatient = new ApiConnection(await connectByKubeConfig({ path: cluster.adminKubeconfig }), settings);
    // It is connected when it asks: what it waits for is the answer.
    await impatient.request({ method: 'GET', path: '/version' });
    await expect(impatient.request({ method: 'PUT', path: pathOf(key, 'start'), body: {} })).rejects.toThrow();
    impatient.close();
    expect(kubevirt.startsOf(key)).toMatchObject([{ answered: 'no-answer' }]);
  });
});

describe('rights', () => {
  it('to start are those of the subresource, and the audit has them', async () => {
    const key = await machine({ runStrategy: 'Manual' });
    const { admin, simulator } = cluster;
    const account = { namespace: 'default', name: 'starter' };
    await admin.create({ apiVersion: 'v1', kind: 'ServiceAccount', metadata: account });
    const access = await cluster.open('starter', await serviceAccountToken(admin, account.namespace, account.name));
    const ask = () => access.connection.request({ method: 'PUT', path: pathOf(key, 'start'), body: {} });
    await expect(ask()).rejects.toThrow(
      'cannot update resource "virtualmachines/start" in API group "subresources.kubevirt.io" in the namespace "default"',
    );
    const rules = [{ apiGroups: ['subresources.kubevirt.io'], resources: ['virtualmachines/start'], verbs: ['update'] }];
    const rbac = { apiVersion: 'rbac.authorization.k8s.io/v1', metadata: account };
    await admin.create({ ...rbac, kind: 'Role', rules } as never);
    const roleRef = { kind: 'Role', name: account.name };
    await admin.create({ ...rbac, kind: 'RoleBinding', roleRef, subjects: [{ kind: 'ServiceAccount', ...account }] } as never);
    await ask();
    expect(kubevirt.startsOf(key)).toMatchObject([{ user: 'system:serviceaccount:default:starter', answered: 202 }]);
    expect(await rightsOf(admin, account)).toMatchObject([{ verb: 'update', resource: 'virtualmachines/start' }]);
    const audited = simulator.audit.requests.filter(({ user }) => user.endsWith(':starter'));
    expect(audited).toMatchObject([
      { resource: 'virtualmachines', subresource: 'start', allowed: false },
      { resource: 'virtualmachines', subresource: 'start', allowed: true },
    ]);
  });
});

it.skipIf(!has('kubectl'))('kubectl lists its API, and machines with their status', async () => {
  const access = { kubeconfig: cluster.adminKubeconfig, namespace: 'default' };
  expect((await runKubectl(access, ['api-versions'])).stdout.split('\n')).toContain('subresources.kubevirt.io/v1');
  const raw = await runKubectl(access, ['get', '--raw', '/apis/subresources.kubevirt.io/v1']);
  expect(raw.stdout).toContain('virtualmachineinstances/unpause');
  const key = await machine({ runStrategy: 'Always' });
  await is(key, RUNNING);
  const { stdout } = await runKubectl(access, ['get', 'vm', key.split('/')[1] ?? '']);
  expect(stdout).toMatch(/NAME +AGE +STATUS +READY\nvm-\d+ +\S+ +Running +True\n/);
});

it('goes on after the API server was restarted', async () => {
  const key = await machine({ runStrategy: 'Manual' });
  await is(key, STOPPED);
  await cluster.simulator.restart();
  kubevirt.resume();
  await waitFor('the start to be accepted', async () => (await put(key, 'start')) === 'accepted');
  await is(key, RUNNING);
});
