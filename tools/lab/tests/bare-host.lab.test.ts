import { createHash } from 'node:crypto';
import { mkdirSync, readdirSync, readFileSync, truncateSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { AGENT_BIN, freePort, has, Lab, LabAgent, type Machine, needs, poolsYaml, run, runAgent, waitFor } from '../src/index.js';

const MAC_A = '02:00:00:00:48:01';
const MAC_B = '02:00:00:00:49:01';
const NETWORKS = [
  { name: 'net-48', prefix: '192.168.48', settings: ['leaseTime: 600'] },
  { name: 'net-49', prefix: '192.168.49', settings: ['leaseTime: 600'] },
];
const MACHINES = [
  { name: 'vm-a', pool: 'net-48', macAddress: MAC_A },
  { name: 'vm-b', pool: 'net-49', macAddress: MAC_B },
];
const POOLS = poolsYaml(NETWORKS, MACHINES);

interface Answer {
  readonly type: string;
  readonly address: string;
  readonly server: string;
  readonly leaseTimeSeconds?: number;
}

async function ask(machine: Machine, ...parameters: readonly string[]): Promise<Answer[]> {
  const { output } = await runAgent(machine, 'probe', '--interface', 'eth0', '--json', ...parameters);
  return (JSON.parse(output) as { answers: Answer[] }).answers;
}

/** The last answer of a whole exchange. */
async function exchange(machine: Machine): Promise<Answer | undefined> {
  return (await ask(machine, '--request')).at(-1);
}

let lab: Lab;
let agent: LabAgent;
let vmA: Machine;
let vmB: Machine;

beforeEach(async () => {
  lab = new Lab();
  lab.addNetwork('br48', '192.168.48.2/24');
  lab.addNetwork('br49', '192.168.49.2/24');
  vmA = lab.addMachine('vm-a', { network: 'br48', macAddress: MAC_A });
  vmB = lab.addMachine('vm-b', { network: 'br49', macAddress: MAC_B });
  agent = await LabAgent.start(lab, { pools: POOLS, interfaces: ['net-48=br48', 'default/net-49=br49'] });
});

afterEach(() => lab.dispose());

describe('a pools file that changes', () => {
  it('takes effect', async () => {
    expect((await exchange(vmA))?.leaseTimeSeconds).toBe(600);
    agent.setPools(POOLS.replaceAll('leaseTime: 600', 'leaseTime: 900'));
    await agent.process.line('the changed pools file is in effect');
    expect((await exchange(vmA))?.leaseTimeSeconds).toBe(900);
  });

  it('drops no packet, however often it changes', async () => {
    const asking = (async () => {
      const answers: (Answer | undefined)[] = [];
      for (let round = 0; round < 4; round++) answers.push(await exchange(vmA));
      return answers;
    })();
    for (let round = 0; round < 6; round++) {
      agent.setPools(POOLS.replaceAll('leaseTime: 600', `leaseTime: ${700 + round}`));
      await waitFor(
        'the change',
        () => agent.records().filter(({ msg }) => msg === 'the changed pools file is in effect').length > round,
      );
    }
    expect((await asking).map((answer) => answer?.address)).toEqual(Array(4).fill('192.168.48.10'));
  });

  it('with problems is refused with all of them, by line and column, and the old one stays', async () => {
    agent.setPools(POOLS.replace('cidr: 192.168.48.0/24', 'cidr: 192.168.48.0/33').replace('192.168.49.99', 'nowhere'));
    const refusal = await agent.process.line('is refused');
    expect(refusal).toMatch(/pools-\d+\.yaml:9:11: IPPool default\/net-48: spec\.ipv4Config\.cidr: /);
    expect(refusal).toContain('spec.ipv4Config.pool.end: ');
    expect((await exchange(vmA))?.address).toBe('192.168.48.10');
    const { status, text } = await agent.get('/readyz');
    expect(status).toBe(200);
    const [first, ...problems] = JSON.parse(text).lacks;
    expect(first).toBe('the changed pools file is refused: the pools stay as they were');
    expect(problems).toEqual(expect.arrayContaining([expect.stringContaining('spec.ipv4Config.cidr: ')]));

    agent.setPools(POOLS);
    await waitFor('the end of the refusal', async () => (await agent.get('/readyz')).text === '{"ok":true}\n');
  });

  it('swaps the addresses of two machines in one step', { tags: ['nightly'] }, async () => {
    const pin = (a: string, b: string) =>
      poolsYaml(NETWORKS, [
        { name: 'vm-a', pool: 'net-48', macAddress: MAC_A, address: a },
        { name: 'vm-b', pool: 'net-48', macAddress: MAC_B, address: b },
      ]);
    agent.setPools(pin('192.168.48.20', '192.168.48.21'));
    await waitFor('the first addresses', async () => (await exchange(vmA))?.address === '192.168.48.20');
    agent.setPools(pin('192.168.48.21', '192.168.48.20'));
    await waitFor('the second addresses', async () => (await exchange(vmA))?.address === '192.168.48.21');
    const shown = (await agent.leases()).map(({ macAddress, address }) => [macAddress, address]);
    expect(shown).toEqual(
      expect.arrayContaining([
        [MAC_A, '192.168.48.21'],
        [MAC_B, '192.168.48.20'],
      ]),
    );
  });

  it('keeps the addresses of all clients that stay, when others go and come', { tags: ['nightly'] }, async () => {
    const more = Array.from({ length: 20 }, (_, index) => ({
      name: `vm-0${index}`,
      pool: 'net-48',
      macAddress: `02:00:00:00:50:${index.toString(16).padStart(2, '0')}`,
    }));
    agent.setPools(poolsYaml(NETWORKS, [...more, ...MACHINES]));
    await waitFor('all leases', async () => (await agent.leases()).length === 22);
    expect((await exchange(vmA))?.address).toBe('192.168.48.10');
  });
});

describe('a pool without an interface', () => {
  const remedy = (pool: string) => `give --interface ${pool}=IFACE`;

  it('is named at the start and at each reload, with the remedy; the others are served', async () => {
    const pools = join(lab.folder, 'one-interface.yaml');
    writeFileSync(pools, POOLS);
    agent.process.kill('SIGTERM');
    await agent.process.ended();
    const started = lab.start(process.execPath, [
      ...[AGENT_BIN, 'serve', '--pools', pools, '--state', join(lab.folder, 'one-interface'), '--http', 'off'],
      ...['--interface', 'net-48=br48'],
    ]);
    const warning = JSON.parse(await started.line(remedy('default/net-49'))) as Record<string, unknown>;
    expect(warning).toMatchObject({ level: 'warn', pool: 'default/net-49' });
    expect((await exchange(vmA))?.address).toBe('192.168.48.10');
    writeFileSync(pools, POOLS.replaceAll('net-49', 'net-51'));
    await started.line(remedy('default/net-51'));
    writeFileSync(
      pools,
      POOLS.replaceAll('networkName: default/net-49\n  ipv4', 'networkName: default/net-49\n  paused: true\n  ipv4'),
    );
    await waitFor('the second reload', () => started.lines.filter((line) => line.includes('is in effect')).length === 2);
    expect(started.lines.filter((line) => line.includes('--interface'))).toHaveLength(2);
  });
});

describe('an interface', () => {
  it('that vanishes is reported, the others stay served, and it is served again when it is back', async () => {
    lab.removeNetwork('br48');
    await agent.process.line('interface is missing');
    expect(await agent.get('/readyz')).toEqual({ status: 503, text: 'default/net-48: interface br48 is missing\n' });
    expect((await exchange(vmB))?.address).toBe('192.168.49.10');
    lab.addNetwork('br48', '192.168.48.2/24');
    vmA.attach('br48');
    await agent.ready();
    expect((await exchange(vmA))?.address).toBe('192.168.48.10');
  });

  it('that is replaced between two checks is served again', { tags: ['nightly'] }, async () => {
    run('sh', [
      '-c',
      'ip link delete br48; ip link add br48 type bridge; ip address add 192.168.48.2/24 dev br48; ip link set br48 up',
    ]);
    vmA.attach('br48');
    await agent.process.matching('a new interface', (line) => line.includes('br48') && line.includes('serving it again'));
    expect((await exchange(vmA))?.address).toBe('192.168.48.10');
  });

  it('is not changed, unless that is requested; then its address is removed at the end', async () => {
    lab.addNetwork('br50');
    const other = await LabAgent.start(lab, {
      pools: poolsYaml([{ name: 'net-50', prefix: '192.168.50' }], []),
      interfaces: ['net-50=br50'],
    });
    expect(run('ip', ['-4', 'address', 'show', 'br50'])).toBe('');
    expect(await other.process.line('does not have the server address')).toContain('--configure-interfaces');
    await other.process.stop();
    const configuring = await LabAgent.start(lab, {
      pools: poolsYaml([{ name: 'net-50', prefix: '192.168.50' }], []),
      interfaces: ['net-50=br50'],
      parameters: ['--configure-interfaces'],
    });
    expect(run('ip', ['-4', 'address', 'show', 'br50'])).toContain('192.168.50.2/24');
    await configuring.process.stop();
    expect(run('ip', ['-4', 'address', 'show', 'br50'])).toBe('');
  });

  it('loses the address that was added when the agent is killed, and has it again when another one runs', async () => {
    const shown = () => run('ip', ['-4', 'address', 'show', 'br50']);
    lab.addNetwork('br50');
    const configuring = await LabAgent.start(lab, {
      pools: poolsYaml([{ name: 'net-50', prefix: '192.168.50' }], []),
      interfaces: ['net-50=br50'],
      parameters: ['--configure-interfaces'],
    });
    await configuring.process.line('server address added');
    expect(shown()).toContain('192.168.50.2/24');
    await configuring.restart('SIGKILL');
    // What is there is left alone: the kernel takes it away, and then it is this agent's to add.
    await configuring.process.matching('the address to be added', (line) => line.includes('server address added'));
    expect(shown()).toContain('192.168.50.2/24');
    configuring.process.kill('SIGKILL');
    await configuring.process.ended();
    expect(shown()).toContain('192.168.50.2/24');
    await waitFor('the address to go', () => !shown().includes('192.168.50.2'));
  });

  it('keeps an address that was there before: it is neither changed while the agent runs nor taken away, stopped or killed', {
    tags: ['nightly'],
  }, async () => {
    // Without a carrier, and with another prefix length than the pool's.
    lab.addNetwork('br50', '192.168.50.2/25');
    const before = run('ip', ['-4', 'address', 'show', 'br50']);
    expect(before).toContain('valid_lft forever');
    const configuring = await LabAgent.start(lab, {
      pools: poolsYaml([{ name: 'net-50', prefix: '192.168.50' }], []),
      interfaces: ['net-50=br50'],
      parameters: ['--configure-interfaces'],
    });
    await configuring.restart('SIGKILL');
    configuring.setPools(poolsYaml([{ name: 'net-50', prefix: '192.168.50', settings: ['leaseTime: 60'] }], []));
    await configuring.process.line('the changed pools file is in effect');
    expect(run('ip', ['-4', 'address', 'show', 'br50'])).toBe(before);
    await configuring.process.stop();
    expect(run('ip', ['-4', 'address', 'show', 'br50'])).toBe(before);
  });

  it('keeps an address that was added by hand while the agent was frozen and had lost its own', {
    tags: ['nightly'],
  }, async () => {
    const shown = () => run('ip', ['-4', 'address', 'show', 'br50']);
    lab.addNetwork('br50');
    const configuring = await LabAgent.start(lab, {
      pools: poolsYaml([{ name: 'net-50', prefix: '192.168.50' }], []),
      interfaces: ['net-50=br50'],
      parameters: ['--configure-interfaces'],
    });
    await configuring.process.line('server address added');
    configuring.process.kill('SIGSTOP');
    await waitFor('the address to go', () => !shown().includes('192.168.50.2'));
    run('ip', ['address', 'add', '192.168.50.2/24', 'dev', 'br50']);
    const added = shown();
    configuring.process.kill('SIGTERM');
    configuring.process.kill('SIGCONT');
    await configuring.process.ended();
    expect(shown()).toBe(added);
  });

  it('removes the server address of a pool that goes, and adds that of a pool that changes', { tags: ['nightly'] }, async () => {
    const shown = () => run('ip', ['-4', 'address', 'show', 'br50']);
    lab.addNetwork('br50');
    const pools = poolsYaml([{ name: 'net-50', prefix: '192.168.50' }], []);
    const configuring = await LabAgent.start(lab, {
      pools,
      interfaces: ['net-50=br50'],
      parameters: ['--configure-interfaces'],
    });
    configuring.setPools(pools.replace('serverIP: 192.168.50.2', 'serverIP: 192.168.50.3'));
    await waitFor('the other address', () => shown().includes('192.168.50.3/24') && !shown().includes('192.168.50.2/'));
  });

  it('that another server uses is reported as an error, and the other interfaces are served', async () => {
    const second = lab.start(process.execPath, [
      ...[AGENT_BIN, 'serve', '--pools', agent.poolsPath, '--state', join(lab.folder, 'second'), '--http', 'off'],
      ...['--interface', 'net-48=br48'],
    ]);
    expect(await second.line('EADDRINUSE')).toContain('another program has the port');
  });
});

describe('an address that another machine uses', () => {
  const MAC_C = '02:00:00:00:48:03';
  const SQUATTER = '02:00:00:00:48:66';
  const withC = (pools = NETWORKS) => poolsYaml(pools, [...MACHINES, { name: 'vm-c', pool: 'net-48', macAddress: MAC_C }]);

  beforeEach(() => {
    const squatter = lab.addMachine('squatter', { network: 'br48', macAddress: SQUATTER });
    squatter.ip('address', 'add', '192.168.48.11/24', 'dev', 'eth0');
  });

  it('is not given to a new client: its user is named, the client gets another one, and it stays quarantined after a kill', async () => {
    agent.setPools(withC());
    const message = JSON.parse(await agent.process.line('the address is in use')) as Record<string, unknown>;
    expect(message).toMatchObject({ pool: 'default/net-48', address: '192.168.48.11', mac: MAC_C, usedBy: SQUATTER });
    expect((await ask(vmA, '--mac', MAC_C, '--request')).at(-1)).toMatchObject({ type: 'ack', address: '192.168.48.12' });
    expect(await agent.metric('vmdhcp_agent_pool_quarantined{pool="default/net-48"}')).toBe(1);
    await agent.restart('SIGKILL');
    expect((await ask(vmA, '--mac', MAC_C, '--request')).at(-1)).toMatchObject({ type: 'ack', address: '192.168.48.12' });
    const release = async (address: string) => {
      const command = lab.start(process.execPath, [AGENT_BIN, 'release', address, '--state', agent.statePath]);
      return [(await command.ended()).code, command.lines.join('\n')];
    };
    expect(await release('192.168.48.11')).toEqual([0, 'the quarantine of 192.168.48.11 has ended']);
    expect(await agent.metric('vmdhcp_agent_pool_quarantined{pool="default/net-48"}')).toBe(0);
    expect(await release('192.168.48.12')).toEqual([1, expect.stringContaining('the pools file assigns it')]);
  });

  it('is not given by an agent that was killed before it could probe', { tags: ['nightly'] }, async () => {
    agent.process.kill('SIGKILL');
    await agent.process.ended();
    const path = join(agent.statePath, 'leases');
    const body = readFileSync(path, 'utf8')
      .split('\n')
      .slice(0, -2)
      .concat(`{"pool":"default/net-48","mac":"${MAC_C}","address":"192.168.48.11"}`, '')
      .join('\n');
    writeFileSync(path, `${body}sha256:${createHash('sha256').update(body).digest('hex')}\n`);
    agent.setPools(withC());
    await agent.restart();
    const first = await ask(vmA, '--mac', MAC_C, '--request');
    expect(first.map(({ address }) => address)).not.toContain('192.168.48.11');
    await waitFor(
      'another address',
      async () => (await ask(vmA, '--mac', MAC_C, '--request')).at(-1)?.address === '192.168.48.12',
    );
  });

  it('is given where spec.conflictProbe is Disabled', { tags: ['nightly'] }, async () => {
    agent.setPools(withC(NETWORKS.map((network) => ({ ...network, probes: false }))));
    await agent.process.line('the changed pools file is in effect');
    expect((await ask(vmA, '--mac', MAC_C, '--request')).at(-1)).toMatchObject({ type: 'ack', address: '192.168.48.11' });
  });

  it('cannot be probed without CAP_NET_RAW: a warning says so, and new clients get replies', { tags: ['nightly'] }, async () => {
    agent.process.kill('SIGTERM');
    await agent.process.ended();
    writeFileSync(agent.poolsPath, withC());
    const bare = lab.start('setpriv', [
      ...['--bounding-set', '-net_raw', '--inh-caps', '-net_raw', process.execPath, AGENT_BIN, 'serve', '--http', 'off'],
      ...['--pools', agent.poolsPath, '--state', agent.statePath, '--interface', 'net-48=br48', '--interface', 'net-49=br49'],
    ]);
    await bare.line('no CAP_NET_RAW: new addresses are not probed for conflicts');
    await bare.line('"serving"');
    expect((await ask(vmA, '--mac', MAC_C, '--request')).at(-1)).toMatchObject({ type: 'ack', address: '192.168.48.11' });
  });

  it('and is reserved: its client gets no reply, and no other client gets the address', { tags: ['nightly'] }, async () => {
    const settings = [`reservations: [{ macAddress: "${MAC_C}", ipAddress: 192.168.48.11 }]`];
    agent.setPools(poolsYaml([{ name: 'net-48', prefix: '192.168.48', settings }, ...NETWORKS.slice(1)], MACHINES));
    await agent.process.line('the address is reserved');
    expect(await ask(vmA, '--mac', MAC_C, '--timeout', '1')).toEqual([]);
    expect((await exchange(vmA))?.address).toBe('192.168.48.10');
  });
});

describe('the state directory', () => {
  const stateFile = () => join(agent.statePath, 'leases');

  it.each([
    ['torn', () => truncateSync(stateFile(), 100)],
    [
      'changed by hand',
      () => writeFileSync(stateFile(), readFileSync(stateFile(), 'utf8').replace('192.168.48.10', '192.168.48.11')),
    ],
    ['empty', () => truncateSync(stateFile(), 0)],
    ['of zeros', () => writeFileSync(stateFile(), Buffer.alloc(4096))],
  ])(
    'with a file that is %s: it is renamed and reported, and the copy before is used',
    { tags: ['nightly'] },
    async (_, harm) => {
      agent.setPools(poolsYaml(NETWORKS, [{ name: 'vm-0', pool: 'net-48', macAddress: '02:00:00:00:48:07' }, ...MACHINES]));
      await waitFor('three leases', async () => (await agent.leases()).length === 3);
      agent.process.kill('SIGKILL');
      await agent.process.ended();
      harm();
      await agent.restart();
      const report = await agent.process.line('state file cannot be used');
      const { setAsideAs } = JSON.parse(report) as { setAsideAs: string };
      expect(readdirSync(agent.statePath).map((name) => join(agent.statePath, name))).toContain(setAsideAs);
      expect((await exchange(vmA))?.address).toBe('192.168.48.10');
    },
  );

  it('from a later version prevents the agent from starting, and is left unchanged', { tags: ['nightly'] }, async () => {
    agent.process.kill('SIGKILL');
    await agent.process.ended();
    const later = readFileSync(stateFile(), 'utf8').replace('vmdhcp-agent-state 1', 'vmdhcp-agent-state 99');
    writeFileSync(stateFile(), later);
    const earlier = lab.start(process.execPath, [
      ...[
        AGENT_BIN,
        'serve',
        '--pools',
        agent.poolsPath,
        '--state',
        agent.statePath,
        '--http',
        'off',
        '--interface',
        'net-48=br48',
      ],
    ]);
    expect((await earlier.ended()).code).toBe(65);
    expect(earlier.lines.join('\n')).toContain('run the version of vmdhcp-agent that has written it');
    expect(readFileSync(stateFile(), 'utf8')).toBe(later);
  });

  it('with leases from a later version prevents the agent from starting, too: its process ends, and nobody takes it for well', async () => {
    const folder = join(lab.folder, 'later');
    mkdirSync(folder);
    writeFileSync(join(folder, 'bindings'), 'vmdhcp-agent-bindings 99\n');
    await waitFor('saved leases', () => readFileSync(stateFile(), 'utf8').includes(MAC_A));
    const leases = readFileSync(stateFile(), 'utf8');
    writeFileSync(join(folder, 'leases'), leases);
    const options = ['--state', folder, '--http', `127.0.0.1:${await freePort()}`, '--interface', 'net-48=br48'];
    const earlier = lab.start(process.execPath, [AGENT_BIN, 'serve', '--pools', agent.poolsPath, ...options]);
    expect((await earlier.ended()).code).toBe(65);
    expect(earlier.lines.join('\n')).toContain('run the version of vmdhcp-agent that has written it');
    // It has released what it had, and has written nothing.
    expect(earlier.lines.join('\n')).toContain('"msg":"stopped"');
    expect(readFileSync(join(folder, 'leases'), 'utf8')).toBe(leases);
    expect(readdirSync(folder).toSorted()).toEqual(['bindings', 'leases', 'lock']);
  });

  it('remembers who is bound and until when, even if the agent was killed twice', async () => {
    await exchange(vmA);
    const expires = (await agent.leases()).find(({ macAddress }) => macAddress === MAC_A)?.expires;
    expect(expires).toBeDefined();
    await waitFor('the expiry on the disk', () => readFileSync(stateFile(), 'utf8').includes(expires ?? 'nothing'));
    await agent.restart('SIGKILL');
    await agent.restart('SIGKILL');
    expect(await agent.leases()).toContainEqual(expect.objectContaining({ macAddress: MAC_A, state: 'bound', expires }));
  });

  it('can be used by one agent only', async () => {
    const second = lab.start(process.execPath, [
      ...[
        AGENT_BIN,
        'serve',
        '--pools',
        agent.poolsPath,
        '--state',
        agent.statePath,
        '--http',
        'off',
        '--interface',
        'net-48=br48',
      ],
    ]);
    expect((await second.ended()).code).toBe(73);
    expect(second.lines.join('\n')).toContain('another agent uses it');
  });

  it('keeps serving old leases and grants no new ones when it cannot be written', async () => {
    run('mount', ['-t', 'tmpfs', '-o', 'size=4k,ro', 'tmpfs', agent.statePath]);
    agent.setPools(poolsYaml(NETWORKS, [...MACHINES, { name: 'vm-c', pool: 'net-48', macAddress: '02:00:00:00:48:03' }]));
    await agent.process.line('leases cannot be saved');
    expect(await ask(vmA, '--mac', '02:00:00:00:48:03', '--timeout', '0.4')).toEqual([]);
    expect((await exchange(vmA))?.address).toBe('192.168.48.10');
    run('umount', [agent.statePath]);
    await waitFor('the new lease', async () => (await agent.leases()).length === 3);
    expect((await ask(vmA, '--mac', '02:00:00:00:48:03'))[0]?.address).toBe('192.168.48.11');
  });
});

describe('the commands of a person', () => {
  it('check prints every problem with line and column, and has exit code 65', async () => {
    const path = join(lab.folder, 'broken.yaml');
    writeFileSync(path, POOLS.replace('192.168.48.99', '192.168.47.99').replace(MAC_B, 'no-mac'));
    const check = lab.start(process.execPath, [AGENT_BIN, 'check', path]);
    expect((await check.ended()).code).toBe(65);
    expect(check.lines.join('\n')).toMatch(/broken\.yaml:\d+:\d+: IPPool default\/net-48: spec\.ipv4Config\.pool\.end: /);
    expect(check.lines.join('\n')).toContain('"no-mac" is not a MAC address');
    const missing = lab.start(process.execPath, [AGENT_BIN, 'check', join(lab.folder, 'nowhere.yaml')]);
    expect((await missing.ended()).code).toBe(66);
  });

  it.each([
    ['claim one MAC address', { macAddress: MAC_A }, `${MAC_A} is claimed by default/vm-a too`],
    [
      'want one address',
      { macAddress: '02:00:00:00:48:03', address: '192.168.48.10' },
      `192.168.48.10 is wanted by default/vm-a (${MAC_A}) too`,
    ],
    [
      'want an address outside the pool',
      { macAddress: '02:00:00:00:48:03', address: '192.168.48.200' },
      'pool default/net-48 cannot assign 192.168.48.200 to 02:00:00:00:48:03',
    ],
  ])('check exits 65 where machines %s, and names them', { tags: ['nightly'] }, async (_, second, message) => {
    const path = join(lab.folder, 'claims.yaml');
    const first = { name: 'vm-a', pool: 'net-48', macAddress: MAC_A, address: '192.168.48.10' };
    writeFileSync(path, poolsYaml(NETWORKS, [first, { name: 'vm-b', pool: 'net-48', ...second }]));
    const check = lab.start(process.execPath, [AGENT_BIN, 'check', path, '--json']);
    expect((await check.ended()).code).toBe(65);
    const { ok, problems } = JSON.parse(check.lines.join('\n')) as {
      ok: boolean;
      problems: { object: string; message: string }[];
    };
    expect(ok).toBe(false);
    expect(problems).toHaveLength(1);
    expect(problems[0]?.object).toBe('VirtualMachineNetworkConfig default/vm-b');
    expect(problems[0]?.message).toContain(message);
  });

  it('leases prints a table from the running agent, and from its state directory', async () => {
    await exchange(vmA);
    const asked = lab.start(process.execPath, [AGENT_BIN, 'leases', '--agent', agent.url.slice('http://'.length)]);
    await asked.ended();
    expect(asked.lines[0]).toMatch(/^POOL +ADDRESS +MAC +HOSTNAME +OWNER +STATE +EXPIRES$/);
    expect(asked.lines[1]).toMatch(/^default\/net-48 +192\.168\.48\.10 +02:00:00:00:48:01 +- +default\/vm-a +bound +20/);
    const read = lab.start(process.execPath, [AGENT_BIN, 'leases', '--state', agent.statePath, '--json']);
    await read.ended();
    const views = JSON.parse(read.lines.join('\n')) as { owner?: string }[];
    expect(views.map(({ owner }) => owner)).toEqual(['default/vm-a', 'default/vm-b']);
  });

  it('probe shows search list, NTP servers and routes, for people and for programs', async () => {
    const settings = [
      'router: 192.168.48.1',
      'ntp: [192.168.48.7]',
      'domainSearch: [lab.example, example.org]',
      'staticRoutes: [{ destination: 10.0.0.0/8, gateway: 192.168.48.9 }]',
    ];
    agent.setPools(poolsYaml([{ name: 'net-48', prefix: '192.168.48', settings }, ...NETWORKS.slice(1)], MACHINES));
    await agent.process.line('the changed pools file is in effect');
    expect((await ask(vmA, '--request')).at(-1)).toMatchObject({
      type: 'ack',
      ntpServers: ['192.168.48.7'],
      domainSearch: ['lab.example', 'example.org'],
      classlessRoutes: [
        { destination: '10.0.0.0/8', gateway: '192.168.48.9' },
        { destination: '0.0.0.0/0', gateway: '192.168.48.1' },
      ],
      staticRoutes: [],
    });
    const { output } = await runAgent(vmA, 'probe', '--interface', 'eth0', '--request');
    expect(output).toContain(
      'router 192.168.48.1, search "lab.example" "example.org", ntp 192.168.48.7, routes 10.0.0.0/8 via 192.168.48.9 0.0.0.0/0 via 192.168.48.1\n',
    );
  });

  it.skipIf(!has('dnsmasq'))(`probe names every server that answers, ours and another one ${needs('dnsmasq')}`, async () => {
    const rogue = lab.addMachine('rogue', { network: 'br48', macAddress: '02:00:00:00:48:66' });
    rogue.ip('address', 'add', '192.168.48.3/24', 'dev', 'eth0');
    const dnsmasq = rogue.start('dnsmasq', [
      ...['-d', '-C', '/dev/null', '-p', '0', '-i', 'eth0', '--bind-interfaces', '--leasefile-ro', '--no-ping'],
      ...['--dhcp-authoritative', '--dhcp-range=192.168.48.200,192.168.48.220,255.255.255.0,600'],
      '--dhcp-option=33,10.1.0.1,192.168.48.3',
    ]);
    await dnsmasq.line('DHCP, sockets bound');
    const answers = await ask(vmA);
    expect(answers.map(({ server }) => server).toSorted()).toEqual(['192.168.48.2', '192.168.48.3']);
    const foreign = answers.find(({ server }) => server === '192.168.48.3');
    expect(foreign).toMatchObject({ staticRoutes: [{ destination: '10.1.0.1', gateway: '192.168.48.3' }] });
  });

  it('no request over HTTP ends the agent', { tags: ['nightly'] }, async () => {
    const { port } = new URL(agent.url);
    for (const path of ['//', 'http://[', '*', '/%', `/${'x'.repeat(20_000)}`]) {
      await new Promise<void>((resolve) => {
        const socket = connect(Number(port), '127.0.0.1', () =>
          socket.write(`GET ${path} HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n`),
        );
        socket
          .on('close', () => resolve())
          .on('error', () => resolve())
          .resume();
      });
    }
    expect((await agent.get('/healthz')).status).toBe(200);
    expect((await agent.get('/nowhere')).status).toBe(404);
    expect(agent.process.hasEnded).toBe(false);
  });

  it.skipIf(!has('dnsmasq'))(
    `probe takes the offer of one server while another one still offers ${needs('dnsmasq')}`,
    { tags: ['nightly'] },
    async () => {
      const rogue = lab.addMachine('rogue', { network: 'br48', macAddress: '02:00:00:00:48:66' });
      rogue.ip('address', 'add', '192.168.48.3/24', 'dev', 'eth0');
      const dnsmasq = rogue.start('dnsmasq', [
        ...['-d', '-C', '/dev/null', '-p', '0', '-i', 'eth0', '--bind-interfaces', '--leasefile-ro', '--no-ping'],
        ...['--dhcp-authoritative', '--dhcp-range=192.168.48.200,192.168.48.220,255.255.255.0,600'],
      ]);
      await dnsmasq.line('DHCP, sockets bound');
      for (let round = 0; round < 3; round++) {
        const answers = await ask(vmA, '--request');
        expect(answers.at(-1)).toMatchObject({ type: 'ack', server: answers[0]?.server, address: answers[0]?.address });
      }
    },
  );

  it('probe --claim claims an address without requesting offers, and is refused one that another client has', {
    tags: ['nightly'],
  }, async () => {
    expect(await ask(vmA, '--claim', '192.168.48.10')).toMatchObject([{ type: 'ack', address: '192.168.48.10' }]);
    expect((await ask(vmA, '--claim', '192.168.48.11')).map(({ type }) => type)).toEqual(['nak']);
  });

  it('serve --log-packets logs whole packets, and without it none', { tags: ['nightly'] }, async () => {
    const isPacket = (line: string) => line.includes('"msg":"packet: ');
    await exchange(vmA);
    expect(agent.process.lines.filter(isPacket)).toEqual([]);
    await agent.process.stop();
    agent = await LabAgent.start(lab, {
      pools: POOLS,
      interfaces: ['net-48=br48', 'default/net-49=br49'],
      parameters: ['--log-packets'],
    });
    await exchange(vmA);
    const lines = agent.process.lines.filter(isPacket);
    expect(lines.length, 'DISCOVER and REQUEST').toBeGreaterThanOrEqual(2);
    for (const line of lines) expect(JSON.parse(line)).toMatchObject({ pool: 'default/net-48' });
  });

  it('probe reports when no server answers, by its exit code too', { tags: ['nightly'] }, async () => {
    const { code, output } = await runAgent(
      vmA,
      'probe',
      '--interface',
      'eth0',
      '--mac',
      '02:99:00:00:00:01',
      '--timeout',
      '0.3',
    );
    expect(code).toBe(1);
    expect(output).toBe('no server answers 02:99:00:00:00:01 on eth0');
  });

  it('a paused pool assigns nothing and does not affect readiness', { tags: ['nightly'] }, async () => {
    agent.setPools(
      POOLS.replace('networkName: default/net-48\n  ipv4Config', 'networkName: default/net-48\n  paused: true\n  ipv4Config'),
    );
    await agent.process.line('the changed pools file is in effect');
    expect(await ask(vmA, '--timeout', '0.3')).toEqual([]);
    expect((await agent.get('/readyz')).status).toBe(200);
    agent.setPools(POOLS);
    await waitFor('the pool to be served again', async () => (await exchange(vmA))?.address === '192.168.48.10');
  });
});

describe('a wrong start ends with a sentence and an exit code', { tags: ['nightly'] }, () => {
  it.each([
    ['no such pool', ['--interface', 'net-99=br48'], 64, 'there is no such pool; the file has default/net-48, default/net-49'],
    ['an interface without a pool', ['--interface', 'br48'], 64, 'write POOL=INTERFACE, as in net-48=eth1'],
    [
      'a state directory where none can be',
      ['--interface', 'net-48=br48', '--state', '/proc/none/such'],
      73,
      'make it writable or give another --state',
    ],
    ['an HTTP address in use', ['--interface', 'net-48=br48', '--http', 'USED'], 69, 'give another --http, or --http off'],
  ])('%s', async (_, parameters, code, message) => {
    const httpAddress = agent.url.slice('http://'.length);
    const started = lab.start(process.execPath, [
      ...[AGENT_BIN, 'serve', '--pools', agent.poolsPath, '--state', join(lab.folder, 'other')],
      ...parameters.map((word) => (word === 'USED' ? httpAddress : word)),
    ]);
    expect((await started.ended()).code).toBe(code);
    expect(started.lines.join('\n')).toContain(message);
  });
});
