import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { formatIpv4Address } from '@vmdhcp/dhcp-allocator';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import {
  AGENT_BIN,
  acquire,
  has,
  Lab,
  LabAgent,
  type Machine,
  needs,
  PacketCapture,
  poolsYaml,
  run,
  runAgent,
  waitFor,
} from '../src/index.js';

/** Its name is in every line of the state, so that 150 leases need more than a third of the disk. */
const POOL = 'pool-with-a-name-as-long-as-people-choose-them';
const NETWORKS = [{ name: POOL, prefix: '192.168.48', range: [10, 250] as const }];
const macOf = (number: number) => `02:00:00:00:48:${number.toString(16).padStart(2, '0')}`;

/** So many machines; `vm-000` has 192.168.48.10. */
function poolsOf(count: number): string {
  const machines = Array.from({ length: count }, (_, number) => ({
    name: `vm-${String(number).padStart(3, '0')}`,
    pool: POOL,
    macAddress: macOf(number),
  }));
  return poolsYaml(NETWORKS, machines);
}

interface Answer {
  readonly type: string;
  readonly address: string;
}

let lab: Lab;
let machine: Machine;
let agent: LabAgent;

/** What the client of this MAC address is answered within a moment. */
async function offered(macAddress: string): Promise<string | undefined> {
  const { output } = await runAgent(machine, 'probe', '--interface', 'eth0', '--json', '--mac', macAddress, '--timeout', '0.5');
  return (JSON.parse(output) as { answers: Answer[] }).answers[0]?.address;
}

/** How many leases are on the disk, as they are found after the agent is opened again. */
async function leasesOnDisk(): Promise<number> {
  const reading = lab.start(process.execPath, [AGENT_BIN, 'leases', '--state', agent.statePath, '--json']);
  const { code } = await reading.ended();
  if (code !== 0) throw new Error(reading.lines.join('\n'));
  return (JSON.parse(reading.lines.join('\n')) as unknown[]).length;
}

/** Gives the agent this file: true if it is in effect, false if it could not be saved. */
async function takes(yaml: string): Promise<boolean> {
  const before = agent.records().length;
  agent.setPools(yaml);
  return waitFor('the agent to report what became of the file', () => {
    const messages = agent
      .records()
      .slice(before)
      .map(({ msg }) => String(msg));
    if (messages.some((text) => text.startsWith('the changed pools file is in effect'))) return { saved: true };
    return messages.some((text) => text.startsWith('the changed pools file is not in effect')) ? { saved: false } : undefined;
  }).then(({ saved }) => saved);
}

beforeEach(async () => {
  lab = new Lab();
  lab.addNetwork('br48', '192.168.48.2/24');
  machine = lab.addMachine('vm-000', { network: 'br48', macAddress: macOf(0) });
  agent = await LabAgent.start(lab, { pools: poolsOf(1), interfaces: [`${POOL}=br48`], stateSize: '64k' });
});

afterEach(() => lab.dispose());

describe('a state directory of 64 KiB', () => {
  it('every save of a growing state that is reported to be in effect is there when the state is opened again', {
    tags: ['nightly'],
  }, async () => {
    const outcomes: boolean[] = [];
    let saved = 1;
    for (let count = 21; count <= 241; count += 11) {
      const isSaved = await takes(poolsOf(count));
      outcomes.push(isSaved);
      if (isSaved) saved = count;
      expect(await leasesOnDisk()).toBe(saved);
    }
    expect(outcomes.length).toBeGreaterThanOrEqual(21);
    expect(outcomes).toContain(true);
    expect(outcomes).toContain(false);
    agent.process.kill('SIGKILL');
    await agent.process.ended();
    expect(await leasesOnDisk()).toBe(saved);
  });

  it('that is full: new clients get no answer, others do, and new ones do once there is room again', async () => {
    const filler = join(agent.statePath, 'filler');
    expect(await takes(poolsOf(100))).toBe(true);
    expect(() => writeFileSync(filler, Buffer.alloc(64 << 10))).toThrow('ENOSPC');
    expect(await takes(poolsOf(101))).toBe(false);
    const line = await agent.process.line('leases cannot be saved');
    expect(line).toContain(join(agent.statePath, 'leases.next'));
    expect(line).toContain('the disk is full (ENOSPC); free space on it');
    expect(await offered(macOf(100))).toBeUndefined();
    await waitFor('an offer', async () => (await offered(macOf(0))) === '192.168.48.10');
    expect(await leasesOnDisk()).toBe(100);
    run('rm', [filler]);
    await waitFor('the new lease', async () => (await offered(macOf(100))) === '192.168.48.110');
    expect(await leasesOnDisk()).toBe(101);
  });
});

describe('an open pool on a state directory of 64 KiB', () => {
  it.skipIf(!has('perfdhcp') || !has('udhcpc'))(
    `that is full: clients with an ACK have their lease on the disk, others get none until there is room ${needs('perfdhcp', 'udhcpc')}`,
    async () => {
      const filler = join(agent.statePath, 'filler');
      const settings = ['dynamic: [192.168.48.101-192.168.48.200]'];
      expect(await takes(poolsYaml([{ name: POOL, prefix: '192.168.48', range: [10, 20], settings, probes: false }], []))).toBe(
        true,
      );
      expect(() => writeFileSync(filler, Buffer.alloc(64 << 10))).toThrow('ENOSPC');
      const capture = new PacketCapture('br48');
      const relay = lab.addMachine('relay', { network: 'br48', macAddress: '02:00:00:00:48:fe' });
      relay.ip('address', 'add', '192.168.48.254/24', 'dev', 'eth0');
      // The last page of the file has room for some of them.
      const load = relay.start('perfdhcp', ['-4', '-l', '192.168.48.254', '-r', '60', '-R', '60', '-p', '2', '192.168.48.2']);
      const line = await agent.process.line('unknown clients get no new lease');
      expect(line).toContain('the disk is full (ENOSPC); free space on it');
      await load.ended();
      const acknowledged = capture.messages.filter(({ type }) => type === 'ack');
      expect(acknowledged.length).toBeLessThan(60);
      run('rm', [filler]);
      await agent.process.line('leases of unknown clients can be recorded again');
      const { address } = await acquire('udhcpc', machine);
      await agent.restart('SIGKILL');
      const kept = new Map((await agent.leases()).map((lease) => [lease.macAddress, lease.address]));
      expect(kept.get(macOf(0))).toBe(address);
      for (const { macAddress, message } of acknowledged) expect(kept.get(macAddress)).toBe(formatIpv4Address(message.yiaddr));
      capture.stop();
    },
  );
});
