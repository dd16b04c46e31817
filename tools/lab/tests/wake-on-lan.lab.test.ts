/** Wake-on-LAN on real networks. */

import dgram from 'node:dgram';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { formatIpv4Address } from '@vmdhcp/dhcp-allocator/address';
import { FrameSocket, formatMacAddress, PacketSocket } from '@vmdhcp/linux-sockets';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { AGENT_BIN, freePort, has, Lab, type LabProcess, type Machine, needs, runAgent, waitFor } from '../src/index.js';

const VM = '02:00:5e:00:00:0a';
const HEX = VM.replaceAll(':', '');
const SEND_TAGGED_FRAME = fileURLToPath(new URL('../dist/send-tagged-frame.js', import.meta.url));
const hexOf = (octets: Uint8Array) => Buffer.from(octets).toString('hex');
let lab: Lab;
let sender: Machine;

beforeAll(() => {
  lab = new Lab();
  lab.addNetwork('br48', '192.168.48.1/24');
  sender = lab.addMachine('sender', { network: 'br48', macAddress: '02:00:00:00:48:01' });
  sender.ip('address', 'add', '192.168.48.10/24', 'dev', 'eth0');
});

afterAll(() => lab.dispose());

describe('vmdhcp-agent wake', () => {
  let datagrams: PacketSocket;
  let frames: FrameSocket;

  beforeAll(() => {
    datagrams = new PacketSocket('br48');
    frames = new FrameSocket({ interfaceName: 'br48', etherType: 0x0842 });
  });

  afterAll(() => {
    datagrams.close();
    frames.close();
  });

  /** What a command put on the wire, after the headers, in hexadecimal digits; where to; and what it printed. */
  async function sent(...parameters: readonly string[]) {
    const { code, output } = await runAgent(sender, 'wake', ...parameters);
    expect({ code, output }).toMatchObject({ code: 0 });
    const found = await waitFor('a magic packet on the wire', received);
    return { ...found, output };
  }

  function received() {
    const seen = datagrams.receive().find(({ payload }) => hexOf(payload).includes(HEX));
    if (seen !== undefined)
      return { wire: hexOf(seen.payload), to: `${formatIpv4Address(seen.destinationAddress)}:${seen.destinationPort}` };
    let frame: { wire: string; to: string } | undefined;
    frames.receive((payload, from) => {
      frame = { wire: hexOf(payload), to: `frame of ${formatMacAddress(from)}` };
    });
    return frame;
  }

  it('by broadcast through an interface, in any spelling', async () => {
    const { wire, to } = await sent('0200.5e00.000a', '--interface', 'eth0');
    expect(to).toBe('255.255.255.255:9');
    expect(wire).toBe(`ffffffffffff${HEX.repeat(16)}`);
  });

  it('to one host and one UDP port, with a password; --json', async () => {
    const { wire, to, output } = await sent(VM, '--to', '192.168.48.1', '--port', '7', '--password', '1.2.3.4', '--json');
    expect(to).toBe('192.168.48.1:7');
    expect(wire).toBe(`ffffffffffff${HEX.repeat(16)}01020304`);
    expect(JSON.parse(output)).toEqual({ macAddress: VM, octets: 106, way: 'udp', to: '192.168.48.1', port: 7, interface: null });
  });

  it('as a frame without IP', async () => {
    const { wire, to } = await sent(VM, '--interface', 'eth0', '--raw');
    expect(to).toBe('frame of 02:00:00:00:48:01');
    expect(wire).toBe(`ffffffffffff${HEX.repeat(16)}`);
  });

  it('what cannot be sent ends with exit code 69 and a remedy, wrong usage with 64', async () => {
    const failing = async (...parameters: readonly string[]) => runAgent(sender, 'wake', ...parameters);
    const gone = await failing(VM, '--interface', 'eth9');
    expect(gone).toMatchObject({ code: 69, output: expect.stringContaining('create the interface, or name another one') });
    const routeless = await failing(VM, '--to', '203.0.113.9');
    expect(routeless).toMatchObject({ code: 69, output: expect.stringContaining('name an --interface') });
    expect(await failing(VM, '--raw')).toMatchObject({ code: 64, output: expect.stringContaining('--raw needs --interface') });
    expect(await failing('ff:ff:ff:ff:ff:ff')).toMatchObject({ code: 64, output: expect.stringContaining('multicast') });
    expect(await failing(VM, '--password', 'secret')).toMatchObject({
      code: 64,
      output: expect.stringContaining('four or six octets'),
    });
  });
});

