/** A virtual machine that sends messages with the addresses of others: they do not harm the others. */
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { Lab, LabAgent, type Machine, poolsYaml, run, runAgent, waitFor } from '../src/index.js';

const SERVER = '192.168.48.2';
const POOL = 'default/net-48';
const ATTACKER = '02:00:00:00:66:66';
const program = (name: string) => fileURLToPath(new URL(`../dist/${name}.js`, import.meta.url));
const VICTIMS = Array.from({ length: 10 }, (_, index) => ({
  name: `victim-${index}`,
  macAddress: `02:00:00:00:48:1${index}`,
  address: `192.168.48.${10 + index}`,
}));
const MACHINES = VICTIMS.map(({ name, macAddress, address }) => ({ name, pool: 'net-48', macAddress, address }));
const poolsOf = (machines: typeof MACHINES) => poolsYaml([{ name: 'net-48', prefix: '192.168.48' }], machines);
const declines = (reason: string) => `vmdhcp_agent_messages_total{type="decline",outcome="ignored",reason="${reason}"}`;

let lab: Lab;
let agent: LabAgent;
let attacker: Machine;
let victims: readonly Machine[];

beforeEach(async () => {
  lab = new Lab();
  lab.addNetwork('br48', `${SERVER}/24`);
  agent = await LabAgent.start(lab, { pools: poolsOf(MACHINES), interfaces: ['net-48=br48'] });
  attacker = lab.addMachine('attacker', { network: 'br48', macAddress: ATTACKER });
  victims = VICTIMS.map(({ name, macAddress }) => lab.addMachine(name, { network: 'br48', macAddress }));
});

afterEach(() => lab.dispose());

/** The machine asks for its address and takes it. */
async function exchange(machine: Machine): Promise<string | undefined> {
  const { output } = await runAgent(machine, 'probe', '--interface', 'eth0', '--json', '--request');
  const { answers } = JSON.parse(output) as { answers: { type: string; address: string }[] };
  return answers.findLast(({ type }) => type === 'ack')?.address;
}

/** Every victim asks for its address and takes it. */
async function exchangeAll(): Promise<(string | undefined)[]> {
  const addresses: (string | undefined)[] = [];
  for (const victim of victims) addresses.push(await exchange(victim));
  return addresses;
}

/** Every victim uses its address. */
function configureAll(): void {
  for (const [index, victim] of victims.entries()) {
    victim.ip('address', 'add', `${VICTIMS[index]?.address}/24`, 'dev', 'eth0');
  }
}

async function forge(
  type: 'decline' | 'release' | 'inform',
  victims: readonly { macAddress: string; address: string }[] = VICTIMS,
): Promise<void> {
  const names = victims.map(({ macAddress, address }) => `${macAddress}=${address}`);
  await attacker.start(process.execPath, [program('send-forged-messages'), type, SERVER, ...names]).ended();
}

/** True while each victim has its own address, and none is suspended. */
async function expectNothingLost(): Promise<void> {
  const leases = new Map((await agent.leases()).map(({ macAddress, address }) => [macAddress, address]));
  expect(leases).toEqual(new Map(VICTIMS.map(({ macAddress, address }) => [macAddress, address])));
  expect(await agent.metric(`vmdhcp_agent_pool_quarantined{pool="${POOL}"}`)).toBe(0);
  expect(await exchangeAll()).toEqual(VICTIMS.map(({ address }) => address));
}

describe('forged in the name of ten machines that use their addresses', () => {
  it('DECLINEs take none of them away, also when the sender answers every ARP probe', async () => {
    await exchangeAll();
    configureAll();
    await attacker.start(process.execPath, [program('send-arp-answers')]).line('answering');
    await forge('decline');
    await waitFor(
      'ten DECLINEs to be checked',
      async () => (await agent.metric(declines('decline-address-in-use-by-client'))) === VICTIMS.length,
    );
    await expectNothingLost();
  });

  it('DECLINEs take none of them away in a flood of ARP, in which answers are lost', { tags: ['nightly'] }, async () => {
    await exchangeAll();
    configureAll();
    const flood = attacker.start(process.execPath, [program('send-arp-answers'), '192.168.48.10']);
    await flood.line('answering');
    await forge('decline');
    await waitFor('ten DECLINEs to be checked', async () => {
      const reasons = ['decline-address-in-use-by-client', 'decline-not-checked'];
      const counts = await Promise.all(reasons.map((reason) => agent.metric(declines(reason))));
      return counts.reduce((sum, count) => sum + count) === VICTIMS.length;
    });
    await flood.stop();
    await expectNothingLost();
  });

  it('RELEASEs leave every address with its machine', async () => {
    await exchangeAll();
    configureAll();
    await forge('release');
    await waitFor('ten RELEASEs', () => agent.events('released').length === VICTIMS.length);
    await expectNothingLost();
    expect((await agent.leases()).map(({ state }) => state)).toEqual(VICTIMS.map(() => 'bound'));
  });
});

describe('forged in the name of ten machines that are switched off', () => {
  it('DECLINEs that no other host confirms change nothing', { tags: ['nightly'] }, async () => {
    await forge('decline');
    await waitFor(
      'ten DECLINEs to be checked',
      async () => (await agent.metric(declines('decline-unconfirmed'))) === VICTIMS.length,
    );
    await expectNothingLost();
  });

  it('DECLINEs change nothing where the sender answers every ARP probe: it is named', { tags: ['nightly'] }, async () => {
    await attacker.start(process.execPath, [program('send-arp-answers')]).line('answering');
    await forge('decline');
    await waitFor(
      'ten DECLINEs to be checked',
      async () => (await agent.metric(declines('decline-unconfirmed'))) === VICTIMS.length,
    );
    await waitFor('a warning that names it', () =>
      agent.records().some(({ mac, level }) => mac === ATTACKER && level === 'warn'),
    );
    await expectNothingLost();
  });
});

describe('ARP in the name of an address that no client has', () => {
  it('keeps no new client from its address, however much of it there is', async () => {
    const macAddress = '02:00:00:00:48:20';
    const flood = attacker.start(process.execPath, [program('send-arp-answers'), '192.168.48.200']);
    await flood.line('answering');
    agent.setPools(poolsOf([...MACHINES, { name: 'newcomer', pool: 'net-48', macAddress, address: '192.168.48.20' }]));
    await agent.process.line('the changed pools file is in effect');
    const newcomer = lab.addMachine('newcomer', { network: 'br48', macAddress });
    expect(await exchange(newcomer)).toBe('192.168.48.20');
    await flood.stop();
    expect(agent.records().filter(({ msg }) => String(msg).includes('cannot be probed'))).toEqual([]);
  });
});

describe('forged in the name of addresses that no host has', () => {
  it('INFORMs make no entries in the neighbour table of the node, and are answered in frames', {
    tags: ['nightly'],
  }, async () => {
    const absent = Array.from({ length: 50 }, (_, index) => ({ macAddress: ATTACKER, address: `192.168.48.${150 + index}` }));
    await forge('inform', absent);
    await waitFor(
      'fifty answers',
      async () => (await agent.metric('vmdhcp_agent_messages_total{type="inform",outcome="inform",reason=""}')) === absent.length,
    );
    expect(run('ip', ['neighbor', 'show', 'dev', 'br48'])).not.toMatch(/192\.168\.48\.1[5-9]/);
  });
});
