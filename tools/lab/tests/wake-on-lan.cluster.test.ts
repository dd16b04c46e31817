/** Wake-ups from an agent's report to the start of a virtual machine: controllers as processes, real TLS, and a stand-in for KubeVirt. */
import { readText } from '@vmdhcp/kube-runtime';
import { certificateIssuer } from '@vmdhcp/service-certificates/node';
import { AGENT_NAME } from '@vmdhcp/wake-on-lan/service';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { type KubeVirt, type PrivateCluster, WakeManagers, waitFor } from '../src/index.js';

let world: WakeManagers;
let cluster: PrivateCluster;
let kubevirt: KubeVirt;

beforeAll(async () => {
  world = await WakeManagers.start();
  ({ cluster, kubevirt } = world);
});

afterEach(() => world.endOpened());

afterAll(() => world?.stop());

/** Resolves when the metrics have these lines: some are counted after the answer. */
async function measured(http: string, ...lines: readonly string[]): Promise<void> {
  let page: readonly string[] = [];
  await waitFor('the metrics', async () => {
    page = (await (await fetch(`http://${http}/metrics`)).text()).split('\n');
    return lines.every((line) => page.includes(line));
  }).catch(() => undefined);
  for (const line of lines) expect(page).toContain(line);
}

describe('a wake-up', () => {
  it('starts a machine that may be woken once, through mutual TLS; its second report is a duplicate; another machine is not found', async () => {
    const manager = await world.startManager();
    await world.leads(manager);
    await world.allow('allowed');
    const [{ key, mac }, other] = [await world.machine('allowed'), await world.machine('other')];
    await kubevirt.untilStatus(key, 'Stopped');
    const certificate = await world.mountedCertificate();
    const [one, two] = [
      await world.startAgent('node-1', manager.address, certificate),
      await world.startAgent('node-2', manager.address, certificate),
    ];
    await waitFor('the list of wakeable addresses', () => one.addresses().has(mac) && !one.addresses().has(other.mac));
    const answer = await one.deliver(mac);
    expect(answer).toMatchObject({
      status: 'vm-start-initiated',
      wasDuplicate: false,
      machine: { namespace: 'allowed', name: key.split('/')[1], currentState: 'Stopped' },
    });
    expect(await two.deliver(mac)).toMatchObject({ status: 'duplicate', wasDuplicate: true, machine: answer.machine });
    expect(await two.deliver(other.mac)).toMatchObject({ status: 'vm-not-found' });
    await kubevirt.untilStatus(key, 'Running');
    expect([kubevirt.acceptedStartsOf(key), kubevirt.startsOf(other.key)]).toEqual([1, []]);
    await waitFor('the Event', async () => (await world.eventsOf(key)).length > 0);
    expect([await world.eventsOf(key), await world.eventsOf(other.key)]).toEqual([['WakeUpStarted'], []]);
    await manager.process.line('Received WOL event via gRPC');
    await manager.process.line('Starting VM');
    const expected = ['wol_packets_total 3', 'wol_vm_started_total 1', 'wol_errors_total 0', 'wol_managed_vms 1'];
    await measured(manager.http, ...expected, 'vmdhcpcontroller_wake_up_start_seconds_count 1');
  });

  it('that the API refuses is an answer, an Event and a metric with the reason; a machine that stops is started when it is down', async () => {
    const manager = await world.startManager();
    await world.leads(manager);
    await world.allow('allowed');
    const [refused, stopping] = [await world.machine('allowed'), await world.machine('allowed', 'RerunOnFailure')];
    const agent = await world.startAgent('node-1', manager.address, await world.mountedCertificate());
    await kubevirt.untilStatus(refused.key, 'Stopped');
    await waitFor('the list', () => agent.addresses().has(refused.mac) && agent.addresses().has(stopping.mac));
    world.atEnd(kubevirt.refuse({ key: refused.key, answer: { code: 403, reason: 'Forbidden', message: 'not here' } }));
    const { status, message } = await agent.deliver(refused.mac);
    expect(status).toBe('error');
    expect(message).toContain('not here');
    await waitFor('the Event', async () => (await world.eventsOf(refused.key)).includes('WakeUpFailed'));
    await kubevirt.untilStatus(stopping.key, 'Running');
    const release = kubevirt.block(stopping.key, 'stop');
    await world.put(stopping.key, 'stop');
    await kubevirt.untilStatus(stopping.key, 'Stopping');
    expect(await agent.deliver(stopping.mac)).toMatchObject({ status: 'accepted' });
    expect(kubevirt.startsOf(stopping.key)).toEqual([]);
    release();
    await waitFor('the start', () => kubevirt.acceptedStartsOf(stopping.key) === 1);
    await kubevirt.untilStatus(stopping.key, 'Running');
    await waitFor('the Events', async () => (await world.eventsOf(stopping.key)).length === 2);
    await measured(manager.http, 'vmdhcpcontroller_wake_ups_total{outcome="failed",reason="forbidden"} 1');
  });

  it('unpauses a machine if a WolConfig allows that; it is refused for the run strategy Once', async () => {
    const manager = await world.startManager();
    await world.leads(manager);
    await world.allow('allowed', { unpause: true });
    const [paused, once] = [await world.machine('allowed', 'Always'), await world.machine('allowed', 'Once')];
    const agent = await world.startAgent('node-1', manager.address, await world.mountedCertificate());
    await kubevirt.untilStatus(paused.key, 'Running');
    await world.put(paused.key, 'pause', 'virtualmachineinstances');
    await kubevirt.untilStatus(paused.key, 'Paused');
    await waitFor('the list', () => agent.addresses().has(paused.mac) && agent.addresses().has(once.mac));
    expect(await agent.deliver(paused.mac)).toMatchObject({ status: 'vm-start-initiated', machine: { currentState: 'Paused' } });
    await kubevirt.untilStatus(paused.key, 'Running');
    await kubevirt.untilStatus(once.key, 'Running');
    await kubevirt.shutDown(once.key);
    await kubevirt.untilStatus(once.key, 'Stopped');
    const refusal = await agent.deliver(once.mac);
    expect(refusal.status).toBe('error');
    expect(refusal.message).toContain('its run strategy is Once');
    await waitFor(
      'both Events',
      async () => (await world.eventsOf(paused.key)).length + (await world.eventsOf(once.key)).length === 2,
    );
    expect([await world.eventsOf(paused.key), await world.eventsOf(once.key)]).toEqual([['WakeUpUnpaused'], ['WakeUpRefused']]);
  });

  it('that is being decided when the controller is told to end is answered first', async () => {
    // It is leader for as long as the answer takes.
    const manager = await world.startManager('--no-leader-election');
    await world.leads(manager);
    await world.allow('allowed');
    const { key, mac } = await world.machine('allowed');
    await kubevirt.untilStatus(key, 'Stopped');
    const agent = await world.startAgent('node-1', manager.address, await world.mountedCertificate());
    await waitFor('the list', () => agent.addresses().has(mac));
    // The request is taken, and its answer is lost: the controller looks at the machine when it has waited.
    world.atEnd(kubevirt.refuse({ key, answer: 'no-answer', times: 1 }));
    const outcome = agent.report(mac);
    await waitFor('the request', () => kubevirt.startsOf(key).length === 1);
    manager.process.kill('SIGTERM');
    await world.put(key, 'start');
    expect(await outcome).toMatchObject({ kind: 'answered', answer: { status: 'vm-start-initiated' } });
    expect(await manager.process.ended()).toMatchObject({ code: 0 });
  });
});

