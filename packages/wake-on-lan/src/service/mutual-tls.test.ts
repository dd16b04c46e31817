import { appendFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import type { TlsMaterial } from '../tls/tls-material.js';
import { AGENT_NAME, MANAGER_NAME } from '../tls/tls-material.js';
import { agentOf, createAuthority, EXPIRED, managerOf, mountSecret, TOMORROW } from './tls-fixtures.js';
import { startAgent, startManager } from './wol-fixtures.js';

const until = (condition: () => unknown) => vi.waitFor(() => expect(condition()).toBeTruthy(), { timeout: 20_000, interval: 5 });

async function mount(material: TlsMaterial) {
  const secret = await mountSecret(material);
  onTestFinished(secret.remove);
  return secret;
}

describe('mutual TLS', { timeout: 60_000 }, () => {
  it('an agent and a manager of one authority understand each other', async () => {
    const authority = await createAuthority();
    const manager = await startManager(await managerOf(authority));
    const agent = await startAgent(manager.address, (await mount(await agentOf(authority))).path);
    await until(() => agent.client.state.kind === 'connected');
    expect((await agent.report()).kind).toBe('answered');
    expect(manager.events).toEqual([]);
    expect(agent.kinds()).toEqual(['certificates-read', 'connected']);
  });

  it.each([
    [
      'the manager is of another authority',
      async () => {
        const own = await createAuthority();
        return { manager: await managerOf(await createAuthority()), agent: await agentOf(own) };
      },
      /of another authority than those in ca.crt/,
    ],
    [
      'the certificate of the manager has another name',
      async () => {
        const authority = await createAuthority();
        return { manager: await authority.issue('webhook.vmdhcp'), agent: await agentOf(authority) };
      },
      /not that of a manager/,
    ],
    [
      'the certificate of the manager has expired',
      async () => {
        const authority = await createAuthority();
        return { manager: await authority.issue(MANAGER_NAME, EXPIRED()), agent: await agentOf(authority) };
      },
      /has expired/,
    ],
    [
      'the clock of the agent is behind',
      async () => {
        const authority = await createAuthority();
        return { manager: await authority.issue(MANAGER_NAME, TOMORROW()), agent: await agentOf(authority) };
      },
      /not valid yet/,
    ],
  ])('%s: the agent logs that once, and reports nothing', async (_, make, why) => {
    const { manager: material, agent: own } = await make();
    const manager = await startManager(material);
    const agent = await startAgent(manager.address, (await mount(own)).path);
    await until(() => agent.events.some(({ kind }) => kind === 'disconnected'));
    expect(agent.client.state.why).toMatch(why);
    expect((await agent.report()).kind).toBe('unavailable');
    expect(manager.reports).toEqual([]);
  });

  it.each([
    [
      'of another authority',
      async () => {
        const authority = await createAuthority();
        const other = await createAuthority();
        return {
          manager: await managerOf(authority),
          agent: { ...(await agentOf(other)), authorities: authority.certificate },
        };
      },
      'certificate-refused',
      /not from an authority in ca.crt/,
    ],
    [
      'expired',
      async () => {
        const authority = await createAuthority();
        return { manager: await managerOf(authority), agent: await authority.issue(AGENT_NAME, EXPIRED()) };
      },
      'certificate-refused',
      /has expired/,
    ],
    [
      'not valid yet',
      async () => {
        const authority = await createAuthority();
        return { manager: await managerOf(authority), agent: await authority.issue(AGENT_NAME, TOMORROW()) };
      },
      'certificate-refused',
      /not valid yet/,
    ],
    [
      'that of the manager, not of an agent',
      async () => {
        const authority = await createAuthority();
        return { manager: await managerOf(authority), agent: await managerOf(authority) };
      },
      'wrong-name',
      /the manager closed the connection/,
    ],
  ])('a certificate of an agent that is %s is refused, and both sides log why', async (_, make, reason, why) => {
    const { manager: material, agent: own } = await make();
    const manager = await startManager(material);
    const agent = await startAgent(manager.address, (await mount(own)).path);
    await until(() => agent.events.some(({ kind }) => kind === 'disconnected') && manager.events.length > 0);
    expect(manager.events[0]).toMatchObject({ kind: 'connection-refused', reason });
    expect(agent.client.state.why).toMatch(why);
    // It tries again and again, and the log has one line.
    const tries = agent.client.state;
    expect(tries.kind).toBe('disconnected');
    expect((await agent.report()).kind).toBe('unavailable');
    expect(manager.events).toHaveLength(1);
    expect(manager.reports).toEqual([]);
  });

  it.each(['its own', 'both'])(
    'a certificate of another authority, with %s in ca.crt: the log of the manager has the remedy',
    async (which) => {
      const [authority, other] = [await createAuthority(), await createAuthority()];
      const manager = await startManager(await managerOf(authority));
      const authorities = which === 'both' ? `${authority.certificate}${other.certificate}` : authority.certificate;
      await startAgent(manager.address, (await mount({ ...(await agentOf(other)), authorities })).path);
      await until(() => manager.events.length > 0);
      expect(manager.events[0]).toMatchObject({
        reason: 'certificate-refused',
        message: expect.stringContaining('it is of another authority; the agent must mount the Secret that this manager keeps'),
      });
    },
  );

  it('an agent without a certificate, and one without TLS, reach nothing', async () => {
    const authority = await createAuthority();
    const manager = await startManager(await managerOf(authority));
    const clear = await startAgent(manager.address);
    await until(() => manager.events.length > 0);
    expect(manager.events[0]).toMatchObject({ kind: 'connection-refused', reason: 'handshake-failed' });
    expect((await clear.report()).kind).toBe('unavailable');
    expect(manager.reports).toEqual([]);
  });

  it('certificates of both sides and their authority are replaced while agents report, and no report is lost', async () => {
    const first = await createAuthority();
    const second = await createAuthority();
    const both = `${first.certificate}${second.certificate}`;
    const manager = await startManager(await managerOf(first));
    const secret = await mount(await agentOf(first));
    const agent = await startAgent(manager.address, secret.path);
    await until(() => agent.client.state.kind === 'connected');
    const outcomes: string[] = [];
    let isOver = false;
    const reporting = (async () => {
      while (!isOver) outcomes.push((await agent.report()).kind);
    })();
    const read = () => agent.kinds().filter((kind) => kind === 'certificates-read').length;
    const accepted = async (count: number) => {
      const before = outcomes.length;
      await until(() => read() >= count && outcomes.length > before + 20);
    };
    // Does what the keeper does: publish the new authority, issue certificates by it, forget the old one.
    manager.use({ ...(await managerOf(first)), authorities: both });
    await secret.replace({ ...(await agentOf(first)), authorities: both });
    await accepted(2);
    manager.use({ ...(await managerOf(second)), authorities: both });
    await secret.replace({ ...(await agentOf(second)), authorities: both });
    await accepted(3);
    manager.use(await managerOf(second));
    await secret.replace(await agentOf(second));
    await accepted(4);
    isOver = true;
    await reporting;
    expect(new Set(outcomes)).toEqual(new Set(['answered']));
    expect(manager.reports).toHaveLength(outcomes.length);
    expect(agent.kinds().filter((kind) => kind === 'disconnected')).toEqual([]);
    expect(manager.events).toEqual([]);
  });

  it('incomplete or missing files are named, and the earlier ones stay in use', async () => {
    const authority = await createAuthority();
    const manager = await startManager(await managerOf(authority));
    const secret = await mount(await agentOf(authority));
    const agent = await startAgent(manager.address, secret.path);
    await until(() => agent.client.state.kind === 'connected');
    await writeFile(join(secret.path, '..data', 'tls.key'), 'no key');
    await until(() => agent.kinds().includes('certificates-problem'));
    expect(agent.events.find(({ kind }) => kind === 'certificates-problem')).toMatchObject({
      problem: expect.stringContaining('tls.key'),
    });
    expect((await agent.report()).kind).toBe('answered');
    await secret.replace(await agentOf(authority));
    await until(() => agent.kinds().filter((kind) => kind === 'certificates-read').length === 2);
    expect((await agent.report()).kind).toBe('answered');
    await appendFile(join(secret.path, '..data', 'tls.crt'), '\n');
  });

  it('a directory that is mounted later is used when it appears', async () => {
    const authority = await createAuthority();
    const manager = await startManager(await managerOf(authority));
    const secret = await mount(await agentOf(authority));
    const agent = await startAgent(manager.address, join(secret.path, 'later'));
    expect(agent.client.state.why).toContain('later');
    const { rename, symlink } = await import('node:fs/promises');
    await symlink(secret.path, join(secret.path, 'later-new'));
    await rename(join(secret.path, 'later-new'), join(secret.path, 'later'));
    await until(() => agent.client.state.kind === 'connected');
  });
});
