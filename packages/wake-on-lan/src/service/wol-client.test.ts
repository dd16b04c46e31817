import { describe, expect, it, vi } from 'vitest';
import { REPORT, STARTED, startAgent, startManager, VM_A, VM_B } from './wol-fixtures.js';

const until = (condition: () => unknown) => vi.waitFor(() => expect(condition()).toBeTruthy(), { timeout: 10_000, interval: 5 });

describe('an agent and its managers', { timeout: 30_000 }, () => {
  it('a report is answered with everything that the manager has to say', async () => {
    const manager = await startManager();
    const agent = await startAgent(manager.address);
    expect(await agent.report()).toEqual({ kind: 'answered', answer: STARTED });
    expect(manager.reports).toEqual([REPORT]);
  });

  it('the list arrives, and its changes', async () => {
    const manager = await startManager();
    const agent = await startAgent(manager.address);
    await until(() => agent.addresses?.has(VM_A));
    manager.list([VM_B]);
    await until(() => agent.addresses?.has(VM_B));
    expect([...(agent.addresses ?? [])]).toEqual([VM_B]);
    manager.list([]);
    await until(() => agent.addresses?.size === 0);
    const many = Array.from({ length: 25_000 }, (_, index) => `02:00:00:00:${hex(index >> 8)}:${hex(index & 0xff)}`);
    manager.list(many);
    await until(() => agent.addresses?.size === many.length);
  });

  it('an agent that checks a password names it, and gets the list of those that check this one', async () => {
    const manager = await startManager();
    manager.listWithPassword('wake-password/password', [VM_A, VM_B]);
    const withPassword = await startAgent(manager.address, undefined, 'wake-password/password');
    const plain = await startAgent(manager.address);
    const unknown = await startAgent(manager.address, undefined, 'other/password');
    await until(() => withPassword.addresses?.size === 2 && plain.addresses?.size === 1 && unknown.addresses?.size === 1);
    await withPassword.report();
    await plain.report();
    expect(manager.reports.map(({ passwordSecret }) => passwordSecret)).toEqual(['wake-password/password', undefined]);
    manager.listWithPassword('wake-password/password', [VM_B]);
    await until(() => withPassword.addresses?.has(VM_A) === false);
    expect([...(plain.addresses ?? [])]).toEqual([VM_A]);
    // A WolConfig with the password of this agent comes later.
    manager.listWithPassword('other/password', [VM_B]);
    await until(() => unknown.addresses?.has(VM_B));
    expect([...(unknown.addresses ?? [])]).toEqual([VM_B]);
  });

  it('a manager that is not leader names the leader; the agent goes there, and returns when the leader is gone', async () => {
    const standby = await startManager();
    const leader = await startManager();
    standby.outcome = { kind: 'not-leading', leader: leader.address };
    standby.isServing = false;
    standby.leader = leader.address;
    const agent = await startAgent(standby.address);
    expect((await agent.report()).kind).toBe('answered');
    await until(() => agent.client.state.kind === 'connected');
    expect(agent.client.state.address).toBe(leader.address);
    expect(leader.reports).toHaveLength(1);
    // The standby becomes the leader, and the other one ends.
    standby.outcome = { kind: 'answered', answer: STARTED };
    standby.isServing = true;
    standby.leader = undefined;
    await leader.stop();
    await until(() => agent.client.state.kind === 'connected' && agent.client.state.address === standby.address);
    expect((await agent.report()).kind).toBe('answered');
  });

  it('a leader that steps down ends the list, and the agent follows the next one', async () => {
    const first = await startManager();
    const second = await startManager();
    const agent = await startAgent(first.address);
    await until(() => agent.addresses);
    second.list([VM_A, VM_B]);
    first.isServing = false;
    first.leader = second.address;
    await until(() => agent.addresses?.size === 2);
    expect(agent.client.state.address).toBe(second.address);
  });

  it('no manager listens: the reason is reported once, and a manager that starts is found', async () => {
    const before = await startManager();
    const { port } = before;
    await before.stop();
    const agent = await startAgent(`127.0.0.1:${port}`);
    await until(() => agent.client.state.why !== 'not tried yet');
    expect(agent.client.state.why).toContain('no manager listens there');
    expect(await agent.report()).toMatchObject({ kind: 'unavailable' });
    const manager = await startManager(undefined, { port });
    await until(() => agent.client.state.kind === 'connected');
    expect(agent.kinds()).toEqual(['disconnected', 'connected']);
    expect((await agent.report()).kind).toBe('answered');
    expect(manager.reports).toHaveLength(1);
  });

  it('a manager that cannot decide now is tried again by the agent; a report that it cannot read is not', async () => {
    const manager = await startManager();
    const agent = await startAgent(manager.address);
    manager.outcome = { kind: 'unavailable', message: 'the API server does not answer' };
    expect(await agent.report()).toEqual({ kind: 'unavailable', message: 'the API server does not answer' });
    manager.outcome = { kind: 'later', message: 'too many wake-ups of lab/vm-a' };
    expect(await agent.report()).toEqual({ kind: 'later', message: 'too many wake-ups of lab/vm-a' });
    manager.outcome = () => Promise.reject(new Error('a bug'));
    expect((await agent.report()).kind).toBe('unavailable');
    expect(manager.events.map(({ kind }) => kind)).toEqual(['report-failed']);
    expect(await agent.report({ ...REPORT, macAddress: 'vm-a', nodeName: 'a b' })).toMatchObject({
      kind: 'malformed',
      message: 'mac_address is not a MAC address, as in 02:00:5e:10:00:01; node_name is not the name of a node',
    });
  });
});

function hex(value: number): string {
  return value.toString(16).padStart(2, '0');
}