describe('certificates', () => {
  it('from another authority are refused; when the authority of the product is replaced, agents and managers continue without a restart', async () => {
    const manager = await world.startManager();
    await world.leads(manager);
    await world.allow('allowed');
    const { key, mac } = await world.machine('allowed');
    await kubevirt.untilStatus(key, 'Stopped');
    const mine = await world.mountedCertificate();
    const validity = { notBeforeMs: Date.now() - 1_000, notAfterMs: Date.now() + 3_600_000 };
    const authority = await certificateIssuer.createAuthority('another', validity);
    const pair = await certificateIssuer.issue(authority, [AGENT_NAME], validity);
    const secret = await cluster.admin.get('Secret', WakeManagers.agentSecret);
    const trusted = Buffer.from(readText(secret, 'data', 'ca.crt') ?? '', 'base64').toString();
    const intruder = await world.startAgent(
      'node-x',
      manager.address,
      world.mount({ 'tls.crt': pair.certificate, 'tls.key': pair.key, 'ca.crt': trusted }),
    );
    expect(await intruder.report(mac)).toMatchObject({ kind: 'unavailable' });
    await manager.process.line('connection of an agent refused');
    expect(kubevirt.startsOf(key)).toEqual([]);
    await cluster.admin.delete('Secret', WakeManagers.authoritySecret);
    await waitFor(
      'a certificate of the new authority',
      async () =>
        readText(await cluster.admin.get('Secret', WakeManagers.agentSecret), 'data', 'ca.crt') !==
        readText(secret, 'data', 'ca.crt'),
    );
    const agent = await world.startAgent('node-1', manager.address, await world.mountedCertificate());
    expect(await agent.deliver(mac)).toMatchObject({ status: 'vm-start-initiated' });
    const former = await world.startAgent('node-2', manager.address, mine);
    expect(await former.report(mac)).toMatchObject({ kind: 'unavailable' });
  });
});

describe('two controllers', () => {
  it('start the machine once if the leader is killed between the reports of two agents', async () => {
    await world.allow('allowed');
    const { key, mac } = await world.machine('allowed');
    await kubevirt.untilStatus(key, 'Stopped');
    const first = await world.startManager();
    await world.leads(first);
    const second = await world.startManager();
    const certificate = await world.mountedCertificate();
    // The request stays in the VirtualMachine, as in a cluster whose virt-controller is slow.
    const release = kubevirt.block(key, 'request');
    world.atEnd(release);
    const follower = await world.startAgent('node-1', second.address, certificate);
    expect(await follower.deliver(mac), 'directed to the leader').toMatchObject({ status: 'vm-start-initiated' });
    await first.process.line('Starting VM');
    first.process.kill('SIGKILL');
    const other = await world.startAgent('node-2', second.address, certificate);
    expect(await other.deliver(mac)).toMatchObject({ status: 'accepted', wasDuplicate: false });
    release();
    await kubevirt.untilStatus(key, 'Running');
    expect(kubevirt.startsOf(key)).toHaveLength(1);
    await waitFor('both Events', async () => (await world.eventsOf(key)).length === 2);
    expect((await world.eventsOf(key)).toSorted()).toEqual(['WakeUpNotNeeded', 'WakeUpStarted']);
  });

  it('an address in use is logged and shown by /readyz; DHCP continues, and when the address is free the server listens', async () => {
    const manager = await world.startManager();
    await world.leads(manager);
    const { process: taken, http } = await world.run(manager.address);
    await taken.line('EADDRINUSE');
    expect(await (await fetch(`http://${http}/readyz`)).text()).toContain(`cannot listen on ${manager.address}`);
    manager.process.kill('SIGTERM');
    await manager.process.ended();
    await taken.line('caches synced; reconciling');
    await taken.line('listening for reports of Wake-on-LAN agents');
    await waitFor('the second one to be ready', async () => (await fetch(`http://${http}/readyz`)).ok);
  });
});
