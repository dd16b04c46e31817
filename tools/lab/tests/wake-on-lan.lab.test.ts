/** Wake-on-LAN on real networks. */
import { formatIpv4Address } from '@vmdhcp/dhcp-allocator/address';
import { FrameSocket, formatMacAddress, PacketSocket } from '@vmdhcp/linux-sockets';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Lab, type Machine, runAgent, waitFor } from '../src/index.js';

const VM = '02:00:5e:00:00:0a';
const HEX = VM.replaceAll(':', '');
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