/** A `vmdhcp-agent wol` beside the networks, with no other rights than it states to need. */
class Listener {
  readonly url: string;
  readonly process: LabProcess;

  private constructor(port: number, parameters: readonly string[]) {
    this.url = `http://127.0.0.1:${port}`;
    const rights = ['--bounding-set=-all,+net_raw,+net_bind_service', '--inh-caps=-all'];
    const command = [process.execPath, AGENT_BIN, 'wol', '--http', `127.0.0.1:${port}`, ...parameters];
    this.process = lab.start('setpriv', [...rights, ...command]);
  }

  static async start(...parameters: readonly string[]): Promise<Listener> {
    const listener = new Listener(await freePort(), parameters);
    await waitFor('a listener', async () => {
      if (listener.process.hasEnded) throw new Error(listener.process.lines.join('\n'));
      return (await listener.get('/metrics').catch(() => '')).includes('vmdhcp_agent_wol_listeners');
    });
    await waitFor('its sockets', () => listener.sockets().length > 0);
    return listener;
  }

  async get(path: string): Promise<string> {
    const response = await fetch(`${this.url}${path}`);
    return `${response.status} ${await response.text()}`;
  }

  records(): Record<string, unknown>[] {
    return this.process.lines.flatMap((line) => (line.startsWith('{') ? [JSON.parse(line) as Record<string, unknown>] : []));
  }

  /** Records of those that were opened, or could not be. */
  sockets(): Record<string, unknown>[] {
    return this.records().filter(({ event }) => event === 'listening' || event === 'listener-failed');
  }

  wakeUps(macAddress: string): Record<string, unknown>[] {
    return this.records().filter((record) => record['event'] === 'wake-up' && record['macAddress'] === macAddress);
  }

  /** The wake-up of this machine, when it is logged. */
  async wakeUp(macAddress: string): Promise<Record<string, unknown>> {
    return waitFor(`a wake-up of ${macAddress}\n${this.process.lines.join('\n')}`, () => this.wakeUps(macAddress)[0]);
  }

  async stop(): Promise<void> {
    this.process.kill('SIGTERM');
    expect(await this.process.ended()).toMatchObject({ code: 0 });
  }
}

/** Runs a program in the machine that sends, to its end. */
async function send(command: string, ...parameters: readonly string[]): Promise<void> {
  const started = sender.start(command, parameters);
  const { code } = await started.ended();
  if (code !== 0) throw new Error(`${command}: exit code ${code}\n${started.lines.join('\n')}`);
}

/** A machine that no other test wakes. */
let lastMachine = 0;
const newMachine = () => `02:00:5e:00:01:${(++lastMachine).toString(16).padStart(2, '0')}`;

describe('vmdhcp-agent wol', () => {
  let listener: Listener;

  beforeAll(async () => {
    lab.addNetwork('br49');
    listener = await Listener.start();
    await waitFor('every listener', async () => (await listener.get('/readyz')).startsWith('200'));
    await waitFor('their records', () => listener.sockets().length >= 6);
  });

  afterAll(() => listener.stop());

  it('listens by default on the bridges, not on their ports, and needs two capabilities', () => {
    const places = listener.records().flatMap(({ event, msg }) => (event === 'listening' ? [String(msg)] : []));
    expect(places.toSorted()).toEqual(
      ['br48', 'br49'].flatMap((name) =>
        ['EtherType 0x0842', 'UDP port 7', 'UDP port 9'].map((way) => `listening on ${name} ${way}`),
      ),
    );
  });

  describe.runIf(has('wakeonlan'))(needs('wakeonlan'), () => {
    it.each([
      ['to the broadcast address of the network', '192.168.48.255', 9],
      ['to the address of the host', '192.168.48.1', 7],
    ])('hears wakeonlan %s', async (_, address, port) => {
      const machine = newMachine();
      await send('wakeonlan', '-i', address, '-p', String(port), machine);
      expect(await listener.wakeUp(machine)).toMatchObject({ sender: '192.168.48.10', listener: `br48 UDP port ${port}` });
    });
  });

  describe.runIf(has('etherwake'))(needs('etherwake'), () => {
    it('hears frames of etherwake, and repeated ones as one wake-up', async () => {
      const machine = newMachine();
      for (let time = 0; time < 3; time++) await send('etherwake', '-b', '-i', 'eth0', machine);
      expect(await listener.wakeUp(machine)).toMatchObject({
        sender: '02:00:00:00:48:01',
        listener: 'br48 EtherType 0x0842',
      });
      await waitFor('the others', async () => (await listener.get('/metrics')).includes('outcome="repeated"} 2'));
      expect(listener.wakeUps(machine)).toHaveLength(1);
    });

    it('hears frames to the machine itself in promiscuous mode only, and passwords that are right', async () => {
      const [unheard, machine, wrong] = [newMachine(), newMachine(), newMachine()];
      const second = await Listener.start('--promiscuous', '--password', '00:22:44:66:88:aa', '--port', '4000');
      await waitFor('every listener', async () => (await second.get('/readyz')).startsWith('200'));
      await send('etherwake', '-i', 'eth0', wrong);
      await send('etherwake', '-i', 'eth0', '-p', '00:22:44:66:88:aa', machine);
      await second.wakeUp(machine);
      expect(second.wakeUps(wrong)).toEqual([]);
      await second.stop();
      // Frames arrive in order: this one was sent before the next, which is heard.
      await send('etherwake', '-i', 'eth0', unheard);
      const next = newMachine();
      await send('etherwake', '-b', '-i', 'eth0', next);
      await listener.wakeUp(next);
      expect(listener.wakeUps(unheard)).toEqual([]);
    });
  });

  it('hears frames with the tag of a VLAN that this host does not have', async () => {
    const machine = newMachine();
    await send(process.execPath, SEND_TAGGED_FRAME, 'eth0', '100', machine);
    expect(await listener.wakeUp(machine)).toMatchObject({ listener: 'br48 EtherType 0x0842' });
  });

  it('runs a command for the machines of its list, and not for others', async () => {
    const [machine, other] = [newMachine(), newMachine()];
    const path = join(lab.folder, 'woken');
    const parameters = [
      '--mac',
      machine,
      '--port',
      '4001',
      '--no-frames',
      '--exec',
      `echo "$WOL_MAC $WOL_SENDER $WOL_LISTENER" >> ${path}`,
    ];
    const second = await Listener.start('--interface', 'br48', ...parameters);
    for (const one of [other, machine]) await runAgent(sender, 'wake', one, '--to', '192.168.48.1', '--port', '4001');
    await second.wakeUp(machine);
    await waitFor('its line', () => existsSync(path) && readFileSync(path, 'utf8').includes('\n'));
    expect(readFileSync(path, 'utf8')).toBe(`${machine} 192.168.48.10 br48 UDP port 4001\n`);
    await second.stop();
  });

  it('a UDP port in use is reported, and the others work; with none left, it is not healthy', async () => {
    const taker = dgram.createSocket('udp4');
    await new Promise<void>((resolve) => {
      taker.bind(4002, resolve);
    });
    const second = await Listener.start('--interface', 'br48', '--port', '4002', '--port', '4003', '--no-frames');
    const third = await Listener.start('--interface', 'br48', '--port', '4002', '--no-frames');
    await waitFor('both of its sockets', () => second.sockets().length === 2);
    expect(await second.get('/readyz')).toMatch(/^503 br48 UDP port 4002: .*EADDRINUSE/);
    expect(await second.get('/healthz')).toMatch(/^200/);
    expect(await third.get('/healthz')).toMatch(/^503 br48 UDP port 4002: .*EADDRINUSE/);
    const machine = newMachine();
    await runAgent(sender, 'wake', machine, '--to', '192.168.48.1', '--port', '4003');
    await second.wakeUp(machine);
    await Promise.all([second.stop(), third.stop()]);
    taker.close();
  });

  it('an interface that disappears is reported, and the others continue', async () => {
    lab.removeNetwork('br49');
    await waitFor('the report', () => listener.records().some(({ event }) => event === 'interface-lost'));
    const machine = newMachine();
    await runAgent(sender, 'wake', machine, '--interface', 'eth0', '--raw');
    await listener.wakeUp(machine);
  });
});
